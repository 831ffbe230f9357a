//! The step of clouds whose leaves only count classes, in small pools.
//!
//! It does what the general step does, and draws with the same numbers, so that the two find the same trees. But there a leaf may be anything;
//! here it is a set of bits and a handful of counts. Its predictive is a ratio of two of them, what a cut would divide is found by comparing a
//! few values, and a step is a few passes over short records instead of a long way through queues and tables, which is most of what the general
//! step takes where evidences are this cheap.
//!
//! Passes are kept from being inlined: in one large function the compiler runs out of registers, and every loop pays for it.

mod arrivals;
mod moves;
mod proposals;
mod prunes;
mod rooms;
mod sharing;
#[cfg(test)]
mod tests;

use self::proposals::Proposals;
use self::prunes::{Prune, Prunes};
use self::sharing::Sharing;
use super::landing::Spot;
use super::{Cloud, StepSizes};
use crate::config::Evidence;
use crate::leaf::{LeafModel, Multinomial};
use crate::num::lanes::{LANES, Lane};
use crate::pool::SlotSet;
use crate::tree::{Keeping, LeafEvidence, LeafNode};

const NONE: u32 = u32::MAX;

/// Working space that is kept between steps, for each number of classes that is counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Counting {
    two: Work<2>,
    three: Work<3>,
    four: Work<4>,
    /// Leaves that hold the point that is retired.
    holders: Vec<u32>,
}

/// Working space for `K` classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<const K: usize> {
    line: Line<K>,
    /// By leaf of the landing: the probability of each class, and once the point is in, the leaf's entry in `visits`.
    probabilities: Vec<[f64; K]>,
    visit_of: Vec<u32>,
    visits: Vec<Visit<K>>,
    prunes: Prunes,
    proposals: Proposals,
    grown: Vec<usize>,
    sharing: Sharing<K>,
}

/// A leaf that the new point has been put in.
#[derive(Clone, Copy, Debug)]
struct Visit<const K: usize> {
    points: SlotSet,
    /// Counts of its active and of its retired points, by class.
    active: [f64; K],
    retired: [f64; K],
    ln_evidence: f64,
    leaf: u32,
    /// Of the trees that have it, the one with the most copies.
    tree: u32,
    n_points: u32,
    /// Stands for the points, once cuts are placed.
    set_number: u32,
    /// Whether its active points are all of one class.
    is_pure: bool,
}

/// Leaves waiting for their `ln Z`, and the results of those that have been waited for, in the order in which they came.
#[derive(Clone, Debug, Default)]
struct Line<const K: usize> {
    /// Counts of eight leaves abreast.
    blocks: Vec<[Lane; K]>,
    n_leaves: usize,
    ln_z: Vec<f64>,
}

impl<const K: usize> Line<K> {
    fn begin(&mut self) {
        self.n_leaves = 0;
    }

    /// Put a leaf in line; returns its place among the results.
    #[inline(always)]
    fn push(&mut self, counts: [f64; K]) -> u32 {
        let lane = self.n_leaves % LANES;
        let block = self.block_for(self.n_leaves);
        (0..K).for_each(|class| block[class][lane] = counts[class]);
        self.n_leaves += 1;
        self.n_leaves as u32 - 1
    }

    /// Put two leaves in line, where there are only such pairs; returns the first one's place.
    #[inline(always)]
    fn push_two(&mut self, one: [f64; K], other: [f64; K]) -> u32 {
        let place = self.n_leaves;
        let block = self.block_for(place);
        (0..K).for_each(|class| [block[class][place % LANES], block[class][place % LANES + 1]] = [one[class], other[class]]);
        self.n_leaves += 2;
        place as u32
    }

    /// Put two leaves in line again that were there, in the same order as then, before it began anew.
    #[inline(always)]
    fn push_two_of_old(&mut self, old: u32) -> u32 {
        let block = &self.blocks[old as usize / LANES];
        let lane = old as usize % LANES;
        let [one, other] = [lane, lane + 1].map(|lane| std::array::from_fn(|class| block[class][lane]));
        self.push_two(one, other)
    }

    fn blocks(&self) -> &[[Lane; K]] {
        &self.blocks[..self.n_leaves.div_ceil(LANES)]
    }

    #[inline(always)]
    fn block_for(&mut self, place: usize) -> &mut [Lane; K] {
        if place / LANES == self.blocks.len() {
            self.blocks.push([[0.0; LANES]; K]);
        }
        &mut self.blocks[place / LANES]
    }

    /// Compute what is waiting.
    fn finish(&mut self, model: &Multinomial) {
        let n_blocks = self.n_leaves.div_ceil(LANES);
        model.ln_z_blocks(&self.blocks[..n_blocks], &mut self.ln_z);
        self.ln_z.truncate(self.n_leaves);
    }
}

/// Call a method for a number of classes that is counted.
macro_rules! for_classes {
    ($n_classes:expr, $cloud:ident.$method:ident($($argument:expr),*)) => {
        match $n_classes {
            2 => $cloud.$method::<2>($($argument),*),
            3 => $cloud.$method::<3>($($argument),*),
            4 => $cloud.$method::<4>($($argument),*),
            _ => unreachable!("more classes than are counted"),
        }
    };
}
pub(super) use for_classes;

macro_rules! work_for {
    ($n_classes:literal, $field:ident) => {
        impl AsRef<Work<$n_classes>> for Counting {
            fn as_ref(&self) -> &Work<$n_classes> {
                &self.$field
            }
        }

        impl AsMut<Work<$n_classes>> for Counting {
            fn as_mut(&mut self) -> &mut Work<$n_classes> {
                &mut self.$field
            }
        }
    };
}
work_for!(2, two);
work_for!(3, three);
work_for!(4, four);

/// Counts by class in a leaf's statistics; none where there are no statistics.
#[inline(always)]
fn by_class<const K: usize>(stats: &[f64]) -> Option<&[f64; K]> {
    stats.get(1..=K)?.try_into().ok()
}

#[inline(always)]
fn active<const K: usize>(leaf: &LeafNode) -> [f64; K] {
    *by_class(&leaf.active).expect("a count of each class")
}

#[inline(always)]
fn retired<const K: usize>(leaf: &LeafNode) -> [f64; K] {
    by_class(&leaf.retired).copied().unwrap_or([0.0; K])
}

#[inline(always)]
fn sum<const K: usize>(one: [f64; K], other: [f64; K]) -> [f64; K] {
    std::array::from_fn(|class| one[class] + other[class])
}

#[inline(always)]
fn difference<const K: usize>(one: [f64; K], other: [f64; K]) -> [f64; K] {
    std::array::from_fn(|class| one[class] - other[class])
}

#[inline(always)]
fn evidence(ln_z: f64) -> LeafEvidence {
    LeafEvidence { ln_z, ln_evidence: ln_z }
}

impl<M: LeafModel> Cloud<M> {
    /// The number of classes, where a step can be taken by counting.
    pub(crate) fn counted_classes(&self) -> Option<usize> {
        let n_classes = self.model.only_counts()?.n_classes();
        let is_joint = self.settings.config.evidence == Evidence::Joint;
        let counts = self.forest.keeping() == Keeping::Sets && self.pool.all_count_once() && is_joint;
        // Each class is counted in a pass of its own: it pays for a few.
        (counts && (2..=4).contains(&n_classes)).then_some(n_classes)
    }

    fn counts_model(&self) -> &Multinomial {
        self.model.only_counts().expect("leaves that only count")
    }

    /// Put the new point in the leaves of the particles that have survived; then every particle stays, prunes or grows there.
    pub(super) fn propagate_counts<const K: usize>(&mut self, spots: &mut [Spot], slot: u32, x: &[f64])
    where
        Counting: AsMut<Work<K>>,
    {
        let mut work = std::mem::take(self.scratch.counting.as_mut());
        work.line.begin();
        self.take_in_counts(spots, slot, &mut work);
        self.consider_prunes_of_counts(spots, &mut work);
        work.line.finish(self.counts_model());
        self.keep_evidences(&mut work);
        work.prunes.weigh();
        work.proposals.make(self, spots, &work.visits, &work.prunes.odds);
        work.line.begin();
        work.proposals.evaluate(self, &mut work.visits, &mut work.line);
        work.proposals.screen(self.counts_model(), &work.prunes.odds, &mut work.line);
        work.line.finish(self.counts_model());
        work.proposals.weigh(&work.line.ln_z);
        self.move_counts(spots, x, &mut work);
        *self.scratch.counting.as_mut() = work;
    }

    /// Keep the evidences that have been computed at their leaves, and weigh the prunes.
    #[inline(never)]
    fn keep_evidences<const K: usize>(&mut self, work: &mut Work<K>) {
        let Work { line, visits, prunes: Prunes { all, siblings, waiting, weights, .. }, .. } = work;
        let Self { forest, version, .. } = self;
        for (visit, &ln_z) in visits.iter_mut().zip(&line.ln_z) {
            visit.ln_evidence = ln_z;
            forest.leaf_mut(visit.leaf as usize).set_evidence(evidence(ln_z), *version);
        }
        for &(leaf, place) in &*waiting {
            forest.leaf_mut(leaf as usize).set_evidence(evidence(line.ln_z[place as usize]), *version);
        }
        let mut start = 0;
        weights.clear();
        weights.extend(all.iter().map(|&Prune { ln_prior, visit, merged, siblings_end }| {
            let own = &siblings[start..siblings_end as usize];
            start = siblings_end as usize;
            let ln_siblings: f64 = own.iter().map(|&leaf| forest.leaf(leaf as usize).last_evidence().ln_z).sum();
            ln_prior + line.ln_z[merged as usize] - ln_siblings - visits[visit as usize].ln_evidence
        }));
    }
}

impl Counting {
    pub fn step_sizes(&self, n_classes: usize) -> StepSizes {
        match n_classes {
            2 => self.two.step_sizes(),
            3 => self.three.step_sizes(),
            4 => self.four.step_sizes(),
            _ => unreachable!("more classes than are counted"),
        }
    }
}

impl<const K: usize> Work<K> {
    fn step_sizes(&self) -> StepSizes {
        let (leaves, prunes) = (self.visits.len(), self.prunes.all.len());
        let (sets_of_points, chains) = self.proposals.rooms.sizes();
        let (proposals, outcomes) = self.proposals.sizes();
        StepSizes { leaves, sets_of_points, contents: leaves, proposals, chains, outcomes, prunes }
    }
}
