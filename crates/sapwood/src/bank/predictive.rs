//! Predictive distributions of many rows, computed when asked.

use std::sync::{Arc, OnceLock};

use super::{Bank, Rows, check_levels, workers};
use crate::cloud::{ForecastScratch, RowWalk};
use crate::config::Task;
use crate::error::{Error, Result};
use crate::predict::{Mixture, Solver};
use crate::rng::{Purpose, Stream};

/// The predictive at each row of a table, as of the moment it was asked for. It shares the bank as it stood; a bank that goes on learning
/// copies itself first if a distribution is still held.
#[derive(Clone, Debug)]
pub struct Predictive {
    bank: Arc<Bank>,
    x: Vec<f64>,
    /// (rows, 3): mean, variance, and the part of the variance due to not knowing the model, once they have been asked for.
    moments: OnceLock<Vec<f64>>,
}

impl Predictive {
    pub fn new(bank: Arc<Bank>, x: Rows) -> Result<Self> {
        bank.check_inputs(&x)?;
        Ok(Self { x: x.values.to_vec(), bank, moments: OnceLock::new() })
    }

    pub fn n_rows(&self) -> usize {
        self.x.len() / self.bank.n_inputs
    }

    pub fn n_classes(&self) -> usize {
        self.bank.n_classes
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(&self.x, self.bank.n_inputs)
    }

    fn need(&self, task: Task, what: &'static str) -> Result<()> {
        if self.bank.task() == task {
            return Ok(());
        }
        Err(Error::WrongTask { what, needs: task.name(), task: self.bank.task().name() })
    }

    /// Values that are asked about may lie anywhere; only what is not a number has no answer.
    fn check_asked(&self, y: &[f64]) -> Result<()> {
        if y.len() != self.n_rows() {
            return Err(Error::WrongLength { what: "y", given: y.len(), expected: self.n_rows() });
        }
        match y.iter().position(|value| value.is_nan()) {
            Some(row) => Err(Error::BadTarget { row, value: y[row] }),
            None => Ok(()),
        }
    }

    /// `width` values for each row from its mixture.
    fn by_mixture(&self, width: usize, n_threads: usize, f: impl Fn(usize, &Mixture, &mut [f64]) + Sync) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows() * width];
        let weights = self.bank.weights();
        workers::for_row_blocks(&mut out, width, n_threads, |first, block| {
            let n_rows = block.len() / width;
            let (mut walk, mut mixtures) = (RowWalk::default(), vec![Mixture::default(); n_rows]);
            self.bank.mixtures(self.rows().slice(first..first + n_rows), &weights, &mut walk, &mut mixtures);
            for (at, (values, mixture)) in block.chunks_mut(width).zip(&mixtures).enumerate() {
                f(first + at, mixture, values);
            }
        });
        out
    }

    pub fn mean(&self, n_threads: usize) -> Result<Vec<f64>> {
        self.need(Task::Regression, "a mean")?;
        Ok(self.moments(n_threads)?.iter().step_by(3).copied().collect())
    }

    /// (rows, 3): mean, variance, and the part of the variance due to not knowing the model. Computed once: who asks for one of them mostly
    /// asks for another.
    pub fn moments(&self, n_threads: usize) -> Result<&[f64]> {
        self.need(Task::Regression, "a variance")?;
        let compute = || {
            self.by_mixture(3, n_threads, |_, mixture, out| {
                let moments = mixture.moments();
                out.copy_from_slice(&[moments.mean, moments.variance(), moments.epistemic()]);
            })
        };
        Ok(self.moments.get_or_init(compute))
    }

    /// `ln` density of a target for each row (classification: `ln` probability of a class).
    pub fn ln_density(&self, y: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        if self.bank.task() == Task::Regression {
            self.check_asked(y)?;
            return Ok(self.by_mixture(1, n_threads, |row, mixture, out| out[0] = mixture.ln_density(y[row])));
        }
        self.bank.check_targets(y, self.n_rows(), false)?;
        let proba = self.proba(n_threads)?;
        Ok(y.iter().enumerate().map(|(row, class)| crate::num::ln(proba[row * self.bank.n_classes + *class as usize])).collect())
    }

    pub fn cdf(&self, y: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        self.need(Task::Regression, "a distribution function")?;
        self.check_asked(y)?;
        Ok(self.by_mixture(1, n_threads, |row, mixture, out| out[0] = mixture.cdf(y[row])))
    }

    pub fn crps(&self, y: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        self.need(Task::Regression, "a CRPS")?;
        self.check_asked(y)?;
        Ok(self.by_mixture(1, n_threads, |row, mixture, out| out[0] = mixture.crps(y[row])))
    }

    /// (rows, levels)
    pub fn quantile(&self, levels: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        self.need(Task::Regression, "a quantile")?;
        check_levels(levels)?;
        if levels.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.by_mixture(levels.len(), n_threads, |_, mixture, out| {
            let solver = Solver::new(mixture);
            out.iter_mut().zip(levels).for_each(|(value, level)| *value = solver.quantile(*level));
        }))
    }

    /// (rows, classes)
    pub fn proba(&self, n_threads: usize) -> Result<Vec<f64>> {
        self.need(Task::Classification, "a class probability")?;
        let width = self.bank.n_classes;
        let mut out = vec![0.0; self.n_rows() * width];
        let weights = self.bank.weights();
        workers::for_row_blocks(&mut out, width, n_threads, |first, block| {
            let mut groups = ForecastScratch::default();
            for (at, values) in block.chunks_mut(width).enumerate() {
                self.bank.class_probabilities(self.rows().row(first + at), &weights, &mut groups, values);
            }
        });
        Ok(out)
    }

    /// (rows, n) draws; class indices for classification.
    pub fn sample(&self, n: usize, seed: u64) -> Result<Vec<f64>> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let stream = |row: usize| Stream::new(seed, row as u64, 0, Purpose::Sample);
        if self.bank.task() == Task::Regression {
            return Ok(self.by_mixture(n, 1, |row, mixture, out| {
                let mut stream = stream(row);
                out.iter_mut().for_each(|value| *value = mixture.sample(&mut stream));
            }));
        }
        let n_classes = self.bank.n_classes;
        let proba = self.proba(1)?;
        let mut out = Vec::with_capacity(self.n_rows() * n);
        for (row, own) in proba.chunks(n_classes).enumerate() {
            let mut stream = stream(row);
            out.extend((0..n).map(|_| {
                let mut left = stream.uniform();
                let chosen = own.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                chosen.unwrap_or(n_classes - 1) as f64
            }));
        }
        Ok(out)
    }
}
