//! The bank behind a lock, and the predictive distributions it returns.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sapwood::bank::{self, Bank, Horizon, Rows, Run, Wanted};
use sapwood::config::{Named, Task};
use sapwood::effects;
use sapwood::error::{Error, Result};
use sapwood::snapshot;

use crate::config::MemberConfig;
use crate::errors::to_python;
use crate::guarded::{Guarded, catch};
use crate::results::{ActivePool, Forecast, TreeDump, TreeStats, table};

/// How many scores follow the inputs of a row, some of which hold levels.
#[pyfunction]
pub fn n_scores(task: &str, levels: Vec<usize>, n_in_sight: usize) -> PyResult<usize> {
    let task = Task::parse(task).map_err(to_python)?;
    Ok(if levels.is_empty() { 0 } else { effects::n_scores(task, n_in_sight) })
}

/// A bank of clouds that see the same stream, mixed by recent predictive likelihood.
///
/// The bank is shared with the predictive distributions it has returned; learning copies it first if any of them is still alive.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Model {
    bank: Guarded,
}

fn rows<'a>(x: &'a PyReadonlyArray2<f64>) -> PyResult<Rows<'a>> {
    if x.shape()[1] == 0 {
        return Err(to_python(Error::WrongColumns { given: 0, expected: 1 }));
    }
    Ok(Rows::new(x.as_slice()?, x.shape()[1]))
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (task, n_inputs, n_classes, members, seed, *, levels=None, n_in_sight=0, mixing_rates=None, mixing_top=bank::DEFAULT_TOP_RATE))]
    #[expect(clippy::too_many_arguments, reason = "the settings of a bank, by name")]
    fn new(
        task: &str,
        n_inputs: usize,
        n_classes: usize,
        members: Vec<PyRef<MemberConfig>>,
        seed: u64,
        levels: Option<Vec<usize>>,
        n_in_sight: usize,
        mixing_rates: Option<Vec<f64>>,
        mixing_top: f64,
    ) -> PyResult<Self> {
        let configs: Vec<_> = members.iter().map(|member| member.inner.clone()).collect();
        let rates = mixing_rates.unwrap_or_else(|| bank::DEFAULT_RATES.to_vec());
        let make = || {
            let (task, levels) = (Task::parse(task)?, levels.unwrap_or_default());
            Bank::with_levels(task, n_inputs, n_classes, n_in_sight, &levels, &configs, seed)?.with_mixing(&rates, mixing_top)
        };
        let bank = catch(make).map_err(to_python)?;
        Ok(Self { bank: Guarded::new(Arc::new(bank)) })
    }

    #[getter]
    fn task(&self, py: Python) -> PyResult<&'static str> {
        self.bank.read(py, |bank| Ok(bank.task().name()))
    }

    #[getter]
    fn n_inputs(&self, py: Python) -> PyResult<usize> {
        self.bank.read(py, |bank| Ok(bank.n_inputs()))
    }

    #[getter]
    fn n_scores(&self, py: Python) -> PyResult<usize> {
        self.bank.read(py, |bank| Ok(bank.n_scores()))
    }

    #[getter]
    fn n_classes(&self, py: Python) -> PyResult<usize> {
        self.bank.read(py, |bank| Ok(bank.n_classes()))
    }

    #[getter]
    fn n_members(&self, py: Python) -> PyResult<usize> {
        self.bank.read(py, |bank| Ok(bank.n_members()))
    }

    #[getter]
    fn n_seen(&self, py: Python) -> PyResult<u64> {
        self.bank.read(py, |bank| Ok(bank.n_seen()))
    }

    #[getter]
    fn ln_evidence(&self, py: Python) -> PyResult<f64> {
        self.bank.read(py, |bank| Ok(bank.ln_evidence()))
    }

    fn ln_evidence_trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let trace = self.bank.read(py, |bank| Ok(bank.trace().iter().copied().collect()))?;
        Ok(PyArray1::from_vec(py, trace))
    }

    /// How many classes this model can tell apart; more would take too much memory.
    #[getter]
    fn max_classes(&self, py: Python) -> PyResult<usize> {
        self.bank.read(py, |bank| Ok(bank.max_classes()))
    }

    #[pyo3(signature = (x, y, weight=None, *, n_threads=1))]
    fn learn<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<f64>,
        y: PyReadonlyArray1<f64>,
        weight: Option<PyReadonlyArray1<f64>>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (x, y) = (rows(&x)?, y.as_slice()?);
        let weight = weight.as_ref().map(|w| w.as_slice()).transpose()?;
        let ln_predictive = self.bank.write(py, |bank, go_on| bank.learn(x, y, weight, n_threads, go_on))?;
        Ok(PyArray1::from_vec(py, ln_predictive))
    }

    #[pyo3(signature = (x_test, y_test, x, y, weight=None, *, levels=None, pit=false, crps=false, horizon="next_row", n_threads=1))]
    #[expect(clippy::too_many_arguments, reason = "two tables, their targets and the requested outputs")]
    fn forecast_then_learn(
        &self,
        py: Python,
        x_test: PyReadonlyArray2<f64>,
        y_test: PyReadonlyArray1<f64>,
        x: PyReadonlyArray2<f64>,
        y: PyReadonlyArray1<f64>,
        weight: Option<PyReadonlyArray1<f64>>,
        levels: Option<PyReadonlyArray1<f64>>,
        pit: bool,
        crps: bool,
        horizon: &str,
        n_threads: usize,
    ) -> PyResult<Forecast> {
        let weight = weight.as_ref().map(|w| w.as_slice()).transpose()?;
        let horizon = Horizon::parse(horizon).map_err(to_python)?;
        let run = Run { x_test: rows(&x_test)?, y_test: y_test.as_slice()?, x: rows(&x)?, y: y.as_slice()?, weight, horizon };
        let levels = levels.map_or(Ok(Vec::new()), |l| l.as_slice().map(<[f64]>::to_vec))?;
        let wanted = Wanted { levels, pit, crps };
        let n_levels = wanted.levels.len();
        self.bank.write(py, |bank, go_on| {
            let forecast = bank.forecast_then_learn(run, &wanted, n_threads, go_on)?;
            Ok(Forecast::new(forecast, n_levels, bank.n_classes(), bank.n_members()))
        })
    }

    #[pyo3(signature = (x, *, horizon="any_row"))]
    fn predictive(&self, py: Python, x: PyReadonlyArray2<f64>, horizon: &str) -> PyResult<Predictive> {
        /// From this many rows on it pays to refresh the posterior of every leaf first.
        const MANY: usize = 16;
        let x = rows(&x)?;
        let horizon = Horizon::parse(horizon).map_err(to_python)?;
        if x.len() >= MANY {
            // Refreshing changes no result; a bank that is shared is left alone.
            self.bank.refresh(py)?;
        }
        let inner = self.bank.read(py, |bank| bank::Predictive::new(Arc::clone(bank), x, horizon))?;
        Ok(Predictive { inner })
    }

    fn add_classes(&self, py: Python, n_classes: usize) -> PyResult<()> {
        self.bank.write(py, |bank, _| bank.add_classes(n_classes))
    }

    fn retire(&self, py: Python, member: usize, ix: Vec<usize>) -> PyResult<()> {
        self.bank.write(py, |bank, _| bank.retire(member, &ix))
    }

    fn rejuvenate(&self, py: Python) -> PyResult<()> {
        self.bank.write(py, |bank, _| {
            bank.rejuvenate();
            Ok(())
        })
    }

    /// Panic as a bug in the engine would, half-way through a change. For tests of what happens then.
    fn _panic(&self, py: Python) -> PyResult<()> {
        self.bank.write(py, |_, _| panic!("a panic that a test asked for"))
    }

    #[getter]
    fn sharpness(&self, py: Python) -> PyResult<f64> {
        self.bank.read(py, |bank| bank.sharpness(Horizon::NextRow))
    }

    #[pyo3(signature = (*, horizon="next_row"))]
    fn weights<'py>(&self, py: Python<'py>, horizon: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let weights = self.bank.read(py, |bank| bank.weights(Horizon::parse(horizon)?))?;
        Ok(PyArray1::from_vec(py, weights))
    }

    fn active(&self, py: Python, member: usize) -> PyResult<ActivePool> {
        self.bank.read(py, |bank| Ok(ActivePool::new(bank.member(member)?, bank.n_inputs() + bank.n_scores())))
    }

    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    fn forgetting<'py>(&self, py: Python<'py>, member: usize) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let (values, shares) = self.bank.read(py, |bank| Ok(bank.member(member)?.forgetting().into_iter().unzip()))?;
        Ok((PyArray1::from_vec(py, values), PyArray1::from_vec(py, shares)))
    }

    fn tree_stats(&self, py: Python, member: usize) -> PyResult<TreeStats> {
        self.bank.read(py, |bank| Ok(TreeStats::new(bank.member(member)?)))
    }

    fn tree(&self, py: Python, member: usize, particle: usize) -> PyResult<TreeDump> {
        self.bank.read(py, |bank| {
            let member = bank.member(member)?;
            let none = Error::NoParticle { particle, n_particles: member.n_particles() };
            Ok(TreeDump::new(&member.tree(particle).ok_or(none)?))
        })
    }

    fn split_use<'py>(&self, py: Python<'py>, member: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.bank.read(py, |bank| Ok(bank.member(member)?.split_use()))?))
    }

    fn member_config(&self, py: Python, member: usize) -> PyResult<MemberConfig> {
        self.bank.read(py, |bank| Ok(MemberConfig { inner: bank.member(member)?.config() }))
    }

    fn copy(&self, py: Python) -> PyResult<Self> {
        Ok(Self { bank: Guarded::new(self.bank.read(py, |bank| Ok(Arc::clone(bank)))?) })
    }

    fn save<'py>(&self, py: Python<'py>, meta: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let bank = self.bank.read(py, |bank| Ok(Arc::clone(bank)))?;
        let file = py.detach(|| catch(|| snapshot::save(&bank, meta))).map_err(to_python)?;
        Ok(PyBytes::new(py, &file))
    }

    #[staticmethod]
    fn load<'py>(py: Python<'py>, data: &[u8]) -> PyResult<(Self, Bound<'py, PyBytes>)> {
        let (bank, meta) = py.detach(|| catch(|| snapshot::load(data))).map_err(to_python)?;
        Ok((Self { bank: Guarded::new(Arc::new(bank)) }, PyBytes::new(py, &meta)))
    }
}

/// Predictive distributions of many rows.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Predictive {
    inner: bank::Predictive,
}

impl Predictive {
    fn compute(&self, py: Python, work: impl FnOnce(&bank::Predictive) -> Result<Vec<f64>> + Send) -> PyResult<Vec<f64>> {
        py.detach(|| catch(|| work(&self.inner))).map_err(to_python)
    }
}

#[pymethods]
impl Predictive {
    #[getter]
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    #[pyo3(signature = (n_threads=1))]
    fn mean<'py>(&self, py: Python<'py>, n_threads: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.compute(py, |p| p.mean(n_threads))?))
    }

    #[pyo3(signature = (n_threads=1))]
    #[expect(clippy::type_complexity, reason = "a pair of arrays")]
    fn var<'py>(&self, py: Python<'py>, n_threads: usize) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let moments = self.compute(py, |p| p.moments(n_threads).map(<[f64]>::to_vec))?;
        let column = |at: usize| PyArray1::from_iter(py, moments.chunks(3).map(|row| row[at]));
        Ok((column(1), column(2)))
    }

    #[pyo3(signature = (y, n_threads=1))]
    fn ln_density<'py>(&self, py: Python<'py>, y: PyReadonlyArray1<f64>, n_threads: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let y = y.as_slice()?;
        Ok(PyArray1::from_vec(py, self.compute(py, |p| p.ln_density(y, n_threads))?))
    }

    #[pyo3(signature = (y, n_threads=1))]
    fn cdf<'py>(&self, py: Python<'py>, y: PyReadonlyArray1<f64>, n_threads: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let y = y.as_slice()?;
        Ok(PyArray1::from_vec(py, self.compute(py, |p| p.cdf(y, n_threads))?))
    }

    #[pyo3(signature = (y, n_threads=1))]
    fn crps<'py>(&self, py: Python<'py>, y: PyReadonlyArray1<f64>, n_threads: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let y = y.as_slice()?;
        Ok(PyArray1::from_vec(py, self.compute(py, |p| p.crps(y, n_threads))?))
    }

    #[pyo3(signature = (levels, n_threads=1))]
    fn quantile<'py>(&self, py: Python<'py>, levels: PyReadonlyArray1<f64>, n_threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let levels = levels.as_slice()?;
        let values = self.compute(py, |p| p.quantile(levels, n_threads))?;
        Ok(table(py, values, self.inner.n_rows(), levels.len()))
    }

    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.compute(py, |p| p.sample(n, seed))?;
        Ok(table(py, values, self.inner.n_rows(), n))
    }

    #[pyo3(signature = (n_threads=1))]
    fn proba<'py>(&self, py: Python<'py>, n_threads: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.compute(py, |p| p.proba(n_threads))?;
        Ok(table(py, values, self.inner.n_rows(), self.inner.n_classes()))
    }
}
