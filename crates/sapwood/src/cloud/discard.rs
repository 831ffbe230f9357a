//! Which active point to retire. Scores live at the leaves and in a particle-summed tally; a step touches only what changed.

use super::Cloud;
use crate::config::Discard;
use crate::leaf::{Bounds, LeafModel, PointsOf};
use crate::rng::{Purpose, Stream};
use crate::tree::{Branch, NodeId};

/// The tally is summed afresh this often, so that the rounding of its updates cannot build up.
const AFRESH_EVERY: u64 = 1024;

/// Working space for counting the particles at each leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    /// By leaf and by branch, the particles counted so far.
    at_leaf: Vec<u32>,
    at_branch: Vec<u32>,
    /// By branch, how many that refer to it have not handed on their count.
    n_missing: Vec<u32>,
    /// The leaves met, in a fixed order.
    leaves: Vec<usize>,
    /// Branches whose count is complete and not yet handed on.
    open: Vec<(usize, u32)>,
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
        self.count_particles();
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

    /// Count the particles that have each leaf. Every node of the forest is met once: it hands on the count of all that refer to it.
    fn count_particles(&mut self) {
        let Census { at_leaf, at_branch, n_missing, leaves, open } = &mut self.scratch.census;
        let forest = &self.forest;
        at_leaf.clear();
        at_leaf.resize(forest.n_leaf_slots(), 0);
        at_branch.clear();
        at_branch.resize(forest.n_branch_slots(), 0);
        n_missing.clear();
        n_missing.extend_from_slice(forest.branch_refs());
        leaves.clear();
        let mut meet = |node: NodeId, n_particles: u32, open: &mut Vec<(usize, u32)>| {
            let ix = node.ix();
            if node.is_leaf() {
                if at_leaf[ix] == 0 {
                    leaves.push(ix);
                }
                at_leaf[ix] += n_particles;
                return;
            }
            at_branch[ix] += n_particles;
            n_missing[ix] -= 1;
            if n_missing[ix] == 0 {
                open.push((ix, at_branch[ix]));
            }
        };
        for tree in &self.trees {
            meet(tree.root, tree.n_copies, open);
            while let Some((branch, n_particles)) = open.pop() {
                let &Branch { left, right, .. } = forest.branch(branch);
                meet(left, n_particles, open);
                meet(right, n_particles, open);
            }
        }
    }

    fn add_to_tally(&mut self, leaf_ix: usize, n_particles: f64) {
        let leaf = self.forest.leaf(leaf_ix);
        for (slot, score) in leaf.slots.iter().zip(&leaf.scores) {
            self.tally[*slot as usize] += n_particles * score;
        }
    }

    fn score_leaf(&mut self, leaf_ix: usize) {
        let leaf = self.forest.leaf_mut(leaf_ix);
        let total = &mut self.scratch.total;
        leaf.refit(&self.model, self.version, total);
        leaf.total(total);
        let mut scores = std::mem::take(&mut leaf.scores);
        scores.clear();
        if self.settings.config.discard == Discard::Entropy {
            let entropy = self.model.entropy(total);
            scores.resize(leaf.slots.len(), entropy);
        } else {
            // The box within the range seen so far, and its volume relative to that range: thin boxes in many dimensions stay in range.
            // A column that has been missing throughout has no range; any single point will do.
            let clipped = |(bound, range): (&f64, &(f64, f64))| if range.0 <= range.1 { bound.clamp(range.0, range.1) } else { 0.0 };
            let Bounds { lower, upper, volume } = &mut self.scratch.bounds;
            lower.clear();
            lower.extend(leaf.lower.iter().zip(&self.range).map(clipped));
            upper.clear();
            upper.extend(leaf.upper.iter().zip(&self.range).map(clipped));
            *volume = (0..lower.len())
                .filter(|&i| self.range[i].1 > self.range[i].0)
                .map(|i| (upper[i] - lower[i]) / (self.range[i].1 - self.range[i].0))
                .product();
            let points = PointsOf { pool: &self.pool, slots: &leaf.slots };
            self.model.alc(leaf.fit(), &leaf.origin, &self.scratch.bounds, points, &mut scores);
        }
        leaf.scores = scores;
        leaf.scored = true;
    }
}
