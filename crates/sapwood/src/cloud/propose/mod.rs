//! Grow proposals: drawn a particle at a time, evaluated for all leaves with the same points and a dimension at a time.

mod divide;
mod keys;

use std::ops::Range;

use pulp::{Arch, WithSimd};

use self::divide::Work;
use self::keys::{Ranks, Values};
use super::Cloud;
use super::evidence::{Queue, Ticket};
use super::landing::Spot;
use super::weigh::Visits;
use crate::leaf::LeafModel;
use crate::rng::{FirstBlocks, Purpose, Stream};
use crate::tree::{Forest, LeafNode, Split};

/// A split proposed to one particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub split: Split,
    /// Where on the range of cuts the split lies.
    u: f64,
    /// The next proposal of the same group.
    next: u32,
    /// How many points would be on the left, but for missing ones.
    n_below: u32,
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
    /// The leaves that the first particle to grow so has got; [`NONE`] before.
    children: [u32; 2],
}

const NONE: u32 = u32::MAX;

/// The outcomes of the proposals of one step. Those that would divide the points alike share one.
#[derive(Clone, Debug, Default)]
struct Outcomes {
    all: Vec<Outcome>,
    /// Active statistics of the left child of each.
    left_active: Vec<f64>,
}

/// Proposals along one dimension on leaves with the same statistics.
#[derive(Clone, Copy, Debug)]
struct Group {
    /// One of the leaves.
    leaf: u32,
    dim: u32,
    /// The last proposal that was made.
    last: u32,
    /// Another group on leaves with the same points, along the same dimension.
    next: u32,
}

/// The groups of one step, in chains of those on the same points along the same dimension.
#[derive(Clone, Debug, Default)]
struct Groups {
    all: Vec<Group>,
    /// By what the leaves are like and by dimension, their group, and the first of their chain.
    by_content: Vec<u32>,
    by_points: Vec<u32>,
    /// First groups of chains, in order of appearance.
    chains: Vec<u32>,
}

impl Groups {
    fn begin(&mut self, n_visited: usize, n_inputs: usize) {
        self.all.clear();
        self.chains.clear();
        for table in [&mut self.by_content, &mut self.by_points] {
            table.clear();
            table.resize(n_visited * n_inputs, NONE);
        }
    }

    /// The group of the proposals along `dim` on leaves alike to `leaf`; `alike` as the visits number them.
    #[inline]
    fn of(&mut self, forest: &Forest, leaf: usize, alike: (usize, usize), dim: usize, n_inputs: usize) -> &mut Group {
        let group = &mut self.by_content[alike.1 * n_inputs + dim];
        if *group == NONE {
            *group = self.all.len() as u32;
            let first = &mut self.by_points[alike.0 * n_inputs + dim];
            // Sums about different origins are not the same. Those of leaves with the same points seldom differ.
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
    pub all: Vec<Proposal>,
    /// By particle, where its proposals begin; one more entry than particles. A particle has as many as there are candidates, or none.
    starts: Vec<usize>,
    random: FirstBlocks,
    groups: Groups,
    outcomes: Outcomes,
    ranks: Work<i16>,
    values: Work<i64>,
}

impl Proposals {
    /// Draw the number that every particle's move will be drawn with, and its grow proposals.
    pub fn draw<M: LeafModel>(&mut self, cloud: &Cloud<M>, spots: &[Spot], visits: &Visits) {
        let Self { all, starts, random, groups, .. } = self;
        all.clear();
        starts.clear();
        let (seed, step, n_inputs, n_candidates) = (cloud.seed, cloud.step, cloud.settings.n_inputs, cloud.settings.n_candidates);
        groups.begin(visits.len(), n_inputs);
        random.draw(seed, step, cloud.n_particles(), Purpose::Propagate);
        let mut first_particle = 0;
        for (tree, &Spot { place, number }) in cloud.trees.iter().zip(spots) {
            let particles = first_particle..first_particle + tree.n_copies;
            first_particle = particles.end;
            let can_grow = cloud.can_grow(place.leaf());
            let alike = visits.alike(number);
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
                    let group = groups.of(&cloud.forest, place.leaf(), alike, dim, n_inputs);
                    let next = std::mem::replace(&mut group.last, all.len() as u32);
                    let split = Split { dim: dim as u32, nan_left: false, cut: 0.0 };
                    all.push(Proposal { split, u, next, n_below: 0, outcome: NONE });
                }
            }
        }
        starts.push(all.len());
    }

    /// Put the children of every proposal in line for their evidence.
    pub fn evaluate<M: LeafModel>(&mut self, cloud: &Cloud<M>, queue: &mut Queue) {
        Arch::new().dispatch(Evaluation { proposals: self, cloud, queue });
    }

    /// How many proposals, chains of groups, and outcomes.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.all.len(), self.groups.chains.len(), self.outcomes.all.len())
    }

    /// The proposals to some particles.
    pub fn of_particles(&self, particles: Range<usize>) -> Range<usize> {
        self.starts[particles.start]..self.starts[particles.end]
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

    /// The leaves of a particle that has grown as this proposal would have another grow, if there is one.
    pub fn children_alike(&self, proposal: usize) -> Option<[usize; 2]> {
        let children = self.outcomes.all[self.all[proposal].outcome as usize].children;
        (children != [NONE; 2]).then_some(children.map(|child| child as usize))
    }

    /// A particle has grown, and these are its leaves.
    pub fn set_children(&mut self, proposal: usize, children: [usize; 2]) {
        self.outcomes.all[self.all[proposal].outcome as usize].children = children.map(|child| child as u32);
    }

    /// What a proposal that has an outcome would do, and the left child's active statistics.
    pub fn outcome(&self, proposal: usize, stat_len: usize) -> (Outcome, &[f64]) {
        let ix = self.all[proposal].outcome as usize;
        (self.outcomes.all[ix], &self.outcomes.left_active[ix * stat_len..(ix + 1) * stat_len])
    }
}

/// The loops inside are plain; here they are compiled for the widest instructions of the machine.
struct Evaluation<'a, M: LeafModel> {
    proposals: &'a mut Proposals,
    cloud: &'a Cloud<M>,
    queue: &'a mut Queue,
}

impl<M: LeafModel> WithSimd for Evaluation<'_, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { proposals: Proposals { all, groups, outcomes, ranks, values, .. }, cloud, queue } = self;
        outcomes.all.clear();
        outcomes.left_active.clear();
        for &first in &groups.chains {
            let chain = groups.chain(first);
            let dim = groups.all[first as usize].dim as usize;
            match cloud.pool.ranked(dim) {
                Some(column) => ranks.evaluate(&Ranks::new(column), cloud, chain, all, outcomes, queue),
                None => values.evaluate(&Values(cloud.pool.column(dim)), cloud, chain, all, outcomes, queue),
            }
        }
    }
}

impl<M: LeafModel> Cloud<M> {
    /// The children's parts of a leaf's retired statistics.
    #[inline]
    pub(super) fn divide_retired(&self, leaf: &LeafNode, split: &Split, n_left: u32, left: &mut Vec<f64>, right: &mut Vec<f64>) {
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

/// A cut on `(low, high]`: everything up to `low` goes left and everything from `high` on goes right.
#[inline(always)]
pub(super) fn place_cut(u: f64, low: f64, high: f64) -> f64 {
    let cut = low + u * (high - low);
    if cut > low { cut.min(high) } else { high }
}
