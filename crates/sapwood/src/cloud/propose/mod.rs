//! Grow proposals: drawn a particle at a time, evaluated a leaf and a dimension at a time.

mod divide;
mod keys;

use pulp::Arch;

use self::divide::Work;
use self::keys::{Ranks, Values};
use super::Cloud;
use super::evidence::{Queue, Ticket};
use crate::leaf::LeafModel;
use crate::pool::Pool;
use crate::rng::{FirstBlocks, Purpose, Stream};
use crate::tree::{LeafNode, Place, Split};

/// A split proposed to one particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub split: Split,
    /// Where on the range of cuts the split lies.
    u: f64,
    /// The next proposal on the same leaf and dimension.
    next: u32,
    /// Its entry in [`Proposals::outcomes`]; [`NONE`] if the leaf leaves no room for a cut along this dimension.
    outcome: u32,
}

/// What a proposed split would do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Active points that would go left.
    pub n_left: u32,
    /// True if taking one child's sums from the parent's would leave rounding: both are summed from their points.
    pub afresh: bool,
    pub left: Ticket,
    pub right: Ticket,
    /// Of both children together, once the queue has been worked off.
    ln_evidence: f64,
}

const NONE: u32 = u32::MAX;

/// The outcomes of the proposals of one step. Those that would divide the points alike share one.
#[derive(Clone, Debug, Default)]
struct Outcomes {
    all: Vec<Outcome>,
    /// Active statistics of the left child of each.
    left_active: Vec<f64>,
}

/// The proposals of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    pub all: Vec<Proposal>,
    /// By tree, where its proposals begin; one more entry than trees. A tree has as many for each copy as there are candidates, or none.
    pub starts: Vec<usize>,
    random: FirstBlocks,
    /// By visited leaf and dimension, the last proposal made on it.
    heads: Vec<u32>,
    /// Leaf and dimension of every head that is set, in order of appearance.
    groups: Vec<(u32, u32)>,
    outcomes: Outcomes,
    ranks: Work<i16>,
    values: Work<i64>,
}

impl Proposals {
    /// Draw the grow proposals of every particle, and the number its move will be drawn with. `visit` numbers the leaves in `places`.
    pub fn draw<M: LeafModel>(&mut self, cloud: &Cloud<M>, places: &[Place], n_visited: usize, visit: impl Fn(usize) -> usize) {
        let Self { all, starts, random, heads, groups, .. } = self;
        all.clear();
        starts.clear();
        groups.clear();
        let (seed, step, n_inputs, n_candidates) = (cloud.seed, cloud.step, cloud.settings.n_inputs, cloud.settings.n_candidates);
        heads.clear();
        heads.resize(n_visited * n_inputs, NONE);
        random.draw(seed, step, cloud.n_particles(), Purpose::Propagate);
        let mut first_particle = 0;
        for (tree, place) in cloud.trees.iter().zip(places) {
            starts.push(all.len());
            let particles = first_particle..first_particle + tree.n_copies;
            first_particle = particles.end;
            if cloud.forest.leaf(place.leaf).n_active() / 2 < cloud.settings.min_leaf {
                continue;
            }
            let first_head = visit(place.leaf) * n_inputs;
            for particle in particles {
                let mut further = (n_candidates > 1).then(|| Stream::new(seed, step, particle, Purpose::Candidate));
                let (mut dim, mut u) = (random.below(particle as usize, n_inputs), random.positive[particle as usize]);
                for candidate in 0..n_candidates {
                    if let Some(stream) = further.as_mut().filter(|_| candidate > 0) {
                        (dim, u) = (stream.below(n_inputs), stream.uniform_positive());
                    }
                    let head = &mut heads[first_head + dim];
                    if *head == NONE {
                        groups.push((place.leaf as u32, dim as u32));
                    }
                    let next = std::mem::replace(head, all.len() as u32);
                    all.push(Proposal { split: Split { dim: dim as u32, nan_left: false, cut: 0.0 }, u, next, outcome: NONE });
                }
            }
        }
        starts.push(all.len());
    }

    /// Put the children of every proposal in line for their evidence.
    pub fn evaluate<M: LeafModel>(&mut self, cloud: &Cloud<M>, queue: &mut Queue, visit: impl Fn(usize) -> usize) {
        // The loops inside are plain; here they are compiled for the widest instructions of the machine.
        Arch::new().dispatch(
            #[inline(always)]
            || self.evaluate_groups(cloud, queue, visit),
        );
    }

    #[inline(always)]
    fn evaluate_groups<M: LeafModel>(&mut self, cloud: &Cloud<M>, queue: &mut Queue, visit: impl Fn(usize) -> usize) {
        let Self { all, heads, groups, outcomes, ranks, values, .. } = self;
        outcomes.all.clear();
        outcomes.left_active.clear();
        for &(leaf_ix, dim) in groups.iter() {
            let head = heads[visit(leaf_ix as usize) * cloud.settings.n_inputs + dim as usize];
            let leaf = cloud.forest.leaf(leaf_ix as usize);
            match cloud.pool.ranked(dim as usize) {
                Some(column) => ranks.evaluate(&Ranks(column), cloud, leaf, all, head, outcomes, queue),
                None => values.evaluate(&Values(cloud.pool.column(dim as usize)), cloud, leaf, all, head, outcomes, queue),
            }
        }
    }

    /// By particle, a uniform to draw its move with.
    pub fn uniforms(&self) -> &[f64] {
        &self.random.uniform
    }

    /// Read off the evidence of every outcome when the queue has been worked off.
    pub fn collect(&mut self, queue: &Queue) {
        for outcome in &mut self.outcomes.all {
            outcome.ln_evidence = queue.get(outcome.left).ln_evidence + queue.get(outcome.right).ln_evidence;
        }
    }

    /// `ln` of the evidence of the two children of a proposal; minus infinity where it has none.
    #[inline]
    pub fn ln_evidence(&self, proposal: usize) -> f64 {
        self.outcomes.all.get(self.all[proposal].outcome as usize).map_or(f64::NEG_INFINITY, |outcome| outcome.ln_evidence)
    }

    /// What a proposal that has an outcome would do, and the left child's active statistics.
    pub fn outcome(&self, proposal: usize, stat_len: usize) -> (Outcome, &[f64]) {
        let ix = self.all[proposal].outcome as usize;
        (self.outcomes.all[ix], &self.outcomes.left_active[ix * stat_len..(ix + 1) * stat_len])
    }
}

impl<M: LeafModel> Cloud<M> {
    /// The children's parts of a leaf's retired statistics.
    #[inline]
    pub(super) fn divide_retired(&self, leaf: &LeafNode, split: &Split, n_left: u32, left: &mut Vec<f64>, right: &mut Vec<f64>) {
        left.clear();
        left.resize(leaf.retired.len(), 0.0);
        if leaf.retired[0] > 0.0 {
            let share = f64::from(n_left) / leaf.n_active() as f64;
            self.model.divide(self.settings.division, &leaf.retired, &leaf.origin, split, share, left);
        }
        right.clear();
        right.extend(leaf.retired.iter().zip(left.iter()).map(|(whole, left)| whole - left));
    }
}

/// Give the points of a leaf to either side of a split, in the order of the leaf. Every point is written to both and counted on one: the
/// processor has nothing to guess.
pub(super) fn divide_slots(leaf: &LeafNode, pool: &Pool, split: &Split, left: &mut Vec<u32>, right: &mut Vec<u32>) {
    let values = pool.column(split.dim as usize);
    left.resize(leaf.slots.len(), 0);
    right.resize(leaf.slots.len(), 0);
    let (mut n_left, mut n_right) = (0, 0);
    for &slot in &leaf.slots {
        let goes_left = split.sends_left(values[slot as usize]);
        left[n_left] = slot;
        right[n_right] = slot;
        n_left += usize::from(goes_left);
        n_right += usize::from(!goes_left);
    }
    left.truncate(n_left);
    right.truncate(n_right);
}
