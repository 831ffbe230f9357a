//! Which active point to retire. Scores live at the leaves and in a particle-summed tally; a step touches only what changed.

use super::Cloud;
use crate::config::Discard;
use crate::leaf::LeafModel;
use crate::rng::{Purpose, Stream};

/// The tally is summed afresh this often, so that the rounding of its updates cannot build up.
const AFRESH_EVERY: u64 = 1024;

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
        let marks = &mut self.scratch.leaf_marks;
        marks.begin(self.forest.n_leaf_slots());
        let mut met = Vec::new();
        for tree in &self.trees {
            self.forest.for_each_leaf(tree.root, 0, &mut |leaf, _| {
                let n_particles = marks.get(leaf).unwrap_or_else(|| {
                    met.push(leaf);
                    0.0
                });
                marks.set(leaf, n_particles + f64::from(tree.n_copies));
            });
        }
        let afresh = self.step.is_multiple_of(AFRESH_EVERY);
        if afresh {
            self.tally.fill(0.0);
        }
        for leaf_ix in met {
            let n_particles = self.scratch.leaf_marks.get(leaf_ix).unwrap_or(0.0);
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
            let lower: Vec<f64> = leaf.lower.iter().zip(&self.range).map(clipped).collect();
            let upper: Vec<f64> = leaf.upper.iter().zip(&self.range).map(clipped).collect();
            let volume: f64 = (0..lower.len())
                .filter(|&i| self.range[i].1 > self.range[i].0)
                .map(|i| (upper[i] - lower[i]) / (self.range[i].1 - self.range[i].0))
                .product();
            let (model, pool, fit) = (&self.model, &self.pool, leaf.fit());
            scores.extend(leaf.slots.iter().map(|&slot| model.alc(fit, &leaf.origin, pool.point(slot), &lower, &upper, volume)));
        }
        leaf.scores = scores;
        leaf.scored = true;
    }
}
