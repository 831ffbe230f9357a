//! Members of a classification bank.

use super::{Forecaster, Member, MemberConfig};
use crate::bank::member_forecast::ClassProbabilities;
use crate::bank::trivial::{LastLabel, TrivialKind};
use crate::cloud::Cloud;
use crate::cloud::ForecastScratch;
use crate::config::{CloudConfig, Leaf, Named, Task};
use crate::error::Result;
use crate::leaf::{ClassificationLeaf, Covariance, Discriminant, Multinomial};

/// What a classification bank needs of a member besides learning.
pub trait PredictsClass: Member {
    fn n_classes(&self) -> usize;

    /// Allow labels up to `n_classes - 1`.
    fn add_classes(&mut self, n_classes: usize);

    /// Bring the posteriors up to date that a prediction at `x` reads.
    fn refresh_fits_at(&mut self, _x: &[f64]) {}

    /// Add the class probabilities at `x`, scaled by `weight`.
    fn add_class_probabilities(&self, x: &[f64], weight: f64, scratch: &mut ForecastScratch, out: &mut [f64]);
}

member_enum! {
    #[derive(Clone, Debug)]
    ClassificationMember: PredictsClass {
        Multinomial(Cloud<Multinomial>),
        Discriminant(Cloud<Discriminant>),
        LastLabel(LastLabel),
    }
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

    pub fn add_classes(&mut self, n_classes: usize) {
        self.get_mut().add_classes(n_classes);
    }

    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, scratch: &mut ForecastScratch, out: &mut [f64]) {
        self.get().add_class_probabilities(x, weight, scratch, out);
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

impl<M: ClassificationLeaf> PredictsClass for Cloud<M> {
    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn add_classes(&mut self, n_classes: usize) {
        self.add_classes(n_classes);
    }

    fn refresh_fits_at(&mut self, x: &[f64]) {
        self.refresh_fits_at(x);
    }

    fn add_class_probabilities(&self, x: &[f64], weight: f64, scratch: &mut ForecastScratch, out: &mut [f64]) {
        self.add_class_probabilities(x, weight, scratch, out);
    }
}

impl PredictsClass for LastLabel {
    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn add_classes(&mut self, n_classes: usize) {
        self.add_classes(n_classes);
    }

    fn add_class_probabilities(&self, x: &[f64], weight: f64, _scratch: &mut ForecastScratch, out: &mut [f64]) {
        self.add_class_probabilities(x, weight, out);
    }
}

impl Forecaster for ClassificationMember {
    type Forecast = ClassProbabilities;

    fn member(&self) -> &dyn Member {
        self.get()
    }

    fn member_mut(&mut self) -> &mut dyn Member {
        self.get_mut()
    }

    fn forecast(&mut self, x: &[f64], scratch: &mut ForecastScratch) -> ClassProbabilities {
        let member = self.get_mut();
        member.refresh_fits_at(x);
        let mut probabilities = vec![0.0; member.n_classes()];
        member.add_class_probabilities(x, 1.0, scratch, &mut probabilities);
        ClassProbabilities(probabilities)
    }
}
