//! A member of a bank: a cloud, and the inputs it sees.

use crate::cloud::{ActivePoint, Cloud, ParticleStats, TreeNode};
use crate::config::{CloudConfig, Leaf, Prior, Task};
use crate::error::Result;
use crate::leaf::{Covariance, Discriminant, Gaussian, GaussianPrior, Multinomial};
use crate::predict::{Groups, Mixture, Walk};

#[derive(Clone, Debug)]
pub(crate) enum AnyCloud {
    Gaussian(Cloud<Gaussian>),
    Multinomial(Cloud<Multinomial>),
    Discriminant(Cloud<Discriminant>),
}

/// Apply one expression to whichever cloud is inside.
macro_rules! any_cloud {
    ($any:expr, $cloud:ident => $body:expr) => {
        match $any {
            AnyCloud::Gaussian($cloud) => $body,
            AnyCloud::Multinomial($cloud) => $body,
            AnyCloud::Discriminant($cloud) => $body,
        }
    };
}

#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) cloud: AnyCloud,
}

impl Member {
    pub fn new(config: &CloudConfig, task: Task, n_inputs: usize, n_classes: usize, seed: u64) -> Result<Self> {
        let settings = config.check(task, n_inputs)?;
        let prior = |n_regressors| match config.prior {
            Prior::Default => GaussianPrior::default_for(n_regressors),
            Prior::Reference => GaussianPrior::Reference,
        };
        let cloud = match config.leaf {
            Leaf::Constant => AnyCloud::Gaussian(Cloud::new(settings, Gaussian::constant(prior(0)), seed)),
            Leaf::Linear => {
                let n_inputs = settings.n_inputs();
                AnyCloud::Gaussian(Cloud::new(settings, Gaussian::linear(n_inputs, prior(n_inputs)), seed))
            }
            Leaf::Discriminant | Leaf::Quadratic => {
                let covariance = if config.leaf == Leaf::Quadratic { Covariance::ByClass } else { Covariance::Pooled };
                let model = Discriminant::new(settings.n_inputs(), n_classes, covariance, config.dirichlet);
                AnyCloud::Discriminant(Cloud::new(settings, model, seed))
            }
            Leaf::Multinomial => AnyCloud::Multinomial(Cloud::new(settings, Multinomial::new(n_classes, config.dirichlet), seed)),
        };
        Ok(Self { cloud })
    }

    pub fn config(&self) -> &CloudConfig {
        any_cloud!(&self.cloud, cloud => cloud.settings().config())
    }

    pub fn n_inputs(&self) -> usize {
        any_cloud!(&self.cloud, cloud => cloud.settings().n_inputs())
    }

    pub fn n_particles(&self) -> usize {
        self.config().n_particles
    }

    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        any_cloud!(&mut self.cloud, cloud => cloud.observe(x, y, weight))
    }

    pub fn add_components(&self, x: &[f64], weight: f64, groups: &mut Groups, mixture: &mut Mixture) {
        match &self.cloud {
            AnyCloud::Gaussian(cloud) => cloud.add_components(x, weight, groups, mixture),
            AnyCloud::Multinomial(_) | AnyCloud::Discriminant(_) => unreachable!("a regression bank holds regression members"),
        }
    }

    /// The same for many rows of inputs, each with a mixture of its own.
    pub fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut Walk, mixtures: &mut [Mixture]) {
        match &self.cloud {
            AnyCloud::Gaussian(cloud) => cloud.add_components_of_rows(x, weight, walk, mixtures),
            AnyCloud::Multinomial(_) | AnyCloud::Discriminant(_) => unreachable!("a regression bank holds regression members"),
        }
    }

    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, groups: &mut Groups, out: &mut [f64]) {
        match &self.cloud {
            AnyCloud::Multinomial(cloud) => cloud.add_class_probabilities(x, weight, groups, out),
            AnyCloud::Discriminant(cloud) => cloud.add_class_probabilities(x, weight, groups, out),
            AnyCloud::Gaussian(_) => unreachable!("a classification bank holds classification members"),
        }
    }

    pub fn settle_at(&mut self, x: &[f64]) {
        any_cloud!(&mut self.cloud, cloud => cloud.settle_at(x));
    }

    pub fn settle(&mut self) {
        any_cloud!(&mut self.cloud, cloud => cloud.settle());
    }

    pub fn add_classes(&mut self, n_classes: usize) {
        match &mut self.cloud {
            AnyCloud::Multinomial(cloud) => cloud.add_classes(n_classes),
            AnyCloud::Discriminant(cloud) => cloud.add_classes(n_classes),
            AnyCloud::Gaussian(_) => unreachable!("a classification bank holds classification members"),
        }
    }

    pub fn n_active(&self) -> usize {
        any_cloud!(&self.cloud, cloud => cloud.n_active())
    }

    pub fn retire_at(&mut self, position: usize) {
        any_cloud!(&mut self.cloud, cloud => cloud.retire_at(position));
    }

    pub fn rejuvenate(&mut self) {
        any_cloud!(&mut self.cloud, cloud => cloud.rejuvenate());
    }

    pub fn active(&self) -> Vec<ActivePoint> {
        any_cloud!(&self.cloud, cloud => cloud.active())
    }

    pub fn forgetting(&self) -> Vec<(f64, f64)> {
        any_cloud!(&self.cloud, cloud => cloud.forgetting())
    }

    pub fn n_distinct_trees(&self) -> usize {
        any_cloud!(&self.cloud, cloud => cloud.n_distinct_trees())
    }

    pub fn particle_stats(&self) -> Vec<ParticleStats> {
        any_cloud!(&self.cloud, cloud => cloud.particle_stats())
    }

    pub fn split_use(&self) -> Vec<f64> {
        any_cloud!(&self.cloud, cloud => cloud.split_use())
    }

    /// The tree of one particle; a leaf's value is its mean at its centre, or its class probabilities.
    pub fn tree(&self, particle: usize) -> Option<Vec<TreeNode>> {
        match &self.cloud {
            AnyCloud::Gaussian(cloud) => cloud.tree(particle, |cloud, leaf| vec![cloud.mean_at_centre(leaf)]),
            AnyCloud::Multinomial(cloud) => cloud.tree(particle, |cloud, leaf| cloud.leaf_probabilities(leaf, &[])),
            AnyCloud::Discriminant(cloud) => cloud.tree(particle, |cloud, leaf| cloud.probabilities_at_centre(leaf)),
        }
    }
}
