//! The forecast of one row, by a member or by the bank as a whole.

use super::calibration::{Calibration, CalibrationTerms};
use super::forecast::{Forecast, Wanted};
use crate::num::ln;
use crate::predict::{Mixture, Solver};

/// A predictive density or class probabilities.
pub(crate) trait MemberForecast: Send + Sized {
    /// The weighted average of the members' forecasts; none if there are none.
    fn pooled<'a>(parts: impl Iterator<Item = &'a Self>, weights: &[f64]) -> Option<Self>
    where
        Self: 'a;

    /// `ln` density or probability of the target.
    fn ln_predictive(&self, y: f64) -> f64;

    /// Calibrate the members' average after `n_seen` rows.
    fn calibrate(&mut self, calibration: &Calibration, n_seen: u64);

    /// What the calibration learns from the target. None where the forecast is of no use for that. May clamp the forecast's locations, as
    /// calibrating it does.
    fn calibration_terms(&mut self, calibration: &Calibration, y: f64, n_seen: u64) -> Option<CalibrationTerms>;

    /// Append the wanted results to `out`; `y` is NaN where the target is unknown.
    fn write(&self, y: f64, wanted: &Wanted, out: &mut Forecast);
}

impl MemberForecast for Mixture {
    fn pooled<'a>(parts: impl Iterator<Item = &'a Self>, weights: &[f64]) -> Option<Self> {
        let mut parts = parts.zip(weights).peekable();
        parts.peek()?;
        let mut pooled = Self::default();
        parts.for_each(|(part, weight)| pooled.extend_scaled(part, *weight));
        Some(pooled)
    }

    fn ln_predictive(&self, y: f64) -> f64 {
        self.ln_densities([y])[0]
    }

    fn calibrate(&mut self, calibration: &Calibration, n_seen: u64) {
        calibration.apply_to_mixture(self, n_seen);
    }

    fn calibration_terms(&mut self, calibration: &Calibration, y: f64, n_seen: u64) -> Option<CalibrationTerms> {
        calibration.terms_of_mixture(self, y, n_seen)
    }

    fn write(&self, y: f64, wanted: &Wanted, out: &mut Forecast) {
        let moments = self.moments();
        out.mean.push(moments.mean);
        out.variance.push(moments.variance());
        out.epistemic.push(moments.epistemic());
        if !wanted.beyond_moments() {
            return;
        }
        let known = !y.is_nan();
        let solver = Solver::new(self);
        out.quantiles.extend(wanted.levels.iter().map(|level| solver.quantile(*level)));
        if wanted.pit {
            out.pit.push(if known { self.cdf(y) } else { f64::NAN });
        }
        if wanted.crps {
            out.crps.push(if known { solver.crps(y) } else { f64::NAN });
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ClassProbabilities(pub Vec<f64>);

impl MemberForecast for ClassProbabilities {
    fn pooled<'a>(parts: impl Iterator<Item = &'a Self>, weights: &[f64]) -> Option<Self> {
        let mut parts = parts.zip(weights).peekable();
        let mut pooled = vec![0.0; parts.peek()?.0.0.len()];
        for (Self(part), weight) in parts {
            pooled.iter_mut().zip(part).for_each(|(sum, p)| *sum += weight * p);
        }
        Some(Self(pooled))
    }

    fn ln_predictive(&self, y: f64) -> f64 {
        ln(self.0[y as usize])
    }

    fn calibrate(&mut self, calibration: &Calibration, _n_seen: u64) {
        calibration.apply_to_classes(&mut self.0);
    }

    fn calibration_terms(&mut self, calibration: &Calibration, y: f64, _n_seen: u64) -> Option<CalibrationTerms> {
        calibration.terms_of_classes(&self.0, y as usize)
    }

    fn write(&self, _y: f64, _wanted: &Wanted, out: &mut Forecast) {
        out.proba.extend_from_slice(&self.0);
    }
}
