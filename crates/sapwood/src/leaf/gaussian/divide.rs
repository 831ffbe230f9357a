//! Dividing retired statistics at a grow, as if the retired inputs and target had been jointly Gaussian.
//!
//! The split truncates that Gaussian. The moments of the left part follow from the truncated normal in the split's dimension and from the
//! regression of every other value on it.

use super::moments::{Moments, set};
use super::with_scratch;
use crate::num::special::{normal_cdf, normal_pdf};

/// Write the left part of `retired` to `left`; `cut` is relative to the origin of the statistics. There must be retired points.
pub fn divide(retired: &[f64], n_values: usize, dim: usize, cut: f64, left: &mut [f64]) {
    let moments = Moments(retired);
    let (n, mean, variance) = (moments.n(), moments.mean(dim), moments.variance(dim));
    let sd = variance.max(0.0).sqrt();
    let z = (cut - mean) / sd;
    // Beyond eight standard deviations, or without any spread, everything is on one side.
    if z.is_nan() || z.abs() >= 8.0 {
        let all_left = if sd > 0.0 { z > 0.0 } else { mean < cut };
        for (l, r) in left.iter_mut().zip(retired) {
            *l = if all_left { *r } else { 0.0 };
        }
        return;
    }
    let mass = normal_cdf(z);
    let hazard = normal_pdf(z) / mass;
    let mean_shift = -sd * hazard;
    // Var(x | left) - Var(x), in units of Var(x).
    let shrink = -z * hazard - hazard * hazard;
    with_scratch(3 * n_values, |scratch| {
        let (slope, rest) = scratch.split_at_mut(n_values);
        let (centre, mean_left) = rest.split_at_mut(n_values);
        for i in 0..n_values {
            centre[i] = moments.mean(i);
            let covariance = moments.sum_of_products(i, dim) / n - centre[i] * mean;
            slope[i] = covariance / variance;
            mean_left[i] = centre[i] + slope[i] * mean_shift;
        }
        set(left, n * mass, mean_left, |i, j| {
            let covariance = moments.sum_of_products(i, j) / n - centre[i] * centre[j];
            covariance + slope[i] * slope[j] * variance * shrink
        });
    });
}
