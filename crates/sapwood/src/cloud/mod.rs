//! A cloud of particles, each a tree, filtered one observation at a time: weigh, resample, propagate, retire.
//!
//! Particles with the same tree are kept once, with a number of copies. Equal stays and equal prunes are one tree; only grows are drawn a
//! particle at a time. Particle numbers, which key the random draws, count through the copies of the trees in order.

mod alike;
mod discard;
mod evidence;
mod fits;
mod inspect;
mod landing;
mod propagate;
mod propose;
mod rejuvenate;
mod resample;
mod retire;
mod weigh;

pub use inspect::{ActivePoint, ParticleStats, StepSizes, TreeNode};
pub use resample::systematic;

use self::evidence::Queue;
use self::landing::{Landing, Spot};
use self::weigh::Visits;
use crate::config::{Discard, FORGETTING_GRID, Settings};
use crate::leaf::{Bounds, LeafModel};
use crate::num::ln;
use crate::pool::{PointStats, Pool};
use crate::rng::{Purpose, Stream};
use crate::tree::{Forest, NodeId, TreePrior};

/// Chance, a particle and a step, that an automatic forgetting factor is drawn anew from its grid.
const MUTATION_RATE: f64 = 0.001;

/// Whether a point comes from the stream or is learned again, in which case the running scale knows it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    First,
    Again,
}

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
    pub(crate) forest: Forest,
    pub(crate) trees: Vec<Tree>,
    pub(crate) pool: Pool,
    pub(crate) ln_evidence: f64,
    /// Smallest and largest value seen of each input.
    pub(crate) range: Vec<(f64, f64)>,
    /// Particle-summed discard score of each slot.
    pub(crate) tally: Vec<f64>,
    pub(crate) point_stats: PointStats,
    tree_prior: TreePrior,
    /// Whether anything has been retired or will be. Until then nobody can tell forgetting factors apart, and all particles carry the first:
    /// trees that differ in nothing else are one.
    pub(crate) forgets: bool,
    /// Counts changes of the leaf prior; fits made under an older one are out of date. Starts at 1: 0 marks no fit.
    version: u64,
    scratch: Scratch,
}

/// Working space that is kept between steps so that a step allocates nothing once it has been large enough.
#[derive(Clone, Debug, Default)]
struct Scratch {
    landing: Landing,
    visits: Visits,
    queue: Queue,
    fits: fits::Fits,
    masses: Vec<f64>,
    retirements: retire::Retirements,
    census: discard::Census,
    bounds: Bounds,
    counts: Vec<u32>,
    total: Vec<f64>,
    active: Vec<f64>,
    point: Vec<f64>,
    propagate: propagate::Scratch,
}

/// Values by index that are forgotten all at once when a new pass begins.
#[derive(Clone, Debug, Default)]
struct Marks<T> {
    pass: u32,
    entries: Vec<(u32, T)>,
}

impl<T: Copy + Default> Marks<T> {
    fn begin(&mut self, n_entries: usize) {
        self.pass = self.pass.checked_add(1).unwrap_or_else(|| {
            self.entries.iter_mut().for_each(|entry| entry.0 = 0);
            1
        });
        if self.entries.len() < n_entries {
            self.entries.resize(n_entries, (0, T::default()));
        }
    }

    fn get(&self, ix: usize) -> Option<T> {
        let (pass, value) = self.entries[ix];
        (pass == self.pass).then_some(value)
    }

    fn set(&mut self, ix: usize, value: T) {
        self.entries[ix] = (self.pass, value);
    }

    /// True the first time an index is met in this pass.
    fn first_time(&mut self, ix: usize) -> bool {
        let first = self.entries[ix].0 != self.pass;
        self.entries[ix].0 = self.pass;
        first
    }
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
        cloud.renew_point_stats();
        let root = cloud.new_root_leaf();
        cloud.forest.retain(root);
        cloud.trees.push(Tree { root, n_copies: cloud.n_particles(), lambda_ix: 0 });
        if cloud.forgets {
            cloud.spread_forgetting();
        }
        cloud
    }

    /// Keep point statistics about the origin that most leaves have.
    pub(crate) fn renew_point_stats(&mut self) {
        self.point_stats.renew(&self.model, &self.pool);
    }

    pub(crate) fn new_root_leaf(&mut self) -> NodeId {
        let ix = self.forest.new_leaf();
        let leaf = self.forest.leaf_mut(ix);
        leaf.start(&self.model, &self.point_stats.shared(self.model.origin()));
        if self.settings.config.discard == Discard::Alc {
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

    /// Observations taken in so far.
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

    /// Take in one observation; returns `ln` of its predictive density before it was learned.
    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        self.step += 1;
        let ln_mean_weight = self.learn_point(x, y, weight, self.step, Pass::First);
        self.ln_evidence += ln_mean_weight;
        if self.settings.config.max_active.is_some_and(|max| self.pool.len() > max) {
            self.update_scores();
            while self.settings.config.max_active.is_some_and(|max| self.pool.len() > max) {
                let position = self.choose_discard();
                self.retire_at(position);
            }
        }
        ln_mean_weight
    }

    /// Weigh, resample, propagate.
    fn learn_point(&mut self, x: &[f64], y: f64, weight: f64, arrival: u64, pass: Pass) -> f64 {
        let mut point = std::mem::take(&mut self.scratch.point);
        point.resize(self.model.point_len(), 0.0);
        self.model.encode(x, y, &mut point);

        self.land(x);
        let mut landing = std::mem::take(&mut self.scratch.landing);
        landing.leave();

        let slot = self.pool.insert(x, y, weight, arrival, |out| out.copy_from_slice(&point));
        self.point_stats.insert(&self.model, &self.pool, slot);
        let ln_mean_weight = self.weigh(&landing, slot);
        self.resample(&mut landing.spots);

        self.widen_range(x);
        if self.uses_scores() {
            self.tally.resize(self.pool.n_slots(), 0.0);
            self.tally[slot as usize] = 0.0;
        }
        if pass == Pass::First && self.model.track(x, y, weight) {
            self.renew_prior();
        }
        self.take_in(&landing.spots, slot);
        self.propagate(&landing.spots, x);
        self.mutate_forgetting();

        self.scratch.landing = landing;
        self.scratch.point = point;
        ln_mean_weight
    }

    /// The range of the inputs bounds the boxes that ALC integrates over, so where it grows every score changes.
    fn widen_range(&mut self, x: &[f64]) {
        let mut widened = false;
        for (value, range) in x.iter().zip(&mut self.range) {
            // NaN fails both comparisons and widens nothing.
            if *value < range.0 {
                range.0 = *value;
                widened = true;
            }
            if *value > range.1 {
                range.1 = *value;
                widened = true;
            }
        }
        if widened && self.settings.config.discard == Discard::Alc {
            self.forest.for_each_live_leaf_mut(|leaf| leaf.scored = false);
        }
    }

    /// Draw the surviving copies of each tree; trees without any are dropped.
    fn resample(&mut self, spots: &mut Vec<Spot>) {
        let u = Stream::new(self.seed, self.step, 0, Purpose::Resample).uniform();
        let mut counts = std::mem::take(&mut self.scratch.counts);
        systematic(&self.scratch.masses, self.n_particles(), u, &mut counts);
        let mut kept = 0;
        for (ix, &n_copies) in counts.iter().enumerate() {
            let tree = self.trees[ix];
            if n_copies == 0 {
                self.release(tree.root);
                continue;
            }
            self.trees[kept] = Tree { n_copies, ..tree };
            spots[kept] = spots[ix];
            kept += 1;
        }
        self.trees.truncate(kept);
        spots.truncate(kept);
        self.scratch.counts = counts;
    }

    /// The leaf prior has changed: every fit is out of date, and statistics move to the prior's new centre.
    fn renew_prior(&mut self) {
        self.version += 1;
        self.renew_point_stats();
        let Self { forest, model, pool, point_stats, .. } = self;
        forest.for_each_live_leaf_mut(|leaf| {
            leaf.recentre(model, pool, point_stats, point_stats.origin());
            leaf.invalidate();
        });
    }

    /// Let go of a tree, taking the scores of freed leaves out of the tally.
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

    /// Automatic forgetting starts evenly spread over its grid, and over the copies of every tree.
    fn spread_forgetting(&mut self) {
        let n_values = self.settings.forgetting_values().len() as u32;
        let n_particles = self.n_particles();
        let share = |value: u32| n_particles * (value + 1) / n_values - n_particles * value / n_values;
        let mut left: Vec<u32> = (0..n_values).map(share).collect();
        let mut dealt = (0..left.len()).cycle();
        for tree in std::mem::take(&mut self.trees) {
            let mut n_copies = vec![0; left.len()];
            for _ in 0..tree.n_copies {
                let value = dealt.find(|value| left[*value] > 0).expect("as many shares as particles");
                left[value] -= 1;
                n_copies[value] += 1;
            }
            for (value, n_copies) in n_copies.into_iter().enumerate().filter(|(_, n_copies)| *n_copies > 0) {
                self.forest.retain(tree.root);
                self.trees.push(Tree { root: tree.root, n_copies, lambda_ix: value as u8 });
            }
            self.release(tree.root);
        }
    }

    /// Particles that carry their own forgetting factor now and then draw a new one.
    fn mutate_forgetting(&mut self) {
        if self.settings.config.forgetting.is_some() || !self.forgets {
            return;
        }
        let mut stream = Stream::new(self.seed, self.step, 0, Purpose::Mutate);
        let ln_stay = libm::log1p(-MUTATION_RATE);
        let n_particles = f64::from(self.n_particles());
        // The gaps between mutating particles are geometric.
        let gap = |stream: &mut Stream| (ln(stream.uniform_positive()) / ln_stay).floor();
        let mut next = gap(&mut stream);
        let mut first = 0.0;
        let n_trees = self.trees.len();
        for ix in 0..n_trees {
            let n_copies = f64::from(self.trees[ix].n_copies);
            let own_start = self.trees.len();
            while next < (first + n_copies).min(n_particles) {
                let lambda_ix = stream.below(FORGETTING_GRID.len()) as u8;
                let tree = self.trees[ix];
                if lambda_ix != tree.lambda_ix {
                    self.trees[ix].n_copies -= 1;
                    match self.trees[own_start..].iter_mut().find(|other| other.lambda_ix == lambda_ix) {
                        Some(other) => other.n_copies += 1,
                        None => {
                            self.forest.retain(tree.root);
                            self.trees.push(Tree { n_copies: 1, lambda_ix, ..tree });
                        }
                    }
                }
                next += 1.0 + gap(&mut stream);
            }
            first += n_copies;
        }
        for ix in (0..n_trees).rev() {
            if self.trees[ix].n_copies == 0 {
                let tree = self.trees.remove(ix);
                self.release(tree.root);
            }
        }
    }
}
