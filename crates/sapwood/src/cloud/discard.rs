//! Which active point to retire. Scores live at the leaves and in a particle-summed tally; a step touches only what changed.

use super::{Cloud, Tree};
use crate::config::Discard;
use crate::leaf::{Bounds, LeafModel, PointsOf};
use crate::rng::{Purpose, Stream};
use crate::tree::{Branch, Forest, NodeId};

/// The tally is summed afresh this often, so that the rounding of its updates cannot build up.
const AFRESH_EVERY: u64 = 1024;

/// Working space for counting the particles at each leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    /// By leaf, the particles counted so far.
    at_leaf: Vec<u32>,
    /// By branch the same, and how many that refer to it have not handed on their count.
    at_branch: Vec<(u32, u32)>,
    /// The leaves met, in a fixed order.
    leaves: Vec<usize>,
    /// Branches whose count is complete and not yet handed on.
    open: Vec<usize>,
}

impl Census {
    /// Count the particles that have each leaf. Every node of the forest is met once: it hands on the count of all that refer to it.
    fn take(&mut self, forest: &Forest, trees: &[Tree]) {
        self.at_leaf.clear();
        self.at_leaf.resize(forest.n_leaf_slots(), 0);
        self.at_branch.clear();
        self.at_branch.extend(forest.branch_refs().iter().map(|refs| (0, *refs)));
        self.leaves.clear();
        for tree in trees {
            self.meet(tree.root, tree.n_copies);
            while let Some(ix) = self.open.pop() {
                let n_particles = self.at_branch[ix].0;
                let &Branch { left, right, .. } = forest.branch(ix);
                self.meet(left, n_particles);
                self.meet(right, n_particles);
            }
        }
    }

    #[inline(always)]
    fn meet(&mut self, node: NodeId, n_particles: u32) {
        let ix = node.ix();
        if node.is_leaf() {
            let at_leaf = &mut self.at_leaf[ix];
            if *at_leaf == 0 {
                self.leaves.push(ix);
            }
            *at_leaf += n_particles;
        } else {
            let (at_branch, n_missing) = &mut self.at_branch[ix];
            *at_branch += n_particles;
            *n_missing -= 1;
            if *n_missing == 0 {
                self.open.push(ix);
            }
        }
    }
}

impl<M: LeafModel> Cloud<M> {
    pub(crate) fn uses_scores(&self) -> bool {
        matches!(self.settings.config.discard, Discard::Alc | Discard::Entropy)
    }

    /// Position in the pool of the point to retire next.
    pub(super) fn choose_discard(&self) -> usize {
        match self.settings.config.discard {
            Discard::Oldest => 0,
            Discard::Random => {
                // The pool size tells apart several retirements in one step.
                let mut stream = Stream::new(self.seed, self.step, self.pool.len() as u32, Purpose::Discard);
                stream.below(self.pool.len())
            }
            Discard::Alc | Discard::Entropy => {
                let score = |position: usize| self.tally[self.pool.active()[position] as usize];
                // Among equals the oldest goes.
                (1..self.pool.len()).fold(0, |best, position| if score(position) < score(best) { position } else { best })
            }
        }
    }

    /// Bring the leaves' scores and the tally up to date with the particles as they are.
    pub(super) fn update_scores(&mut self) {
        if !self.uses_scores() {
            return;
        }
        self.scratch.census.take(&self.forest, &self.trees);
        self.fit_unscored();
        let afresh = self.step.is_multiple_of(AFRESH_EVERY);
        if afresh {
            self.tally.fill(0.0);
        }
        for at in 0..self.scratch.census.leaves.len() {
            let leaf_ix = self.scratch.census.leaves[at];
            let n_particles = f64::from(self.scratch.census.at_leaf[leaf_ix]);
            let n_tallied = if afresh { 0.0 } else { f64::from(self.forest.leaf(leaf_ix).n_tallied) };
            if !self.forest.leaf(leaf_ix).scored {
                self.add_to_tally(leaf_ix, -n_tallied);
                self.score_leaf(leaf_ix);
                self.add_to_tally(leaf_ix, n_particles);
            } else if n_particles != n_tallied {
                self.add_to_tally(leaf_ix, n_particles - n_tallied);
            }
            self.forest.leaf_mut(leaf_ix).n_tallied = n_particles as u32;
        }
    }

    /// Compute together the posteriors that the scores will ask for.
    fn fit_unscored(&mut self) {
        if !self.model.predicts_from_fit() {
            return;
        }
        let Self { forest, version, scratch, .. } = self;
        let unknown = |ix: &&usize| {
            let leaf = forest.leaf(**ix);
            !leaf.scored && leaf.fit_at(*version).is_none()
        };
        scratch.fits.waiting.clear();
        scratch.fits.waiting.extend(scratch.census.leaves.iter().filter(unknown));
        self.fit_waiting();
    }

    fn add_to_tally(&mut self, leaf_ix: usize, n_particles: f64) {
        let leaf = self.forest.leaf(leaf_ix);
        for (slot, score) in leaf.scored_points() {
            self.tally[slot as usize] += n_particles * score;
        }
    }

    fn score_leaf(&mut self, leaf_ix: usize) {
        let leaf = self.forest.leaf_mut(leaf_ix);
        let total = &mut self.scratch.total;
        leaf.refit(&self.model, self.version, total);
        leaf.total(total);
        let mut scores = std::mem::take(&mut leaf.extras.scores);
        scores.clear();
        if self.settings.config.discard == Discard::Entropy {
            let entropy = self.model.entropy(total);
            scores.resize(leaf.n_active(), entropy);
        } else {
            // The box within the range seen so far, and its volume relative to that range: thin boxes in many dimensions stay in range.
            // A column that has been missing throughout has no range; any single point will do.
            let clipped = |(bound, range): (&f64, &(f64, f64))| if range.0 <= range.1 { bound.clamp(range.0, range.1) } else { 0.0 };
            let Bounds { lower, upper, volume } = &mut self.scratch.bounds;
            lower.clear();
            lower.extend(leaf.extras.lower.iter().zip(&self.range).map(clipped));
            upper.clear();
            upper.extend(leaf.extras.upper.iter().zip(&self.range).map(clipped));
            *volume = (0..lower.len())
                .filter(|&i| self.range[i].1 > self.range[i].0)
                .map(|i| (upper[i] - lower[i]) / (self.range[i].1 - self.range[i].0))
                .product();
            let points = PointsOf { pool: &self.pool, slots: leaf.points.slots() };
            self.model.alc(leaf.fit(), &leaf.origin, &self.scratch.bounds, points, &mut scores);
        }
        leaf.extras.scores = scores;
        leaf.scored = true;
    }
}
