//! The engine as a filter under test.
//!
//! Classes run in a bank of one member, which can be saved. A bank has no fixed Gaussian prior and no fixed ridge, so
//! numbers and discriminant leaves run in a bare cloud; it cannot be saved, and no check asks for that.

use std::sync::Arc;

use sapwood::bank::{Bank, Horizon, Predictive, Rows};
use sapwood::cloud::{Cloud, ForecastScratch, TreeNode};
use sapwood::config::{self, CloudConfig, Division, FORGETTING_GRID, Leaf, Task};
use sapwood::leaf::{ClassificationLeaf as _, Covariance, Discriminant, FixedPrior, Gaussian, GaussianPrior, Shape};
use sapwood::predict::Mixture;
use sapwood::snapshot;
use sapwood_oracle::check::{Bench, Filter, LeafMass};
use sapwood_oracle::leaf::{self, LeafModel};
use sapwood_oracle::settings::{Discard, Evidence, Forgetting, Settings};
use sapwood_oracle::tree::{Split, Tree};

pub struct EngineBench;

pub enum Engine {
    Classes(Arc<Bank>),
    Numbers(Box<Cloud<Gaussian>>),
    Regions(Box<Cloud<Discriminant>>),
}

/// The engine's configuration for these settings, with proportional division as in the paper.
pub fn config(settings: &Settings, n_particles: usize) -> CloudConfig {
    assert_eq!(settings.ln_retired_bonus, 0.0, "the engine's bonus belongs to its default prior");
    let (leaf, dirichlet) = match settings.leaf {
        LeafModel::Constant(_) => (Leaf::Constant, None),
        LeafModel::Linear(_) => (Leaf::Linear, None),
        LeafModel::Multinomial { baseline, .. } => (Leaf::Multinomial, Some(baseline)),
        LeafModel::Discriminant(ref model) => (if model.by_class { Leaf::Quadratic } else { Leaf::Discriminant }, Some(model.baseline)),
    };
    CloudConfig {
        n_particles,
        max_active: settings.capacity,
        discard: match settings.discard {
            Discard::Oldest => config::Discard::Oldest,
            Discard::Random => config::Discard::Random,
        },
        forgetting: match &settings.forgetting {
            Forgetting::Fixed(value) => Some(*value),
            Forgetting::Carried { values, .. } => {
                assert_eq!(*values, FORGETTING_GRID, "the values that the engine's particles carry");
                None
            }
        },
        evidence: match settings.evidence {
            Evidence::Joint => config::Evidence::Joint,
            Evidence::Conditional => config::Evidence::Conditional,
        },
        division: Some(Division::Proportional),
        split_alpha: settings.split_prior.alpha,
        split_beta: settings.split_prior.beta,
        min_leaf: Some(settings.min_leaf),
        n_candidates: Some(settings.n_candidates),
        dirichlet,
        ..CloudConfig::new(leaf)
    }
}

/// A cloud of Gaussian leaves under a prior of the reference.
pub fn gaussian_cloud(config: &CloudConfig, n_inputs: usize, prior: &leaf::GaussianPrior, seed: u64) -> Cloud<Gaussian> {
    let settings = config.check(Task::Regression, n_inputs).expect("a valid configuration");
    let model = match config.leaf {
        Leaf::Constant => Gaussian::constant(engine_prior(prior)),
        _ => Gaussian::linear(n_inputs, engine_prior(prior)),
    };
    Cloud::new(settings, model, seed)
}

/// A cloud of discriminant leaves with the reference's ridge.
pub fn discriminant_cloud(config: &CloudConfig, leaf: &leaf::Discriminant, seed: u64) -> Cloud<Discriminant> {
    let n_inputs = leaf.ridge.len();
    let settings = config.check(Task::Classification, n_inputs).expect("a valid configuration");
    let covariance = if leaf.by_class { Covariance::ByClass } else { Covariance::Pooled };
    let shape = if leaf.diagonal { Shape::Diagonal } else { Shape::Full };
    let model =
        Discriminant::new(n_inputs, leaf.n_classes, covariance, Some(leaf.baseline)).with_shape(shape).with_ridge(leaf.ridge.clone());
    Cloud::new(settings, model, seed)
}

fn engine_prior(prior: &leaf::GaussianPrior) -> GaussianPrior {
    match prior {
        leaf::GaussianPrior::Reference => GaussianPrior::Reference,
        leaf::GaussianPrior::Nig(nig) => {
            assert!(nig.ln_occam.is_none(), "a fixed prior of the engine has its own normaliser");
            let precision = nig.precision.iter().enumerate().flat_map(|(i, row)| row[..=i].iter().copied()).collect();
            GaussianPrior::fixed(&FixedPrior { precision, mean: nig.mean.clone(), nu0: nig.nu0, s0: nig.s0 })
        }
    }
}

impl Bench for EngineBench {
    type Filter = Engine;

    fn start(&self, seed: u64, n_particles: usize, settings: &Settings) -> Engine {
        let config = config(settings, n_particles);
        match &settings.leaf {
            LeafModel::Constant(prior) | LeafModel::Linear(prior) => {
                Engine::Numbers(Box::new(gaussian_cloud(&config, settings.n_inputs, prior, seed)))
            }
            LeafModel::Discriminant(model) => Engine::Regions(Box::new(discriminant_cloud(&config, model, seed))),
            LeafModel::Multinomial { n_classes, .. } => {
                let bank = Bank::new(Task::Classification, settings.n_inputs, *n_classes, &[config], seed);
                Engine::Classes(Arc::new(bank.expect("a valid bank")))
            }
        }
    }
}

/// A tree listed in preorder as a tree.
pub fn rebuild(nodes: &[TreeNode], at: usize) -> Tree<Split, LeafMass> {
    let node = &nodes[at];
    match node.split {
        None => Tree::Leaf(LeafMass { active: node.n_active, retired: node.n_retired }),
        Some((split, left, right)) => {
            let split = Split { dim: split.dim as usize, cut: split.cut, nan_left: split.nan_left };
            Tree::split(split, rebuild(nodes, left), rebuild(nodes, right))
        }
    }
}

impl Filter for Engine {
    fn observe(&mut self, x: &[f64], y: f64) {
        match self {
            Self::Classes(bank) => {
                Arc::make_mut(bank).learn(Rows::new(x, x.len()), &[y], None, 1, &mut || true).expect("a valid row");
            }
            Self::Numbers(cloud) => {
                cloud.observe(x, y, 1.0);
            }
            Self::Regions(cloud) => {
                cloud.observe(x, y, 1.0);
            }
        }
    }

    fn ln_evidence(&self) -> f64 {
        match self {
            Self::Classes(bank) => bank.ln_evidence(),
            Self::Numbers(cloud) => cloud.ln_evidence(),
            Self::Regions(cloud) => cloud.ln_evidence(),
        }
    }

    fn ln_predictive(&self, x: &[f64], y: f64) -> f64 {
        match self {
            Self::Classes(bank) => {
                let predictive = Predictive::new(Arc::clone(bank), Rows::new(x, x.len()), Horizon::NextRow).expect("a row of inputs");
                predictive.proba(1).expect("class probabilities")[y as usize].ln()
            }
            Self::Numbers(cloud) => {
                let mut mixture = Mixture::default();
                cloud.add_components(x, 1.0, &mut ForecastScratch::default(), &mut mixture);
                mixture.ln_density(y)
            }
            Self::Regions(cloud) => {
                let mut probabilities: Vec<f64> = vec![0.0; cloud.model().n_classes()];
                cloud.add_class_probabilities(x, 1.0, &mut ForecastScratch::default(), &mut probabilities);
                probabilities[y as usize].ln()
            }
        }
    }

    fn trees(&self) -> Vec<Tree<Split, LeafMass>> {
        match self {
            Self::Classes(bank) => {
                let member = bank.member(0).expect("one member");
                (0..member.n_particles()).map(|ix| rebuild(&member.tree(ix).expect("a particle"), 0)).collect()
            }
            Self::Numbers(cloud) => (0..cloud.n_particles() as usize).map(|ix| rebuild(&cloud.tree(ix).expect("a particle"), 0)).collect(),
            Self::Regions(cloud) => (0..cloud.n_particles() as usize).map(|ix| rebuild(&cloud.tree(ix).expect("a particle"), 0)).collect(),
        }
    }

    fn forgetting(&self) -> Vec<f64> {
        let stats = match self {
            Self::Classes(bank) => bank.member(0).expect("one member").particle_stats(),
            Self::Numbers(cloud) => cloud.particle_stats(),
            Self::Regions(cloud) => cloud.particle_stats(),
        };
        stats.into_iter().map(|particle| particle.forgetting).collect()
    }

    fn active(&self) -> Vec<(Vec<f64>, f64)> {
        let points = match self {
            Self::Classes(bank) => bank.member(0).expect("one member").active(),
            Self::Numbers(cloud) => cloud.active(),
            Self::Regions(cloud) => cloud.active(),
        };
        points.into_iter().map(|point| (point.x, point.y)).collect()
    }

    fn retire_oldest(&mut self) {
        match self {
            Self::Classes(bank) => Arc::make_mut(bank).retire(0, &[0]).expect("the pool is not empty"),
            Self::Numbers(cloud) => cloud.retire_at(0),
            Self::Regions(cloud) => cloud.retire_at(0),
        }
    }

    fn saved_and_restored(&self) -> Self {
        match self {
            Self::Classes(bank) => {
                let (restored, _) =
                    snapshot::load(&snapshot::save(bank, &[]).expect("a model that can be saved")).expect("what was saved can be loaded");
                Self::Classes(Arc::new(restored))
            }
            Self::Numbers(_) | Self::Regions(_) => unreachable!("a bare cloud is not saved"),
        }
    }
}
