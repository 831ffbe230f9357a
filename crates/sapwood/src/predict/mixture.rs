//! A finite mixture of Student-t distributions.

use super::StudentT;
use crate::num::special::{normal_quantile, student_t_cdf};
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
        if weight == 0.0 {
            return;
        }
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

    /// A component of no weight is no component: its moments may be infinite.
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

    /// `(F, 1 - F)`, each to its own last digits.
    fn tails(&self, y: f64) -> (f64, f64) {
        self.components.iter().fold((0.0, 0.0), |(below, above), c| {
            let t = (y - c.dist.location) / c.dist.scale;
            let tail = student_t_cdf(-t.abs(), c.dist.df);
            let (lower, upper) = if t < 0.0 { (tail, 1.0 - tail) } else { (1.0 - tail, tail) };
            (below + c.weight * lower, above + c.weight * upper)
        })
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
        let mut last = f64::INFINITY;
        // Halving alone ends within the 2^11 exponents and 53 bits of a double.
        for _ in 0..2200 {
            let value = excess(y);
            if value.abs() < 1e-15 {
                break;
            }
            if value < 0.0 {
                low = y;
            } else {
                high = y;
            }
            // Newton while it pays; where the density is uneven, halve.
            let newton = y - value / self.density(y);
            let pays = value.abs() < 0.5 * last && newton > low && newton < high;
            last = value.abs();
            let next = if pays { newton } else { low + 0.5 * (high - low) };
            if next == y || next <= low || next >= high {
                break;
            }
            y = next;
        }
        y
    }

    /// Continuous ranked probability score at `y`: `E|Y - y| - E|Y - Y'|/2`. The first term is closed-form; the second is
    /// `integral F (1 - F)`, by adaptive quadrature after `z = centre + width sinh(t)`, to about a millionth of the mixture's width. `F` is
    /// monotone, so a component too narrow for the first nodes still shows as a step between them.
    pub fn crps(&self, y: f64) -> f64 {
        let distance: f64 = self.components.iter().map(|c| c.weight * c.dist.mean_distance(y)).sum();
        // Without a mean there is no score.
        if distance.is_finite() { distance - self.half_mean_difference() } else { distance }
    }

    fn half_mean_difference(&self) -> f64 {
        /// Intervals to begin with, how often each may be halved, and when halving stops, in units of the mixture's width.
        const N_START: i32 = 12;
        const DEPTH: u32 = 12;
        const TOLERANCE: f64 = 1e-8;
        let (centre, width) = (self.mean(), self.width());
        let term = |t: f64| {
            let (below, above) = self.tails(centre + width * libm::sinh(t));
            below * above * libm::cosh(t)
        };
        // Beyond the reach nothing is left of F (1 - F), even against the growth of cosh: one degree of freedom decays slowest, and not
        // at all, but then the score is infinite anyway.
        let mut reach = 2.0;
        while reach < 64.0 && term(-reach) + term(reach) > 1e-9 {
            reach += 2.0;
        }
        // The trapezoidal rule converges exponentially on smooth mixtures; only uneven ones need the adaptive rule.
        if let Some(sum) = converged_trapezoid(&term, reach, TOLERANCE) {
            return sum * width;
        }
        let step = 2.0 * reach / f64::from(N_START);
        let at = |k: i32| -reach + step * f64::from(k);
        let mut sum = 0.0;
        for k in 0..N_START {
            let (a, b) = (at(k), at(k + 1));
            let m = 0.5 * (a + b);
            sum += adaptive_simpson(&term, [a, m, b], [term(a), term(m), term(b)], TOLERANCE, DEPTH);
        }
        sum * width
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

/// The integral over `[-reach, reach]` by a trapezoidal rule that is refined until two rounds agree; none if they do not in time.
fn converged_trapezoid(function: &impl Fn(f64) -> f64, reach: f64, tolerance: f64) -> Option<f64> {
    const MOST: i32 = 256;
    let mut n = 16;
    let mut step = 2.0 * reach / f64::from(n);
    let mut sum: f64 = (1..n).map(|k| function(-reach + step * f64::from(k))).sum();
    while n < MOST {
        let between: f64 = (0..n).map(|k| function(-reach + step * (f64::from(k) + 0.5))).sum();
        let (coarse, fine) = (sum * step, (sum + between) * step * 0.5);
        if (fine - coarse).abs() <= tolerance {
            return Some(fine);
        }
        sum += between;
        step *= 0.5;
        n *= 2;
    }
    None
}

/// Simpson's rule on `[a, m, b]` with values `f`, halved until both halves agree with the whole to `tolerance`.
fn adaptive_simpson(function: &impl Fn(f64) -> f64, [a, m, b]: [f64; 3], f: [f64; 3], tolerance: f64, depth: u32) -> f64 {
    let (left_mid, right_mid) = (0.5 * (a + m), 0.5 * (m + b));
    let (f_left, f_right) = (function(left_mid), function(right_mid));
    let simpson = |width: f64, [x, y, z]: [f64; 3]| width / 6.0 * (x + 4.0 * y + z);
    let left = simpson(m - a, [f[0], f_left, f[1]]);
    let right = simpson(b - m, [f[1], f_right, f[2]]);
    let gap = left + right - simpson(b - a, f);
    if depth == 0 || gap.is_nan() || gap.abs() <= 15.0 * tolerance {
        return left + right + gap / 15.0;
    }
    adaptive_simpson(function, [a, left_mid, m], [f[0], f_left, f[1]], 0.5 * tolerance, depth - 1)
        + adaptive_simpson(function, [m, right_mid, b], [f[1], f_right, f[2]], 0.5 * tolerance, depth - 1)
}

/// Mixture of densities given as logarithms.
pub fn ln_mix(weights: &[f64], ln_densities: &[f64]) -> f64 {
    let max = ln_densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + ln(weights.iter().zip(ln_densities).map(|(w, l)| w * exp(l - max)).sum())
}
