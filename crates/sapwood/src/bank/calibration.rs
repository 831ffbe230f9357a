//! What a bank does to the average of its members before it speaks: it is held within reason, moved and sharpened.
//!
//! *Sharpened.* An average of honest forecasts is too wide. Each member has counted all the noise there is, and where members disagree
//! their disagreement is added to it; averaged probabilities are too near to one another in the same way (Ranjan & Gneiting 2010; Gneiting
//! & Ranjan 2013). By how much depends on the stream. So distances from the mean are divided by a factor `k`, and class probabilities become
//! `p_c^k`, normalised. The factor is learned like a parameter with a prior at one, from the density that each factor on a grid would
//! have given to what came; old rows fade.
//!
//! *Moved.* Where everything drifts at once, every member lags behind in the same direction. The mean moves by the average of its latest
//! errors, in units of the forecast's width, as far as that average stands out from noise.
//!
//! *Held.* A line in a leaf may point far out. What lies beyond the range of all targets by more than its width is absurd, and one such
//! component moves the mean of all: locations are held there.

use super::said::Said;
use crate::num::{exp, ln, ln_sum_exp};
use crate::predict::Mixture;

/// Factors on the grid, at even distances on a log scale around one.
const N_FACTORS: usize = 5;
const STEP: f64 = 1.3;
/// Prior standard deviation of a factor's logarithm.
const PRIOR_SD: f64 = 0.15;
/// What a row counts for in the factor when the next one comes.
const FACTOR_FADE: f64 = 0.999;
/// The same for the errors that the mean is moved by: a lag shows in a few dozen rows.
const ERROR_FADE: f64 = 0.98;
/// An average error whose square is below this many times its sampling variance is taken for noise.
const NOISE: f64 = 2.0;
/// Errors count as at most this many widths: one surprise is neither a drift nor a reason to be less sharp for a thousand rows.
const LARGEST_ERROR: f64 = 4.0;
/// Rows before the targets' range means something.
const HOLD_AFTER: u64 = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// `ln` likelihood of each factor by the rows so far, relative to the best.
    pub(crate) ln_weights: [f64; N_FACTORS],
    pub(crate) errors: Errors,
    /// Smallest and largest target so far (regression).
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

/// The latest errors of the average's mean, in units of its width: faded sums (regression).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    pub(crate) n: f64,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
}

/// What came, by the measure of what had been said.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// `ln` density under each factor.
    ln_densities: [f64; N_FACTORS],
    /// Error of the mean in units of the width, where there is one.
    error: Option<f64>,
    /// `ln` density of what came under the calibrated average, and by how much calibration raised it.
    pub ln_density: f64,
    pub gain: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { ln_weights: [0.0; N_FACTORS], errors: Errors::default(), lowest: f64::INFINITY, highest: f64::NEG_INFINITY }
    }
}

impl Errors {
    /// Their average, drawn towards none by what noise makes of it.
    fn lag(&self) -> f64 {
        if self.n == 0.0 {
            return 0.0;
        }
        let (mean, variance) = (self.sum / self.n, self.squares / self.n);
        let surplus = self.n * mean * mean - NOISE * variance;
        if surplus > 0.0 { mean * surplus / (self.n * mean * mean) } else { 0.0 }
    }

    fn learn(&mut self, error: f64, weight: f64) {
        self.n = ERROR_FADE * self.n + weight;
        self.sum = ERROR_FADE * self.sum + weight * error;
        self.squares = ERROR_FADE * self.squares + weight * error * error;
    }
}

fn ln_factor(ix: usize) -> f64 {
    (ix as f64 - (N_FACTORS / 2) as f64) * ln(STEP)
}

impl Calibration {
    /// For a model whose past is not known: nothing is held, and what is learned begins anew.
    pub(crate) fn unknown() -> Self {
        Self { lowest: f64::NEG_INFINITY, highest: f64::INFINITY, ..Self::default() }
    }

    /// The likeliest factor: the peak of the parabola through the best of the grid and its neighbours.
    pub fn factor(&self) -> f64 {
        let ln_posterior = |ix: usize| self.ln_weights[ix] - 0.5 * (ln_factor(ix) / PRIOR_SD).powi(2);
        let best = (1..N_FACTORS).fold(0, |best, ix| if ln_posterior(ix) > ln_posterior(best) { ix } else { best });
        if best == 0 || best == N_FACTORS - 1 {
            return exp(ln_factor(best));
        }
        let (below, at, above) = (ln_posterior(best - 1), ln_posterior(best), ln_posterior(best + 1));
        // Before anything has been learned the peak is at one, to the last bit.
        let steps = 0.5 * (above - below) / (2.0 * at - above - below).max(f64::MIN_POSITIVE);
        exp(ln_factor(best) + steps * ln(STEP))
    }

    /// Bring absurd locations back.
    fn hold(&self, mixture: &mut Mixture, n_seen: u64) {
        let width = self.highest - self.lowest;
        if n_seen >= HOLD_AFTER && width > 0.0 && width.is_finite() {
            mixture.hold(self.lowest - width, self.highest + width);
        }
    }

    /// Calibrate what the members say on average after `n_seen` rows.
    pub fn apply(&self, said: &mut Said, n_seen: u64) {
        match said {
            Said::Number(mixture) => self.apply_to_mixture(mixture, n_seen),
            Said::Class(proba) => self.apply_to_classes(proba),
        }
    }

    pub fn apply_to_mixture(&self, mixture: &mut Mixture, n_seen: u64) {
        self.hold(mixture, n_seen);
        mixture.move_and_sharpen(self.errors.lag() * mixture.width(), self.factor());
    }

    pub fn apply_to_classes(&self, proba: &mut [f64]) {
        sharpen_classes(proba, self.factor());
    }

    /// How each factor would have done, and the mean. None if what was said is of no use for that.
    pub fn judge(&self, said: &mut Said, y: f64, n_seen: u64) -> Option<Judged> {
        let judged = match said {
            Said::Number(mixture) => {
                self.hold(mixture, n_seen);
                let (mean, width) = (mixture.mean(), mixture.width());
                let (factor, lag) = (self.factor(), self.errors.lag());
                let error = ((y - mean) / width).clamp(-LARGEST_ERROR, LARGEST_ERROR);
                // On the grid, calibrated, and as the members say it.
                let points: [f64; N_FACTORS + 2] = std::array::from_fn(|ix| match ix {
                    ix if ix < N_FACTORS => mean + exp(ln_factor(ix)) * (error - lag) * width,
                    N_FACTORS => mean + factor * (y - mean - lag * width),
                    _ => y,
                });
                let values = mixture.ln_densities(points);
                let ln_density = values[N_FACTORS] + ln(factor);
                let ln_densities = std::array::from_fn(|ix| values[ix] + ln_factor(ix));
                Judged { ln_densities, error: Some(error), ln_density, gain: ln_density - values[N_FACTORS + 1] }
            }
            Said::Class(proba) => {
                let own = ln(proba[y as usize]);
                let ln_sharpened = |factor: f64| {
                    let all = proba.iter().filter(|p| **p > 0.0).map(|p| factor * ln(*p));
                    factor * own - ln_sum_exp(all)
                };
                let ln_densities = std::array::from_fn(|ix| ln_sharpened(exp(ln_factor(ix))));
                let ln_density = ln_sharpened(self.factor());
                Judged { ln_densities, error: None, ln_density, gain: ln_density - own }
            }
        };
        let of_use = judged.ln_densities.iter().chain(&judged.error).chain([&judged.gain]).all(|value| value.is_finite());
        of_use.then_some(judged)
    }

    /// Learn from a row that came `weight` times.
    pub fn learn(&mut self, judged: &Judged, weight: f64) {
        for (sum, value) in self.ln_weights.iter_mut().zip(judged.ln_densities) {
            *sum = FACTOR_FADE * *sum + weight * value;
        }
        let best = self.ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.ln_weights.iter_mut().for_each(|value| *value -= best);
        if let Some(error) = judged.error {
            self.errors.learn(error, weight);
        }
    }

    /// Take in a target (regression).
    pub fn widen(&mut self, y: f64) {
        self.lowest = self.lowest.min(y);
        self.highest = self.highest.max(y);
    }
}

/// `p_c^factor`, normalised.
fn sharpen_classes(proba: &mut [f64], factor: f64) {
    let largest = proba.iter().copied().fold(0.0, f64::max);
    if factor == 1.0 || largest == 0.0 {
        return;
    }
    // Relative to the largest, so that their sum is at least one.
    for p in proba.iter_mut() {
        *p = exp(factor * ln(*p / largest));
    }
    let sum: f64 = proba.iter().sum();
    proba.iter_mut().for_each(|p| *p /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::normal_quantile;
    use crate::predict::StudentT;

    const MANY: u64 = 1000;

    fn normal(location: f64, scale: f64) -> StudentT {
        StudentT { df: 1e6, location, scale, noise_share: 1.0 }
    }

    fn pair(distance: f64, scale: f64) -> Mixture {
        let mut mixture = Mixture::default();
        mixture.push(0.5, normal(-0.5 * distance, scale));
        mixture.push(0.5, normal(0.5 * distance, scale));
        mixture
    }

    /// Draws of a standard normal, evenly spread over its quantiles.
    fn draws(n: usize) -> impl Iterator<Item = f64> {
        // The steps of a golden ratio visit the unit interval evenly from the start.
        (0..n).map(|i| normal_quantile((0.5 + 0.618_033_988_749_895 * i as f64).fract()))
    }

    #[test]
    fn a_new_bank_changes_nothing() {
        assert_eq!(Calibration::default().factor(), 1.0);
        assert_eq!(Calibration::unknown().factor(), 1.0);
    }

    /// Two honest forecasters who see different halves of the truth: their average is wider than the errors, by a factor that is known.
    #[test]
    fn finds_how_much_too_wide_an_average_is() {
        for (said_sd, true_sd) in [(1.4, 1.0), (1.0, 1.0), (1.0, 1.25)] {
            let mut calibration = Calibration::default();
            for y in draws(4000) {
                let mut said = Said::Number(pair(0.0, said_sd));
                let judged = calibration.judge(&mut said, true_sd * y, 0).expect("finite");
                calibration.learn(&judged, 1.0);
            }
            let want = said_sd / true_sd;
            assert!((calibration.factor() / want - 1.0).abs() < 0.05, "{} instead of {want}", calibration.factor());
        }
    }

    /// Classes that come as the sharpened probabilities say, while what is said is the flattened ones.
    #[test]
    fn finds_how_much_too_even_probabilities_are() {
        for factor in [1.3, 1.0, 0.8] {
            let mut calibration = Calibration::default();
            for (i, u) in (0..20_000).map(|i| (i, (0.5 + 0.618_033_988_749_895 * i as f64).fract())) {
                let flat = 0.5 + 0.4 * f64::sin(f64::from(i));
                let mut honest = [1.0 - flat, flat];
                sharpen_classes(&mut honest, factor);
                let y = if u < honest[1] { 1.0 } else { 0.0 };
                let judged = calibration.judge(&mut Said::Class(vec![1.0 - flat, flat]), y, 0).expect("finite");
                calibration.learn(&judged, 1.0);
            }
            // A probability tells little about its own sharpness: the prior keeps part of the way.
            let (found, want) = (ln(calibration.factor()), ln(factor));
            assert!(if want == 0.0 { found.abs() < 0.03 } else { (0.5..1.05).contains(&(found / want)) }, "{found} for {want}");
        }
    }

    #[test]
    fn sharpening_keeps_the_mean_and_scales_the_rest() {
        let plain = pair(3.0, 0.7);
        let mut sharp = plain.clone();
        sharp.move_and_sharpen(0.0, 1.5);
        let (before, after) = (plain.moments(), sharp.moments());
        assert!((after.mean - before.mean).abs() < 1e-15);
        assert!((after.variance() * 1.5 * 1.5 / before.variance() - 1.0).abs() < 1e-12);
        for q in [0.05, 0.3, 0.5, 0.95] {
            assert!((sharp.quantile(q) * 1.5 - plain.quantile(q)).abs() < 1e-9);
        }
        for y in [-2.0, 0.1, 1.3] {
            assert!((sharp.ln_density(y) - (plain.ln_density(1.5 * y) + ln(1.5))).abs() < 1e-12);
        }
    }

    /// What is judged is what would have been said.
    #[test]
    fn judging_agrees_with_applying() {
        let calibration = Calibration::default();
        let mut number = Said::Number(pair(1.0, 0.5));
        let mut class = Said::Class(vec![0.2, 0.0, 0.7, 0.1]);
        for said in [&mut number, &mut class] {
            let judged = calibration.judge(said, 2.0, 0).expect("finite");
            for (ix, judged) in judged.ln_densities.into_iter().enumerate() {
                let mut applied = said.clone();
                match &mut applied {
                    Said::Number(mixture) => mixture.move_and_sharpen(0.0, exp(ln_factor(ix))),
                    Said::Class(proba) => sharpen_classes(proba, exp(ln_factor(ix))),
                }
                assert!((applied.ln_density(2.0) - judged).abs() < 1e-10);
            }
        }
        // A class that was thought impossible says nothing about the factor.
        assert!(calibration.judge(&mut class, 1.0, 0).is_none());
        calibration.apply(&mut class, 0);
        let Said::Class(proba) = class else { unreachable!() };
        assert!((proba.iter().sum::<f64>() - 1.0).abs() < 1e-15 && proba[1] == 0.0);
    }

    /// Members that all lag behind by the same: the mean follows within a few dozen rows, and stays where there is nothing to follow.
    #[test]
    fn follows_a_common_lag_and_not_noise() {
        let mut calibration = Calibration::default();
        let mean_after = |calibration: &mut Calibration, lag: f64| {
            for y in draws(200) {
                let judged = calibration.judge(&mut Said::Number(pair(0.0, 1.0)), lag + y, 0).expect("finite");
                calibration.learn(&judged, 1.0);
            }
            let mut mixture = pair(0.0, 1.0);
            calibration.apply_to_mixture(&mut mixture, 0);
            mixture.mean()
        };
        assert_eq!(mean_after(&mut calibration, 0.0), 0.0);
        assert!((mean_after(&mut calibration, 1.0) - 1.0).abs() < 0.2);
        assert!((mean_after(&mut calibration, 0.0)).abs() < 0.1);
    }

    /// One enormous error is no reason to move.
    #[test]
    fn a_single_surprise_moves_nothing() {
        let mut calibration = Calibration::default();
        for y in draws(100).chain([1e9]) {
            let judged = calibration.judge(&mut Said::Number(pair(0.0, 1.0)), y, 0).expect("finite");
            calibration.learn(&judged, 1.0);
        }
        assert_eq!(calibration.errors.lag(), 0.0);
        assert!(calibration.factor() > 0.8);
    }

    #[test]
    fn absurd_locations_are_held_once_the_range_is_known() {
        let mut calibration = Calibration::default();
        [1.0, 3.0].into_iter().for_each(|y| calibration.widen(y));
        let mut mixture = Mixture::default();
        mixture.push(0.5, normal(1e6, 1.0));
        mixture.push(0.5, normal(2.0, 1.0));
        let mut early = mixture.clone();
        calibration.hold(&mut early, 2);
        assert_eq!(early, mixture);
        calibration.hold(&mut mixture, MANY);
        assert_eq!(mixture.mean(), 0.5 * (5.0 + 2.0));
        let mut untouched = pair(2.0, 1.0);
        Calibration::unknown().hold(&mut untouched, MANY);
        assert_eq!(untouched, pair(2.0, 1.0));
    }

    /// A constant target has no width to measure absurdity by.
    #[test]
    fn nothing_is_held_to_a_single_value() {
        let mut calibration = Calibration::default();
        calibration.widen(7.0);
        let mut mixture = pair(2.0, 1.0);
        calibration.hold(&mut mixture, MANY);
        assert_eq!(mixture, pair(2.0, 1.0));
    }
}
