//! The running scale of the stream and the default priors, computed from all rows again whenever they are asked for.

use crate::leaf::Nig;
use crate::linalg::{Matrix, cholesky, dot, ln_det, solve};

/// Rows from which on values are limited, and up to which the prior is refreshed at every row.
const ENOUGH: f64 = 32.0;

/// A row as it counts in the moments.
#[derive(Clone, Debug)]
struct Counted {
    values: Vec<f64>,
    weight: f64,
}

/// Everything seen so far, the inputs of each row followed by its target where there is one.
#[derive(Clone, Debug)]
pub struct Scale {
    n_columns: usize,
    rows: Vec<Counted>,
}

impl Scale {
    pub fn new(n_columns: usize) -> Self {
        Self { n_columns, rows: Vec::new() }
    }

    /// Total weight.
    pub fn n(&self) -> f64 {
        self.rows.iter().map(|row| row.weight).sum()
    }

    pub fn mean(&self, i: usize) -> f64 {
        match self.rows.first() {
            None => 0.0,
            // Without rounding, so that a missing value does not end the constancy.
            Some(first) if self.is_constant(i) => first.values[i],
            Some(_) => self.rows.iter().map(|row| row.weight * row.values[i]).sum::<f64>() / self.n(),
        }
    }

    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        if self.rows.is_empty() {
            return 0.0;
        }
        let (a, b) = (self.mean(i), self.mean(j));
        self.rows.iter().map(|row| row.weight * (row.values[i] - a) * (row.values[j] - b)).sum::<f64>() / self.n()
    }

    /// Whether all values so far have been the same.
    pub fn is_constant(&self, i: usize) -> bool {
        self.rows.iter().all(|row| row.values[i] == self.rows[0].values[i])
    }

    pub fn variance(&self, i: usize) -> f64 {
        if self.is_constant(i) { 0.0 } else { self.covariance(i, i) }
    }

    fn correlation(&self, i: usize, j: usize) -> f64 {
        let product = self.variance(i) * self.variance(j);
        if product > 0.0 { self.covariance(i, j) / product.sqrt() } else { 0.0 }
    }

    /// Learn a row; true if what is scaled by these moments is to be refreshed.
    pub fn learn(&mut self, values: &[f64], weight: f64) -> bool {
        let before = self.n();
        let was_constant: Vec<bool> = (0..self.n_columns).map(|i| self.is_constant(i)).collect();
        let counted = values.iter().enumerate().map(|(i, value)| {
            let mean = self.mean(i);
            let limit = 8.0 * self.variance(i).sqrt();
            if value.is_nan() {
                mean
            } else if before >= ENOUGH && limit > 0.0 {
                value.clamp(mean - limit, mean + limit)
            } else {
                *value
            }
        });
        let counted = Counted { values: counted.collect(), weight };
        self.rows.push(counted);
        let woke = before > 0.0 && (0..self.n_columns).any(|i| was_constant[i] && !self.is_constant(i));
        let doublings = |n: f64| n.max(1.0).log2().floor();
        self.n() <= ENOUGH || woke || doublings(self.n()) > doublings(before)
    }

    /// An input as it enters the line or the Gaussians of a leaf.
    pub fn seen(&self, i: usize, value: f64) -> f64 {
        let (mean, limit) = (self.mean(i), 4.0 * self.variance(i).sqrt());
        if value.is_nan() {
            mean
        } else if self.n() >= ENOUGH {
            value.clamp(mean - limit, mean + limit)
        } else {
            value
        }
    }

    /// The default prior of a Gaussian leaf with these first `q` columns as regressors and the last as target.
    pub fn gaussian_prior(&self, q: usize) -> Nig {
        let (m, n, y) = (q + 1, self.n(), self.n_columns - 1);
        let shrink = n / (n + 1.0);
        let ridged: Matrix = (0..q).map(|i| (0..q).map(|j| if i == j { 1.1 } else { shrink * self.correlation(i, j) }).collect()).collect();
        let with_target: Vec<f64> = (0..q).map(|i| shrink * self.correlation(i, y)).collect();
        let factor = cholesky(&ridged).expect("the ridge keeps it positive definite");
        let slopes = solve(&factor, &with_target);
        let explained = dot(&slopes, &with_target).min(1.0);

        let unit = if self.variance(y) > 0.0 { self.variance(y) } else { placeholder(self.mean(y), n) };
        let residual = if n > m as f64 { ((1.0 - explained) * n / (n - m as f64)).clamp(1e-12, 1.0) } else { 1.0 };
        let spread: Vec<f64> =
            (0..q).map(|i| if self.variance(i) > 0.0 { self.variance(i).sqrt() } else { 1e6 * self.mean(i).abs().max(1.0) }).collect();

        let k = 0.1;
        let mut precision = vec![vec![0.0; m]; m];
        let design_mean: Vec<f64> = std::iter::once(1.0).chain((0..q).map(|i| self.mean(i))).collect();
        for a in 0..m {
            for b in 0..m {
                let within = if a > 0 && b > 0 { ridged[a - 1][b - 1] * spread[a - 1] * spread[b - 1] } else { 0.0 };
                precision[a][b] = k * (within + design_mean[a] * design_mean[b]);
            }
        }
        let beta: Vec<f64> = (0..q).map(|i| slopes[i] * unit.sqrt() / spread[i]).collect();
        let intercept = self.mean(y) - (0..q).map(|i| beta[i] * self.mean(i)).sum::<f64>();
        let e = if q == 0 { 1.0 } else { 0.25 };
        let ln_occam = m as f64 * e + 0.5 * ln_det(&factor) + spread.iter().map(|s| s.ln()).sum::<f64>();
        Nig {
            precision,
            mean: std::iter::once(intercept).chain(beta).collect(),
            nu0: 2.0,
            s0: 0.2 * unit * residual,
            ln_occam: Some(ln_occam),
        }
    }

    /// The ridge of discriminant leaves.
    pub fn ridge(&self) -> Vec<f64> {
        (0..self.n_columns).map(|i| if self.variance(i) > 0.0 { 0.1 * self.variance(i) } else { 1.0 }).collect()
    }
}

/// The unit of a target that has been constant so far.
fn placeholder(mean: f64, n: f64) -> f64 {
    let magnitude = if mean == 0.0 { 1.0 } else { mean.abs() };
    (magnitude * (-n).exp2().max(1e-6)).powi(2)
}
