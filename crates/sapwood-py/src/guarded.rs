//! The bank behind its lock. A panic in the engine becomes an exception, and a bank that it left half-updated is not used again.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sapwood::bank::Bank;
use sapwood::error::{Error, Result};

use crate::errors::to_python;

/// How often a call that takes long asks whether Ctrl-C was pressed.
const ASK_EVERY: Duration = Duration::from_millis(50);

pub struct Guarded {
    state: Mutex<State>,
    /// The process that locked the bank last. A forked child inherits a locked lock, but not the thread that would release it.
    locked_in: AtomicU32,
}

struct State {
    bank: Arc<Bank>,
    /// What a panic said that left the bank half-updated.
    failure: Option<String>,
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").to_owned()
}

/// The result of work in the engine; a panic is an error like others.
pub fn catch<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Error::Panicked { what: text_of(&*panic) }))
}

impl Guarded {
    pub fn new(bank: Arc<Bank>) -> Self {
        Self { state: Mutex::new(State { bank, failure: None }), locked_in: AtomicU32::new(std::process::id()) }
    }

    /// Wait for the bank. While another thread has it this one hears Ctrl-C, and does not hold the interpreter lock.
    fn lock(&self, py: Python) -> PyResult<MutexGuard<'_, State>> {
        const LONGEST_NAP: Duration = Duration::from_millis(5);
        let mut nap = Duration::from_micros(20);
        let process = std::process::id();
        let state = loop {
            match self.state.try_lock() {
                Ok(state) => break state,
                // Panics are caught while the lock is held, and recorded in `failure`.
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if self.locked_in.load(Ordering::Relaxed) != process => return Err(to_python(Error::Forked)),
                Err(TryLockError::WouldBlock) => {
                    py.detach(|| std::thread::sleep(nap));
                    py.check_signals()?;
                    nap = LONGEST_NAP.min(2 * nap);
                }
            }
        };
        self.locked_in.store(process, Ordering::Relaxed);
        match &state.failure {
            Some(what) => Err(to_python(Error::Unusable { what: what.clone() })),
            None => Ok(state),
        }
    }

    /// Ask something of the bank.
    pub fn read<T>(&self, py: Python, ask: impl FnOnce(&Arc<Bank>) -> Result<T>) -> PyResult<T> {
        let state = self.lock(py)?;
        catch(|| ask(&state.bank)).map_err(to_python)
    }

    /// Change the bank without the interpreter lock; predictive distributions that share it keep it as it was. The work asks between rows
    /// whether to go on.
    pub fn write<T: Send>(&self, py: Python, work: impl FnOnce(&mut Bank, &mut dyn FnMut() -> bool) -> Result<T> + Send) -> PyResult<T> {
        let mut state = self.lock(py)?;
        let mut interrupted = None;
        let shared = &mut state.bank;
        let result = py.detach(|| {
            let mut last_asked = Instant::now();
            let mut go_on = || {
                if last_asked.elapsed() < ASK_EVERY {
                    return true;
                }
                last_asked = Instant::now();
                interrupted = Python::attach(|py| py.check_signals()).err();
                interrupted.is_none()
            };
            catch(|| work(Arc::make_mut(shared), &mut go_on))
        });
        if let Err(Error::Panicked { what }) = &result {
            state.failure = Some(what.clone());
        }
        match interrupted {
            Some(error) => Err(error),
            None => result.map_err(to_python),
        }
    }

    /// Change nothing that a prediction depends on, if nobody shares the bank.
    pub fn refresh(&self, py: Python) -> PyResult<()> {
        let mut state = self.lock(py)?;
        let Some(bank) = Arc::get_mut(&mut state.bank) else { return Ok(()) };
        let result = py.detach(|| {
            catch(|| {
                bank.refresh_fits();
                Ok(())
            })
        });
        if let Err(Error::Panicked { what }) = &result {
            state.failure = Some(what.clone());
        }
        result.map_err(to_python)
    }
}
