//! Calibration of the members' average: locations are clamped, the mean is shifted and the distribution sharpened.
//!
//! *Sharpening.* A linear pool of calibrated forecasts is underconfident. Each member already accounts for all the noise, and the pool adds
//! the members' disagreement to it; pooled class probabilities are too close to uniform for the same reason (Ranjan & Gneiting 2010; Gneiting
//! & Ranjan 2013). How much depends on the stream. So distances from the mean are divided by a factor `k`, and class probabilities become
//! `p_c^k`, normalised. The factor has a prior centred at one and is learned from the density that each factor on a grid would have given to
//! the targets, with exponential forgetting.
//!
//! *Shifting.* Under drift all members lag behind in the same direction. The mean is shifted by the average of its recent errors, in units of
//! the forecast's width, shrunk by as much of that average as noise explains.
//!
//! *Clamping.* A linear leaf can extrapolate far. Locations outside the range of all targets by more than its width are clamped: a single
//! such component would dominate the mean.

use crate::num::{exp, ln, ln_sum_exp};
use crate::predict::Mixture;

/// The grid of factors, evenly spaced on a log scale around one.
const N_FACTORS: usize = 5;
const STEP: f64 = 1.3;
/// Prior standard deviation of the factor's logarithm.
const PRIOR_SD: f64 = 0.15;
/// Forgetting factor per row of what is known about the factor.
const FACTOR_DECAY: f64 = 0.999;
/// The same for the errors that the mean is shifted by: a lag shows within a few dozen rows.
const ERROR_DECAY: f64 = 0.98;
/// An average error whose square is below this many times its sampling variance is treated as noise.
const NOISE: f64 = 2.0;
/// Errors are clipped at this many widths: one outlier is neither a drift nor a reason to be less sharp for a thousand rows.
const LARGEST_ERROR: f64 = 4.0;
/// Rows before the targets' range is used.
const CLAMP_AFTER: u64 = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Decaying `ln` likelihood of each factor, relative to the best.
    pub(crate) ln_weights: [f64; N_FACTORS],
    pub(crate) errors: Errors,
    /// Smallest and largest target so far (regression).
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
}

/// Decaying sums of the errors of the average's mean, in units of its width (regression).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    pub(crate) n: f64,
    pub(crate) sum: f64,
    pub(crate) squares: f64,
}

/// What one target tells the calibration about the members' average.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationTerms {
    /// `ln` density under each factor.
    ln_densities: [f64; N_FACTORS],
    /// Clipped error of the mean in units of the width (regression).
    error: Option<f64>,
    /// `ln` density of the target under the calibrated average, and its gain over the uncalibrated one.
    pub ln_density: f64,
    pub gain: f64,
}

impl CalibrationTerms {
    fn if_finite(self) -> Option<Self> {
        self.ln_densities.iter().chain(&self.error).chain([&self.gain]).all(|value| value.is_finite()).then_some(self)
    }
}

impl Default for Calibration {
    fn default() -> Self {
        Self { ln_weights: [0.0; N_FACTORS], errors: Errors::default(), lowest: f64::INFINITY, highest: f64::NEG_INFINITY }
    }
}

impl Errors {
    /// The average error, shrunk towards zero by the part that noise explains.
    fn lag(&self) -> f64 {
        if self.n == 0.0 {
            return 0.0;
        }
        let (mean, variance) = (self.sum / self.n, self.squares / self.n);
        let surplus = self.n * mean * mean - NOISE * variance;
        if surplus > 0.0 { mean * surplus / (self.n * mean * mean) } else { 0.0 }
    }

    fn learn(&mut self, error: f64, weight: f64) {
        self.n = ERROR_DECAY * self.n + weight;
        self.sum = ERROR_DECAY * self.sum + weight * error;
        self.squares = ERROR_DECAY * self.squares + weight * error * error;
    }
}

fn ln_factor(ix: usize) -> f64 {
    (ix as f64 - (N_FACTORS / 2) as f64) * ln(STEP)
}

impl Calibration {
    /// For a model file without calibration: nothing is clamped, and learning starts afresh.
    pub(crate) fn unknown() -> Self {
        Self { lowest: f64::NEG_INFINITY, highest: f64::INFINITY, ..Self::default() }
    }

    /// The factor of highest posterior density: the peak of the parabola through the best grid point and its neighbours.
    pub fn factor(&self) -> f64 {
        let ln_posterior = |ix: usize| self.ln_weights[ix] - 0.5 * (ln_factor(ix) / PRIOR_SD).powi(2);
        let best = (1..N_FACTORS).fold(0, |best, ix| if ln_posterior(ix) > ln_posterior(best) { ix } else { best });
        if best == 0 || best == N_FACTORS - 1 {
            return exp(ln_factor(best));
        }
        let (below, at, above) = (ln_posterior(best - 1), ln_posterior(best), ln_posterior(best + 1));
        // Exactly one before anything has been learned.
        let steps = 0.5 * (above - below) / (2.0 * at - above - below).max(f64::MIN_POSITIVE);
        exp(ln_factor(best) + steps * ln(STEP))
    }

    /// Clamp far locations.
    fn clamp(&self, mixture: &mut Mixture, n_seen: u64) {
        let width = self.highest - self.lowest;
        if n_seen >= CLAMP_AFTER && width > 0.0 && width.is_finite() {
            mixture.clamp_locations(self.lowest - width, self.highest + width);
        }
    }

    pub fn apply_to_mixture(&self, mixture: &mut Mixture, n_seen: u64) {
        self.clamp(mixture, n_seen);
        mixture.shift_and_sharpen(self.errors.lag() * mixture.width(), self.factor());
    }

    pub fn apply_to_classes(&self, proba: &mut [f64]) {
        sharpen_classes(proba, self.factor());
    }

    /// None where a term is not finite. Clamps the mixture as [`Self::apply_to_mixture`] does.
    pub fn terms_of_mixture(&self, mixture: &mut Mixture, y: f64, n_seen: u64) -> Option<CalibrationTerms> {
        self.clamp(mixture, n_seen);
        let (mean, width) = (mixture.mean(), mixture.width());
        let (factor, lag) = (self.factor(), self.errors.lag());
        let error = ((y - mean) / width).clamp(-LARGEST_ERROR, LARGEST_ERROR);
        // Under each factor of the grid, calibrated, and uncalibrated.
        let points: [f64; N_FACTORS + 2] = std::array::from_fn(|ix| match ix {
            ix if ix < N_FACTORS => mean + exp(ln_factor(ix)) * (error - lag) * width,
            N_FACTORS => mean + factor * (y - mean - lag * width),
            _ => y,
        });
        let values = mixture.ln_densities(points);
        let ln_density = values[N_FACTORS] + ln(factor);
        let ln_densities = std::array::from_fn(|ix| values[ix] + ln_factor(ix));
        CalibrationTerms { ln_densities, error: Some(error), ln_density, gain: ln_density - values[N_FACTORS + 1] }.if_finite()
    }

    /// None where a term is not finite: a class of probability zero is no evidence about the factor.
    pub fn terms_of_classes(&self, proba: &[f64], class: usize) -> Option<CalibrationTerms> {
        let uncalibrated = ln(proba[class]);
        let ln_sharpened = |factor: f64| {
            let all = proba.iter().filter(|p| **p > 0.0).map(|p| factor * ln(*p));
            factor * uncalibrated - ln_sum_exp(all)
        };
        let ln_densities = std::array::from_fn(|ix| ln_sharpened(exp(ln_factor(ix))));
        let ln_density = ln_sharpened(self.factor());
        CalibrationTerms { ln_densities, error: None, ln_density, gain: ln_density - uncalibrated }.if_finite()
    }

    /// Learn from a row that counts `weight` times.
    pub fn learn(&mut self, terms: &CalibrationTerms, weight: f64) {
        for (sum, value) in self.ln_weights.iter_mut().zip(terms.ln_densities) {
            *sum = FACTOR_DECAY * *sum + weight * value;
        }
        let best = self.ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.ln_weights.iter_mut().for_each(|value| *value -= best);
        if let Some(error) = terms.error {
            self.errors.learn(error, weight);
        }
    }

    /// Extend the range of the targets (regression).
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
    // Relative to the largest, so that the sum is at least one.
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

    /// A low-discrepancy sample of a standard normal.
    fn draws(n: usize) -> impl Iterator<Item = f64> {
        // Golden-ratio steps cover the unit interval evenly from the start.
        (0..n).map(|i| normal_quantile((0.5 + 0.618_033_988_749_895 * i as f64).fract()))
    }

    #[test]
    fn a_new_calibration_changes_nothing() {
        assert_eq!(Calibration::default().factor(), 1.0);
        assert_eq!(Calibration::unknown().factor(), 1.0);
    }

    /// Forecasts whose width differs from that of the errors by a known factor.
    #[test]
    fn finds_how_much_too_wide_an_average_is() {
        for (forecast_sd, true_sd) in [(1.4, 1.0), (1.0, 1.0), (1.0, 1.25)] {
            let mut calibration = Calibration::default();
            for y in draws(4000) {
                let terms = calibration.terms_of_mixture(&mut pair(0.0, forecast_sd), true_sd * y, 0).expect("finite");
                calibration.learn(&terms, 1.0);
            }
            let want = forecast_sd / true_sd;
            assert!((calibration.factor() / want - 1.0).abs() < 0.05, "{} instead of {want}", calibration.factor());
        }
    }

    /// Labels drawn from sharpened probabilities, while the forecast is the flattened ones.
    #[test]
    fn finds_how_much_too_even_probabilities_are() {
        for factor in [1.3, 1.0, 0.8] {
            let mut calibration = Calibration::default();
            for (i, u) in (0..20_000).map(|i| (i, (0.5 + 0.618_033_988_749_895 * i as f64).fract())) {
                let flat = 0.5 + 0.4 * f64::sin(f64::from(i));
                let mut honest = [1.0 - flat, flat];
                sharpen_classes(&mut honest, factor);
                let y = usize::from(u < honest[1]);
                let terms = calibration.terms_of_classes(&[1.0 - flat, flat], y).expect("finite");
                calibration.learn(&terms, 1.0);
            }
            // Labels carry little information about sharpness, so the prior holds the estimate back.
            let (found, want) = (ln(calibration.factor()), ln(factor));
            assert!(if want == 0.0 { found.abs() < 0.03 } else { (0.5..1.05).contains(&(found / want)) }, "{found} for {want}");
        }
    }

    #[test]
    fn sharpening_keeps_the_mean_and_scales_the_rest() {
        let plain = pair(3.0, 0.7);
        let mut sharp = plain.clone();
        sharp.shift_and_sharpen(0.0, 1.5);
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

    /// Fails if the density that a factor is credited with is not that of the forecast sharpened by it.
    #[test]
    fn terms_agree_with_applying() {
        let calibration = Calibration::default();
        let mixture = pair(1.0, 0.5);
        let terms = calibration.terms_of_mixture(&mut mixture.clone(), 2.0, 0).expect("finite");
        for (ix, ln_density) in terms.ln_densities.into_iter().enumerate() {
            let mut applied = mixture.clone();
            applied.shift_and_sharpen(0.0, exp(ln_factor(ix)));
            assert!((applied.ln_densities([2.0])[0] - ln_density).abs() < 1e-10);
        }
        let mut proba = [0.2, 0.0, 0.7, 0.1];
        let terms = calibration.terms_of_classes(&proba, 2).expect("finite");
        for (ix, ln_density) in terms.ln_densities.into_iter().enumerate() {
            let mut applied = proba;
            sharpen_classes(&mut applied, exp(ln_factor(ix)));
            assert!((ln(applied[2]) - ln_density).abs() < 1e-10);
        }
        // A class of probability zero is no evidence about the factor.
        assert!(calibration.terms_of_classes(&proba, 1).is_none());
        calibration.apply_to_classes(&mut proba);
        assert!((proba.iter().sum::<f64>() - 1.0).abs() < 1e-15 && proba[1] == 0.0);
    }

    /// All members lag behind by the same amount: the mean follows within a few dozen rows, and stays put where there is no lag.
    #[test]
    fn follows_a_common_lag_and_not_noise() {
        let mut calibration = Calibration::default();
        let mean_after = |calibration: &mut Calibration, lag: f64| {
            for y in draws(200) {
                let terms = calibration.terms_of_mixture(&mut pair(0.0, 1.0), lag + y, 0).expect("finite");
                calibration.learn(&terms, 1.0);
            }
            let mut mixture = pair(0.0, 1.0);
            calibration.apply_to_mixture(&mut mixture, 0);
            mixture.mean()
        };
        assert_eq!(mean_after(&mut calibration, 0.0), 0.0);
        assert!((mean_after(&mut calibration, 1.0) - 1.0).abs() < 0.2);
        assert!((mean_after(&mut calibration, 0.0)).abs() < 0.1);
    }

    /// One enormous error does not shift the mean.
    #[test]
    fn a_single_outlier_shifts_nothing() {
        let mut calibration = Calibration::default();
        for y in draws(100).chain([1e9]) {
            let terms = calibration.terms_of_mixture(&mut pair(0.0, 1.0), y, 0).expect("finite");
            calibration.learn(&terms, 1.0);
        }
        assert_eq!(calibration.errors.lag(), 0.0);
        assert!(calibration.factor() > 0.8);
    }

    #[test]
    fn far_locations_are_clamped_once_the_range_is_known() {
        let mut calibration = Calibration::default();
        [1.0, 3.0].into_iter().for_each(|y| calibration.widen(y));
        let mut mixture = Mixture::default();
        mixture.push(0.5, normal(1e6, 1.0));
        mixture.push(0.5, normal(2.0, 1.0));
        let mut early = mixture.clone();
        calibration.clamp(&mut early, 2);
        assert_eq!(early, mixture);
        calibration.clamp(&mut mixture, MANY);
        assert_eq!(mixture.mean(), 0.5 * (5.0 + 2.0));
        let mut untouched = pair(2.0, 1.0);
        Calibration::unknown().clamp(&mut untouched, MANY);
        assert_eq!(untouched, pair(2.0, 1.0));
    }

    /// A constant target has a range of no width.
    #[test]
    fn nothing_is_clamped_to_a_single_value() {
        let mut calibration = Calibration::default();
        calibration.widen(7.0);
        let mut mixture = pair(2.0, 1.0);
        calibration.clamp(&mut mixture, MANY);
        assert_eq!(mixture, pair(2.0, 1.0));
    }
}
