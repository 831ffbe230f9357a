//! The continuous ranked probability score of a mixture.

use super::lanes::MixtureLanes;
use super::solver::Solver;

/// Where the quadrature stops, in units of the mixture's width.
const TOLERANCE: f64 = 3e-5;

impl Solver<'_> {
    /// Continuous ranked probability score at `y`: `E|Y - y| - E|Y - Y'|/2`. The first term is closed-form and exact. The second is
    /// `integral F (1 - F)` by quadrature, on the coarse approximation if there is one. The total error is below 1e-4 standard deviations
    /// of the mixture.
    pub fn crps(&self, y: f64) -> f64 {
        let distance = self.exact.mean_distance(y);
        // Without a mean the score is infinite.
        if distance.is_finite() { (distance - self.half_mean_difference(self.coarse_or_exact())).max(0.0) } else { distance }
    }

    /// `integral F (1 - F)`, after `z = centre + width sinh(t)`.
    fn half_mean_difference(&self, of: &MixtureLanes) -> f64 {
        /// Initial number of intervals, and how often each may be halved.
        const N_START: i32 = 12;
        const DEPTH: u32 = 12;
        let term = |t: f64| of.cdf_times_survival(self.centre + self.width * libm::sinh(t)) * libm::cosh(t);
        // Beyond this the integrand is negligible, despite the growth of cosh. It does not decay at all with one degree of freedom, but then the
        // score is infinite and this is not reached.
        let mut limit = 2.0;
        while limit < 64.0 && term(-limit) + term(limit) > 1e-6 {
            limit += 1.0;
        }
        // The trapezoidal rule converges exponentially on smooth mixtures; only multi-scale ones need the adaptive rule.
        if let Some(sum) = converged_trapezoid(&term, limit) {
            return sum * self.width;
        }
        let step = 2.0 * limit / f64::from(N_START);
        let at = |k: i32| -limit + step * f64::from(k);
        let mut sum = 0.0;
        for k in 0..N_START {
            let (a, b) = (at(k), at(k + 1));
            let m = 0.5 * (a + b);
            sum += adaptive_simpson(&term, [a, m, b], [term(a), term(m), term(b)], TOLERANCE / f64::from(N_START), DEPTH);
        }
        sum * self.width
    }
}

/// The integral over `[-limit, limit]` by the trapezoidal rule, refined until two successive results agree; `None` if they do not in time.
fn converged_trapezoid(function: &impl Fn(f64) -> f64, limit: f64) -> Option<f64> {
    const MAX_INTERVALS: i32 = 256;
    let mut n = 8;
    let mut step = 2.0 * limit / f64::from(n);
    let mut sum: f64 = (1..n).map(|k| function(-limit + step * f64::from(k))).sum();
    while n < MAX_INTERVALS {
        let between: f64 = (0..n).map(|k| function(-limit + step * (f64::from(k) + 0.5))).sum();
        let (coarse, fine) = (sum * step, (sum + between) * step * 0.5);
        // Halving the step squares the error, so the error of `fine` is far smaller than this difference.
        if (fine - coarse).abs() <= TOLERANCE {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::{Mixture, StudentT};
    use crate::rng::{Purpose, Stream};

    /// Hundreds of components as in a bank: locations and scales that differ a little within a cloud and a lot between clouds.
    fn bank_like(seed: u64) -> Mixture {
        let mut stream = Stream::new(seed, 0, 0, Purpose::Sample);
        let mut mixture = Mixture::default();
        let n_clouds = 1 + stream.below(8);
        for _ in 0..n_clouds {
            let (place, width) = (4.0 * stream.uniform(), 10f64.powf(1.5 * stream.uniform() - 1.0));
            let df = 10f64.powf(0.5 + 2.5 * stream.uniform());
            for _ in 0..60 {
                let location = place + width * (stream.uniform() + stream.uniform() - 1.0);
                let scale = width * (0.5 + stream.uniform());
                mixture.push(
                    1.0 / (60.0 * n_clouds as f64),
                    StudentT { df: df * (0.8 + 0.4 * stream.uniform()), location, scale, noise_share: 1.0 },
                );
            }
        }
        mixture
    }

    /// Checks the documented bound. Fails if the cells are twice as wide.
    #[test]
    fn the_coarse_approximation_costs_less_than_1e_4_standard_deviations() {
        for seed in 0..200 {
            let mixture = bank_like(seed);
            let solver = Solver::new(&mixture);
            let (coarse, exact) = (solver.half_mean_difference(solver.coarse_or_exact()), solver.half_mean_difference(&solver.exact));
            let sd = mixture.moments().variance().sqrt();
            assert!((coarse - exact).abs() < 1e-4 * sd, "seed {seed}: {}", (coarse - exact) / sd);
        }
    }
}
