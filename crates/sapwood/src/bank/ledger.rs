//! What a bank keeps beside its members: how they are weighed, how their average is calibrated, and what has been seen.

use std::collections::VecDeque;

use super::calibration::{Calibration, Judged};
use super::mixing::{Mixing, TwoLevel};
use super::said::Said;
use crate::config::Task;
use crate::predict::ln_mix;

/// How many terms of the log evidence are kept.
pub const TRACE_LEN: usize = 4096;

/// Accounts are kept a row at a time and need nothing of a member but what it has said, so that members may be ahead.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub task: Task,
    pub mixing: TwoLevel,
    pub calibration: Calibration,
    /// The last targets, newest first: as many as the longest lag.
    pub recent: VecDeque<f64>,
    pub n_seen: u64,
    pub ln_evidence: f64,
    pub trace: VecDeque<f64>,
}

impl Ledger {
    /// Before anything has been seen.
    pub fn new(task: Task, mixing: TwoLevel, n_lags: usize) -> Self {
        Self {
            task,
            mixing,
            calibration: Calibration::default(),
            recent: VecDeque::from(vec![f64::NAN; n_lags]),
            n_seen: 0,
            ln_evidence: 0.0,
            trace: VecDeque::new(),
        }
    }

    /// Whether there are several members, whose average is calibrated.
    pub fn pools(&self) -> bool {
        self.mixing.n_members > 1
    }

    /// Weight of each member in the next prediction.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.mixing.n_members];
        self.mixing.weights(&mut weights);
        weights
    }

    /// What the calibration can learn from how that did.
    pub fn judge(&self, said: &mut Said, y: f64) -> Option<Judged> {
        self.calibration.judge(said, y, self.n_seen)
    }

    /// Account for one row that was predicted with these weights: evidence, weights, calibration, lags. Returns the bank's `ln` predictive.
    pub fn mix_in(&mut self, weights: &[f64], ln_densities: &[f64], judged: Option<&Judged>, y: f64, weight: f64) -> f64 {
        let mut value = ln_mix(weights, ln_densities);
        self.mixing.update(ln_densities);
        // Before the target has varied no member claims a density: there is no unit for one.
        let abstained = ln_densities.iter().all(|ln_density| *ln_density == 0.0);
        if let Some(judged) = judged.filter(|_| !abstained) {
            value += weight * judged.gain;
            self.calibration.learn(judged, weight);
        }
        if self.task == Task::Regression {
            self.calibration.widen(y);
        }
        self.n_seen += 1;
        self.ln_evidence += value;
        if self.trace.len() == TRACE_LEN {
            self.trace.pop_front();
        }
        self.trace.push_back(value);
        if !self.recent.is_empty() {
            self.recent.pop_back();
            self.recent.push_front(y);
        }
        value
    }
}
