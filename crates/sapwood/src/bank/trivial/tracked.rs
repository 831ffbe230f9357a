//! A density for a forecast that is only a number: a Student-t whose width follows the forecast's own recent errors.

use crate::leaf::Scale;
use crate::predict::StudentT;

/// Three degrees of freedom: with light tails such a member is never believed, for one surprise costs it all its weight.
const DF: f64 = 3.0;
/// `1 / E|T|` of a Student-t with three degrees of freedom.
const SCALE_OF_MEAN_ERROR: f64 = std::f64::consts::PI / (2.0 * 1.732_050_807_568_877_2);
/// What a row leaves of the errors before it. Of .8 to .998 the best or nearly so on every stream that was tried.
const KEPT: f64 = 0.95;
/// Before the first row stands a pseudo-error, the stream's standard deviation times this (the mean error of a normal), that counts like one
/// row. It fades with the rows, but not to nothing: a forecast that has been right for long must survive its first error.
const PSEUDO_ERROR: f64 = 0.8;
const PSEUDO_LEFT: f64 = 0.02;

/// A forecast of one number.
pub(crate) trait Point {
    /// NaN where nothing can be said yet.
    fn predict(&self, x: &[f64]) -> f64;
    fn learn(&mut self, x: &[f64], y: f64, weight: f64);
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tracked<P> {
    pub(crate) point: P,
    /// Of the target, over everything seen.
    pub(crate) scale: Scale,
    /// Weights and absolute errors, fading.
    pub(crate) n_errors: f64,
    pub(crate) sum_errors: f64,
}

impl<P: Point> Tracked<P> {
    pub fn new(point: P) -> Self {
        Self { point, scale: Scale::new(1), n_errors: 0.0, sum_errors: 0.0 }
    }

    /// The target's standard deviation; before it has varied, its magnitude.
    fn unit(&self) -> f64 {
        let (variance, mean) = (self.scale.variance(0), self.scale.mean(0));
        if variance > 0.0 {
            variance.sqrt()
        } else if mean == 0.0 {
            1.0
        } else {
            mean.abs()
        }
    }

    pub fn student_t(&self, x: &[f64]) -> StudentT {
        let predicted = self.point.predict(x);
        let location = if predicted.is_finite() { predicted } else { self.scale.mean(0) };
        let pseudo = (1.0 - (1.0 - KEPT) * self.n_errors).max(PSEUDO_LEFT);
        let mean_error = (self.sum_errors + pseudo * PSEUDO_ERROR * self.unit()) / (self.n_errors + pseudo);
        StudentT { df: DF, location, scale: SCALE_OF_MEAN_ERROR * mean_error, noise_share: 1.0 }
    }

    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        let forecast = self.student_t(x);
        // No density can be claimed before two different targets have been seen: there is no unit for it.
        let ln_density = if self.scale.variance(0) > 0.0 { weight * forecast.ln_density(y) } else { 0.0 };
        let kept = libm::pow(KEPT, weight);
        self.n_errors = kept * self.n_errors + weight;
        self.sum_errors = kept * self.sum_errors + weight * (y - forecast.location).abs();
        self.scale.observe(std::iter::once(y), weight);
        self.point.learn(x, y, weight);
        ln_density
    }
}
