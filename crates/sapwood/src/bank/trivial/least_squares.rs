//! Recursive least squares on the inputs and the last target, with mild exponential forgetting.

use super::TrivialKind;
use super::tracked::PointForecast;
use crate::num::cholesky::{backward_solve, factor_leading, forward_solve, packed_ix, packed_len};

/// Forgetting factor per row: an effective memory of 500 rows. The best of 0.99 to 1 on autocorrelated streams and within 0.005 of the best
/// elsewhere.
const DECAY: f64 = 0.998;
/// Added to the diagonal of the correlation matrix, beside one pseudo-observation without correlation.
const RIDGE: f64 = 1e-3;
/// Inputs are clipped at this many standard deviations from their mean, and the target at twice as many, once there are enough rows.
const CLIP_SD: f64 = 4.0;
const CLIP_AFTER: f64 = 32.0;
/// A fit costs the cube of the number of inputs. Beyond this many inputs it is done less often, so that the cost per row is quadratic.
const FIT_EVERY_ROW: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquares {
    /// Exponentially weighted means and centred cross-products of the inputs and the target.
    pub(crate) n: f64,
    pub(crate) mean: Vec<f64>,
    pub(crate) cross: Vec<f64>,
    /// Per input, in its own units.
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

    /// Clipped deviation of a value from its column's mean; a missing value is imputed by the mean.
    fn deviation(&self, i: usize, value: f64) -> f64 {
        let deviation = if value.is_nan() { 0.0 } else { value - self.mean[i] };
        let sd = if self.n >= CLIP_AFTER { self.sd(i) } else { 0.0 };
        let limit = if i < self.n_inputs() { CLIP_SD * sd } else { 2.0 * CLIP_SD * sd };
        // A column without spread is not clipped.
        if limit > 0.0 { deviation.clamp(-limit, limit) } else { deviation }
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
        // Rounding may leave the correlations of huge numbers indefinite; the old slopes are kept then.
        if factor_leading(&mut factor, q, q) {
            forward_solve(&factor, &mut slopes);
            backward_solve(&factor, &mut slopes);
            for (i, slope) in slopes.iter_mut().enumerate() {
                *slope = if sd[i] > 0.0 { *slope * sd[q] / sd[i] } else { 0.0 };
                // Units may differ by more than numbers can hold.
                *slope = if slope.is_finite() { *slope } else { 0.0 };
            }
            self.slopes = slopes;
        }
        self.n_since_fit = 0;
    }
}

impl PointForecast for LeastSquares {
    const KIND: TrivialKind = TrivialKind::LeastSquares;

    fn predict(&self, x: &[f64]) -> f64 {
        let rise: f64 = x.iter().zip(&self.slopes).enumerate().map(|(i, (value, slope))| slope * self.deviation(i, *value)).sum();
        self.mean[self.n_inputs()] + rise
    }

    fn learn(&mut self, x: &[f64], y: f64, weight: f64) {
        let deviations: Vec<f64> = x.iter().copied().chain([y]).enumerate().map(|(i, value)| self.deviation(i, value)).collect();
        let decay = libm::pow(DECAY, weight);
        self.n = decay * self.n + weight;
        let fraction = weight / self.n;
        // With deviations from the old mean, the cross-products grow by weight (1 - weight/n) delta delta'.
        let gain = weight * (1.0 - fraction);
        for (i, deviation) in deviations.iter().enumerate() {
            let row = packed_ix(i, 0);
            for (sum, other) in self.cross[row..=row + i].iter_mut().zip(&deviations) {
                *sum = decay * *sum + gain * deviation * other;
            }
            self.mean[i] += fraction * deviation;
        }
        self.n_since_fit += 1;
        if self.n_since_fit as usize > self.n_inputs() / FIT_EVERY_ROW {
            self.fit();
        }
    }
}
