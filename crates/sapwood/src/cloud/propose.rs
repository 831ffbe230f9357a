//! Grow proposals: drawn a particle at a time, evaluated a leaf and a dimension at a time.
//!
//! The proposals on one leaf along one dimension cut its points into intervals. Each point is added to its interval's sum once, whatever
//! the number of proposals, and the largest interval not at all: it is what the others leave of the leaf.

use pulp::Arch;

use super::Cloud;
use super::evidence::{Queue, Ticket};
use crate::leaf::LeafModel;
use crate::num::lanes::LANES;
use crate::pool::Pool;
use crate::rng::{Purpose, Stream, coin};
use crate::tree::{LeafNode, Place, Split};

/// A split proposed to one particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    pub split: Split,
    /// Where on the range of cuts the split lies.
    u: f64,
    /// The next proposal on the same leaf and dimension.
    next: u32,
    /// None if the leaf leaves no room for a cut along this dimension.
    pub outcome: Option<Outcome>,
}

/// What a proposed split would do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Active points that would go left.
    pub n_left: u32,
    /// Which entry of [`Proposals::left_active`] holds the left child's active statistics.
    row: u32,
    /// True if taking one child's sums from the parent's would leave rounding: both are summed from their points.
    pub afresh: bool,
    pub left: Ticket,
    pub right: Ticket,
}

const NONE: u32 = u32::MAX;

/// The proposals of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    pub all: Vec<Proposal>,
    /// By tree, where its proposals begin; one more entry than trees. A tree has as many for each copy as there are candidates, or none.
    pub starts: Vec<usize>,
    /// By particle, a uniform to draw its move with.
    pub uniforms: Vec<f64>,
    /// By visited leaf and dimension, the last proposal made on it.
    heads: Vec<u32>,
    /// Leaf and dimension of every head that is set, in order of appearance.
    groups: Vec<(u32, u32)>,
    left_active: Vec<f64>,
    work: Work,
}

/// Working space for one leaf and dimension.
#[derive(Clone, Debug, Default)]
struct Work {
    values: Vec<f64>,
    n_missing: u32,
    /// Values as integers in the same order.
    keys: Vec<i64>,
    /// Cuts in ascending order, each with its proposal.
    cuts: Vec<(f64, u32)>,
    /// By point, how many cuts lie at or below it: its interval. Points without a value stand in an interval of their own, the last.
    intervals: Vec<u32>,
    counts: Vec<u32>,
    /// Points that are summed, with their intervals.
    summed: Vec<(u32, u32)>,
    /// Sums of the intervals, one after another.
    sums: Vec<f64>,
    below: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
    total: Vec<f64>,
}

impl Proposals {
    /// Draw the grow proposals of every particle, and the number its move will be drawn with. `visit` numbers the leaves in `places`.
    pub fn draw<M: LeafModel>(&mut self, cloud: &Cloud<M>, places: &[Place], n_visited: usize, visit: impl Fn(usize) -> usize) {
        let Self { all, starts, uniforms, heads, groups, .. } = self;
        all.clear();
        starts.clear();
        uniforms.clear();
        groups.clear();
        let (seed, step, n_inputs, n_candidates) = (cloud.seed, cloud.step, cloud.settings.n_inputs, cloud.settings.n_candidates);
        heads.clear();
        heads.resize(n_visited * n_inputs, NONE);
        for (tree, place) in cloud.trees.iter().zip(places) {
            starts.push(all.len());
            let may_grow = cloud.forest.leaf(place.leaf).n_active() / 2 >= cloud.settings.min_leaf;
            if !may_grow && place.parent.is_none() {
                // Nothing to draw: the particle can only stay.
                uniforms.resize(uniforms.len() + tree.n_copies as usize, 0.0);
                continue;
            }
            let first_head = visit(place.leaf) * n_inputs;
            for _ in 0..tree.n_copies {
                let particle = uniforms.len() as u32;
                let block = Stream::first_block(seed, step, particle, Purpose::Propagate);
                uniforms.push(block.uniform);
                if !may_grow {
                    continue;
                }
                let mut further = (n_candidates > 1).then(|| Stream::new(seed, step, particle, Purpose::Candidate));
                let (mut dim, mut u) = (block.below(n_inputs), block.positive);
                for candidate in 0..n_candidates {
                    if let Some(stream) = further.as_mut().filter(|_| candidate > 0) {
                        (dim, u) = (stream.below(n_inputs), stream.uniform_positive());
                    }
                    let head = &mut heads[first_head + dim];
                    if *head == NONE {
                        groups.push((place.leaf as u32, dim as u32));
                    }
                    let next = std::mem::replace(head, all.len() as u32);
                    all.push(Proposal { split: Split { dim: dim as u32, nan_left: false, cut: 0.0 }, u, next, outcome: None });
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
        let Self { all, heads, groups, left_active, work, .. } = self;
        left_active.clear();
        for &(leaf_ix, dim) in groups.iter() {
            let head = heads[visit(leaf_ix as usize) * cloud.settings.n_inputs + dim as usize];
            let leaf = cloud.forest.leaf(leaf_ix as usize);
            let by_value = cloud.pool.column(dim as usize);
            work.values.clear();
            work.values.extend(leaf.slots.iter().map(|&slot| by_value[slot as usize]));
            work.n_missing = work.values.iter().map(|value| u32::from(value.is_nan())).sum();
            if work.place_cuts(all, head, cloud.settings.min_leaf) {
                work.divide_points();
                work.sum_intervals(cloud, leaf);
                work.children(cloud, leaf, all, left_active, queue);
            }
        }
    }

    /// The left child's active statistics.
    pub fn left_active(&self, outcome: &Outcome, stat_len: usize) -> &[f64] {
        &self.left_active[outcome.row as usize * stat_len..(outcome.row as usize + 1) * stat_len]
    }
}

impl Work {
    /// Turn the uniforms of a group into cuts that leave `min_leaf` points with a value on either side. False if there is no room for one.
    #[inline(always)]
    fn place_cuts(&mut self, all: &mut [Proposal], head: u32, min_leaf: usize) -> bool {
        let Some((low, high)) = self.bounds(min_leaf) else { return false };
        self.cuts.clear();
        let mut at = head;
        while at != NONE {
            let proposal = &mut all[at as usize];
            // On (low, high]: everything up to `low` goes left and everything from `high` on goes right.
            let cut = low + proposal.u * (high - low);
            proposal.split.cut = if cut > low { cut.min(high) } else { high };
            self.cuts.push((proposal.split.cut, at));
            at = proposal.next;
        }
        if self.cuts.len() > 1 {
            self.cuts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        true
    }

    /// The values that every cut lies between: the last that must go left and the first that must not.
    #[inline(always)]
    fn bounds(&mut self, min_leaf: usize) -> Option<(f64, f64)> {
        let n_known = self.values.len() - self.n_missing as usize;
        if n_known / 2 < min_leaf {
            return None;
        }
        let (low, high) = if min_leaf == 1 {
            smallest_and_largest(&self.values)
        } else {
            self.keys.clear();
            self.keys.extend(self.values.iter().map(|value| ordered(*value)));
            if self.n_missing > 0 {
                self.keys.retain(|key| !value_of(*key).is_nan());
            }
            let (_, &mut low, above) = self.keys.select_nth_unstable(min_leaf - 1);
            let (_, &mut high, _) = above.select_nth_unstable(n_known - 2 * min_leaf);
            (value_of(low), value_of(high))
        };
        (low < high).then_some((low, high))
    }

    /// Find each point's interval and how many points each holds.
    #[inline(always)]
    fn divide_points(&mut self) {
        let Self { values, n_missing, cuts, intervals, counts, .. } = self;
        let n_cuts = cuts.len();
        intervals.clear();
        counts.clear();
        counts.resize(n_cuts + 2, 0);
        /// Up to here comparing every point with every cut is faster than searching.
        const FEW: usize = 12;
        if n_cuts <= FEW {
            intervals.resize(values.len(), 0);
            let mut n_above = values.len() as u32 - *n_missing;
            for (at, (cut, _)) in cuts.iter().enumerate() {
                let mut n_here = 0;
                for (interval, value) in intervals.iter_mut().zip(values.iter()) {
                    let beyond = u32::from(value >= cut);
                    *interval += beyond;
                    n_here += beyond;
                }
                counts[at] = n_above - n_here;
                n_above = n_here;
            }
            counts[n_cuts] = n_above;
        } else {
            intervals.extend(values.iter().map(|value| cuts.partition_point(|(cut, _)| value >= cut) as u32));
            intervals.iter().for_each(|interval| counts[*interval as usize] += 1);
            counts[0] -= *n_missing;
        }
        if *n_missing > 0 {
            counts[n_cuts + 1] = *n_missing;
            for (interval, value) in intervals.iter_mut().zip(values.iter()) {
                *interval = if value.is_nan() { n_cuts as u32 + 1 } else { *interval };
            }
        }
    }

    /// The interval that is not summed.
    #[inline(always)]
    fn largest(&self) -> usize {
        let n_intervals = self.cuts.len() + 1;
        (1..n_intervals).fold(0, |best, interval| if self.counts[interval] > self.counts[best] { interval } else { best })
    }

    #[inline(always)]
    fn sum_intervals<M: LeafModel>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode) {
        let stat_len = leaf.active.len();
        let largest = self.largest() as u32;
        self.sums.clear();
        self.sums.resize(self.counts.len() * stat_len, 0.0);
        // Chosen first and added then: choosing while adding would make the processor guess at every point.
        self.summed.clear();
        self.summed.resize(leaf.slots.len(), (0, 0));
        let mut n_summed = 0;
        for (&slot, &interval) in leaf.slots.iter().zip(&self.intervals) {
            self.summed[n_summed] = (slot, interval);
            n_summed += usize::from(interval != largest);
        }
        let quick = cloud.point_stats.are_about(&leaf.origin);
        for &(slot, interval) in &self.summed[..n_summed] {
            let sum = &mut self.sums[interval as usize * stat_len..(interval as usize + 1) * stat_len];
            if quick {
                cloud.point_stats.add_to(sum, slot);
            } else {
                cloud.model.observe(sum, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
            }
        }
    }

    /// Statistics of both children of every cut, left to right, and their places in the queue.
    #[inline(always)]
    fn children<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        all: &mut [Proposal],
        left_active: &mut Vec<f64>,
        queue: &mut Queue,
    ) {
        let stat_len = leaf.active.len();
        let n_cuts = self.cuts.len();
        let n_missing = self.n_missing;
        let n_known = leaf.slots.len() as u32 - n_missing;
        let largest = self.largest();
        // Turn the sums of intervals into sums up to each cut (before the largest) and from each cut on (after it).
        for interval in 1..largest {
            let (before, own) = self.sums[(interval - 1) * stat_len..(interval + 1) * stat_len].split_at_mut(stat_len);
            add(own, before);
        }
        for interval in (largest + 1..n_cuts).rev() {
            let (own, after) = self.sums[interval * stat_len..(interval + 2) * stat_len].split_at_mut(stat_len);
            add(own, after);
        }
        // The Gaussian division depends on the cut itself; otherwise only on which points go where.
        let by_cut = leaf.retired[0] > 0.0 && cloud.model.divides_by_cut(cloud.settings.division);
        let mut n_below = 0;
        let mut twins: [Option<(u32, Outcome)>; 2] = [None; 2];
        for at in 0..n_cuts {
            n_below += self.counts[at];
            let proposal = &mut all[self.cuts[at].1 as usize];
            // Where the leaf has seen missing values either side may take them; otherwise the larger side will.
            let nan_left = if n_missing > 0 { coin(proposal.u) } else { 2 * n_below >= n_known };
            proposal.split.nan_left = nan_left;
            if let Some((_, outcome)) = twins[usize::from(nan_left)].filter(|(same, _)| *same == n_below && !by_cut) {
                proposal.outcome = Some(outcome);
                continue;
            }
            self.below.clear();
            if at < largest {
                self.below.extend_from_slice(&self.sums[at * stat_len..(at + 1) * stat_len]);
            } else {
                let (from_cut, missing) = (&self.sums[(at + 1) * stat_len..], &self.sums[(n_cuts + 1) * stat_len..]);
                self.below.extend(leaf.active.iter().zip(from_cut).zip(missing).map(|((whole, above), missing)| whole - above - missing));
            }
            self.left.clear();
            self.left.extend_from_slice(&self.below);
            let mut n_left = n_below;
            if nan_left && n_missing > 0 {
                add(&mut self.left, &self.sums[(n_cuts + 1) * stat_len..]);
                n_left += n_missing;
            }
            self.right.clear();
            self.right.extend(leaf.active.iter().zip(&self.left).map(|(whole, left)| whole - left));
            // Each side is what the other leaves of the whole; where one is far larger, little of the other is left but rounding.
            let afresh = cloud.model.is_lost(&self.left, &self.right) || cloud.model.is_lost(&self.right, &self.left);
            if afresh {
                sum_side(cloud, leaf, &proposal.split, true, &mut self.left);
                sum_side(cloud, leaf, &proposal.split, false, &mut self.right);
            }
            let outcome = self.enqueue(cloud, leaf, &proposal.split, n_left, afresh, left_active, queue);
            proposal.outcome = Some(outcome);
            twins[usize::from(nan_left)] = Some((n_below, outcome));
        }
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a leaf, how it is divided, and where the result goes")]
    fn enqueue<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        split: &Split,
        n_left: u32,
        afresh: bool,
        left_active: &mut Vec<f64>,
        queue: &mut Queue,
    ) -> Outcome {
        let Self { left, right, left_retired, right_retired, total, .. } = self;
        cloud.divide_retired(leaf, split, n_left, left_retired, right_retired);
        let row = (left_active.len() / left.len()) as u32;
        left_active.extend_from_slice(left);
        let mut ticket = |active: &[f64], retired: &[f64]| {
            total.clear();
            total.extend(active.iter().zip(retired).map(|(a, r)| a + r));
            queue.push(&cloud.model, cloud.settings.config.evidence, total, retired, &leaf.origin)
        };
        Outcome { n_left, row, afresh, left: ticket(left, left_retired), right: ticket(right, right_retired) }
    }
}

impl<M: LeafModel> Cloud<M> {
    /// The children's parts of a leaf's retired statistics.
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

/// Statistics of the points on one side of a split, summed in the order of the leaf.
fn sum_side<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode, split: &Split, left: bool, out: &mut [f64]) {
    out.fill(0.0);
    let values = cloud.pool.column(split.dim as usize);
    for &slot in leaf.slots.iter().filter(|slot| split.sends_left(values[**slot as usize]) == left) {
        cloud.model.observe(out, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
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

/// Missing values are passed over. Eight running results, because the processor cannot start on the next value of a single one.
#[inline(always)]
fn smallest_and_largest(values: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (whole, rest) = values.as_chunks::<LANES>();
    for chunk in whole {
        for lane in 0..LANES {
            // NaN fails both comparisons.
            low[lane] = if chunk[lane] < low[lane] { chunk[lane] } else { low[lane] };
            high[lane] = if chunk[lane] > high[lane] { chunk[lane] } else { high[lane] };
        }
    }
    let all_low = rest.iter().chain(&low).fold(f64::INFINITY, |low, &value| if value < low { value } else { low });
    let all_high = rest.iter().chain(&high).fold(f64::NEG_INFINITY, |high, &value| if value > high { value } else { high });
    (all_low, all_high)
}

/// A number as an integer in the same order; those that are not numbers come last or first.
#[inline(always)]
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[inline(always)]
fn value_of(key: i64) -> f64 {
    f64::from_bits((key ^ (((key >> 63) as u64) >> 1) as i64) as u64)
}

#[inline(always)]
fn add(sum: &mut [f64], other: &[f64]) {
    for (a, b) in sum.iter_mut().zip(other) {
        *a += b;
    }
}
