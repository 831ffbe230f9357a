//! Running second moments of the whole stream, which give the default prior its units.

use crate::num::cholesky::{packed_ix, packed_len};

/// Once there are this many rows, a value counts as at most this many standard deviations from the mean: one absurd value must not set
/// the scale of everything after it, while values that keep coming from out there still widen it, faster and faster.
const REACH: f64 = 8.0;
const REACH_AFTER: f64 = 32.0;
/// Inputs that enter a leaf's moments are held within this many running standard deviations of their mean: one absurd sensor value must not
/// bend a whole leaf.
const CLIP_SD: f64 = 4.0;
/// Clipping waits until the running range means something.
const CLIP_AFTER: f64 = 32.0;
/// Priors are recomputed at every row up to here, then each time the number of rows doubles.
const ALWAYS_UNTIL: f64 = 32.0;

/// Weighted means and centred cross-products of inputs (and target) over everything seen (Welford's recursion). Missing inputs count as their
/// column's mean.
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
        let d = self.dim();
        let before = self.n;
        self.n += weight;
        let fraction = weight / self.n;
        for (i, value) in values.enumerate() {
            let delta = if value.is_nan() { 0.0 } else { value - self.mean[i] };
            let reach = if before >= REACH_AFTER { REACH * (self.cross[packed_ix(i, i)] / before).sqrt() } else { 0.0 };
            // A column without spread has no reach yet: whatever wakes it is taken whole.
            self.delta[i] = if reach > 0.0 { delta.clamp(-reach, reach) } else { delta };
        }
        // With the old mean's deviations, the cross-products grow by weight (1 - weight/n) delta delta'.
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

    /// Whether what is scaled by these moments should be computed anew, after a row before which their count was `n_before`.
    pub fn is_due(&self, n_before: f64, woke: bool) -> bool {
        self.n <= ALWAYS_UNTIL || woke || n_doublings(self.n) > n_doublings(n_before)
    }

    /// An input as a leaf's moments take it: the mean for a missing one, and nothing absurd.
    pub fn hold(&self, i: usize, value: f64) -> f64 {
        let mean = self.mean(i);
        if value.is_nan() {
            mean
        } else if self.n >= CLIP_AFTER {
            let reach = CLIP_SD * self.variance(i).sqrt();
            value.clamp(mean - reach, mean + reach)
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
        let product = self.cross[packed_ix(i, i)] * self.cross[packed_ix(j, j)];
        if product > 0.0 { self.cross[packed_ix(i, j)] / product.sqrt() } else { 0.0 }
    }
}

/// How often a count has doubled.
fn n_doublings(n: f64) -> u32 {
    (n as u64).max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_survive_a_far_mean() {
        let mut scale = Scale::new(2);
        let n = 100_000;
        for i in 0..n {
            let x = f64::from(i % 7) - 3.0;
            scale.observe([1e9 + x, 1e6 + 2.0 * x].into_iter(), 1.0);
        }
        let var = (0..n).map(|i| (f64::from(i % 7) - 3.0).powi(2)).sum::<f64>() / f64::from(n);
        // Inputs at 1e9 carry 1e-7 of absolute rounding each; relative to a variance of 4 the sum keeps seven digits.
        assert!((scale.variance(0) / var - 1.0).abs() < 1e-6);
        assert!((scale.variance(1) / (4.0 * var) - 1.0).abs() < 1e-6);
        assert!((scale.correlation(1, 0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn waking_columns_are_reported_once() {
        let mut scale = Scale::new(2);
        assert!(!scale.observe([5.0, 1.0].into_iter(), 1.0));
        assert!(scale.observe([5.0, 2.0].into_iter(), 1.0));
        assert!(!scale.observe([5.0, 3.0].into_iter(), 1.0));
        assert!(scale.observe([6.0, 3.0].into_iter(), 1.0));
        assert!(!scale.observe([f64::NAN, 3.0].into_iter(), 1.0));
    }
}
