//! Accounts: how members are weighted and how their average is calibrated, for one kind of forecast.

use super::calibration::{Calibration, CalibrationTerms};
use super::member_forecast::MemberForecast;
use super::mixing::Mixing;
use crate::config::{Task, named};
use crate::predict::ln_mix;

named!(
    /// How far ahead a forecast is.
    Horizon, "horizon",
    /// The row after the last one learned: the last targets are known.
    NextRow = "next_row",
    /// A row at any distance from the last one learned: no target is known.
    AnyRow = "any_row",
);

/// The weights and the calibration of the members that can make a forecast.
#[derive(Clone, Debug)]
pub struct Account {
    /// Positions in the bank, increasing.
    pub members: Vec<usize>,
    pub mixing: Mixing,
    pub calibration: Calibration,
}

/// The weights of a forecast, and what its target tells the calibration.
pub(crate) struct Outcome {
    pub weights: Vec<f64>,
    /// None if there is nothing to calibrate.
    pub terms: Option<CalibrationTerms>,
}

impl Account {
    pub fn new(members: Vec<usize>, rates: &[f64], top_rate: f64) -> Self {
        let mixing = Mixing::new(rates, top_rate, members.len());
        Self { members, mixing, calibration: Calibration::default() }
    }

    /// The account that some of the members get when a model file has none for them: their present weights, and nothing known about their
    /// average but the range of the targets.
    pub fn restricted(&self, members: Vec<usize>) -> Self {
        let places: Vec<usize> = self.members.iter().enumerate().filter(|(_, ix)| members.contains(ix)).map(|(place, _)| place).collect();
        let Calibration { lowest, highest, .. } = self.calibration;
        Self { members, mixing: self.mixing.restricted(&places), calibration: Calibration { lowest, highest, ..Calibration::default() } }
    }

    /// Whether there are several members, whose average is calibrated.
    pub fn averages(&self) -> bool {
        self.members.len() > 1
    }

    /// Weight of each of the members in the next prediction.
    pub fn weights(&self) -> Vec<f64> {
        self.mixing.weights()
    }

    /// The weighted average of the members' forecasts, not yet calibrated. None where the forecasts are missing.
    pub fn average<'a, F: MemberForecast + 'a>(&self, weights: &[f64], forecast_of: impl Fn(usize) -> Option<&'a F>) -> Option<F> {
        F::pooled(self.members.iter().filter_map(|&ix| forecast_of(ix)), weights)
    }

    /// What a target tells about the members' average, from their forecasts of its row.
    pub fn outcome<'a, F: MemberForecast + 'a>(&self, forecast_of: impl Fn(usize) -> Option<&'a F>, y: f64, n_seen: u64) -> Outcome {
        let weights = self.weights();
        let average = if self.averages() { self.average(&weights, forecast_of) } else { None };
        let terms = average.and_then(|mut average| average.calibration_terms(&self.calibration, y, n_seen));
        Outcome { weights, terms }
    }

    /// Learn from a target that counts `weight` times. `ln_densities` are those that all members of the bank gave to it. Returns `ln` of the
    /// predictive, times the weight.
    pub fn learn(&mut self, task: Task, outcome: &Outcome, ln_densities: &[f64], y: f64, weight: f64) -> f64 {
        let ln_densities: Vec<f64> = self.members.iter().map(|&ix| ln_densities[ix]).collect();
        let mut value = ln_mix(&outcome.weights, &ln_densities);
        self.mixing.update(&ln_densities);
        // While the target is constant a density has no unit, and every member returns zero.
        let abstained = ln_densities.iter().all(|ln_density| *ln_density == 0.0);
        if let Some(terms) = outcome.terms.as_ref().filter(|_| !abstained) {
            value += weight * terms.gain;
            self.calibration.learn(terms, weight);
        }
        if task == Task::Regression {
            self.calibration.widen(y);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bank::member_forecast::ClassProbabilities;
    use crate::bank::{DEFAULT_RATES, DEFAULT_TOP_RATE};

    /// The rule of the weights as written, in powers and products, for members 0 and 2 of three. Fails if an account looks at the wrong
    /// members, or weighs their forecasts in another order than it learns from them.
    #[test]
    fn an_account_of_some_members_follows_the_rule_for_them_alone() {
        let mut account = Account::new(vec![0, 2], &DEFAULT_RATES, DEFAULT_TOP_RATE);
        let mut slow = [[0.5; 2]; 4];
        let mut top = [0.25; 4];
        for step in 0..60 {
            let p = [0.3 + 0.005 * f64::from(step), 0.99, 0.6 - 0.004 * f64::from(step % 17)];
            let forecasts = p.map(|p| ClassProbabilities(vec![1.0 - p, p]));
            let weights = [0, 1].map(|k| (0..4).map(|j| top[j] * slow[j][k]).sum::<f64>());
            let average = account.average(&account.weights(), |ix| forecasts.get(ix)).expect("two members");
            assert!((average.0[1] - (weights[0] * p[0] + weights[1] * p[2])).abs() < 1e-12, "step {step}");

            let outcome = account.outcome(|ix| forecasts.get(ix), 1.0, step as u64);
            account.learn(Task::Classification, &outcome, &p.map(f64::ln), 1.0, 1.0);
            for (j, rate) in DEFAULT_RATES.into_iter().enumerate() {
                top[j] = top[j].powf(DEFAULT_TOP_RATE) * (slow[j][0] * p[0] + slow[j][1] * p[2]);
                slow[j] = [slow[j][0].powf(rate) * p[0], slow[j][1].powf(rate) * p[2]];
                let sum = slow[j][0] + slow[j][1];
                slow[j] = slow[j].map(|w| w / sum);
            }
            let sum: f64 = top.iter().sum();
            top = top.map(|v| v / sum);
        }
    }

    #[test]
    fn a_restricted_account_keeps_the_proportions() {
        let mut account = Account::new(vec![0, 1, 2], &[0.9], 0.99);
        for _ in 0..5 {
            account.mixing.update(&[0.7_f64.ln(), 0.5_f64.ln(), 0.4_f64.ln()]);
        }
        let (all, some) = (account.weights(), account.restricted(vec![0, 2]).weights());
        assert!((some[0] / some[1] - all[0] / all[2]).abs() < 1e-12 && (some.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
