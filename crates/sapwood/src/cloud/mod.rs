//! A cloud of particles, each a tree, filtered one observation at a time.
//!
//! Particles with the same tree are stored once, with a number of copies: equal stays and equal prunes result in one tree, and only grows
//! are drawn per particle. Particle numbers, which key the random draws, count through the copies of the trees in order.
//!
//! [`step`] learns an observation, [`discard`] chooses the point to retire, [`forecast`] computes predictive distributions, [`inspect`]
//! provides read-only views.

mod discard;
mod distinct_leaves;
mod epoch_map;
mod forecast;
mod forgetting;
mod inspect;
mod refresh_fits;
mod rejuvenate;
mod step;

pub use forecast::{ForecastScratch, RowWalk};
pub use inspect::{ActivePoint, ParticleStats, StepSizes, TreeNode};
pub use step::systematic;

use self::step::LeafLookup;
use crate::config::Settings;
use crate::leaf::{Fit, LeafModel};
use crate::pool::{PointStats, Pool};
use crate::tree::{Forest, NodeId, TreePrior};

/// A tree and the particles that have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tree {
    pub(crate) root: NodeId,
    pub(crate) n_copies: u32,
    /// Which of the allowed forgetting factors these particles carry.
    pub(crate) lambda_ix: u8,
}

#[derive(Clone, Debug)]
pub struct Cloud<M: LeafModel> {
    pub(crate) settings: Settings,
    pub(crate) model: M,
    pub(crate) seed: u64,
    pub(crate) step: u64,
    pub(crate) forest: Forest<M::Fit>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) pool: Pool,
    pub(crate) ln_evidence: f64,
    /// Smallest and largest value seen of each input.
    pub(crate) range: Vec<(f64, f64)>,
    /// Discard score of each slot, summed over particles.
    pub(crate) tally: Vec<f64>,
    pub(crate) point_stats: PointStats,
    tree_prior: TreePrior,
    /// Whether any point has been retired or will be. Until then forgetting factors make no difference, and all particles carry the first,
    /// so that trees that differ in nothing else are stored once.
    pub(crate) forgets: bool,
    /// Incremented when the leaf prior changes, which makes cached fits and evidences stale. Starts at 1: 0 marks an empty cache.
    version: u64,
    scratch: Scratch<M::Fit>,
}

/// Buffers that are kept between steps, so that a step does not allocate once they are large enough.
#[derive(Clone, Debug, Default)]
struct Scratch<F: Fit> {
    /// Shared by the forecast and the step of the same input.
    lookup: LeafLookup,
    step: step::Workspace,
    fits: refresh_fits::Buffers<F>,
    discard: discard::Workspace,
    total: Vec<f64>,
}

impl<M: LeafModel> Cloud<M> {
    pub fn new(settings: Settings, model: M, seed: u64) -> Self {
        let config = settings.config();
        let mut cloud = Self {
            tree_prior: TreePrior::new(config.split_alpha, config.split_beta),
            pool: Pool::new(settings.n_inputs(), model.point_len()),
            forest: Forest::new(config.max_active, model.stat_len()),
            trees: Vec::new(),
            range: vec![(f64::INFINITY, f64::NEG_INFINITY); settings.n_inputs()],
            tally: Vec::new(),
            point_stats: PointStats::default(),
            forgets: settings.config().max_active.is_some(),
            settings,
            model,
            seed,
            step: 0,
            ln_evidence: 0.0,
            version: 1,
            scratch: Scratch::default(),
        };
        cloud.rebuild_point_stats();
        let root = cloud.new_root_leaf();
        cloud.forest.retain(root);
        cloud.trees.push(Tree { root, n_copies: cloud.n_particles(), lambda_ix: 0 });
        if cloud.forgets {
            cloud.spread_forgetting();
        }
        cloud
    }

    /// Cache point statistics about the origin that most leaves have.
    pub(crate) fn rebuild_point_stats(&mut self) {
        self.point_stats.rebuild(&self.model, &self.pool);
    }

    pub(crate) fn new_root_leaf(&mut self) -> NodeId {
        let ix = self.forest.new_leaf();
        let leaf = self.forest.leaf_mut(ix);
        leaf.reset(&self.model, &self.point_stats.shared(self.model.origin()));
        if self.settings.config.discard.uses_boxes() {
            leaf.extras.lower = vec![f64::NEG_INFINITY; self.settings.n_inputs()];
            leaf.extras.upper = vec![f64::INFINITY; self.settings.n_inputs()];
        }
        NodeId::leaf(ix)
    }

    pub fn n_particles(&self) -> u32 {
        self.settings.config.n_particles as u32
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn model(&self) -> &M {
        &self.model
    }

    /// Number of observations learned so far.
    pub fn n_seen(&self) -> u64 {
        self.step
    }

    /// Sum of the logs of the mean weights: the filter's estimate of the log marginal likelihood.
    pub fn ln_evidence(&self) -> f64 {
        self.ln_evidence
    }

    pub(crate) fn lambda(&self, tree: &Tree) -> f64 {
        self.settings.forgetting_values()[tree.lambda_ix as usize]
    }

    /// Drop one reference to a tree, subtracting the scores of freed leaves from the tally.
    pub(crate) fn release(&mut self, root: NodeId) {
        if self.tally.is_empty() {
            return self.forest.release(root, &mut |_| {});
        }
        let tally = &mut self.tally;
        self.forest.release(root, &mut |leaf| {
            for (slot, score) in leaf.scored_points() {
                tally[slot as usize] -= f64::from(leaf.n_tallied) * score;
            }
        });
    }
}
