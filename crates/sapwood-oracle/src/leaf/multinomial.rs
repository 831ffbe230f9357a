//! Multinomial leaves under a symmetric Dirichlet prior.

use super::Datum;
use crate::special::ln_gamma;

/// Weight of the points in each class.
pub fn counts(n_classes: usize, data: &[Datum]) -> Vec<f64> {
    let mut counts = vec![0.0; n_classes];
    for datum in data {
        counts[datum.y as usize] += datum.weight;
    }
    counts
}

/// `lnGamma(K a0) - lnGamma(K a0 + n) + sum_k [lnGamma(a0 + a_k) - lnGamma(a0)]`.
pub fn ln_evidence(counts: &[f64], baseline: f64) -> f64 {
    let total = baseline * counts.len() as f64;
    let n: f64 = counts.iter().sum();
    let ln_gamma_baseline = ln_gamma(baseline);
    let classes: f64 = counts.iter().map(|count| ln_gamma(baseline + count) - ln_gamma_baseline).sum();
    ln_gamma(total) - ln_gamma(total + n) + classes
}

/// `ln (a_k + a0) / (n + K a0)`.
pub fn ln_predictive(counts: &[f64], baseline: f64, class: usize) -> f64 {
    let n: f64 = counts.iter().sum();
    ((counts[class] + baseline) / (n + baseline * counts.len() as f64)).ln()
}
