//! The statistics of a Gaussian leaf: packed moments of `[1, v]` about the leaf's origin, where `v = [x, y]` are the values of a point.
//!
//! Values are numbered from 0: the regressors, then the target.

use crate::leaf::N_POINTS;
use crate::num::cholesky::packed_ix;

/// Position of the sum of value `i`.
#[inline(always)]
pub const fn sum_ix(i: usize) -> usize {
    packed_ix(i + 1, 0)
}

/// Position of the sum of products of values `i >= j`.
#[inline(always)]
pub const fn product_ix(i: usize, j: usize) -> usize {
    packed_ix(i + 1, j + 1)
}

/// A vector of statistics, read by name.
#[derive(Clone, Copy)]
pub struct Moments<'a>(pub &'a [f64]);

impl Moments<'_> {
    /// The effective number of points.
    #[inline(always)]
    pub fn n(self) -> f64 {
        self.0[N_POINTS]
    }

    #[inline(always)]
    pub fn sum(self, i: usize) -> f64 {
        self.0[sum_ix(i)]
    }

    #[inline(always)]
    pub fn sum_of_squares(self, i: usize) -> f64 {
        self.sum_of_products(i, i)
    }

    /// Of values `i` and `j` in any order.
    #[inline(always)]
    pub fn sum_of_products(self, i: usize, j: usize) -> f64 {
        self.0[product_ix(i.max(j), i.min(j))]
    }

    /// Relative to the origin.
    #[inline(always)]
    pub fn mean(self, i: usize) -> f64 {
        self.sum(i) / self.n()
    }

    #[inline(always)]
    pub fn variance(self, i: usize) -> f64 {
        let mean = self.mean(i);
        self.sum_of_squares(i) / self.n() - mean * mean
    }
}

/// Add a point `weight` times.
#[inline(always)]
pub fn add_point(stats: &mut [f64], origin: &[f64], point: &[f64], weight: f64) {
    stats[N_POINTS] += weight;
    // The rows of the triangle lie one after the other.
    let mut row = sum_ix(0);
    for i in 0..point.len() {
        let scaled = weight * (point[i] - origin[i]);
        stats[row] += scaled;
        for (s, (v, o)) in stats[row + 1..row + 2 + i].iter_mut().zip(point.iter().zip(origin)) {
            *s += scaled * (v - o);
        }
        row += i + 2;
    }
}

/// Make these the moments of `n` points with this mean and covariance; `covariance` is called with `i >= j`.
#[inline(always)]
pub fn set(stats: &mut [f64], n: f64, mean: &[f64], covariance: impl Fn(usize, usize) -> f64) {
    stats[N_POINTS] = n;
    for i in 0..mean.len() {
        stats[sum_ix(i)] = n * mean[i];
        for j in 0..=i {
            stats[product_ix(i, j)] = n * (covariance(i, j) + mean[i] * mean[j]);
        }
    }
}

/// Re-centre moments about `from` on `to`.
pub fn shift(stats: &mut [f64], from: &[f64], to: &[f64]) {
    let n = stats[N_POINTS];
    // Last to first, so that the sums are read before they change.
    for i in (0..from.len()).rev() {
        let delta_i = from[i] - to[i];
        for j in (0..=i).rev() {
            let delta_j = from[j] - to[j];
            stats[product_ix(i, j)] += delta_i * stats[sum_ix(j)] + delta_j * stats[sum_ix(i)] + delta_i * delta_j * n;
        }
        stats[sum_ix(i)] += delta_i * n;
    }
}
