//! Grow proposals: drawn per particle, evaluated together for all leaves with the same points, one dimension at a time.

mod divide;
mod keys;
mod side_stats;

use std::ops::Range;

use pulp::{Arch, WithSimd};

use self::divide::Divider;
use self::keys::{Ranks, Values};
use super::evidence::{EvidenceQueue, Evidences, Ticket};
use super::insert::InsertedLeaves;
use super::look_up::TreeLeaf;
use crate::cloud::Cloud;
use crate::leaf::{Fit, LeafModel};
use crate::rng::{FirstBlocks, Purpose, Stream};
use crate::split::Split;
use crate::tree::{Forest, LeafNode};

/// A split drawn for one particle.
#[derive(Clone, Copy, Debug)]
struct Proposal {
    dim: u32,
    /// The next proposal of the same group.
    next: u32,
    /// The position of the cut within the range of cuts, in (0, 1].
    u: f64,
}

/// A proposal whose cut has been placed.
#[derive(Clone, Copy, Debug)]
struct Placement {
    cut: f64,
    nan_left: bool,
    /// How many points are below the cut, not counting missing values.
    n_below: u32,
    /// Its number in [`Proposals::outcomes`]; [`NONE`] if the leaf has no valid cut along this dimension.
    outcome: u32,
}

impl Placement {
    const IMPOSSIBLE: Self = Self { cut: 0.0, nan_left: false, n_below: 0, outcome: NONE };
}

/// The result of a proposed split.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Active points that go left.
    pub n_left: u32,
    /// Whether subtracting one child's sums from the parent's would leave mostly rounding error, so that both are summed from their points.
    pub needs_resum: bool,
    pub left: Ticket,
    pub right: Ticket,
    /// The leaves of the first particle that grew in this way.
    children: Option<[u32; 2]>,
}

const NONE: u32 = u32::MAX;

/// The outcomes of the proposals of one step. Proposals that divide the points in the same way share one.
#[derive(Clone, Debug, Default)]
struct Outcomes {
    all: Vec<Outcome>,
    /// The active statistics of the left children, concatenated.
    left_active: Vec<f64>,
}

/// Proposals along one dimension on leaves with the same statistics.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// One of the leaves.
    leaf: u32,
    dim: u32,
    /// The most recent proposal; the others follow by [`Proposal::next`].
    last: u32,
    /// Another group on leaves with the same points, along the same dimension.
    next: u32,
}

/// The groups of one step, in chains of those on the same points along the same dimension.
#[derive(Clone, Debug, Default)]
struct Groups {
    all: Vec<Group>,
    /// By deduplicated leaf and dimension: the group, and the first group of the chain.
    by_content: Vec<u32>,
    by_points: Vec<u32>,
    /// First groups of chains, in order of appearance.
    chains: Vec<u32>,
}

impl Groups {
    fn clear(&mut self, n_leaves: usize, n_inputs: usize) {
        self.all.clear();
        self.chains.clear();
        for table in [&mut self.by_content, &mut self.by_points] {
            table.clear();
            table.resize(n_leaves * n_inputs, NONE);
        }
    }

    /// The group of the proposals along `dim` on leaves like `leaf`; `dedup` holds its numbers by points and by content.
    #[inline]
    fn group<F: Fit>(&mut self, forest: &Forest<F>, leaf: usize, dedup: (usize, usize), dim: usize, n_inputs: usize) -> &mut Group {
        let group = &mut self.by_content[dedup.1 * n_inputs + dim];
        if *group == NONE {
            *group = self.all.len() as u32;
            let first = &mut self.by_points[dedup.0 * n_inputs + dim];
            // Sums about different origins cannot be shared. Leaves with the same points seldom have different ones.
            let next = match self.all.get_mut(*first as usize) {
                Some(first) if forest.leaf(first.leaf as usize).origin == forest.leaf(leaf).origin => {
                    std::mem::replace(&mut first.next, *group)
                }
                _ => {
                    *first = *group;
                    self.chains.push(*group);
                    NONE
                }
            };
            self.all.push(Group { leaf: leaf as u32, dim: dim as u32, last: NONE, next });
        }
        &mut self.all[*group as usize]
    }

    /// A group and those that follow it in its chain.
    fn chain(&self, first: u32) -> impl Iterator<Item = &Group> + Clone {
        std::iter::successors(self.all.get(first as usize), |group| self.all.get(group.next as usize))
    }
}

/// The proposals of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    all: Vec<Proposal>,
    placements: Vec<Placement>,
    /// By particle, where its proposals begin; one more entry than particles. A particle has as many as there are candidates, or none.
    starts: Vec<usize>,
    random: FirstBlocks,
    groups: Groups,
    outcomes: Outcomes,
    /// By outcome, for both children together.
    ln_evidences: Vec<f64>,
    by_rank: Divider<i16>,
    by_value: Divider<i64>,
}

impl Proposals {
    /// Draw every particle's grow proposals, and the uniform that will decide its move.
    pub fn draw<M: LeafModel>(&mut self, cloud: &Cloud<M>, tree_leaves: &[TreeLeaf], inserted: &InsertedLeaves) {
        let Self { all, starts, random, groups, .. } = self;
        all.clear();
        starts.clear();
        let (seed, step, n_inputs, n_candidates) = (cloud.seed, cloud.step, cloud.settings.n_inputs, cloud.settings.n_candidates);
        groups.clear(inserted.len(), n_inputs);
        random.draw(seed, step, cloud.n_particles(), Purpose::Propagate);
        let mut first_particle = 0;
        for (tree, &TreeLeaf { path, number }) in cloud.trees.iter().zip(tree_leaves) {
            let particles = first_particle..first_particle + tree.n_copies;
            first_particle = particles.end;
            let can_grow = cloud.can_grow(&path);
            let dedup = inserted.dedup_numbers(number);
            for particle in particles {
                starts.push(all.len());
                if !can_grow {
                    continue;
                }
                let mut further = (n_candidates > 1).then(|| Stream::new(seed, step, particle, Purpose::Candidate));
                let (mut dim, mut u) = (random.below(particle as usize, n_inputs), random.positive[particle as usize]);
                for candidate in 0..n_candidates {
                    if let Some(stream) = further.as_mut().filter(|_| candidate > 0) {
                        (dim, u) = (stream.below(n_inputs), stream.uniform_positive());
                    }
                    let group = groups.group(&cloud.forest, path.leaf(), dedup, dim, n_inputs);
                    let next = std::mem::replace(&mut group.last, all.len() as u32);
                    all.push(Proposal { dim: dim as u32, next, u });
                }
            }
        }
        starts.push(all.len());
    }

    /// Place the cut of every proposal, and enqueue the evidences of its children.
    pub fn enqueue<M: LeafModel>(&mut self, cloud: &Cloud<M>, queue: &mut EvidenceQueue) {
        self.placements.clear();
        self.placements.resize(self.all.len(), Placement::IMPOSSIBLE);
        Arch::new().dispatch(Evaluation { proposals: self, cloud, queue });
    }

    /// The number of proposals, of chains of groups, and of outcomes.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.all.len(), self.groups.chains.len(), self.outcomes.all.len())
    }

    /// The proposals to some particles.
    pub fn of_particles(&self, particles: Range<usize>) -> Range<usize> {
        self.starts[particles.start]..self.starts[particles.end]
    }

    /// By particle, the uniform that decides its move.
    pub fn uniforms(&self) -> &[f64] {
        &self.random.uniform
    }

    /// Read off the evidence of every outcome.
    pub fn collect(&mut self, evidences: Evidences) {
        self.ln_evidences.clear();
        let ln_evidence = |outcome: &Outcome| evidences.get(outcome.left).ln_evidence + evidences.get(outcome.right).ln_evidence;
        self.ln_evidences.extend(self.outcomes.all.iter().map(ln_evidence));
    }

    /// `ln` of the evidence of the two children of a proposal; minus infinity where it has none.
    #[inline]
    pub fn ln_evidence(&self, proposal: usize) -> f64 {
        self.ln_evidences.get(self.placements[proposal].outcome as usize).copied().unwrap_or(f64::NEG_INFINITY)
    }

    pub fn split(&self, proposal: usize) -> Split {
        let Placement { cut, nan_left, .. } = self.placements[proposal];
        Split { dim: self.all[proposal].dim, nan_left, cut }
    }

    /// The leaves of a particle that has already grown with the same outcome.
    pub fn children_of_same(&self, proposal: usize) -> Option<[usize; 2]> {
        let children = self.outcomes.all[self.placements[proposal].outcome as usize].children;
        children.map(|children| children.map(|child| child as usize))
    }

    /// Record the leaves of the first particle that grew with this outcome.
    pub fn set_children(&mut self, proposal: usize, children: [usize; 2]) {
        self.outcomes.all[self.placements[proposal].outcome as usize].children = Some(children.map(|child| child as u32));
    }

    /// The outcome of a proposal that has one, and the left child's active statistics.
    pub fn outcome(&self, proposal: usize, stat_len: usize) -> (Outcome, &[f64]) {
        let ix = self.placements[proposal].outcome as usize;
        (self.outcomes.all[ix], &self.outcomes.left_active[ix * stat_len..(ix + 1) * stat_len])
    }
}

/// Compiled for the widest vector instructions of the machine; the loops inside auto-vectorise.
struct Evaluation<'a, M: LeafModel> {
    proposals: &'a mut Proposals,
    cloud: &'a Cloud<M>,
    queue: &'a mut EvidenceQueue,
}

impl<M: LeafModel> WithSimd for Evaluation<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { proposals: Proposals { all, placements, groups, outcomes, by_rank, by_value, .. }, cloud, queue } = self;
        outcomes.all.clear();
        outcomes.left_active.clear();
        let mut target = divide::Target { proposals: all, placements, outcomes, queue };
        for &first in &groups.chains {
            let chain = groups.chain(first);
            let dim = groups.all[first as usize].dim as usize;
            match cloud.pool.ranked(dim) {
                Some(column) => by_rank.evaluate(&Ranks::new(column), cloud, chain, &mut target),
                None => by_value.evaluate(&Values(cloud.pool.column(dim)), cloud, chain, &mut target),
            }
        }
    }
}

impl<M: LeafModel> Cloud<M> {
    /// The children's parts of a leaf's retired statistics.
    #[inline]
    pub(super) fn divide_retired(&self, leaf: &LeafNode<M::Fit>, split: &Split, n_left: u32, left: &mut Vec<f64>, right: &mut Vec<f64>) {
        left.clear();
        left.resize(leaf.retired.len(), 0.0);
        if leaf.n_retired() > 0.0 {
            let share = f64::from(n_left) / leaf.n_active() as f64;
            self.model.divide(self.settings.division, &leaf.retired, &leaf.origin, split, share, left);
        }
        right.clear();
        right.extend(leaf.retired.iter().zip(left.iter()).map(|(whole, left)| whole - left));
    }
}

/// A cut in `(low, high]`: values up to `low` go left, values from `high` on go right.
#[inline(always)]
fn place_cut(u: f64, low: f64, high: f64) -> f64 {
    let cut = low + u * (high - low);
    if cut > low { cut.min(high) } else { high }
}
