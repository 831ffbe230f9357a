//! A member of a bank: a cloud or something simpler, and the inputs it sees.

use super::trivial::{Trivial, TrivialKind};
use crate::cloud::{ActivePoint, Cloud, ForecastScratch, ParticleStats, RowWalk, StepSizes, TreeNode};
use crate::config::{CloudConfig, Leaf, Named, Prior, Task};
use crate::error::{Error, Result};
use crate::leaf::{Covariance, Discriminant, Gaussian, GaussianPrior, Multinomial};
use crate::predict::Mixture;

/// What a member is asked to be.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberConfig {
    Cloud(CloudConfig),
    /// No cloud, and no options either.
    Trivial(TrivialKind),
}

impl MemberConfig {
    /// The task that such a member is for.
    pub fn task(&self) -> Task {
        match self {
            Self::Cloud(config) => config.leaf.task(),
            Self::Trivial(kind) => kind.task(),
        }
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

#[derive(Clone, Debug)]
pub(crate) enum AnyMember {
    Gaussian(Cloud<Gaussian>),
    Multinomial(Cloud<Multinomial>),
    Discriminant(Cloud<Discriminant>),
    Trivial(Trivial),
}

/// One expression for whichever cloud is inside, another for what is none.
macro_rules! any_member {
    ($any:expr, $cloud:ident => $body:expr, $trivial:pat => $other:expr) => {
        match $any {
            AnyMember::Gaussian($cloud) => $body,
            AnyMember::Multinomial($cloud) => $body,
            AnyMember::Discriminant($cloud) => $body,
            AnyMember::Trivial($trivial) => $other,
        }
    };
}

#[derive(Clone, Debug)]
pub struct Member {
    pub(crate) inner: AnyMember,
    /// Lags included.
    n_inputs: usize,
}

fn new_cloud(config: &CloudConfig, task: Task, n_inputs: usize, n_classes: usize, seed: u64) -> Result<AnyMember> {
    let settings = config.check(task, n_inputs)?;
    let prior = |n_regressors| match config.prior {
        Prior::Default => GaussianPrior::default_for(n_regressors),
        Prior::Reference => GaussianPrior::Reference,
    };
    Ok(match config.leaf {
        Leaf::Constant => AnyMember::Gaussian(Cloud::new(settings, Gaussian::constant(prior(0)), seed)),
        Leaf::Linear => {
            let n_inputs = settings.n_inputs();
            AnyMember::Gaussian(Cloud::new(settings, Gaussian::linear(n_inputs, prior(n_inputs)), seed))
        }
        Leaf::Discriminant | Leaf::Quadratic => {
            let covariance = if config.leaf == Leaf::Quadratic { Covariance::ByClass } else { Covariance::Pooled };
            let model = Discriminant::new(settings.n_inputs(), n_classes, covariance, config.dirichlet);
            AnyMember::Discriminant(Cloud::new(settings, model, seed))
        }
        Leaf::Multinomial => AnyMember::Multinomial(Cloud::new(settings, Multinomial::new(n_classes, config.dirichlet), seed)),
    })
}

impl Member {
    pub fn new(config: &MemberConfig, task: Task, n_inputs: usize, n_classes: usize, seed: u64) -> Result<Self> {
        let inner = match config {
            MemberConfig::Cloud(config) => new_cloud(config, task, n_inputs, n_classes, seed)?,
            MemberConfig::Trivial(kind) if kind.task() == task => AnyMember::Trivial(Trivial::new(*kind, n_inputs, n_classes)),
            MemberConfig::Trivial(kind) => {
                let remedy = if task == Task::Regression { "use last_value or least_squares" } else { "use last_label" };
                return Err(Error::Incompatible { name: TrivialKind::OPTION, option: kind.name(), with: task.name(), remedy });
            }
        };
        let mut member = Self { inner, n_inputs };
        member.n_inputs += member.lags();
        Ok(member)
    }

    pub fn config(&self) -> MemberConfig {
        any_member!(&self.inner, cloud => cloud.settings().config().clone().into(), trivial => trivial.kind().into())
    }

    /// How many of the last targets it sees after the inputs.
    pub fn lags(&self) -> usize {
        any_member!(&self.inner, cloud => cloud.settings().config().lags, _ => 1)
    }

    /// Columns of what it sees: the inputs and the lags.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub fn n_particles(&self) -> usize {
        any_member!(&self.inner, cloud => cloud.settings().config().n_particles, _ => 0)
    }

    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        any_member!(&mut self.inner, cloud => cloud.observe(x, y, weight), trivial => trivial.observe(x, y, weight))
    }

    pub fn add_components(&self, x: &[f64], weight: f64, groups: &mut ForecastScratch, mixture: &mut Mixture) {
        match &self.inner {
            AnyMember::Gaussian(cloud) => cloud.add_components(x, weight, groups, mixture),
            AnyMember::Trivial(trivial) => trivial.add_components(x, weight, mixture),
            AnyMember::Multinomial(_) | AnyMember::Discriminant(_) => unreachable!("a regression bank holds regression members"),
        }
    }

    /// The same for many rows of inputs, each with a mixture of its own.
    pub fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        match &self.inner {
            AnyMember::Gaussian(cloud) => cloud.add_components_of_rows(x, weight, walk, mixtures),
            AnyMember::Trivial(trivial) => {
                for (row, mixture) in x.chunks(x.len() / mixtures.len()).zip(mixtures) {
                    trivial.add_components(row, weight, mixture);
                }
            }
            AnyMember::Multinomial(_) | AnyMember::Discriminant(_) => unreachable!("a regression bank holds regression members"),
        }
    }

    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, groups: &mut ForecastScratch, out: &mut [f64]) {
        match &self.inner {
            AnyMember::Multinomial(cloud) => cloud.add_class_probabilities(x, weight, groups, out),
            AnyMember::Discriminant(cloud) => cloud.add_class_probabilities(x, weight, groups, out),
            AnyMember::Trivial(trivial) => trivial.add_class_probabilities(x, weight, out),
            AnyMember::Gaussian(_) => unreachable!("a classification bank holds classification members"),
        }
    }

    pub fn settle_at(&mut self, x: &[f64]) {
        any_member!(&mut self.inner, cloud => cloud.refresh_fits_at(x), _ => {});
    }

    pub fn settle(&mut self) {
        any_member!(&mut self.inner, cloud => cloud.refresh_fits(), _ => {});
    }

    pub fn add_classes(&mut self, n_classes: usize) {
        match &mut self.inner {
            AnyMember::Multinomial(cloud) => cloud.add_classes(n_classes),
            AnyMember::Discriminant(cloud) => cloud.add_classes(n_classes),
            AnyMember::Trivial(trivial) => trivial.add_classes(n_classes),
            AnyMember::Gaussian(_) => unreachable!("a classification bank holds classification members"),
        }
    }

    // A member that is no cloud has no pool, no particles and no trees; that is its answer to questions about them.

    pub fn n_active(&self) -> usize {
        any_member!(&self.inner, cloud => cloud.n_active(), _ => 0)
    }

    pub fn retire_at(&mut self, position: usize) {
        any_member!(&mut self.inner, cloud => cloud.retire_at(position), _ => unreachable!("there is no point to retire"));
    }

    pub fn rejuvenate(&mut self) {
        any_member!(&mut self.inner, cloud => cloud.rejuvenate(), _ => {});
    }

    pub fn active(&self) -> Vec<ActivePoint> {
        any_member!(&self.inner, cloud => cloud.active(), _ => Vec::new())
    }

    pub fn forgetting(&self) -> Vec<(f64, f64)> {
        any_member!(&self.inner, cloud => cloud.forgetting(), _ => Vec::new())
    }

    /// About how much work a row is, in no unit: what the last step had to compute, each evidence counted once for every entry of its statistics.
    pub fn effort(&self) -> usize {
        any_member!(&self.inner, cloud => cloud.relative_cost(), _ => 0)
    }

    pub fn n_distinct_trees(&self) -> usize {
        any_member!(&self.inner, cloud => cloud.n_distinct_trees(), _ => 0)
    }

    /// How much there was to compute in the last step; nothing for a member without trees.
    pub fn step_sizes(&self) -> StepSizes {
        any_member!(&self.inner, cloud => cloud.step_sizes(), _ => StepSizes::default())
    }

    pub fn particle_stats(&self) -> Vec<ParticleStats> {
        any_member!(&self.inner, cloud => cloud.particle_stats(), _ => Vec::new())
    }

    pub fn split_use(&self) -> Vec<f64> {
        any_member!(&self.inner, cloud => cloud.split_use(), _ => Vec::new())
    }

    /// The tree of one particle; a leaf's value is its mean at its centre, or its class probabilities.
    pub fn tree(&self, particle: usize) -> Option<Vec<TreeNode>> {
        match &self.inner {
            AnyMember::Gaussian(cloud) => cloud.tree(particle, |cloud, leaf| vec![cloud.mean_at_centre(leaf)]),
            AnyMember::Multinomial(cloud) => cloud.tree(particle, |cloud, leaf| cloud.leaf_probabilities(leaf, &[])),
            AnyMember::Discriminant(cloud) => cloud.tree(particle, |cloud, leaf| cloud.probabilities_at_centre(leaf)),
            AnyMember::Trivial(_) => None,
        }
    }
}
