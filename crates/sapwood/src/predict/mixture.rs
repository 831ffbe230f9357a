//! A finite mixture of Student-t distributions.

use super::StudentT;
use crate::num::special::normal_quantile;
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

/// First and second moments, additive over weighted parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    mean: f64,
    /// `E[location^2]`, about zero.
    square: f64,
    within: f64,
    noise: f64,
}

impl Moments {
    pub fn add(&mut self, weight: f64, other: &Moments) {
        self.mean += weight * other.mean;
        self.square += weight * other.square;
        self.within += weight * other.within;
        self.noise += weight * other.noise;
    }

    pub fn mean(&self) -> f64 {
        self.mean
    }

    fn between(&self) -> f64 {
        (self.square - self.mean * self.mean).max(0.0)
    }

    pub fn variance(&self) -> f64 {
        self.within + self.between()
    }

    /// The part of the variance that more data would remove: not knowing the leaf's coefficients, nor which tree.
    pub fn epistemic(&self) -> f64 {
        if self.within.is_finite() { self.within - self.noise + self.between() } else { f64::INFINITY }
    }
}

impl Mixture {
    pub fn clear(&mut self) {
        self.components.clear();
    }

    pub fn push(&mut self, weight: f64, dist: StudentT) {
        self.components.push(Component { weight, dist });
    }

    /// Add another mixture's components, their weights multiplied by `weight`.
    pub fn extend_scaled(&mut self, other: &Mixture, weight: f64) {
        self.components.extend(other.components.iter().map(|c| Component { weight: weight * c.weight, ..*c }));
    }

    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Moments about `centre`-free zero; the locations' spread is summed about their mean first, so that far means cost no digits.
    pub fn moments(&self) -> Moments {
        let mut moments = Moments::default();
        let total: f64 = self.components.iter().map(|c| c.weight).sum();
        let mean = self.mean();
        for Component { weight, dist } in &self.components {
            let variance = dist.variance();
            moments.square += weight * (dist.location - mean) * (dist.location - mean);
            moments.within += weight * variance;
            moments.noise += weight * variance * dist.noise_share;
        }
        moments.mean = mean;
        moments.square += total * mean * mean;
        moments
    }

    pub fn mean(&self) -> f64 {
        self.components.iter().map(|c| c.weight * c.dist.location).sum()
    }

    /// `(total variance, the part due to not knowing the model)`.
    pub fn variance(&self) -> (f64, f64) {
        let mean = self.mean();
        let (mut between, mut within, mut noise) = (0.0, 0.0, 0.0);
        for Component { weight, dist } in &self.components {
            let variance = dist.variance();
            between += weight * (dist.location - mean) * (dist.location - mean);
            within += weight * variance;
            noise += weight * variance * dist.noise_share;
        }
        let epistemic = if within.is_finite() { within - noise + between } else { f64::INFINITY };
        (within + between, epistemic)
    }

    pub fn ln_density(&self, y: f64) -> f64 {
        ln_sum_exp(self.components.iter().map(|c| ln(c.weight) + c.dist.ln_density(y)))
    }

    fn density(&self, y: f64) -> f64 {
        self.components.iter().map(|c| c.weight * c.dist.density(y)).sum()
    }

    pub fn cdf(&self, y: f64) -> f64 {
        self.components.iter().map(|c| c.weight * c.dist.cdf(y)).sum()
    }

    /// Typical width, robust to components without a variance.
    fn width(&self) -> f64 {
        let mean = self.mean();
        self.components.iter().map(|c| c.weight * (c.dist.scale + (c.dist.location - mean).abs())).sum::<f64>()
    }

    /// The quantile at level `q` in (0, 1): Newton steps on the distribution function, kept inside a bracket that always shrinks.
    pub fn quantile(&self, q: f64) -> f64 {
        let width = self.width();
        let start = self.mean() + normal_quantile(q) * width;
        let excess = |y: f64| self.cdf(y) - q;
        let (mut low, mut high) = (start, start);
        let mut reach = width.max(f64::MIN_POSITIVE);
        let mut y = start;
        let mut value = excess(y);
        // Bracket by doubling, on the side where the root is.
        if value < 0.0 {
            while value < 0.0 && high.is_finite() {
                low = high;
                high += reach;
                reach *= 2.0;
                value = excess(high);
            }
        } else {
            while value >= 0.0 && low.is_finite() {
                high = low;
                low -= reach;
                reach *= 2.0;
                value = excess(low);
            }
        }
        y = y.clamp(low, high);
        for _ in 0..200 {
            let value = excess(y);
            if value == 0.0 {
                break;
            }
            if value < 0.0 {
                low = y;
            } else {
                high = y;
            }
            let newton = y - value / self.density(y);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - y).abs() <= 1e-13 * (width + y.abs()) || next == y {
                y = next;
                break;
            }
            y = next;
        }
        y
    }

    /// Continuous ranked probability score at `y`: `E|Y - y| - E|Y - Y'|/2`. The first term is closed-form; the second is
    /// `integral F (1 - F)`, by the trapezoidal rule after `z = centre + width sinh(t)`, which converges exponentially.
    pub fn crps(&self, y: f64) -> f64 {
        let distance: f64 = self.components.iter().map(|c| c.weight * c.dist.mean_distance(y)).sum();
        distance - self.half_mean_difference()
    }

    fn half_mean_difference(&self) -> f64 {
        const STEP: f64 = 0.125;
        let (centre, width) = (self.mean(), self.width());
        let term = |t: f64| {
            let f = self.cdf(centre + width * libm::sinh(t));
            f * (1.0 - f) * libm::cosh(t)
        };
        let mut sum = term(0.0);
        for side in [-1.0, 1.0] {
            for k in 1..400 {
                let value = term(side * STEP * f64::from(k));
                sum += value;
                if value < 1e-12 * sum {
                    break;
                }
            }
        }
        sum * STEP * width
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
