//! Members of a regression bank.

use super::{Forecaster, Member, MemberConfig};
use crate::bank::trivial::{LastValue, LeastSquares, PointForecast, Tracked, TrivialKind};
use crate::cloud::Cloud;
use crate::cloud::{ForecastScratch, RowWalk};
use crate::config::{CloudConfig, Leaf, Named, Prior, Task};
use crate::error::Result;
use crate::leaf::{Gaussian, GaussianPrior};
use crate::predict::Mixture;

/// What a regression bank needs of a member besides learning.
pub trait PredictsNumber: Member {
    /// The predictive at `x`. Posteriors computed on the way may be cached.
    fn mixture(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> Mixture;

    /// Add the predictive at each row of `x`, scaled by `weight`, to that row's mixture.
    fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut RowWalk, mixtures: &mut [Mixture]);
}

member_enum! {
    #[derive(Clone, Debug)]
    #[expect(clippy::large_enum_variant, reason = "a bank has a dozen members at most, and most are clouds")]
    RegressionMember: PredictsNumber {
        Gaussian(Cloud<Gaussian>),
        LastValue(Tracked<LastValue>),
        LeastSquares(Tracked<LeastSquares>),
    }
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

    pub fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        self.get().add_components_of_rows(x, weight, walk, mixtures);
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

impl PredictsNumber for Cloud<Gaussian> {
    fn mixture(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> Mixture {
        let mut mixture = Mixture::default();
        self.refresh_fits_at(x);
        self.add_components(x, 1.0, scratch, &mut mixture);
        mixture
    }

    fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        self.add_components_of_rows(x, weight, walk, mixtures);
    }
}

impl<P: PointForecast> PredictsNumber for Tracked<P> {
    fn mixture(&mut self, x: &[f64], _scratch: &mut ForecastScratch) -> Mixture {
        let mut mixture = Mixture::default();
        mixture.push(1.0, self.student_t(x));
        mixture
    }

    fn add_components_of_rows(&self, x: &[f64], weight: f64, _walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        for (row, mixture) in x.chunks(x.len() / mixtures.len()).zip(mixtures) {
            mixture.push(weight, self.student_t(row));
        }
    }
}

impl Forecaster for RegressionMember {
    type Forecast = Mixture;

    fn member(&self) -> &dyn Member {
        self.get()
    }

    fn member_mut(&mut self) -> &mut dyn Member {
        self.get_mut()
    }

    fn forecast(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> Mixture {
        self.get_mut().mixture(x, scratch)
    }
}
