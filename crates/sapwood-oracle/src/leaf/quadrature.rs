//! Evidence by integrating likelihood times prior on a grid: no conjugacy, no gamma function of the data.
//!
//! The trapezoidal rule on the whole line converges exponentially for these integrands once the variable is chosen so
//! that they fall off at both ends. Coefficients are integrated in units of the noise around their posterior mean: that
//! is a change of variables and does not affect the result.

use std::f64::consts::PI;

use super::gaussian::{GaussianPrior, Row, posterior};
use crate::linalg::{cholesky, dot, ln_det, solve_upper, times};
use crate::special::{ln_gamma, ln_sum_exp};

/// Log evidence of a Gaussian leaf with one or two coefficients by integration over them and over `ln sigma`.
pub fn gaussian_ln_evidence(prior: &GaussianPrior, rows: &[Row]) -> f64 {
    let centre = posterior(prior, rows).expect("the evidence must exist");
    let m = centre.beta.len();
    let step = 0.35;
    let offsets: Vec<f64> = (-24..=24).map(|i| f64::from(i) * step).collect();
    // The integrand decays like sigma^-df on the right; the truncated part is below 1e-14 of the whole.
    let (ln_sigma_step, ln_sigma_low, ln_sigma_high) = (0.04, -8.0, 36.0 / centre.df + 6.0);
    let n_sigma = ((ln_sigma_high - ln_sigma_low) / ln_sigma_step) as usize;
    // d beta = sigma^m |C|^-1 dt for beta = centre + sigma C^-T t.
    let ln_jacobian = -0.5 * ln_det(&centre.factor);
    let mut logs = Vec::new();
    for sigma_ix in 0..n_sigma {
        let ln_sigma = ln_sigma_low + sigma_ix as f64 * ln_sigma_step;
        let sigma = ln_sigma.exp();
        // d sigma^2 = 2 sigma^2 d ln sigma.
        let ln_measure = (2.0_f64).ln() + 2.0 * ln_sigma + m as f64 * ln_sigma + ln_jacobian;
        for cell in 0..offsets.len().pow(m as u32) {
            let t: Vec<f64> = (0..m).map(|axis| offsets[cell / offsets.len().pow(axis as u32) % offsets.len()]).collect();
            let beta: Vec<f64> = solve_upper(&centre.factor, &t).iter().zip(&centre.beta).map(|(d, b)| b + sigma * d).collect();
            let likelihood: f64 = rows.iter().map(|row| row.weight * ln_normal(row.y - dot(&row.z, &beta), sigma)).sum();
            logs.push(likelihood + ln_prior(prior, &beta, sigma) + ln_measure);
        }
    }
    ln_sum_exp(&logs) + m as f64 * step.ln() + ln_sigma_step.ln()
}

fn ln_normal(residual: f64, sigma: f64) -> f64 {
    -0.5 * (2.0 * PI).ln() - sigma.ln() - 0.5 * (residual / sigma).powi(2)
}

/// Log density of the prior with respect to `d beta d sigma^2`.
fn ln_prior(prior: &GaussianPrior, beta: &[f64], sigma: f64) -> f64 {
    let sigma2 = sigma * sigma;
    match prior {
        GaussianPrior::Reference => -sigma2.ln(),
        GaussianPrior::Nig(nig) => {
            let off: Vec<f64> = beta.iter().zip(&nig.mean).map(|(b, b0)| b - b0).collect();
            let (shape, rate) = (nig.nu0 / 2.0, nig.nu0 * nig.s0 / 2.0);
            let normaliser = nig
                .ln_occam
                .unwrap_or_else(|| 0.5 * ln_det(&cholesky(&nig.precision).expect("the prior precision must be positive definite")));
            let coefficients =
                normaliser - beta.len() as f64 / 2.0 * (2.0 * PI * sigma2).ln() - 0.5 * dot(&off, &times(&nig.precision, &off)) / sigma2;
            coefficients + shape * rate.ln() - ln_gamma(shape) - (shape + 1.0) * sigma2.ln() - rate / sigma2
        }
    }
}

/// Log evidence of a two-class leaf by integration over the log odds of the class probability.
pub fn two_class_ln_evidence(counts: [f64; 2], baseline: f64) -> f64 {
    let step = 0.05;
    let reach = 40.0 / baseline.min(1.0);
    let n = (2.0 * reach / step) as usize;
    let integral = |exponents: [f64; 2]| {
        let logs: Vec<f64> = (0..=n)
            .map(|i| {
                let odds = -reach + i as f64 * step;
                -exponents[0] * (-odds).exp().ln_1p() - exponents[1] * odds.exp().ln_1p()
            })
            .collect();
        ln_sum_exp(&logs) + step.ln()
    };
    integral([baseline + counts[0], baseline + counts[1]]) - integral([baseline, baseline])
}
