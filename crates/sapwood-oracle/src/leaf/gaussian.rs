//! Gaussian leaves: `y ~ N(z' beta, sigma^2)`.
//!
//! Normal-inverse-gamma prior: `beta | sigma^2 ~ N(b0, sigma^2 L0^-1)`, `sigma^2 ~ IG(nu0/2, nu0 s0/2)`. With
//! `G = sum w z z'`, `G* = G + L0`, `n = sum w`, `beta = G*^-1 (sum w z y + L0 b0)`, `df = nu0 + n` and
//! `S = nu0 s0 + sum w (y - z'beta)^2 + (beta - b0)' L0 (beta - b0)`:
//!
//! `ln Z = -n/2 ln(2 pi) + 1/2 ln|L0| - 1/2 ln|G*| + lnGamma(df/2) - lnGamma(nu0/2) + nu0/2 ln(nu0 s0/2) - df/2 ln(S/2)`
//!
//! and the predictive at `z` is Student-t with `df` degrees of freedom, location `z'beta` and squared scale
//! `S/df (1 + z' G*^-1 z)`. The reference prior `1/sigma^2` drops every term of the prior: `df = n - m`,
//! `ln Z = -(n-m)/2 ln(2 pi) - 1/2 ln|G| + lnGamma(df/2) - df/2 ln(S/2)`.
//!
//! `S` is written as a sum of squared residuals, not as a difference of raw sums: equal in exact arithmetic, and the
//! form in which nothing cancels.

use std::f64::consts::PI;

use crate::linalg::{Matrix, cholesky, dot, ln_det, solve, times};
use crate::product::bank::StudentT;
use crate::special::ln_gamma;

/// A normal-inverse-gamma prior.
#[derive(Clone, Debug)]
pub struct Nig {
    /// `L0`, the precision of the coefficients in units of the noise.
    pub precision: Matrix,
    /// `b0`.
    pub mean: Vec<f64>,
    pub nu0: f64,
    pub s0: f64,
    /// If given, replaces the normaliser `1/2 ln|L0|` of the prior: the Occam factor of another prior.
    pub ln_occam: Option<f64>,
}

#[derive(Clone, Debug)]
pub enum GaussianPrior {
    /// The paper's `1/sigma^2`.
    Reference,
    Nig(Nig),
}

/// One row of the design with its target and weight.
#[derive(Clone, Debug)]
pub struct Row {
    pub z: Vec<f64>,
    pub y: f64,
    pub weight: f64,
}

/// The posterior: the factor of `G*`, the coefficients, the scaled residual `S` and its degrees of freedom.
pub(crate) struct Posterior {
    pub(crate) factor: Matrix,
    pub(crate) beta: Vec<f64>,
    s: f64,
    pub(crate) df: f64,
    n: f64,
}

pub(crate) fn posterior(prior: &GaussianPrior, rows: &[Row]) -> Option<Posterior> {
    let m = match prior {
        GaussianPrior::Nig(nig) => nig.mean.len(),
        GaussianPrior::Reference => rows.first()?.z.len(),
    };
    let (mut gram, mut right) = match prior {
        GaussianPrior::Nig(nig) => (nig.precision.clone(), times(&nig.precision, &nig.mean)),
        GaussianPrior::Reference => (vec![vec![0.0; m]; m], vec![0.0; m]),
    };
    let mut n = 0.0;
    for row in rows {
        n += row.weight;
        for i in 0..m {
            right[i] += row.weight * row.z[i] * row.y;
            for (entry, other) in gram[i].iter_mut().zip(&row.z) {
                *entry += row.weight * row.z[i] * other;
            }
        }
    }
    let factor = cholesky(&gram)?;
    let beta = solve(&factor, &right);
    let residual: f64 = rows.iter().map(|row| row.weight * (row.y - dot(&row.z, &beta)).powi(2)).sum();
    let (s, df) = match prior {
        GaussianPrior::Nig(nig) => {
            let off: Vec<f64> = beta.iter().zip(&nig.mean).map(|(b, b0)| b - b0).collect();
            (nig.nu0 * nig.s0 + residual + dot(&off, &times(&nig.precision, &off)), nig.nu0 + n)
        }
        GaussianPrior::Reference => (residual, n - m as f64),
    };
    (s > 0.0 && df > 0.0).then_some(Posterior { factor, beta, s, df, n })
}

pub fn ln_evidence(prior: &GaussianPrior, rows: &[Row]) -> Option<f64> {
    let p = posterior(prior, rows)?;
    let shared = -0.5 * ln_det(&p.factor) + ln_gamma(p.df / 2.0) - p.df / 2.0 * (p.s / 2.0).ln();
    Some(match prior {
        GaussianPrior::Reference => shared - p.df / 2.0 * (2.0 * PI).ln(),
        GaussianPrior::Nig(nig) => {
            let normaliser = nig
                .ln_occam
                .unwrap_or_else(|| 0.5 * ln_det(&cholesky(&nig.precision).expect("the prior precision must be positive definite")));
            shared - p.n / 2.0 * (2.0 * PI).ln() + normaliser - ln_gamma(nig.nu0 / 2.0) + nig.nu0 / 2.0 * (nig.nu0 * nig.s0 / 2.0).ln()
        }
    })
}

/// The predictive at `z`.
pub fn student_t(prior: &GaussianPrior, rows: &[Row], z: &[f64]) -> Option<StudentT> {
    let p = posterior(prior, rows)?;
    let scale = (p.s / p.df * (1.0 + dot(z, &solve(&p.factor, z)))).sqrt();
    Some(StudentT { df: p.df, location: dot(z, &p.beta), scale })
}

pub fn ln_predictive(prior: &GaussianPrior, rows: &[Row], z: &[f64], y: f64) -> Option<f64> {
    Some(student_t(prior, rows, z)?.ln_density(y))
}

/// Expected reduction of the predictive variance, summed over a box, from observing once more at `z` (ALC):
/// `V / (1 + z'g) * integral of ([1, u]'g)^2 du` with `g = G*^-1 z`, and `V = S/(df-2)` or, where that does not exist, `S/df`.
pub fn alc(prior: &GaussianPrior, rows: &[Row], z: &[f64], lower: &[f64], upper: &[f64]) -> Option<f64> {
    let volume: f64 = lower.iter().zip(upper).map(|(a, b)| b - a).product();
    Some(volume * mean_alc(prior, rows, z, lower, upper)?)
}

/// The same with the mean over the box in place of the integral, which exists for a box without volume too.
///
/// Two Gauss-Legendre nodes per dimension integrate the quadratic exactly, without a closed form.
pub fn mean_alc(prior: &GaussianPrior, rows: &[Row], z: &[f64], lower: &[f64], upper: &[f64]) -> Option<f64> {
    let p = posterior(prior, rows)?;
    let g = solve(&p.factor, z);
    let n_corners = 1_usize << lower.len();
    let mut mean = 0.0;
    for corner in 0..n_corners {
        let mut u = vec![1.0];
        for dim in 0..lower.len() {
            let sign = if corner >> dim & 1 == 0 { -1.0 } else { 1.0 };
            let (middle, half) = ((lower[dim] + upper[dim]) / 2.0, (upper[dim] - lower[dim]) / 2.0);
            u.push(middle + sign * half / 3.0_f64.sqrt());
        }
        mean += dot(&u, &g).powi(2) / n_corners as f64;
    }
    let variance = p.s / if p.df > 2.0 { p.df - 2.0 } else { p.df };
    Some(variance / (1.0 + dot(z, &g)) * mean)
}
