//! Quantiles of a mixture: found on a coarse approximation, then refined on the exact distribution function.

use super::Mixture;
use super::lanes::MixtureLanes;
use super::solver::Solver;
use crate::num::special::normal_quantile;

/// Error in probability at which the iteration stops.
const EXACT: f64 = 1e-12;
/// The same where the result is only a starting value.
const ROUGH: f64 = 1e-6;
/// Levels closer to 0 or 1 than this use tail probabilities with full relative precision.
const DEEP_TAIL: f64 = 1e-8;

impl Solver<'_> {
    /// The quantile at level `q` in (0, 1), accurate to 1e-11 in probability or to the last digits of the result.
    pub fn quantile(&self, q: f64) -> f64 {
        let start = self.centre + normal_quantile(q) * self.width;
        let near = if self.has_coarse() { solve(self.coarse_or_exact(), q, start, self.width, ROUGH).unwrap_or(start) } else { start };
        let deep = q.min(1.0 - q) < DEEP_TAIL;
        let found = if deep { None } else { solve(&self.exact, q, near, self.width, EXACT) };
        // With hardly any degrees of freedom, far quantiles exceed the largest number.
        found.unwrap_or_else(|| self.mixture.quantile_by_bisection(q)).clamp(f64::MIN, f64::MAX)
    }
}

impl Mixture {
    /// Newton steps safeguarded by bisection: slow, but converges for any mixture and any level.
    fn quantile_by_bisection(&self, q: f64) -> f64 {
        let width = self.width();
        let start = self.mean() + normal_quantile(q) * width;
        // In the upper tail, compare complements to keep precision.
        let excess = |y: f64| {
            let (below, above) = self.tails(y);
            if q < 0.5 { below - q } else { (1.0 - q) - above }
        };
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
        // Bisection alone ends within the 2^11 exponents and 53 bits of a double.
        for _ in 0..2200 {
            let value = excess(y);
            if value.abs() < 1e-15 * q.min(1.0 - q) {
                break;
            }
            if value < 0.0 {
                low = y;
            } else {
                high = y;
            }
            // Newton while it converges, otherwise bisect.
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
}

/// The quantile at `level`, from a starting value near it; `None` if the iteration does not converge.
///
/// A step inverts the Taylor series of the distribution function up to the third derivative, so its error is of fourth order in the step
/// length. The iteration stops when the next term is below `tolerance` and the step is shorter than the narrowest component, which could
/// otherwise lie unnoticed between its two ends.
fn solve(of: &MixtureLanes, level: f64, start: f64, width: f64, tolerance: f64) -> Option<f64> {
    const MAX_STEPS: usize = 40;
    /// The series is used only for steps up to this length, relative to the scale on which the density varies.
    const TRUSTED: f64 = 0.4;
    /// The last step must be at most this share of the smallest scale.
    const LAST_STEP: f64 = 0.05;
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut y = start;
    let mut reach = width;
    for _ in 0..MAX_STEPS {
        let at = of.derivatives(y);
        let miss = level - at.cdf;
        if miss == 0.0 {
            return Some(y);
        }
        if miss > 0.0 {
            low = y;
        } else {
            high = y;
        }
        let newton = miss / at.density;
        let ratio = newton.abs() * (at.curvature_bound / at.density).sqrt();
        let (slope, curvature) = (at.slope / at.density, at.curvature / at.density);
        let step = newton * (1.0 - newton * (0.5 * slope - newton * (0.5 * slope * slope - curvature / 6.0)));
        let next = y + step;
        if ratio < TRUSTED && next > low && next < high {
            let small = step.abs() <= LAST_STEP * of.smallest_scale() || tolerance > EXACT;
            if next == y || (small && miss.abs() * ratio * ratio * ratio < tolerance) {
                return Some(next);
            }
            y = next;
            continue;
        }
        y = if low == f64::NEG_INFINITY {
            high - reach
        } else if high == f64::INFINITY {
            low + reach
        } else {
            low + 0.5 * (high - low)
        };
        reach *= 2.0;
        if !(y > low && y < high) {
            return None;
        }
    }
    None
}
