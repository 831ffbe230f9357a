//! Members of a bank, one type per task: a cloud or a trivial member.

/// The members of one task as an enum: a variant per type, and what all of them have in common as a trait object.
macro_rules! member_enum {
    ($(#[$attribute:meta])* $name:ident: $common:ident { $($variant:ident($type:ty)),+ $(,)? }) => {
        $(#[$attribute])*
        pub enum $name {
            $($variant($type)),+
        }

        impl $name {
            fn get(&self) -> &dyn $common {
                match self {
                    $(Self::$variant(member) => member),+
                }
            }

            fn get_mut(&mut self) -> &mut dyn $common {
                match self {
                    $(Self::$variant(member) => member),+
                }
            }

            /// The member on its own, for use outside a bank.
            pub fn into_member(self) -> Box<dyn Member> {
                match self {
                    $(Self::$variant(member) => Box::new(member)),+
                }
            }
        }
    };
}

mod classification;
mod regression;

pub use classification::ClassificationMember;
pub use regression::RegressionMember;

use super::account::Horizon;
use super::member_forecast::MemberForecast;
use super::trivial::TrivialKind;
use crate::cloud::ForecastScratch;
use crate::cloud::{ActivePoint, Cloud, ParticleStats, StepSizes, TreeNode};
use crate::config::{CloudConfig, Task};
use crate::leaf::LeafModel;

/// Unchecked configuration of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberConfig {
    Cloud(CloudConfig),
    /// Without trees and without options.
    Trivial(TrivialKind),
}

impl MemberConfig {
    /// The task of such a member.
    pub fn task(&self) -> Task {
        match self {
            Self::Cloud(config) => config.leaf.task(),
            Self::Trivial(kind) => kind.task(),
        }
    }
}

impl MemberConfig {
    /// How many of the latest targets such a member sees.
    pub fn lags(&self) -> usize {
        match self {
            Self::Cloud(config) => config.lags,
            Self::Trivial(_) => TrivialKind::LAGS,
        }
    }

    /// Whether it takes part in forecasts of any row alone.
    pub fn any_row_only(&self) -> bool {
        matches!(self, Self::Cloud(config) if config.any_row_only)
    }
}

impl From<CloudConfig> for MemberConfig {
    fn from(config: CloudConfig) -> Self {
        Self::Cloud(config)
    }
}

impl From<TrivialKind> for MemberConfig {
    fn from(kind: TrivialKind) -> Self {
        Self::Trivial(kind)
    }
}

/// What can be done with any member and asked of it, whatever its task. A member without trees has no pool and no particles, which is what the
/// default methods return.
pub trait Member: Send {
    fn config(&self) -> MemberConfig;

    /// How many of the latest targets it sees after the inputs.
    fn lags(&self) -> usize {
        TrivialKind::LAGS
    }

    /// Whether it takes part in forecasts of a horizon.
    fn forecasts(&self, horizon: Horizon) -> bool {
        match horizon {
            Horizon::NextRow => !self.any_row_only(),
            Horizon::AnyRow => self.lags() == 0,
        }
    }

    /// Whether it takes part in forecasts of any row alone, and not in those of the next.
    fn any_row_only(&self) -> bool {
        false
    }

    /// Learn one row `weight` times; returns `weight` times `ln` of its predictive density (or probability) before that.
    fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64;

    /// Cost of a row relative to other members: what the last step had to compute, each evidence weighted by the length of its statistics.
    fn relative_cost(&self) -> usize {
        0
    }

    /// Bring every leaf's posterior up to date, so that many predictions need not.
    fn refresh_fits(&mut self) {}

    /// Retire the point at a position of the active pool.
    fn retire_at(&mut self, _position: usize) {}

    fn rejuvenate(&mut self) {}

    fn n_particles(&self) -> usize {
        0
    }

    fn n_active(&self) -> usize {
        0
    }

    /// The active pool, oldest first.
    fn active(&self) -> Vec<ActivePoint> {
        Vec::new()
    }

    /// The allowed forgetting factors and the share of particles that carry each.
    fn forgetting(&self) -> Vec<(f64, f64)> {
        Vec::new()
    }

    fn n_distinct_trees(&self) -> usize {
        0
    }

    fn step_sizes(&self) -> StepSizes {
        StepSizes::default()
    }

    /// One entry per particle.
    fn particle_stats(&self) -> Vec<ParticleStats> {
        Vec::new()
    }

    /// Average over particles of the number of splits on each input.
    fn split_use(&self) -> Vec<f64> {
        Vec::new()
    }

    /// The tree of one particle; a leaf's value is its mean at its centre, or its class probabilities.
    fn tree(&self, _particle: usize) -> Option<Vec<TreeNode>> {
        None
    }
}

impl<M: LeafModel> Member for Cloud<M> {
    fn config(&self) -> MemberConfig {
        self.settings().config().clone().into()
    }

    fn lags(&self) -> usize {
        self.settings().config().lags
    }

    fn any_row_only(&self) -> bool {
        self.settings().config().any_row_only
    }

    fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        self.observe(x, y, weight)
    }

    fn relative_cost(&self) -> usize {
        self.relative_cost()
    }

    fn refresh_fits(&mut self) {
        self.refresh_fits();
    }

    fn retire_at(&mut self, position: usize) {
        self.retire_at(position);
    }

    fn rejuvenate(&mut self) {
        self.rejuvenate();
    }

    fn n_particles(&self) -> usize {
        self.settings().config().n_particles
    }

    fn n_active(&self) -> usize {
        self.n_active()
    }

    fn active(&self) -> Vec<ActivePoint> {
        self.active()
    }

    fn forgetting(&self) -> Vec<(f64, f64)> {
        self.forgetting()
    }

    fn n_distinct_trees(&self) -> usize {
        self.n_distinct_trees()
    }

    fn step_sizes(&self) -> StepSizes {
        self.step_sizes()
    }

    fn particle_stats(&self) -> Vec<ParticleStats> {
        self.particle_stats()
    }

    fn split_use(&self) -> Vec<f64> {
        self.split_use()
    }

    fn tree(&self, particle: usize) -> Option<Vec<TreeNode>> {
        self.tree(particle)
    }
}

/// A member whose predictions have the form of its task.
pub(crate) trait Forecaster: Send {
    type Forecast: MemberForecast;

    fn member(&self) -> &dyn Member;
    fn member_mut(&mut self) -> &mut dyn Member;

    /// The prediction at `x`. Posteriors computed on the way are cached for the [`Member::observe`] that usually follows.
    fn forecast(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> Self::Forecast;
}
