//! A mixture made ready for questions that need its distribution function at many points.

use super::Mixture;
use super::lanes::MixtureLanes;

pub struct Solver<'a> {
    pub(super) mixture: &'a Mixture,
    pub(super) exact: MixtureLanes,
    stand_in: Option<MixtureLanes>,
    pub(super) centre: f64,
    pub(super) width: f64,
}

impl<'a> Solver<'a> {
    pub fn new(mixture: &'a Mixture) -> Self {
        Self {
            exact: MixtureLanes::new(mixture.components()),
            stand_in: mixture.coarse().map(|few| MixtureLanes::new(&few)),
            centre: mixture.mean(),
            width: mixture.width(),
            mixture,
        }
    }

    pub(super) fn has_stand_in(&self) -> bool {
        self.stand_in.is_some()
    }

    /// The coarse stand-in, or the mixture itself where that has few components.
    pub(super) fn rough(&self) -> &MixtureLanes {
        self.stand_in.as_ref().unwrap_or(&self.exact)
    }
}
