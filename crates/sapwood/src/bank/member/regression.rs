//! Members of a regression bank.

use super::{Forecaster, Member, MemberConfig};
use crate::bank::trivial::{LastValue, LeastSquares, Tracked, TrivialKind};
use crate::cloud::Cloud;
use crate::cloud::{ForecastScratch, RowWalk};
use crate::config::{CloudConfig, Leaf, Named, Prior, Task};
use crate::error::Result;
use crate::leaf::{Gaussian, GaussianPrior};
use crate::predict::Mixture;

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a bank has a dozen members at most, and most are clouds")]
pub enum RegressionMember {
    Gaussian(Cloud<Gaussian>),
    LastValue(Tracked<LastValue>),
    LeastSquares(Tracked<LeastSquares>),
}

impl RegressionMember {
    /// `n_inputs` does not count lags.
    pub fn new(config: &MemberConfig, n_inputs: usize, seed: u64) -> Result<Self> {
        match config {
            MemberConfig::Cloud(config) => Ok(Self::Gaussian(new_cloud(config, n_inputs, seed)?)),
            MemberConfig::Trivial(TrivialKind::LastValue) => Ok(Self::LastValue(Tracked::new(LastValue))),
            MemberConfig::Trivial(TrivialKind::LeastSquares) => {
                Ok(Self::LeastSquares(Tracked::new(LeastSquares::new(n_inputs + TrivialKind::LAGS))))
            }
            MemberConfig::Trivial(kind @ TrivialKind::LastLabel) => Err(kind.wrong_task(Task::Regression)),
        }
    }

    /// The member on its own, for use outside a bank.
    pub fn into_member(self) -> Box<dyn Member> {
        match self {
            Self::Gaussian(cloud) => Box::new(cloud),
            Self::LastValue(member) => Box::new(member),
            Self::LeastSquares(member) => Box::new(member),
        }
    }

    /// Add the predictive at each row of `x`, scaled by `weight`, to that row's mixture.
    pub fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        let rows = x.chunks(x.len() / mixtures.len());
        match self {
            Self::Gaussian(cloud) => cloud.add_components_of_rows(x, weight, walk, mixtures),
            Self::LastValue(member) => rows.zip(mixtures).for_each(|(row, mixture)| mixture.push(weight, member.student_t(row))),
            Self::LeastSquares(member) => rows.zip(mixtures).for_each(|(row, mixture)| mixture.push(weight, member.student_t(row))),
        }
    }
}

fn new_cloud(config: &CloudConfig, n_inputs: usize, seed: u64) -> Result<Cloud<Gaussian>> {
    // Leaves of the other task are refused here.
    let settings = config.check(Task::Regression, n_inputs)?;
    let n_inputs = settings.n_inputs();
    let prior = |n_regressors| match config.prior {
        Prior::Default => GaussianPrior::default_for(n_regressors),
        Prior::Reference => GaussianPrior::Reference,
    };
    let model = if config.leaf == Leaf::Linear { Gaussian::linear(n_inputs, prior(n_inputs)) } else { Gaussian::constant(prior(0)) };
    Ok(Cloud::new(settings, model, seed))
}

impl Forecaster for RegressionMember {
    type Forecast = Mixture;

    fn member(&self) -> &dyn Member {
        match self {
            Self::Gaussian(cloud) => cloud,
            Self::LastValue(member) => member,
            Self::LeastSquares(member) => member,
        }
    }

    fn member_mut(&mut self) -> &mut dyn Member {
        match self {
            Self::Gaussian(cloud) => cloud,
            Self::LastValue(member) => member,
            Self::LeastSquares(member) => member,
        }
    }

    fn forecast(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> Mixture {
        let mut mixture = Mixture::default();
        match self {
            Self::Gaussian(cloud) => {
                cloud.refresh_fits_at(x);
                cloud.add_components(x, 1.0, scratch, &mut mixture);
            }
            Self::LastValue(member) => mixture.push(1.0, member.student_t(x)),
            Self::LeastSquares(member) => mixture.push(1.0, member.student_t(x)),
        }
        mixture
    }
}
