//! Dividing retired statistics at a grow, as if the inputs of every class had been Gaussian: the split truncates each Gaussian.

use super::layout::{Covariance, Layout, Shape};
use crate::leaf::{N_POINTS, n_points};
use crate::num::cholesky::packed_ix;
use crate::num::special::{normal_cdf, normal_pdf};

/// Moments of one class left of a cut along `dim`: its mass, the shift of its mean along `dim` per unit of regression slope, and the
/// change of its variance along `dim` in units of that variance.
struct Cut {
    mass: f64,
    mean_shift: f64,
    shrink: f64,
}

impl Cut {
    fn new(mean: f64, variance: f64, cut: f64) -> Self {
        let spread = variance.max(0.0).sqrt();
        let z = (cut - mean) / spread;
        // Beyond eight standard deviations, or without any spread, everything is on one side.
        if z.is_nan() || z.abs() >= 8.0 {
            return Self { mass: if mean < cut { 1.0 } else { 0.0 }, mean_shift: 0.0, shrink: 0.0 };
        }
        let mass = normal_cdf(z);
        let hazard = normal_pdf(z) / mass;
        Self { mass, mean_shift: -spread * hazard, shrink: -z * hazard - hazard * hazard }
    }
}

/// Write the left part of `retired` to `left`; `cut` is relative to the origin of the statistics. `scratch` has [`scratch_len`] entries.
pub fn divide(layout: &Layout, retired: &[f64], dim: usize, cut: f64, left: &mut [f64], scratch: &mut [f64]) {
    let Layout { n_classes, n_inputs: p, covariance, shape } = *layout;
    let (variance, rest) = scratch.split_at_mut(layout.second_len());
    let (slope, mean_left) = rest.split_at_mut(p);
    left.fill(0.0);
    if covariance == Covariance::Pooled {
        pooled_covariance(layout, retired, variance);
    }
    for class in 0..n_classes {
        let n = retired[layout.count(class)];
        if n <= 0.0 {
            continue;
        }
        let first = &retired[layout.first(class)];
        if covariance == Covariance::ByClass {
            let second = &retired[layout.second(class)];
            shape.for_each_entry(p, |k, i, j| variance[k] = (second[k] - first[i] * first[j] / n) / n);
        }
        let along = variance[shape.diagonal_ix(dim)];
        let Cut { mass, mean_shift, shrink } = Cut::new(first[dim] / n, along, cut);
        for i in 0..p {
            slope[i] = if mean_shift == 0.0 { 0.0 } else { entry(shape, variance, i, dim) / along };
            mean_left[i] = first[i] / n + slope[i] * mean_shift;
        }
        let n_left = n * mass;
        left[N_POINTS] += n_left;
        left[layout.count(class)] = n_left;
        for (l, mean) in left[layout.first(class)].iter_mut().zip(&*mean_left) {
            *l = n_left * mean;
        }
        let second = &mut left[layout.second(class)];
        shape.for_each_entry(p, |k, i, j| {
            second[k] += n_left * (variance[k] + slope[i] * slope[j] * along * shrink + mean_left[i] * mean_left[j]);
        });
    }
    // Rounding may take the sum of the counts above the whole, and the right child gets the difference.
    left[N_POINTS] = n_points(left).min(n_points(retired));
}

pub fn scratch_len(layout: &Layout) -> usize {
    layout.second_len() + 2 * layout.n_inputs
}

/// The pooled within-class covariance.
fn pooled_covariance(layout: &Layout, stats: &[f64], variance: &mut [f64]) {
    variance.copy_from_slice(&stats[layout.second(0)]);
    for class in 0..layout.n_classes {
        let n = stats[layout.count(class)];
        if n > 0.0 {
            let first = &stats[layout.first(class)];
            layout.shape.for_each_entry(layout.n_inputs, |k, i, j| variance[k] -= first[i] * first[j] / n);
        }
    }
    let n: f64 = (0..layout.n_classes).map(|class| stats[layout.count(class)].max(0.0)).sum();
    variance.iter_mut().for_each(|v| *v /= n);
}

fn entry(shape: Shape, matrix: &[f64], i: usize, j: usize) -> f64 {
    match shape {
        Shape::Full => matrix[packed_ix(i.max(j), i.min(j))],
        Shape::Diagonal if i == j => matrix[i],
        Shape::Diagonal => 0.0,
    }
}
