//! Predictive distributions of many rows, computed lazily.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::account::{Account, Horizon};
use super::member::Forecaster;
use super::{Bank, ClassificationMember, Member, Members, RegressionMember, Rows, check_levels, workers};
use crate::cloud::{ForecastScratch, RowWalk};
use crate::config::{Named, Task};
use crate::error::{Error, Result};
use crate::num::ln;
use crate::predict::{Mixture, Solver};
use crate::rng::{Purpose, Stream};

/// The predictive at each row of a table, as of the time of its creation. It shares the bank, which is copied on write if it learns while a
/// distribution is still held.
#[derive(Clone, Debug)]
pub struct Predictive {
    bank: Arc<Bank>,
    horizon: Horizon,
    x: Vec<f64>,
    /// Cached (rows, 3): mean, variance, and the epistemic part of the variance.
    moments: OnceLock<Vec<f64>>,
}

impl Predictive {
    /// An error if every member needs the last target and the rows may be any.
    pub fn new(bank: Arc<Bank>, x: Rows, horizon: Horizon) -> Result<Self> {
        bank.check_inputs(&x)?;
        bank.ledger.account(horizon)?;
        Ok(Self { x: bank.with_scores(&x), bank, horizon, moments: OnceLock::new() })
    }

    pub fn n_rows(&self) -> usize {
        self.x.len() / self.bank.width()
    }

    pub fn n_classes(&self) -> usize {
        self.bank.n_classes
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(&self.x, self.bank.width())
    }

    fn wrong_task(&self, what: &'static str, needs: Task) -> Error {
        Error::WrongTask { what, needs: needs.name(), task: self.bank.task().name() }
    }

    /// The members of a regression bank; `what` is what was asked for.
    fn regression(&self, what: &'static str) -> Result<&[RegressionMember]> {
        match &self.bank.members {
            Members::Regression(members) => Ok(members),
            Members::Classification(_) => Err(self.wrong_task(what, Task::Regression)),
        }
    }

    /// Values to evaluate the distribution at may be infinite, but not NaN.
    fn check_values(&self, y: &[f64]) -> Result<()> {
        if y.len() != self.n_rows() {
            return Err(Error::WrongLength { what: "y", given: y.len(), expected: self.n_rows() });
        }
        match y.iter().position(|value| value.is_nan()) {
            Some(row) => Err(Error::BadTarget { row, value: y[row] }),
            None => Ok(()),
        }
    }

    fn account(&self) -> &Account {
        self.bank.ledger.account(self.horizon).expect("checked when the distribution was made")
    }

    /// Append the inputs that a member sees after the stream so far.
    fn extend_inputs(&self, member: &dyn Member, x: &[f64], inputs: &mut Vec<f64>) {
        inputs.extend_from_slice(x);
        inputs.extend(self.bank.ledger.recent.iter().take(member.lags()));
    }

    /// The calibrated mixtures of some rows.
    fn mixtures(&self, members: &[RegressionMember], weights: &[f64], rows: Range<usize>) -> Vec<Mixture> {
        let x = self.rows().slice(rows);
        let (mut walk, mut mixtures) = (RowWalk::default(), vec![Mixture::default(); x.len()]);
        let mut inputs = Vec::new();
        let account = self.account();
        for (member, weight) in account.members.iter().map(|&ix| &members[ix]).zip(weights) {
            inputs.clear();
            for row in 0..x.len() {
                self.extend_inputs(member.member(), x.row(row), &mut inputs);
            }
            member.add_components_of_rows(&inputs, *weight, &mut walk, &mut mixtures);
        }
        if account.averages() {
            let n_seen = self.bank.ledger.n_seen;
            mixtures.iter_mut().for_each(|mixture| account.calibration.apply_to_mixture(mixture, n_seen));
        }
        mixtures
    }

    /// `width` values per row, computed from its mixture.
    fn by_mixture(
        &self,
        members: &[RegressionMember],
        width: usize,
        n_threads: usize,
        f: impl Fn(usize, &Mixture, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let mut out = vec![0.0; self.n_rows() * width];
        let weights = self.account().weights();
        workers::for_row_blocks(&mut out, width, n_threads, |first, block| {
            let mixtures = self.mixtures(members, &weights, first..first + block.len() / width);
            for (at, (values, mixture)) in block.chunks_mut(width).zip(&mixtures).enumerate() {
                f(first + at, mixture, values);
            }
        });
        out
    }

    /// (rows, classes)
    fn class_probabilities(&self, members: &[ClassificationMember], n_threads: usize) -> Vec<f64> {
        let width = self.bank.n_classes;
        let mut out = vec![0.0; self.n_rows() * width];
        let account = self.account();
        let weights = account.weights();
        workers::for_row_blocks(&mut out, width, n_threads, |first, block| {
            let (mut scratch, mut inputs) = (ForecastScratch::default(), Vec::new());
            for (at, proba) in block.chunks_mut(width).enumerate() {
                for (member, weight) in account.members.iter().map(|&ix| &members[ix]).zip(&weights) {
                    inputs.clear();
                    self.extend_inputs(member.member(), self.rows().row(first + at), &mut inputs);
                    member.add_class_probabilities(&inputs, *weight, &mut scratch, proba);
                }
                if account.averages() {
                    account.calibration.apply_to_classes(proba);
                }
            }
        });
        out
    }

    pub fn mean(&self, n_threads: usize) -> Result<Vec<f64>> {
        let members = self.regression("a mean")?;
        Ok(self.moments_with(members, n_threads).iter().step_by(3).copied().collect())
    }

    /// (rows, 3): mean, variance, and the epistemic part of the variance. Cached, since callers mostly need more than one of them.
    pub fn moments(&self, n_threads: usize) -> Result<&[f64]> {
        let members = self.regression("a variance")?;
        Ok(self.moments_with(members, n_threads))
    }

    fn moments_with(&self, members: &[RegressionMember], n_threads: usize) -> &[f64] {
        if let Some(moments) = self.moments.get() {
            return moments;
        }
        // Outside `get_or_init`, in which a forked child would wait for a thread that it does not have. Two threads may both compute
        // the same values.
        let moments = self.by_mixture(members, 3, n_threads, |_, mixture, out| {
            let moments = mixture.moments();
            out.copy_from_slice(&[moments.mean, moments.variance(), moments.epistemic()]);
        });
        self.moments.get_or_init(|| moments)
    }

    /// `ln` density of a target for each row (classification: `ln` probability of a class).
    pub fn ln_density(&self, y: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        match &self.bank.members {
            Members::Regression(members) => {
                self.check_values(y)?;
                Ok(self.by_mixture(members, 1, n_threads, |row, mixture, out| out[0] = mixture.ln_density(y[row])))
            }
            Members::Classification(members) => {
                self.bank.check_targets(y, self.n_rows(), false)?;
                let proba = self.class_probabilities(members, n_threads);
                let ln_probability = |(row, class): (usize, &f64)| ln(proba[row * self.bank.n_classes + *class as usize]);
                Ok(y.iter().enumerate().map(ln_probability).collect())
            }
        }
    }

    pub fn cdf(&self, y: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        let members = self.regression("a distribution function")?;
        self.check_values(y)?;
        Ok(self.by_mixture(members, 1, n_threads, |row, mixture, out| out[0] = mixture.cdf(y[row])))
    }

    pub fn crps(&self, y: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        let members = self.regression("a CRPS")?;
        self.check_values(y)?;
        Ok(self.by_mixture(members, 1, n_threads, |row, mixture, out| out[0] = mixture.crps(y[row])))
    }

    /// (rows, levels)
    pub fn quantile(&self, levels: &[f64], n_threads: usize) -> Result<Vec<f64>> {
        let members = self.regression("a quantile")?;
        check_levels(levels)?;
        if levels.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.by_mixture(members, levels.len(), n_threads, |_, mixture, out| {
            let solver = Solver::new(mixture);
            out.iter_mut().zip(levels).for_each(|(value, level)| *value = solver.quantile(*level));
        }))
    }

    /// (rows, classes)
    pub fn proba(&self, n_threads: usize) -> Result<Vec<f64>> {
        match &self.bank.members {
            Members::Classification(members) => Ok(self.class_probabilities(members, n_threads)),
            Members::Regression(_) => Err(self.wrong_task("a class probability", Task::Classification)),
        }
    }

    /// (rows, n) draws; class indices for classification.
    pub fn sample(&self, n: usize, seed: u64) -> Result<Vec<f64>> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let stream = |row: usize| Stream::new(seed, row as u64, 0, Purpose::Sample);
        Ok(match &self.bank.members {
            Members::Regression(members) => self.by_mixture(members, n, 1, |row, mixture, out| {
                let mut stream = stream(row);
                out.iter_mut().for_each(|value| *value = mixture.sample(&mut stream));
            }),
            Members::Classification(members) => {
                let mut out = Vec::with_capacity(self.n_rows() * n);
                for (row, proba) in self.class_probabilities(members, 1).chunks(self.bank.n_classes).enumerate() {
                    let mut stream = stream(row);
                    out.extend((0..n).map(|_| sample_class(proba, &mut stream) as f64));
                }
                out
            }
        })
    }
}

fn sample_class(proba: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.uniform();
    let chosen = proba.iter().position(|p| {
        left -= p;
        left < 0.0
    });
    // Rounding may leave the sum just below one.
    chosen.unwrap_or(proba.len() - 1)
}
