//! A located and scaled Student-t.

use crate::num::special::{normal_quantile, student_t_cdf, student_t_ln_norm};
use crate::num::{exp, ln};
use crate::rng::Stream;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudentT {
    pub df: f64,
    pub location: f64,
    pub scale: f64,
    /// Share of the variance that is noise; the rest is uncertainty about the coefficients of the leaf.
    pub noise_share: f64,
}

/// Data are at most 1e100 in magnitude. Predictions beyond these limits come from extrapolating far beyond everything seen, and are held to
/// them so that moments, distances and quantiles stay finite.
pub const FARTHEST: f64 = 1e120;
const WIDEST: f64 = 1e140;

impl StudentT {
    /// The distribution with these parameters, its location and scale held to what can be computed with. `fallback` stands in for a location
    /// that is not a number.
    #[inline]
    pub fn within_limits(self, fallback: f64) -> Self {
        let location = if self.location.is_nan() { fallback } else { self.location.clamp(-FARTHEST, FARTHEST) };
        // A NaN comes from an infinity, so that it is as wide as can be.
        let scale = if self.scale <= WIDEST { self.scale.max(f64::MIN_POSITIVE) } else { WIDEST };
        Self { location, scale, ..self }
    }

    /// Infinite where it does not exist.
    pub fn variance(&self) -> f64 {
        if self.df > 2.0 { self.scale * self.scale * self.df / (self.df - 2.0) } else { f64::INFINITY }
    }

    pub fn ln_density(&self, y: f64) -> f64 {
        let t = (y - self.location) / self.scale;
        // Far out, log1p(t^2/df) is computed without the square, which would overflow.
        let stretch = if t.abs() < 1e150 { libm::log1p(t * t / self.df) } else { 2.0 * ln(t.abs()) - ln(self.df) };
        student_t_ln_norm(self.df) - ln(self.scale) - 0.5 * (self.df + 1.0) * stretch
    }

    pub fn density(&self, y: f64) -> f64 {
        exp(self.ln_density(y))
    }

    pub fn cdf(&self, y: f64) -> f64 {
        student_t_cdf((y - self.location) / self.scale, self.df)
    }

    /// A draw: a normal divided by the root of an independent scaled chi-square, which comes from Marsaglia and Tsang's gamma sampler.
    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let normal = normal_quantile(stream.uniform_positive() * (1.0 - 1e-16));
        let shape = 0.5 * self.df;
        let chi_square = 2.0 * sample_gamma(shape, stream);
        self.location + self.scale * normal / (chi_square / self.df).sqrt()
    }
}

fn sample_gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let boost = exp(ln(stream.uniform_positive()) / shape);
        return sample_gamma(shape + 1.0, stream) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let normal = normal_quantile(stream.uniform_positive() * (1.0 - 1e-16));
        let v = (1.0 + c * normal).powi(3);
        if v > 0.0 && ln(stream.uniform_positive()) < 0.5 * normal * normal + d - d * v + d * ln(v) {
            return d * v;
        }
    }
}
