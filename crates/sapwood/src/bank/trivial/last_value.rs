//! Persistence: the next target is the last one.

use super::tracked::PointForecast;
use super::{TrivialKind, last_target};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastValue;

impl PointForecast for LastValue {
    const KIND: TrivialKind = TrivialKind::LastValue;

    fn predict(&self, x: &[f64]) -> f64 {
        last_target(x)
    }

    fn learn(&mut self, _x: &[f64], _y: f64, _weight: f64) {}
}
