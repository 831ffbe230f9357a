//! Statistical and exact tests of a filter, written against a trait so that the same test runs on the slow particle
//! filter (clean or faulty) and on the engine.
//!
//! A check computes one number and the limit that it must not exceed. Replicates are independent clouds, never particles of one
//! cloud. Statistical limits are six standard errors: 2e-9 for one comparison of a normal mean, and no check makes more
//! than 500, so a false alarm has probability below 1e-6.

mod bookkeeping;
mod distribution;
mod evidence;
mod problem;
mod randomness;

pub use problem::{Problem, problems};

use crate::settings::Settings;
use crate::tree::{Split, Tree};

/// Mass of a leaf: number of active points and total weight of the retired ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafMass {
    pub active: f64,
    pub retired: f64,
}

/// A particle filter of dynamic trees.
pub trait Filter {
    /// Learns one point: weigh, resample, propagate, retire while the pool is over its limit.
    fn observe(&mut self, x: &[f64], y: f64);

    /// Sum over steps of the log of the mean weight.
    fn ln_evidence(&self) -> f64;

    /// Log predictive density (or class probability) of the cloud.
    fn ln_predictive(&self, x: &[f64], y: f64) -> f64;

    /// The tree of every particle, with the mass of each leaf.
    fn trees(&self) -> Vec<Tree<Split, LeafMass>>;

    /// The forgetting factor of every particle.
    fn forgetting(&self) -> Vec<f64>;

    /// The active pool, oldest first.
    fn active(&self) -> Vec<(Vec<f64>, f64)>;

    /// Retires the oldest active point from every particle, whatever the size of the pool.
    fn retire_oldest(&mut self);

    /// A copy restored from its saved form.
    fn saved_and_restored(&self) -> Self;
}

/// Creates filters.
pub trait Bench {
    type Filter: Filter;

    fn start(&self, seed: u64, n_particles: usize, settings: &Settings) -> Self::Filter;
}

/// The value measured by a check, and the largest value that passes.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub value: f64,
    pub limit: f64,
}

impl Outcome {
    /// NaN does not pass.
    pub fn passed(&self) -> bool {
        self.value <= self.limit
    }
}

/// Largest deviation in standard errors that a statistical check accepts.
const SIX_SIGMA: f64 = 6.0;

/// Largest difference that rounding may cause where two numbers are equal in exact arithmetic: sums of at most a few
/// hundred terms of order one.
const ROUNDING: f64 = 1e-9;

/// One check.
pub struct Check<B: Bench> {
    pub name: &'static str,
    /// What is true of a correct filter.
    pub null: &'static str,
    /// What is measured.
    pub statistic: &'static str,
    /// Bound on the probability that a correct filter fails.
    pub false_alarm: f64,
    /// Runs the check; the second argument multiplies the number of clouds where there are replicates.
    pub run: fn(&B, u64) -> Outcome,
}

/// Every check.
pub fn checks<B: Bench>() -> Vec<Check<B>> {
    let mut checks = evidence::checks();
    checks.extend(distribution::checks());
    checks.extend(bookkeeping::checks());
    checks.extend(randomness::checks());
    checks
}

/// Mean of the sample in units of its standard error, given the mean it should have. A constant sample that is correct up to
/// rounding gives 0.
fn standard_errors(sample: &[f64], expected: f64) -> f64 {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if (mean - expected).abs() <= ROUNDING { 0.0 } else { (mean - expected).abs() / (variance / n).sqrt() }
}

/// A seed for replicate `replicate` of the check called `name`.
fn seed(name: &str, replicate: u64) -> u64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    hash.wrapping_add(replicate)
}

/// The largest of the values; NaN if any is NaN.
fn worst(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |worst: f64, value| if worst.is_nan() || value <= worst { worst } else { value })
}
