//! Choosing the active point to retire.
//!
//! Scores are cached at the leaves and summed over particles in a tally; a step updates only what changed.

use super::{Cloud, Scratch, Tree};
use crate::config::Discard;
use crate::leaf::{Bounds, Fit, LeafModel};
use crate::rng::{Purpose, Stream};
use crate::tree::{Branch, Forest, NodeId};

/// The tally is recomputed this often, so that rounding errors of its updates cannot accumulate.
const RECOMPUTE_EVERY: u64 = 1024;

/// Large enough for any data of ordinary units, and the sum over all particles stays finite.
const LARGEST_SCORE: f64 = 1e290;

/// Buffers that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    counts: ParticleCounts,
    bounds: Bounds,
}

/// The number of particles that have each leaf.
#[derive(Clone, Debug, Default)]
struct ParticleCounts {
    /// By leaf.
    at_leaf: Vec<u32>,
    /// By branch, the particles counted so far, and how many references to it have not been counted yet.
    at_branch: Vec<(u32, u32)>,
    /// The leaves that have any, in a fixed order.
    leaves: Vec<usize>,
    /// Branches whose count is complete but not yet propagated to their children.
    open: Vec<usize>,
}

impl ParticleCounts {
    /// Count the particles that have each leaf. Every node of the forest is visited once, when all references to it have been counted.
    fn update<F: Fit>(&mut self, forest: &Forest<F>, trees: &[Tree]) {
        self.at_leaf.clear();
        self.at_leaf.resize(forest.n_leaf_slots(), 0);
        self.at_branch.clear();
        self.at_branch.extend(forest.branch_refs().iter().map(|refs| (0, *refs)));
        self.leaves.clear();
        for tree in trees {
            self.add(tree.root, tree.n_copies);
            while let Some(ix) = self.open.pop() {
                let n_particles = self.at_branch[ix].0;
                let &Branch { left, right, .. } = forest.branch(ix);
                self.add(left, n_particles);
                self.add(right, n_particles);
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, node: NodeId, n_particles: u32) {
        let ix = node.ix();
        if node.is_leaf() {
            let at_leaf = &mut self.at_leaf[ix];
            if *at_leaf == 0 {
                self.leaves.push(ix);
            }
            *at_leaf += n_particles;
        } else {
            let (at_branch, n_uncounted) = &mut self.at_branch[ix];
            *at_branch += n_particles;
            *n_uncounted -= 1;
            if *n_uncounted == 0 {
                self.open.push(ix);
            }
        }
    }
}

impl<M: LeafModel> Cloud<M> {
    pub(crate) fn uses_scores(&self) -> bool {
        self.settings.config.discard.uses_scores()
    }

    /// Position in the pool of the point to retire next.
    pub(super) fn choose_discard(&self) -> usize {
        match self.settings.config.discard {
            Discard::Oldest => 0,
            Discard::Random => {
                // The pool size distinguishes several retirements in one step.
                let mut stream = Stream::new(self.seed, self.step, self.pool.len() as u32, Purpose::Discard);
                stream.below(self.pool.len())
            }
            Discard::Alc | Discard::Entropy => {
                let score = |position: usize| self.tally[self.pool.active()[position] as usize];
                // Among equals the oldest is chosen.
                (1..self.pool.len()).fold(0, |best, position| if score(position) < score(best) { position } else { best })
            }
        }
    }

    /// Update the leaves' scores and the tally.
    pub(super) fn update_scores(&mut self) {
        if !self.uses_scores() {
            return;
        }
        self.scratch.discard.counts.update(&self.forest, &self.trees);
        self.refresh_unscored_fits();
        let recompute = self.step.is_multiple_of(RECOMPUTE_EVERY);
        if recompute {
            self.tally.fill(0.0);
        }
        for at in 0..self.scratch.discard.counts.leaves.len() {
            let leaf_ix = self.scratch.discard.counts.leaves[at];
            let n_particles = f64::from(self.scratch.discard.counts.at_leaf[leaf_ix]);
            let n_tallied = if recompute { 0.0 } else { f64::from(self.forest.leaf(leaf_ix).n_tallied) };
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

    /// Refresh the posteriors that the scores are about to read, in one batch.
    fn refresh_unscored_fits(&mut self) {
        if self.model.predicts_from_fit() {
            let leaves = std::mem::take(&mut self.scratch.discard.counts.leaves);
            self.refresh_stale_fits(leaves.iter().copied(), |leaf| !leaf.scored);
            self.scratch.discard.counts.leaves = leaves;
        }
    }

    fn add_to_tally(&mut self, leaf_ix: usize, n_particles: f64) {
        let leaf = self.forest.leaf(leaf_ix);
        for (slot, score) in leaf.scored_points() {
            self.tally[slot as usize] += n_particles * score;
        }
    }

    fn score_leaf(&mut self, leaf_ix: usize) {
        let Self { forest, model, pool, range, version, scratch, .. } = self;
        let Scratch { total, discard: Workspace { bounds, .. }, .. } = scratch;
        let leaf = forest.leaf_mut(leaf_ix);
        leaf.refresh_fit(model, *version, total);
        leaf.total(total);
        clip_box(&leaf.extras.lower, &leaf.extras.upper, range, bounds);
        let mut scores = std::mem::take(&mut leaf.extras.scores);
        scores.clear();
        model.discard_scores(leaf.fit(), total, &leaf.origin, bounds, pool.encoded(leaf.points.slots()), &mut scores);
        // Where the leaf's posterior is mostly rounding error, or its box as large as numbers get, a score may overflow. Such points stay.
        scores.iter_mut().filter(|score| score.is_nan() || **score > LARGEST_SCORE).for_each(|score| *score = LARGEST_SCORE);
        leaf.extras.scores = scores;
        leaf.scored = true;
    }
}

/// A leaf's box within the range seen so far, and its volume relative to that range: thin boxes in many dimensions do not underflow.
fn clip_box(lower: &[f64], upper: &[f64], range: &[(f64, f64)], out: &mut Bounds) {
    // A column that has always been missing has no range; any single point will do.
    let clipped = |(bound, range): (&f64, &(f64, f64))| if range.0 <= range.1 { bound.clamp(range.0, range.1) } else { 0.0 };
    out.lower.clear();
    out.lower.extend(lower.iter().zip(range).map(clipped));
    out.upper.clear();
    out.upper.extend(upper.iter().zip(range).map(clipped));
    let sides = out.lower.iter().zip(&out.upper).zip(range).filter(|(_, range)| range.1 > range.0);
    out.volume = sides.map(|((lower, upper), range)| (upper - lower) / (range.1 - range.0)).product();
}

#[cfg(test)]
mod tests {
    use crate::cloud::Cloud;
    use crate::config::{CloudConfig, Discard, Leaf, Task};
    use crate::leaf::{Gaussian, GaussianPrior};
    use crate::rng::{Purpose, Stream};

    /// The tally, kept up to date at every step, is that of scoring every leaf afresh. Fails if a score outlives what it depends on: the range of
    /// the inputs, which widens here long after the pool is full, the retired part, the number of particles, or the leaf itself.
    #[test]
    fn the_tally_is_that_of_fresh_scores() {
        let config = CloudConfig {
            n_particles: 50,
            max_active: Some(25),
            discard: Discard::Alc,
            min_leaf: Some(4),
            ..CloudConfig::new(Leaf::Linear)
        };
        let settings = config.check(Task::Regression, 2).expect("settings");
        let mut cloud = Cloud::new(settings, Gaussian::linear(2, GaussianPrior::default_for(2)), 9);
        let mut noise = Stream::new(10, 0, 0, Purpose::Sample);
        for row in 0..400 {
            let reach = 1.0 + f64::from(row / 50);
            let x = [reach * noise.uniform(), if noise.below(9) == 0 { f64::NAN } else { noise.uniform() }];
            let y = f64::from(u8::from(x[0] < 0.5)) + x[0] + 0.3 * noise.uniform();
            cloud.observe(&x, y, 0.5 + noise.uniform());
            let mut kept = cloud.clone();
            kept.update_scores();
            let mut fresh = cloud.clone();
            fresh.tally.fill(0.0);
            fresh.forest.for_each_live_leaf_mut(|leaf| (leaf.scored, leaf.n_tallied) = (false, 0));
            fresh.update_scores();
            for &slot in cloud.pool.active() {
                let (kept, fresh) = (kept.tally[slot as usize], fresh.tally[slot as usize]);
                assert!((kept - fresh).abs() <= 1e-9 * fresh.abs(), "row {row}: {kept} against {fresh}");
            }
        }
    }
}
