//! A finite mixture of Student-t distributions.

use super::lanes::MixtureLanes;
use super::{Moments, Solver, StudentT};
use crate::num::special::student_t_cdf;
use crate::num::{exp, ln, ln_sum_exp};
use crate::rng::Stream;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    pub weight: f64,
    pub dist: StudentT,
}

/// Weights sum to 1 once the mixture is complete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mixture {
    components: Vec<Component>,
}

impl Mixture {
    pub fn clear(&mut self) {
        self.components.clear();
    }

    /// Components of weight 0 are dropped, because their moments may be infinite.
    pub fn push(&mut self, weight: f64, dist: StudentT) {
        if weight > 0.0 {
            self.components.push(Component { weight, dist });
        }
    }

    /// Add another mixture's components, their weights multiplied by `weight`.
    pub fn extend_scaled(&mut self, other: &Mixture, weight: f64) {
        other.components.iter().for_each(|c| self.push(weight * c.weight, c.dist));
    }

    pub fn components(&self) -> &[Component] {
        &self.components
    }

    pub fn moments(&self) -> Moments {
        let of = |Component { weight, dist }: &Component| {
            let within = dist.variance();
            (*weight, Moments { mean: dist.location, between: 0.0, within, noise: within * dist.noise_share })
        };
        Moments::mix(self.components.iter().map(of))
    }

    pub fn mean(&self) -> f64 {
        self.components.iter().map(|c| c.weight * c.dist.location).sum()
    }

    pub fn ln_density(&self, y: f64) -> f64 {
        ln_sum_exp(self.components.iter().map(|c| ln(c.weight) + c.dist.ln_density(y)))
    }

    /// `ln` density at several points, computed in SIMD lanes.
    pub fn ln_densities<const N: usize>(&self, y: [f64; N]) -> [f64; N] {
        /// Smaller densities may have lost precision to underflow.
        const FAINT: f64 = 1e-280;
        let densities = MixtureLanes::new(&self.components).densities(&y);
        std::array::from_fn(|ix| if densities[ix] > FAINT { ln(densities[ix]) } else { self.ln_density(y[ix]) })
    }

    /// Clamp the locations to a range.
    pub fn clamp_locations(&mut self, low: f64, high: f64) {
        self.components.iter_mut().for_each(|c| c.dist.location = c.dist.location.clamp(low, high));
    }

    /// Shift the mean, and divide all distances from it by a factor.
    pub fn shift_and_sharpen(&mut self, distance: f64, factor: f64) {
        if distance == 0.0 && factor == 1.0 {
            return;
        }
        let mean = self.mean();
        for Component { dist, .. } in &mut self.components {
            dist.location = mean + distance + (dist.location - mean) / factor;
            dist.scale /= factor;
        }
    }

    pub(super) fn density(&self, y: f64) -> f64 {
        self.components.iter().map(|c| c.weight * c.dist.density(y)).sum()
    }

    pub fn cdf(&self, y: f64) -> f64 {
        self.components.iter().map(|c| c.weight * c.dist.cdf(y)).sum()
    }

    /// `(F, 1 - F)`, each with full relative precision.
    pub(super) fn tails(&self, y: f64) -> (f64, f64) {
        self.components.iter().fold((0.0, 0.0), |(below, above), c| {
            let t = (y - c.dist.location) / c.dist.scale;
            let tail = student_t_cdf(-t.abs(), c.dist.df);
            let (lower, upper) = if t < 0.0 { (tail, 1.0 - tail) } else { (1.0 - tail, tail) };
            (below + c.weight * lower, above + c.weight * upper)
        })
    }

    /// Typical width, robust to components without a variance.
    pub fn width(&self) -> f64 {
        let mean = self.mean();
        self.components.iter().map(|c| c.weight * (c.dist.scale + (c.dist.location - mean).abs())).sum::<f64>()
    }

    /// The quantile at level `q` in (0, 1).
    pub fn quantile(&self, q: f64) -> f64 {
        Solver::new(self).quantile(q)
    }

    /// Continuous ranked probability score at `y`.
    pub fn crps(&self, y: f64) -> f64 {
        Solver::new(self).crps(y)
    }

    pub fn sample(&self, stream: &mut Stream) -> f64 {
        let mut left = stream.uniform();
        let last = self.components.len() - 1;
        let chosen = self.components.iter().position(|c| {
            left -= c.weight;
            left < 0.0
        });
        self.components[chosen.unwrap_or(last)].dist.sample(stream)
    }
}

/// Mixture of densities given as logarithms.
pub fn ln_mix(weights: &[f64], ln_densities: &[f64]) -> f64 {
    let max = ln_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + ln(weights.iter().zip(ln_densities).map(|(w, l)| w * exp(l - max)).sum())
}
