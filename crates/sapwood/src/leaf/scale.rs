//! Running second moments of the whole stream, which set the units of the default prior.

use super::{MAX_MEAN, MAX_SQUARE, MAX_TOTAL_WEIGHT};
use crate::num::cholesky::{packed_ix, packed_len};

/// Weighted means and centred cross-products of the inputs (and the target) over the whole stream, by Welford's recursion. A missing input
/// counts as the mean of its column.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    pub(crate) n: f64,
    pub(crate) mean: Vec<f64>,
    /// Packed lower triangle of `sum (v - mean)(v - mean)'`.
    pub(crate) cross: Vec<f64>,
    delta: Vec<f64>,
}

impl Scale {
    pub fn new(dim: usize) -> Self {
        Self { n: 0.0, mean: vec![0.0; dim], cross: vec![0.0; packed_len(dim)], delta: vec![0.0; dim] }
    }

    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// Returns true if a column that had been constant no longer is.
    pub fn observe(&mut self, values: impl Iterator<Item = f64>, weight: f64) -> bool {
        /// Once there are enough rows, a value counts as at most this many standard deviations from the mean: one outlier must not set the
        /// scale for the rest of the stream, while a lasting change still widens it, faster and faster.
        const MAX_SD: f64 = 8.0;
        const ENOUGH_ROWS: f64 = 32.0;
        let d = self.dim();
        let before = self.n;
        self.n += weight;
        let fraction = weight / self.n;
        for (i, value) in values.enumerate() {
            let delta = if value.is_nan() { 0.0 } else { value - self.mean[i] };
            let limit = if before >= ENOUGH_ROWS { MAX_SD * (self.cross[packed_ix(i, i)] / before).sqrt() } else { 0.0 };
            // A column that has been constant has no limit yet: the first different value is not clipped.
            self.delta[i] = if limit > 0.0 { delta.clamp(-limit, limit) } else { delta };
        }
        // For deviations from the old mean, the cross-products grow by weight (1 - weight/n) delta delta'.
        let gain = weight * (1.0 - fraction);
        let mut woke = false;
        for i in 0..d {
            let row = packed_ix(i, 0);
            let scaled = gain * self.delta[i];
            if scaled != 0.0 {
                woke |= self.cross[row + i] == 0.0;
                for j in 0..=i {
                    self.cross[row + j] += scaled * self.delta[j];
                }
            }
            self.mean[i] += fraction * self.delta[i];
        }
        woke
    }

    /// Whether the quantities that are scaled by these moments should be recomputed, given the count before the last row and whether that row
    /// ended the constancy of a column.
    pub fn is_due(&self, n_before: f64, woke: bool) -> bool {
        /// Recompute at every row up to here, then each time the number of rows doubles.
        const EVERY_ROW_UNTIL: f64 = 32.0;
        self.n <= EVERY_ROW_UNTIL || woke || n_doublings(self.n) > n_doublings(n_before)
    }

    /// An input as it enters a leaf's moments: missing values are replaced by the mean, extreme ones clipped.
    pub fn impute_and_clip(&self, i: usize, value: f64) -> f64 {
        /// Limit in running standard deviations: one absurd sensor value must not tilt a whole leaf.
        const CLIP_SD: f64 = 4.0;
        /// Clipping starts when the running standard deviation is reliable.
        const CLIP_AFTER: f64 = 32.0;
        let mean = self.mean(i);
        if value.is_nan() {
            mean
        } else if self.n >= CLIP_AFTER {
            let limit = CLIP_SD * self.variance(i).sqrt();
            value.clamp(mean - limit, mean + limit)
        } else {
            value
        }
    }

    pub fn mean(&self, i: usize) -> f64 {
        self.mean[i]
    }

    pub fn variance(&self, i: usize) -> f64 {
        if self.n > 0.0 { self.cross[packed_ix(i, i)] / self.n } else { 0.0 }
    }

    /// Correlation of columns `i >= j`; 0 where one of them is constant.
    pub fn correlation(&self, i: usize, j: usize) -> f64 {
        let (own, other) = (self.cross[packed_ix(i, i)], self.cross[packed_ix(j, j)]);
        let product = own * other;
        if product > f64::MIN_POSITIVE && product < f64::INFINITY {
            self.cross[packed_ix(i, j)] / product.sqrt()
        } else if own > f64::MIN_POSITIVE && other > f64::MIN_POSITIVE {
            // In extreme units the product has lost its digits.
            (self.cross[packed_ix(i, j)] / own.sqrt() / other.sqrt()).clamp(-1.0, 1.0)
        } else {
            0.0
        }
    }
}

impl Scale {
    /// Whether any stream has such moments: counts and variances are not negative, and no correlation exceeds one.
    pub fn is_possible(&self) -> bool {
        (0.0..=MAX_TOTAL_WEIGHT).contains(&self.n)
            && self.mean.iter().all(|mean| mean.abs() <= MAX_MEAN)
            && are_possible_cross_products(&self.cross, self.dim())
    }
}

/// Whether a packed matrix of centred cross-products can come from data. Small ones lose digits to underflow.
pub fn are_possible_cross_products(cross: &[f64], dim: usize) -> bool {
    const UNDERFLOW: f64 = 1e-290;
    let root = |i: usize| (cross[packed_ix(i, i)] + UNDERFLOW).sqrt();
    (0..dim).all(|i| {
        (0.0..=MAX_SQUARE).contains(&cross[packed_ix(i, i)]) && (0..i).all(|j| cross[packed_ix(i, j)].abs() <= 1.0001 * root(i) * root(j))
    })
}

/// How often a count has doubled.
fn n_doublings(n: f64) -> u32 {
    (n as u64).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_accurate_far_from_zero() {
        let mut scale = Scale::new(2);
        let n = 100_000;
        for i in 0..n {
            let x = f64::from(i % 7) - 3.0;
            scale.observe([1e9 + x, 1e6 + 2.0 * x].into_iter(), 1.0);
        }
        let var = (0..n).map(|i| (f64::from(i % 7) - 3.0).powi(2)).sum::<f64>() / f64::from(n);
        // Each input near 1e9 is rounded by up to 1e-7; with a variance of 4 seven digits remain.
        assert!((scale.variance(0) / var - 1.0).abs() < 1e-6);
        assert!((scale.variance(1) / (4.0 * var) - 1.0).abs() < 1e-6);
        assert!((scale.correlation(1, 0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_end_of_constancy_is_reported_once() {
        let mut scale = Scale::new(2);
        assert!(!scale.observe([5.0, 1.0].into_iter(), 1.0));
        assert!(scale.observe([5.0, 2.0].into_iter(), 1.0));
        assert!(!scale.observe([5.0, 3.0].into_iter(), 1.0));
        assert!(scale.observe([6.0, 3.0].into_iter(), 1.0));
        assert!(!scale.observe([f64::NAN, 3.0].into_iter(), 1.0));
    }
}
