//! Priors of Gaussian leaves as pseudo-data: augmented moments about a centre, plus constants.

use super::moments::{product_ix, shift};
use crate::leaf::{MAX_MEAN, MAX_SQUARE, N_POINTS, Scale};
use crate::num::cholesky::{backward_solve, factor_leading, forward_solve, ln_det, packed_ix, packed_len};
use crate::num::ln;
use crate::num::special::ln_gamma;

/// Added to the variance of every column, as a share of it. Collinear columns leave a direction that the data hardly determine; without a
/// ridge, coefficients along it are unbounded, and the first input that breaks the pattern gets an absurd prediction.
const RIDGE: f64 = 0.1;
/// Pseudo-observations behind the default prior's coefficients.
const STRENGTH: f64 = 0.1;
/// Pseudo-observations behind its noise variance.
const NOISE_STRENGTH: f64 = 2.0;
/// Its noise variance, as a share of the residual variance of one linear fit to the whole stream.
const NOISE_SHARE: f64 = 0.2;

#[derive(Clone, Debug, PartialEq)]
pub enum GaussianPrior {
    /// Proper and unit-free: scaled by the running second moments of the stream.
    Default(Pseudo),
    /// The paper's `1/sigma^2`.
    Reference,
    /// Given by the user; does not follow the stream.
    Fixed(Pseudo),
}

/// A normal-inverse-gamma prior given by the user of the crate.
#[derive(Clone, Debug)]
pub struct FixedPrior {
    /// Packed lower triangle of the precision `L0` of `[1, x]` coefficients.
    pub precision: Vec<f64>,
    pub mean: Vec<f64>,
    pub nu0: f64,
    pub s0: f64,
}

/// The pseudo-data that a proper prior is equivalent to.
#[derive(Clone, Debug, PartialEq)]
pub struct Pseudo {
    /// Augmented moments of the pseudo-data about `centre`; the last entry includes `nu0 s0`.
    pub(crate) moments: Vec<f64>,
    pub(crate) centre: Vec<f64>,
    pub(crate) nu0: f64,
    /// `nu0 s0`.
    pub(crate) noise: f64,
    /// The terms of `ln Z` that do not depend on the data.
    pub(crate) ln_constant: f64,
}

impl GaussianPrior {
    pub fn default_for(n_regressors: usize) -> Self {
        Self::Default(Pseudo::from_scale(&Scale::new(n_regressors + 1)))
    }

    pub fn fixed(prior: &FixedPrior) -> Self {
        let m = prior.mean.len();
        let mut moments = prior.precision.clone();
        let entry = |i: usize, j: usize| prior.precision[packed_ix(i.max(j), i.min(j))];
        let row: Vec<f64> = (0..m).map(|i| (0..m).map(|j| entry(i, j) * prior.mean[j]).sum()).collect();
        let quadratic: f64 = row.iter().zip(&prior.mean).map(|(a, b)| a * b).sum();
        let noise = prior.nu0 * prior.s0;
        moments.extend_from_slice(&row);
        moments.push(quadratic + noise);
        let mut factor = prior.precision.clone();
        let positive = factor_leading(&mut factor, m, m);
        assert!(positive, "the precision of a fixed prior must be positive definite");
        let ln_constant = 0.5 * ln_det(&factor, m) + noise_constant(prior.nu0, noise);
        Self::Fixed(Pseudo { moments, centre: vec![0.0; m], nu0: prior.nu0, noise, ln_constant })
    }

    fn pseudo(&self) -> Option<&Pseudo> {
        match self {
            Self::Default(pseudo) | Self::Fixed(pseudo) => Some(pseudo),
            Self::Reference => None,
        }
    }

    /// The origin of the pseudo-data; leaves with the same origin need no shift.
    pub(super) fn centre(&self) -> Option<&[f64]> {
        self.pseudo().map(|pseudo| &pseudo.centre[..])
    }

    pub(super) fn add_to(&self, moments: &mut [f64], origin: &[f64]) {
        let Some(pseudo) = self.pseudo() else { return };
        if pseudo.centre == origin {
            for (a, b) in moments.iter_mut().zip(&pseudo.moments) {
                *a += b;
            }
        } else {
            let mut shifted = pseudo.moments.clone();
            shift(&mut shifted, &pseudo.centre, origin);
            for (a, b) in moments.iter_mut().zip(&shifted) {
                *a += b;
            }
        }
    }

    pub(super) fn df(&self, n: f64, m: usize) -> f64 {
        self.pseudo().map_or(n - m as f64, |pseudo| pseudo.nu0 + n)
    }

    pub(super) fn ln_constant(&self, m: usize) -> f64 {
        self.pseudo().map_or(0.5 * m as f64 * crate::num::LN_2PI, |pseudo| pseudo.ln_constant)
    }

    /// Whether any stream has such a prior.
    pub(super) fn is_possible(&self) -> bool {
        self.pseudo().is_none_or(Pseudo::is_possible)
    }

    /// A lower bound of `S`, in case rounding takes it below.
    pub(super) fn sum_of_squares_floor(&self) -> f64 {
        self.pseudo().map_or(0.0, |pseudo| pseudo.noise)
    }

    pub(super) fn retired_bonus(&self, m: usize) -> f64 {
        /// Per coefficient. The joint evidence of a leaf of retired points is pessimistic about splits.
        const RETIRED_BONUS: f64 = 1.5;
        if matches!(self, Self::Default(_)) { RETIRED_BONUS * m as f64 } else { 0.0 }
    }

    /// The proper prior that predicts for leaves the reference prior cannot support.
    pub(super) fn proper_fallback(&self, scale: &Scale) -> Self {
        Self::Default(Pseudo::from_scale(scale))
    }

    /// Follow the stream's scale; true if the prior changed.
    pub(super) fn refresh(&mut self, scale: &Scale, n_before: f64, woke: bool) -> bool {
        let Self::Default(pseudo) = self else { return false };
        let due = scale.is_due(n_before, woke);
        if due {
            *pseudo = Pseudo::from_scale(scale);
        }
        due
    }
}

fn noise_constant(nu0: f64, noise: f64) -> f64 {
    0.5 * nu0 * ln(0.5 * noise) - ln_gamma(0.5 * nu0)
}

impl Pseudo {
    /// Whether any stream has such pseudo-data. With extreme units they need not determine every coefficient: products underflow.
    fn is_possible(&self) -> bool {
        /// Of the logarithm of a positive number.
        const MAX_LN: f64 = 746.0;
        let m = self.centre.len();
        let first_ok = self.moments[N_POINTS] == STRENGTH && (1..=m).all(|i| self.moments[packed_ix(i, 0)] == 0.0);
        let products_ok = (1..=m).all(|i| {
            (0.0..=MAX_SQUARE).contains(&self.moments[packed_ix(i, i)]) && (1..i).all(|j| self.moments[packed_ix(i, j)].abs() <= MAX_SQUARE)
        });
        let centre_ok = self.centre.iter().all(|centre| centre.abs() <= MAX_MEAN);
        let noise_ok = self.nu0 == NOISE_STRENGTH && (f64::MIN_POSITIVE..=MAX_SQUARE).contains(&self.noise);
        first_ok && products_ok && centre_ok && noise_ok && self.ln_constant.abs() <= 4.0 * MAX_LN * (m + 1) as f64
    }

    /// The unit-information prior: the linear fit to everything seen so far, weighted as `STRENGTH` pseudo-observations with the second
    /// moments of the stream.
    ///
    /// Correlations are shrunk towards zero by one pseudo-observation, so that the fit exists from the first row.
    fn from_scale(scale: &Scale) -> Self {
        /// Occam factor per coefficient (nats), in place of the normaliser `1/2 ln STRENGTH` of so weak a prior.
        const OCCAM_LINEAR: f64 = 0.25;
        const OCCAM_CONSTANT: f64 = 1.0;
        /// Pseudo-observations that pin the coefficient of a column that has been constant so far to zero.
        const PINNED: f64 = 1e6;
        let q = scale.dim() - 1;
        let m = q + 1;
        let n = scale.n;
        let sd = |i: usize| scale.variance(i).sqrt();
        let shrink = n / (n + 1.0);

        let mut correlation = vec![0.0; packed_len(q)];
        for i in 0..q {
            for j in 0..=i {
                correlation[packed_ix(i, j)] = if i == j { 1.0 + RIDGE } else { shrink * scale.correlation(i, j) };
            }
        }
        let mut factor = correlation.clone();
        let mut slope: Vec<f64> = (0..q).map(|i| shrink * scale.correlation(q, i)).collect();
        let mut explained = 0.0;
        let mut ln_correlation = 0.0;
        if factor_leading(&mut factor, q, q) {
            ln_correlation = 0.5 * ln_det(&factor, q);
            forward_solve(&factor, &mut slope);
            explained = slope.iter().map(|v| v * v).sum::<f64>().min(1.0);
            backward_solve(&factor, &mut slope);
        } else {
            // No data have such correlations, but a damaged file may: use a constant fit.
            slope.fill(0.0);
        }

        let target_variance = scale.variance(q);
        let unit = if target_variance > 0.0 { target_variance } else { placeholder_variance(scale.mean(q), n) };
        // Residual degrees of freedom. With hardly more rows than columns the fit gets no credit.
        let freedom = n - m as f64;
        let residual = if freedom > 0.0 { ((1.0 - explained) * n / freedom).clamp(1e-12, 1.0) } else { 1.0 };
        let noise = (NOISE_STRENGTH * NOISE_SHARE * unit * residual).max(f64::MIN_POSITIVE);

        // Moments about the mean: first moments are zero; the target's row holds the predictions of the fit.
        let mut moments = vec![0.0; packed_len(m + 1)];
        moments[N_POINTS] = STRENGTH;
        let spread = |i: usize| if sd(i) > 0.0 { sd(i) } else { PINNED * scale.mean(i).abs().max(1.0) };
        let target_sd = unit.sqrt();
        for i in 0..q {
            for j in 0..=i {
                moments[product_ix(i, j)] = STRENGTH * correlation[packed_ix(i, j)] * spread(i) * spread(j);
            }
        }
        let mut quadratic = 0.0;
        for i in 0..q {
            let predicted: f64 = (0..q).map(|j| correlation[packed_ix(i.max(j), i.min(j))] * slope[j]).sum();
            moments[product_ix(q, i)] = STRENGTH * predicted * spread(i) * target_sd;
            quadratic += predicted * slope[i];
        }
        moments[product_ix(q, q)] = STRENGTH * quadratic * unit + noise;

        let ln_spread: f64 = (0..q).map(|i| ln(spread(i))).sum();
        let occam = if q == 0 { OCCAM_CONSTANT } else { OCCAM_LINEAR };
        let ln_constant = m as f64 * occam + ln_correlation + ln_spread + noise_constant(NOISE_STRENGTH, noise);
        let centre = (0..=q).map(|i| scale.mean(i)).collect();
        Self { moments, centre, nu0: NOISE_STRENGTH, noise, ln_constant }
    }
}

/// A variance for predictions while the target has been constant: its squared magnitude at first (1 if it is zero), then smaller with every
/// repetition of the value, down to a tiny fraction.
fn placeholder_variance(mean: f64, n: f64) -> f64 {
    let magnitude = if mean == 0.0 { 1.0 } else { mean.abs() };
    let sd = magnitude * libm::exp2(-n).max(1e-6);
    (sd * sd).max(f64::MIN_POSITIVE * 1e20)
}
