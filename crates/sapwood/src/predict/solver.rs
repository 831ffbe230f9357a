//! A mixture prepared for computations that evaluate its distribution function at many points.

use super::Mixture;
use super::lanes::MixtureLanes;

pub struct Solver<'a> {
    pub(super) mixture: &'a Mixture,
    pub(super) exact: MixtureLanes,
    coarse: Option<MixtureLanes>,
    pub(super) centre: f64,
    pub(super) width: f64,
}

impl<'a> Solver<'a> {
    pub fn new(mixture: &'a Mixture) -> Self {
        Self {
            exact: MixtureLanes::new(mixture.components()),
            coarse: mixture.coarse().map(|few| MixtureLanes::new(&few)),
            centre: mixture.mean(),
            width: mixture.width(),
            mixture,
        }
    }

    pub(super) fn has_coarse(&self) -> bool {
        self.coarse.is_some()
    }

    /// The coarse approximation, or the mixture itself if it has few components.
    pub(super) fn coarse_or_exact(&self) -> &MixtureLanes {
        self.coarse.as_ref().unwrap_or(&self.exact)
    }
}
