//! A predictive density around a point forecast: a Student-t whose scale tracks the forecast's recent errors.

use super::TrivialKind;
use crate::bank::member::{Member, MemberConfig};
use crate::leaf::Scale;
use crate::predict::StudentT;

/// Heavy tails: with light ones a single surprise would cost such a member all its weight.
const DF: f64 = 3.0;
/// `1 / E|T|` of a Student-t with three degrees of freedom.
const SCALE_OF_MEAN_ERROR: f64 = std::f64::consts::PI / (2.0 * 1.732_050_807_568_877_2);
/// Decay of past errors per row. Of 0.8 to 0.998 the best or nearly so on every stream tried.
const DECAY: f64 = 0.95;
/// Before the first row there is one pseudo-error, this fraction of the stream's standard deviation (the mean absolute deviation of a normal).
/// Its weight decays from that of one row to `PSEUDO_LEFT`, not to zero: a forecast that has long been exact must survive its first error.
const PSEUDO_ERROR: f64 = 0.8;
const PSEUDO_LEFT: f64 = 0.02;

pub trait PointForecast: Send {
    const KIND: TrivialKind;

    /// NaN where there is no forecast yet.
    fn predict(&self, x: &[f64]) -> f64;
    fn learn(&mut self, x: &[f64], y: f64, weight: f64);
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tracked<P> {
    pub(crate) point: P,
    /// Of the target, over all rows.
    pub(crate) scale: Scale,
    /// Decaying sums of the weights and of the weighted absolute errors.
    pub(crate) n_errors: f64,
    pub(crate) sum_errors: f64,
}

impl<P: PointForecast> Tracked<P> {
    pub fn new(point: P) -> Self {
        Self { point, scale: Scale::new(1), n_errors: 0.0, sum_errors: 0.0 }
    }

    /// The target's standard deviation; its magnitude while it is constant.
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
        let pseudo = (1.0 - (1.0 - DECAY) * self.n_errors).max(PSEUDO_LEFT);
        let mean_error = (self.sum_errors + pseudo * PSEUDO_ERROR * self.unit()) / (self.n_errors + pseudo);
        StudentT { df: DF, location, scale: SCALE_OF_MEAN_ERROR * mean_error, noise_share: 1.0 }.within_limits(0.0)
    }
}

impl<P: PointForecast> Member for Tracked<P> {
    fn config(&self) -> MemberConfig {
        P::KIND.into()
    }

    fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        let forecast = self.student_t(x);
        // No density before two different targets have been seen: it would have no unit.
        let ln_density = if self.scale.variance(0) > 0.0 { weight * forecast.ln_density(y) } else { 0.0 };
        let decay = libm::pow(DECAY, weight);
        self.n_errors = decay * self.n_errors + weight;
        self.sum_errors = decay * self.sum_errors + weight * (y - forecast.location).abs();
        self.scale.observe(std::iter::once(y), weight);
        self.point.learn(x, y, weight);
        ln_density
    }
}
