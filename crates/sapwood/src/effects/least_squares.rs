//! Recursive least squares with a unit-information prior, for several targets at the same inputs.

use crate::num::cholesky::{packed_ix, packed_len};

/// Prior variance of the intercept, in units of the variance of the noise. That of the other coefficients is 1.
const INTERCEPT_VARIANCE: f64 = 1e3;

#[derive(Clone, Debug)]
pub struct LeastSquares {
    pub(crate) n_terms: usize,
    pub(crate) n_outputs: usize,
    /// The covariance of the coefficients in units of the variance of the noise, a packed triangle.
    pub(crate) covariance: Vec<f64>,
    /// (terms, outputs)
    pub(crate) coefficients: Vec<f64>,
}

impl LeastSquares {
    pub fn new(n_terms: usize, n_outputs: usize) -> Self {
        let mut fit = Self { n_terms: 0, n_outputs, covariance: Vec::new(), coefficients: Vec::new() };
        fit.widen(n_terms);
        fit.covariance[0] = INTERCEPT_VARIANCE;
        fit
    }

    /// Add terms that no row had so far.
    pub fn widen(&mut self, n_more: usize) {
        for _ in 0..n_more {
            self.n_terms += 1;
            self.covariance.resize(packed_len(self.n_terms), 0.0);
            if let Some(variance) = self.covariance.last_mut() {
                *variance = 1.0;
            }
        }
        self.coefficients.resize(self.n_terms * self.n_outputs, 0.0);
    }

    pub fn predictor(&self, terms: &[(usize, f64)], output: usize) -> f64 {
        terms.iter().map(|&(ix, value)| value * self.coefficients[ix * self.n_outputs + output]).sum()
    }

    /// The product of the covariance and a row.
    fn gains(&self, terms: &[(usize, f64)]) -> Vec<f64> {
        let covariance = |i: usize, j: usize| self.covariance[packed_ix(i.max(j), i.min(j))];
        (0..self.n_terms).map(|i| terms.iter().map(|&(j, value)| value * covariance(i, j)).sum()).collect()
    }

    /// The variance of a row's predictor, in units of that of the noise.
    pub fn variance(&self, terms: &[(usize, f64)]) -> f64 {
        let gains = self.gains(terms);
        terms.iter().map(|&(ix, value)| value * gains[ix]).sum::<f64>().max(0.0)
    }

    /// Learn a row whose predictors were off by `errors`, `precision` being that of its noise.
    pub fn learn(&mut self, terms: &[(usize, f64)], errors: &[f64], precision: f64, weight: f64) {
        let gains = self.gains(terms);
        let variance = terms.iter().map(|&(ix, value)| value * gains[ix]).sum::<f64>().max(0.0);
        let scale = 1.0 / (1.0 / (precision * weight) + variance);
        for (i, gain) in gains.iter().enumerate() {
            let step = gain * scale;
            for (coefficient, error) in self.coefficients[i * self.n_outputs..].iter_mut().zip(errors) {
                *coefficient += step * error;
            }
            let start = packed_ix(i, 0);
            for (entry, other) in self.covariance[start..=start + i].iter_mut().zip(&gains) {
                *entry -= step * other;
            }
        }
    }
}
