//! Recursive least squares on the inputs and the last target, with mild forgetting.

use super::tracked::Point;
use crate::num::cholesky::{backward_solve, factor_leading, forward_solve, packed_ix, packed_len};

/// What a row leaves of the rows before it: five hundred rows' worth of memory, the best of .99 to 1 on autocorrelated streams and within
/// .005 of the best elsewhere.
const KEPT: f64 = 0.998;
/// On correlations, beside one pseudo-observation of none.
const RIDGE: f64 = 1e-3;
/// Inputs are held within this many standard deviations of their mean, and the target within twice as many, once there are enough rows.
const REACH: f64 = 4.0;
const REACH_AFTER: f64 = 32.0;
/// A fit costs the cube of the number of inputs; beyond this many it is put off for some rows, so that a row costs their square.
const FIT_AT_ONCE: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeastSquares {
    /// Fading weighted means and centred cross-products of the inputs and the target.
    pub(crate) n: f64,
    pub(crate) mean: Vec<f64>,
    pub(crate) cross: Vec<f64>,
    /// Of the inputs, in their own units.
    pub(crate) slopes: Vec<f64>,
    pub(crate) n_since_fit: u32,
}

impl LeastSquares {
    pub fn new(n_inputs: usize) -> Self {
        let dim = n_inputs + 1;
        Self { n: 0.0, mean: vec![0.0; dim], cross: vec![0.0; packed_len(dim)], slopes: vec![0.0; n_inputs], n_since_fit: 0 }
    }

    fn n_inputs(&self) -> usize {
        self.slopes.len()
    }

    fn sd(&self, i: usize) -> f64 {
        (self.cross[packed_ix(i, i)] / self.n).sqrt()
    }

    /// Distance of a value from its column's mean, held within reach; a missing value is at the mean.
    fn deviation(&self, i: usize, value: f64) -> f64 {
        let deviation = if value.is_nan() { 0.0 } else { value - self.mean[i] };
        let sd = if self.n >= REACH_AFTER { self.sd(i) } else { 0.0 };
        let reach = if i < self.n_inputs() { REACH * sd } else { 2.0 * REACH * sd };
        // A column without spread has no reach yet.
        if reach > 0.0 { deviation.clamp(-reach, reach) } else { deviation }
    }

    fn fit(&mut self) {
        let q = self.n_inputs();
        let sd: Vec<f64> = (0..=q).map(|i| self.sd(i)).collect();
        let correlation = |i: usize, j: usize| {
            let product = sd[i] * sd[j];
            if product > 0.0 { self.cross[packed_ix(i, j)] / self.n / product } else { 0.0 }
        };
        let mut factor = vec![0.0; packed_len(q)];
        for i in 0..q {
            for j in 0..i {
                factor[packed_ix(i, j)] = correlation(i, j);
            }
            factor[packed_ix(i, i)] = 1.0 + RIDGE + 1.0 / self.n;
        }
        let mut slopes: Vec<f64> = (0..q).map(|i| correlation(q, i)).collect();
        // Rounding may make correlations of huge numbers impossible; then the old slopes stand.
        if factor_leading(&mut factor, q, q) {
            forward_solve(&factor, &mut slopes);
            backward_solve(&factor, &mut slopes);
            for (i, slope) in slopes.iter_mut().enumerate() {
                *slope = if sd[i] > 0.0 { *slope * sd[q] / sd[i] } else { 0.0 };
            }
            self.slopes = slopes;
        }
        self.n_since_fit = 0;
    }
}

impl Point for LeastSquares {
    fn predict(&self, x: &[f64]) -> f64 {
        let rise: f64 = x.iter().zip(&self.slopes).enumerate().map(|(i, (value, slope))| slope * self.deviation(i, *value)).sum();
        self.mean[self.n_inputs()] + rise
    }

    fn learn(&mut self, x: &[f64], y: f64, weight: f64) {
        let deviations: Vec<f64> = x.iter().copied().chain([y]).enumerate().map(|(i, value)| self.deviation(i, value)).collect();
        let kept = libm::pow(KEPT, weight);
        self.n = kept * self.n + weight;
        let fraction = weight / self.n;
        // With the old mean's deviations, the cross-products grow by weight (1 - weight/n) delta delta'.
        let gain = weight * (1.0 - fraction);
        for (i, deviation) in deviations.iter().enumerate() {
            let row = packed_ix(i, 0);
            for (sum, other) in self.cross[row..=row + i].iter_mut().zip(&deviations) {
                *sum = kept * *sum + gain * deviation * other;
            }
            self.mean[i] += fraction * deviation;
        }
        self.n_since_fit += 1;
        if self.n_since_fit as usize > self.n_inputs() / FIT_AT_ONCE {
            self.fit();
        }
    }
}
