//! Members of a classification bank.

use super::{Forecaster, Member, MemberConfig};
use crate::bank::member_forecast::ClassProbabilities;
use crate::bank::trivial::{LastLabel, TrivialKind};
use crate::cloud::Cloud;
use crate::cloud::ForecastScratch;
use crate::config::{CloudConfig, Leaf, Named, Task};
use crate::error::Result;
use crate::leaf::{Covariance, Discriminant, Multinomial};

#[derive(Clone, Debug)]
pub enum ClassificationMember {
    Multinomial(Cloud<Multinomial>),
    Discriminant(Cloud<Discriminant>),
    LastLabel(LastLabel),
}

impl ClassificationMember {
    /// `n_inputs` does not count lags.
    pub fn new(config: &MemberConfig, n_inputs: usize, n_classes: usize, seed: u64) -> Result<Self> {
        match config {
            MemberConfig::Cloud(config) => new_cloud(config, n_inputs, n_classes, seed),
            MemberConfig::Trivial(TrivialKind::LastLabel) => Ok(Self::LastLabel(LastLabel::new(n_classes))),
            MemberConfig::Trivial(kind @ (TrivialKind::LastValue | TrivialKind::LeastSquares)) => {
                Err(kind.wrong_task(Task::Classification))
            }
        }
    }

    /// The member on its own, for use outside a bank.
    pub fn into_member(self) -> Box<dyn Member> {
        match self {
            Self::Multinomial(cloud) => Box::new(cloud),
            Self::Discriminant(cloud) => Box::new(cloud),
            Self::LastLabel(member) => Box::new(member),
        }
    }

    fn n_classes(&self) -> usize {
        match self {
            Self::Multinomial(cloud) => cloud.n_classes(),
            Self::Discriminant(cloud) => cloud.n_classes(),
            Self::LastLabel(member) => member.n_classes(),
        }
    }

    /// Allow labels up to `n_classes - 1`.
    pub fn add_classes(&mut self, n_classes: usize) {
        match self {
            Self::Multinomial(cloud) => cloud.add_classes(n_classes),
            Self::Discriminant(cloud) => cloud.add_classes(n_classes),
            Self::LastLabel(member) => member.add_classes(n_classes),
        }
    }

    /// Add the class probabilities at `x`, scaled by `weight`.
    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, scratch: &mut ForecastScratch, out: &mut [f64]) {
        match self {
            Self::Multinomial(cloud) => cloud.add_class_probabilities(x, weight, scratch, out),
            Self::Discriminant(cloud) => cloud.add_class_probabilities(x, weight, scratch, out),
            Self::LastLabel(member) => member.add_class_probabilities(x, weight, out),
        }
    }

    /// Bring the posteriors of the leaves at `x` up to date.
    fn refresh_fits_at(&mut self, x: &[f64]) {
        match self {
            Self::Multinomial(cloud) => cloud.refresh_fits_at(x),
            Self::Discriminant(cloud) => cloud.refresh_fits_at(x),
            Self::LastLabel(_) => {}
        }
    }
}

fn new_cloud(config: &CloudConfig, n_inputs: usize, n_classes: usize, seed: u64) -> Result<ClassificationMember> {
    // Leaves of the other task are refused here.
    let settings = config.check(Task::Classification, n_inputs)?;
    let covariance = match config.leaf {
        Leaf::Discriminant => Covariance::Pooled,
        Leaf::Quadratic => Covariance::ByClass,
        _ => return Ok(ClassificationMember::Multinomial(Cloud::new(settings, Multinomial::new(n_classes, config.dirichlet), seed))),
    };
    let model = Discriminant::new(settings.n_inputs(), n_classes, covariance, config.dirichlet);
    Ok(ClassificationMember::Discriminant(Cloud::new(settings, model, seed)))
}

impl Forecaster for ClassificationMember {
    type Forecast = ClassProbabilities;

    fn member(&self) -> &dyn Member {
        match self {
            Self::Multinomial(cloud) => cloud,
            Self::Discriminant(cloud) => cloud,
            Self::LastLabel(member) => member,
        }
    }

    fn member_mut(&mut self) -> &mut dyn Member {
        match self {
            Self::Multinomial(cloud) => cloud,
            Self::Discriminant(cloud) => cloud,
            Self::LastLabel(member) => member,
        }
    }

    fn forecast(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> ClassProbabilities {
        self.refresh_fits_at(x);
        let mut probabilities = vec![0.0; self.n_classes()];
        self.add_class_probabilities(x, 1.0, scratch, &mut probabilities);
        ClassProbabilities(probabilities)
    }
}
