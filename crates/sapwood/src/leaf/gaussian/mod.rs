//! Linear regression with Gaussian noise; the constant leaf is the case without regressors.
//!
//! With design `z = [1, x]` of length `m`, the statistics are the packed augmented moments of `[1, x, y]` about the leaf's origin. Under a
//! normal-inverse-gamma prior with precision `L0`, mean `b0`, `nu0` and `s0`:
//!
//! `G* = G + L0`, `beta = G*^-1 (b + L0 b0)`, `S = nu0 s0 + q + b0' L0 b0 - beta' G* beta`, `df = nu0 + n`,
//! `ln Z = -n/2 ln(2 pi) + 1/2 ln|L0| - 1/2 ln|G*| + lnG(df/2) - lnG(nu0/2) + nu0/2 ln(nu0 s0/2) - df/2 ln(S/2)`.
//!
//! The prior acts as pseudo-data: it is itself an augmented moment matrix, added before factoring. One Cholesky factorisation of the sum
//! gives everything: `|G*|` from the first `m` pivots, `S` as the Schur complement of the last, and the mean and leverage at any
//! input by one forward solve.

mod alc;
mod divide;
mod fits;
mod lanes;
mod moments;
mod prior;

pub use prior::{FixedPrior, GaussianPrior, Pseudo};

use super::{
    Batch, Bounds, EncodedPoints, Extent, LeafModel, RegressionLeaf, SUMS_ROUND_TO, SWAMPED, Scale, is_possible_product, n_points,
};
use crate::config::Division;
use crate::num::cholesky::{factor_leading, forward_solve, packed_ix, packed_len};
use crate::num::lanes::Lane;
use crate::num::special::ln_gamma;
use crate::num::{LN_2PI, ln};
use crate::predict::StudentT;
use crate::split::Split;
use moments::{Moments, add_point};

/// The posterior of a Gaussian leaf.
#[derive(Debug, Default)]
pub struct GaussianFit {
    /// Degrees of freedom of the predictive.
    pub(crate) df: f64,
    /// Posterior sum of squares `S`.
    pub(crate) sum_of_squares: f64,
    /// Packed Cholesky factor of the posterior augmented moments.
    pub(crate) factor: Vec<f64>,
}

impl Clone for GaussianFit {
    fn clone(&self) -> Self {
        Self { factor: self.factor.clone(), ..*self }
    }

    /// Reuses the existing allocation.
    fn clone_from(&mut self, source: &Self) {
        let Self { df, sum_of_squares, factor } = source;
        (self.df, self.sum_of_squares) = (*df, *sum_of_squares);
        self.factor.clone_from(factor);
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Gaussian {
    /// Number of regressors: all inputs (linear) or none (constant).
    pub(crate) n_regressors: usize,
    pub(crate) prior: GaussianPrior,
    pub(crate) scale: Scale,
}

impl Gaussian {
    pub fn constant(prior: GaussianPrior) -> Self {
        Self::new(0, prior)
    }

    pub fn linear(n_inputs: usize, prior: GaussianPrior) -> Self {
        Self::new(n_inputs, prior)
    }

    fn new(n_regressors: usize, prior: GaussianPrior) -> Self {
        Self { n_regressors, prior, scale: Scale::new(n_regressors + 1) }
    }

    /// Number of coefficients `m`.
    fn n_coefficients(&self) -> usize {
        self.n_regressors + 1
    }

    /// False until two different targets have been seen: without a scale there is no density.
    fn has_scale(&self) -> bool {
        matches!(self.prior, GaussianPrior::Fixed(_)) || self.scale.variance(self.n_regressors) > 0.0
    }

    /// Factor total + prior into `factor` and return `(df, S)`; `None` if the (improper) prior does not support so little data.
    fn posterior(&self, total: &[f64], origin: &[f64], factor: &mut Vec<f64>) -> Option<(f64, f64)> {
        let m = self.n_coefficients();
        factor.clear();
        factor.extend_from_slice(total);
        self.prior.add_to(factor, origin);
        let df = self.prior.df(n_points(total), m);
        if df.is_nan() || df <= 0.0 || !factor_leading(factor, m + 1, m) {
            return None;
        }
        let s = factor[packed_ix(m, m)].max(self.prior.sum_of_squares_floor());
        (s > 0.0).then_some((df, s))
    }

    /// The mean of the inputs behind these statistics, as an encoded point.
    fn centre_of(&self, total: &[f64], origin: &[f64]) -> Vec<f64> {
        let moments = Moments(total);
        let offset = |i: usize| if moments.n() > 0.0 { moments.mean(i) } else { 0.0 };
        (0..origin.len()).map(|i| origin[i] + offset(i)).collect()
    }

    /// Fill `z = [1, x - origin]` for the design of an encoded point.
    fn design(&self, origin: &[f64], point: &[f64], z: &mut [f64]) {
        z[0] = 1.0;
        for i in 0..self.n_regressors {
            z[i + 1] = point[i] - origin[i];
        }
    }

    /// `(location, leverage)` at an encoded point.
    fn locate(&self, fit: &GaussianFit, origin: &[f64], point: &[f64]) -> (f64, f64) {
        let m = self.n_coefficients();
        with_scratch(m, |z| {
            self.design(origin, point, z);
            forward_solve(&fit.factor, z);
            let last = &fit.factor[packed_ix(m, 0)..packed_ix(m, m)];
            let mut location = origin[self.n_regressors];
            let mut leverage = 0.0;
            for (zi, bi) in z.iter().zip(last) {
                location += zi * bi;
                leverage += zi * zi;
            }
            (location, leverage)
        })
    }
}

/// Run `f` on a zeroed slice of length `len`, which is on the stack unless it is long.
pub(super) fn with_scratch<T>(len: usize, f: impl FnOnce(&mut [f64]) -> T) -> T {
    const ON_STACK: usize = 32;
    if len <= ON_STACK { f(&mut [0.0; ON_STACK][..len]) } else { f(&mut vec![0.0; len]) }
}

impl LeafModel for Gaussian {
    type Fit = GaussianFit;

    fn point_len(&self) -> usize {
        self.n_regressors + 1
    }

    fn stat_len(&self) -> usize {
        packed_len(self.n_regressors + 2)
    }

    fn track(&mut self, x: &[f64], y: f64, weight: f64) -> bool {
        let before = self.scale.n;
        let woke = self.scale.observe(x[..self.n_regressors].iter().copied().chain([y]), weight);
        self.prior.refresh(&self.scale, before, woke)
    }

    fn encode(&self, x: &[f64], y: f64, point: &mut [f64]) {
        for (i, (value, out)) in x[..self.n_regressors].iter().zip(point.iter_mut()).enumerate() {
            *out = self.scale.impute_and_clip(i, *value);
        }
        point[self.n_regressors] = y;
    }

    fn could_encode(&self, point: &[f64], y: f64) -> bool {
        point[self.n_regressors] == y
    }

    fn origin(&self) -> Vec<f64> {
        self.prior.centre().map_or_else(|| (0..=self.n_regressors).map(|i| self.scale.mean(i)).collect(), <[f64]>::to_vec)
    }

    #[inline]
    fn observe(&self, stats: &mut [f64], origin: &[f64], point: &[f64], weight: f64) {
        add_point(stats, origin, point, weight);
    }

    fn caches_point_stats(&self) -> bool {
        /// Two kilobytes per point; larger statistics no longer fit into the processor's cache.
        const MAX_LEN: usize = 256;
        self.n_regressors > 0 && self.stat_len() <= MAX_LEN
    }

    fn is_swamped(&self, left: &[f64], origin: &[f64], point: &[f64], weight: f64) -> bool {
        let left = Moments(left);
        weight > SWAMPED * left.n()
            || (0..point.len()).any(|i| {
                let distance = point[i] - origin[i];
                weight * distance * distance > SWAMPED * left.sum_of_squares(i)
            })
    }

    fn shift(&self, stats: &mut [f64], from: &[f64], to: &[f64]) {
        moments::shift(stats, from, to);
    }

    fn better_origin(&self, total: &[f64], origin: &[f64]) -> Option<Vec<f64>> {
        // A mean 1000 standard deviations from the origin costs six of sixteen digits. A constant column is left alone once it is centred.
        const FAR: f64 = 1e6;
        let moments = Moments(total);
        let n = moments.n();
        if n <= 0.0 {
            return None;
        }
        // The same test without a division and with a margin for rounding settles most cases.
        let surely_near = |i: &usize| {
            let sum = moments.sum(*i);
            sum * sum * (1.0 + FAR) * (1.0 + 1e-9) <= FAR * n * moments.sum_of_squares(*i)
        };
        let far = (0..origin.len()).filter(|i| !surely_near(i)).any(|i| {
            let mean = moments.mean(i);
            mean * mean > FAR * moments.variance(i) && mean.abs() > 1e-9 * origin[i].abs()
        });
        far.then(|| (0..origin.len()).map(|i| origin[i] + moments.mean(i)).collect())
    }

    fn divides_by_cut(&self, division: Division) -> bool {
        division == Division::Gaussian && self.n_regressors > 0
    }

    /// Proportional, or by a Gaussian; see [`divide`](self::divide).
    fn divide(&self, division: Division, retired: &[f64], origin: &[f64], split: &Split, share: f64, left: &mut [f64]) {
        let dim = split.dim as usize;
        if division == Division::Gaussian && dim < self.n_regressors && n_points(retired) > 0.0 {
            divide::divide(retired, self.point_len(), dim, split.cut - origin[dim], left);
            return;
        }
        for (l, r) in left.iter_mut().zip(retired) {
            *l = share * r;
        }
    }

    fn is_possible(&self, extent: &Extent) -> bool {
        let centred = extent.holds(&self.scale.mean) && self.prior.centre().is_none_or(|centre| extent.holds(centre));
        centred && self.scale.is_possible() && self.prior.is_possible()
    }

    fn extent(&self, inputs: &[(f64, f64)], targets: (f64, f64)) -> Extent {
        let ranges = inputs[..self.n_regressors].iter().copied().chain([targets]);
        Extent::new(self.scale.n, ranges)
    }

    fn largest_stats(&self, origin: &[f64], extent: &Extent) -> Vec<f64> {
        let farthest: Vec<f64> = (0..origin.len()).map(|i| extent.reach(i, origin[i])).collect();
        let mut stats = vec![0.0; self.stat_len()];
        add_point(&mut stats, &vec![0.0; origin.len()], &farthest, extent.weight);
        stats
    }

    /// Every entry is a sum of products of two of the values `[1, x, y]`, so that the whole is positive semi-definite. With many regressors
    /// that would take too long, and only pairs of values are compared.
    fn are_possible(&self, stats: &[f64], largest: &[f64]) -> bool {
        const FEW: usize = 32;
        let slack = |ix: usize| SUMS_ROUND_TO * largest[ix];
        let dim = self.point_len() + 1;
        if dim <= FEW {
            let mut raised = stats.to_vec();
            // Twice: once for what rounding did to the diagonal, once for what it did beside it.
            (0..dim).for_each(|i| raised[packed_ix(i, i)] += 2.0 * dim as f64 * slack(packed_ix(i, i)) + 1e-290);
            if !factor_leading(&mut raised, dim, dim) {
                return false;
            }
        }
        (0..dim).all(|i| {
            let own = packed_ix(i, i);
            stats[own] >= -slack(own)
                && stats[own] <= (1.0 + 1e-6) * largest[own] + f64::MIN_POSITIVE
                && (0..i).all(|j| {
                    let (other, product) = (packed_ix(j, j), packed_ix(i, j));
                    is_possible_product(stats[product], [stats[own], stats[other]], [slack(own), slack(other)], slack(product))
                })
        })
    }

    fn prior_stats(&self, origin: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.prior.add_to(out, origin);
    }

    fn ln_z_batch(&self, batch: &mut Batch, _scratch: &mut Vec<Lane>, out: &mut Vec<f64>) {
        lanes::ln_z_batch(self, batch, out);
    }

    fn retired_bonus(&self) -> f64 {
        self.prior.retired_bonus(self.n_coefficients())
    }

    fn fit(&self, total: &[f64], origin: &[f64], fit: &mut GaussianFit) -> bool {
        match self.posterior(total, origin, &mut fit.factor) {
            Some(known) => {
                (fit.df, fit.sum_of_squares) = known;
                true
            }
            None => {
                // The improper prior has no posterior here. Until moves leave this state, predict under the proper prior.
                let fallback = Gaussian { prior: self.prior.proper_fallback(&self.scale), ..self.clone() };
                let with_data = fallback.posterior(total, origin, &mut fit.factor);
                // Ignore moments that rounding has made impossible.
                let no_points = vec![0.0; total.len()];
                let posterior = with_data.or_else(|| fallback.posterior(&no_points, origin, &mut fit.factor));
                // With an origin extremely far from the centre of the stream even the prior is lost to rounding: fall back to a wide predictive.
                (fit.df, fit.sum_of_squares) = posterior.unwrap_or_else(|| {
                    let m = self.n_coefficients();
                    fit.factor.clear();
                    fit.factor.resize(total.len(), 0.0);
                    (0..m).for_each(|i| fit.factor[packed_ix(i, i)] = 1.0);
                    (fallback.prior.df(0.0, m), fallback.prior.sum_of_squares_floor())
                });
                false
            }
        }
    }

    fn fit_rows(&self, totals: &[f64], origins: &[f64], scratch: &mut Vec<Lane>, fits: &mut [GaussianFit], supported: &mut [bool]) {
        fits::fit_rows(self, totals, origins, scratch, fits, supported);
    }

    /// Without a scale there is no density.
    fn evidence_predicts(&self) -> bool {
        self.has_scale()
    }

    /// `ln Z(stats + weight * point) - ln Z(stats)`, by a rank-one update; for weight 1 the Student-t density.
    fn ln_predictive(&self, fit: &GaussianFit, _total: &[f64], origin: &[f64], point: &[f64], weight: f64) -> f64 {
        if !self.has_scale() {
            return 0.0;
        }
        let (location, leverage) = self.locate(fit, origin, point);
        let error = point[self.n_regressors] - location;
        let growth = 1.0 + weight * leverage;
        let s = fit.sum_of_squares;
        let relative = weight * error * error / (growth * s);
        ln_gamma(0.5 * (fit.df + weight))
            - ln_gamma(0.5 * fit.df)
            - 0.5 * (weight * LN_2PI + ln(growth) + weight * ln(0.5 * s) + (fit.df + weight) * libm::log1p(relative))
    }

    fn value_at_centre(&self, fit: &GaussianFit, total: &[f64], origin: &[f64]) -> Vec<f64> {
        vec![self.student_t(fit, origin, &self.centre_of(total, origin)).location]
    }

    /// Active learning Cohn; see [`alc`].
    fn discard_scores(
        &self,
        fit: &GaussianFit,
        _total: &[f64],
        origin: &[f64],
        bounds: &Bounds,
        points: EncodedPoints,
        out: &mut Vec<f64>,
    ) {
        alc::scores(self, fit, origin, bounds, points, out);
    }
}

impl RegressionLeaf for Gaussian {
    fn student_t(&self, fit: &GaussianFit, origin: &[f64], point: &[f64]) -> StudentT {
        let (location, leverage) = self.locate(fit, origin, point);
        let noise = fit.sum_of_squares / fit.df;
        let scale = (noise * (1.0 + leverage)).sqrt();
        // An infinite leverage leaves no share for the noise.
        let noise_share = if leverage.is_nan() { 0.0 } else { 1.0 / (1.0 + leverage) };
        StudentT { df: fit.df, location, scale, noise_share }.within_limits(origin[self.n_regressors])
    }
}

#[cfg(test)]
mod tests;
