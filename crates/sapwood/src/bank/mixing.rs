//! How the members of a bank are weighted: by recent predictive likelihood, at several rates of forgetting, mixed again.

use crate::num::{exp, ln, ln_sum_exp};

/// Weights `w_k <- w_k^phi * density_k` at several `phi`. The mixtures these weights give are weighted by the same rule at a rate of their own,
/// so that no `phi` has to be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    pub(crate) rates: Vec<f64>,
    pub(crate) top_rate: f64,
    pub(crate) n_members: usize,
    /// Normalised `ln w`, one row per rate.
    pub(crate) ln_weights: Vec<f64>,
    pub(crate) ln_top: Vec<f64>,
}

pub const DEFAULT_RATES: [f64; 4] = [0.8, 0.95, 0.99, 0.999];
pub const DEFAULT_TOP_RATE: f64 = 0.99;

impl Mixing {
    pub fn new(rates: &[f64], top_rate: f64, n_members: usize) -> Self {
        Self {
            rates: rates.to_vec(),
            top_rate,
            n_members,
            ln_weights: vec![-ln(n_members as f64); rates.len() * n_members],
            ln_top: vec![-ln(rates.len() as f64); rates.len()],
        }
    }

    /// The weights of the members at these places among themselves.
    pub fn restricted(&self, places: &[usize]) -> Self {
        let mut ln_weights = Vec::new();
        for row in self.ln_weights.chunks(self.n_members) {
            let mut own: Vec<f64> = places.iter().map(|&place| row[place]).collect();
            // None of them may have any weight left.
            if own.iter().all(|weight| *weight == f64::NEG_INFINITY) {
                own.fill(0.0);
            }
            normalise(&mut own);
            ln_weights.extend(own);
        }
        Self { n_members: places.len(), ln_weights, ..self.clone() }
    }

    /// Weights for the next prediction; they sum to 1.
    pub fn weights(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.n_members];
        for (row, ln_top) in self.ln_weights.chunks(self.n_members).zip(&self.ln_top) {
            for (weight, ln_weight) in out.iter_mut().zip(row) {
                *weight += exp(ln_top + ln_weight);
            }
        }
        // The logarithms are normalised only up to rounding.
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|weight| *weight /= total);
        out
    }

    /// Learn from the `ln` predictive density that each member gave to the target.
    pub fn update(&mut self, ln_densities: &[f64]) {
        /// A lower density counts as this, so that the logarithms of the weights stay finite however many rows are so surprising.
        const LOWEST: f64 = -1e280;
        let ln_densities = ln_densities.iter().map(|ln_density| ln_density.max(LOWEST));
        for ((row, rate), ln_top) in self.ln_weights.chunks_mut(self.n_members).zip(&self.rates).zip(&mut self.ln_top) {
            let forecast = ln_sum_exp(row.iter().zip(ln_densities.clone()).map(|(w, d)| w + d));
            *ln_top = *ln_top * self.top_rate + forecast;
            for (weight, density) in row.iter_mut().zip(ln_densities.clone()) {
                *weight = *weight * rate + density;
            }
            normalise(row);
        }
        normalise(&mut self.ln_top);
    }
}

fn normalise(ln_weights: &mut [f64]) {
    /// Logarithms beyond this would lose the digits that tell normalised weights from others.
    const FAR: f64 = 1e6;
    let mut total = ln_sum_exp(ln_weights.iter().copied());
    if total.abs() > FAR {
        let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        ln_weights.iter_mut().for_each(|weight| *weight -= largest);
        total = ln_sum_exp(ln_weights.iter().copied());
    }
    for weight in ln_weights {
        *weight -= total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rate_follows_the_rule_as_written() {
        let phi = 0.9;
        let mut mixing = Mixing::new(&[phi], 0.98, 3);
        let mut expected = [1.0 / 3.0_f64; 3];
        for step in 0..50 {
            let densities = [0.5, 0.1 + 0.01 * f64::from(step), 0.4];
            mixing.update(&densities.map(f64::ln));
            for (w, d) in expected.iter_mut().zip(densities) {
                *w = w.powf(phi) * d;
            }
            let total: f64 = expected.iter().sum();
            expected.iter_mut().for_each(|w| *w /= total);
            for (got, want) in mixing.weights().iter().zip(expected) {
                assert!((got - want).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn a_member_far_behind_comes_back() {
        let mut mixing = Mixing::new(&DEFAULT_RATES, DEFAULT_TOP_RATE, 2);
        for _ in 0..5000 {
            mixing.update(&[0.0, -1000.0]);
        }
        assert!(mixing.weights()[1] < 1e-12);
        for _ in 0..200 {
            mixing.update(&[-1000.0, 0.0]);
        }
        assert!(mixing.weights()[1] > 0.99);
    }

    #[test]
    fn equal_members_stay_equal() {
        let mut mixing = Mixing::new(&DEFAULT_RATES, DEFAULT_TOP_RATE, 4);
        for step in 0..100 {
            mixing.update(&[-f64::from(step); 4]);
        }
        assert!(mixing.weights().iter().all(|w| (w - 0.25).abs() < 1e-12));
    }
}
