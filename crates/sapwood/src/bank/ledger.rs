//! The state of a bank beside its members: how they are weighted, how their average is calibrated, and what has been seen.

use std::collections::VecDeque;

use super::calibration::{Calibration, CalibrationTerms};
use super::mixing::Mixing;
use crate::config::Task;
use crate::predict::ln_mix;

/// How many terms of the log evidence are kept.
pub const TRACE_LEN: usize = 4096;

/// Updated row by row from the members' forecasts alone, so that the members may be ahead of it.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub task: Task,
    pub mixing: Mixing,
    pub calibration: Calibration,
    /// The latest targets, newest first: as many as the longest lag.
    pub recent: VecDeque<f64>,
    pub n_seen: u64,
    pub ln_evidence: f64,
    /// The latest terms of the log evidence, oldest first.
    pub trace: VecDeque<f64>,
}

impl Ledger {
    pub fn new(task: Task, mixing: Mixing, n_lags: usize) -> Self {
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
        self.mixing.weights()
    }

    /// Update evidence, weights, calibration and lags with a target that was predicted with these weights and counts `weight` times. Returns
    /// the bank's `ln` predictive.
    pub fn update(&mut self, weights: &[f64], ln_densities: &[f64], terms: Option<&CalibrationTerms>, y: f64, weight: f64) -> f64 {
        let mut value = ln_mix(weights, ln_densities);
        self.mixing.update(ln_densities);
        // While the target is constant a density has no unit, and every member returns zero.
        let abstained = ln_densities.iter().all(|ln_density| *ln_density == 0.0);
        if let Some(terms) = terms.filter(|_| !abstained) {
            value += weight * terms.gain;
            self.calibration.learn(terms, weight);
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
