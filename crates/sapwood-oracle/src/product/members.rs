//! Members without trees, from everything that they have seen, summed anew at every call.

use crate::linalg::{Matrix, cholesky, dot, solve};
use crate::product::bank::StudentT;
use crate::product::scale::Scale;

/// Targets seen so far, as every member without trees knows them.
#[derive(Clone, Debug)]
struct Errors {
    targets: Scale,
    /// Absolute errors and weights, oldest first.
    made: Vec<(f64, f64)>,
}

/// `.95` to the weight of all that came later.
fn faded(weights: &[f64], rate: f64) -> Vec<f64> {
    (0..weights.len()).map(|at| weights[at] * rate.powf(weights[at + 1..].iter().sum())).collect()
}

impl Errors {
    fn new() -> Self {
        Self { targets: Scale::new(1), made: Vec::new() }
    }

    fn unit(&self) -> f64 {
        let (variance, mean) = (self.targets.variance(0), self.targets.mean(0));
        if variance > 0.0 {
            variance.sqrt()
        } else if mean == 0.0 {
            1.0
        } else {
            mean.abs()
        }
    }

    /// Three degrees of freedom, of which the mean distance is that of the errors.
    fn around(&self, forecast: f64) -> StudentT {
        let weights = faded(&self.made.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), 0.95);
        let n: f64 = weights.iter().sum();
        let sum: f64 = weights.iter().zip(&self.made).map(|(weight, (error, _))| weight * error).sum();
        let pseudo = (1.0 - 0.05 * n).max(0.02);
        let mean_error = (sum + pseudo * 0.8 * self.unit()) / (n + pseudo);
        let location = if forecast.is_nan() { self.targets.mean(0) } else { forecast };
        StudentT { df: 3.0, location, scale: mean_error * std::f64::consts::PI / (2.0 * 3.0_f64.sqrt()) }
    }

    fn learn(&mut self, forecast: &StudentT, y: f64, weight: f64) {
        self.made.push(((y - forecast.location).abs(), weight));
        self.targets.learn(&[y], weight);
    }

    fn has_unit(&self) -> bool {
        self.targets.variance(0) > 0.0
    }
}

/// A member that predicts a number.
pub trait NumberMember {
    fn forecast(&self, x: &[f64], last: f64) -> StudentT;
    /// False while targets have no unit, so that the member gives no density.
    fn has_unit(&self) -> bool;
    fn learn(&mut self, x: &[f64], last: f64, y: f64, weight: f64);
}

#[derive(Clone, Debug)]
pub struct LastValue(Errors);

impl Default for LastValue {
    fn default() -> Self {
        Self(Errors::new())
    }
}

impl NumberMember for LastValue {
    fn forecast(&self, _x: &[f64], last: f64) -> StudentT {
        self.0.around(last)
    }

    fn has_unit(&self) -> bool {
        self.0.has_unit()
    }

    fn learn(&mut self, x: &[f64], last: f64, y: f64, weight: f64) {
        let forecast = self.forecast(x, last);
        self.0.learn(&forecast, y, weight);
    }
}

/// Least squares on the inputs and the last target; rows fade.
#[derive(Clone, Debug)]
pub struct LeastSquares {
    errors: Errors,
    /// Inputs, last target and target as they count, with weights.
    rows: Vec<(Vec<f64>, f64)>,
    /// Of the fit after the last row.
    slopes: Vec<f64>,
}

impl LeastSquares {
    pub fn new(n_inputs: usize) -> Self {
        Self { errors: Errors::new(), rows: Vec::new(), slopes: vec![0.0; n_inputs + 1] }
    }

    fn n_columns(&self) -> usize {
        self.slopes.len() + 1
    }

    fn weights(&self) -> Vec<f64> {
        faded(&self.rows.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), 0.998)
    }

    /// Total weight, means and covariances.
    fn moments(&self) -> (f64, Vec<f64>, Matrix) {
        let (weights, d) = (self.weights(), self.n_columns());
        let n: f64 = weights.iter().sum();
        let mean_of = |f: &dyn Fn(&[f64]) -> f64| {
            weights.iter().zip(&self.rows).map(|(w, (row, _))| w * f(row)).sum::<f64>() / n.max(f64::MIN_POSITIVE)
        };
        let mean: Vec<f64> = (0..d).map(|i| mean_of(&|row| row[i])).collect();
        let covariance = (0..d).map(|i| (0..d).map(|j| mean_of(&|row| (row[i] - mean[i]) * (row[j] - mean[j]))).collect()).collect();
        (n, mean, covariance)
    }

    /// Deviations from the means, held within limits; a missing value has none.
    fn deviations(&self, values: &[f64]) -> Vec<f64> {
        let (n, mean, covariance) = self.moments();
        let held = |(i, value): (usize, &f64)| {
            let sds = if i + 1 < self.n_columns() { 4.0 } else { 8.0 };
            let limit = if n >= 32.0 { sds * covariance[i][i].max(0.0).sqrt() } else { 0.0 };
            let deviation = if value.is_nan() { 0.0 } else { value - mean[i] };
            if limit > 0.0 { deviation.clamp(-limit, limit) } else { deviation }
        };
        values.iter().enumerate().map(held).collect()
    }

    fn fit(&mut self) {
        let (n, _, covariance) = self.moments();
        let q = self.slopes.len();
        let sd: Vec<f64> = (0..=q).map(|i| covariance[i][i].sqrt()).collect();
        // A column without spread, up to rounding, explains nothing.
        let correlation = |i: usize, j: usize| if sd[i] * sd[j] > 1e-12 { covariance[i][j] / (sd[i] * sd[j]) } else { 0.0 };
        let matrix: Matrix =
            (0..q).map(|i| (0..q).map(|j| if i == j { 1.0 + 1e-3 + 1.0 / n } else { correlation(i, j) }).collect()).collect();
        let right: Vec<f64> = (0..q).map(|i| correlation(q, i)).collect();
        let standard = solve(&cholesky(&matrix).expect("the ridge keeps it positive definite"), &right);
        self.slopes = (0..q).map(|i| if sd[i] > 1e-12 { standard[i] * sd[q] / sd[i] } else { 0.0 }).collect();
    }
}

impl NumberMember for LeastSquares {
    fn forecast(&self, x: &[f64], last: f64) -> StudentT {
        let inputs: Vec<f64> = x.iter().copied().chain([last]).collect();
        let mean = if self.rows.is_empty() { 0.0 } else { self.moments().1[self.slopes.len()] };
        self.errors.around(mean + dot(&self.slopes, &self.deviations(&inputs)))
    }

    fn has_unit(&self) -> bool {
        self.errors.has_unit()
    }

    fn learn(&mut self, x: &[f64], last: f64, y: f64, weight: f64) {
        let forecast = self.forecast(x, last);
        self.errors.learn(&forecast, y, weight);
        let values: Vec<f64> = x.iter().copied().chain([last, y]).collect();
        let mean = if self.rows.is_empty() { vec![0.0; self.n_columns()] } else { self.moments().1 };
        let counted = self.deviations(&values).iter().zip(&mean).map(|(deviation, mean)| mean + deviation).collect();
        self.rows.push((counted, weight));
        self.fit();
    }
}

/// Which label follows which.
#[derive(Clone, Debug)]
pub struct LastLabel {
    n_classes: usize,
    /// The label before (if any), the label, and the weight.
    seen: Vec<(Option<usize>, usize, f64)>,
}

impl LastLabel {
    pub fn new(n_classes: usize) -> Self {
        Self { n_classes, seen: Vec::new() }
    }

    /// Counts of labels among some of what has been seen; those fade by `.99` to the weight of what came after them, of the same kind.
    fn counts(&self, of: impl Fn(&Option<usize>) -> bool) -> Vec<f64> {
        let own: Vec<(usize, f64)> =
            self.seen.iter().filter(|(before, ..)| of(before)).map(|(_, label, weight)| (*label, *weight)).collect();
        let weights = faded(&own.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(), 0.99);
        let mut counts = vec![0.0; self.n_classes];
        for ((label, _), weight) in own.iter().zip(weights) {
            counts[*label] += weight;
        }
        counts
    }

    pub fn probabilities(&self, last: Option<usize>) -> Vec<f64> {
        let all = self.counts(|_| true);
        let followers = if last.is_some() { self.counts(|before| *before == last) } else { vec![0.0; self.n_classes] };
        let (n_all, n_followers): (f64, f64) = (all.iter().sum(), followers.iter().sum());
        let marginal = |class: usize| (all[class] + 1.0 / self.n_classes as f64) / (n_all + 1.0);
        (0..self.n_classes).map(|class| (followers[class] + marginal(class)) / (n_followers + 1.0)).collect()
    }

    pub fn learn(&mut self, last: Option<usize>, label: usize, weight: f64) {
        self.seen.push((last, label, weight));
    }
}
