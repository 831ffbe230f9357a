//! What the proposals on one leaf along one dimension would do.
//!
//! Their cuts divide the leaf's points into intervals. Each point is added to its interval's sum once, whatever the number of proposals,
//! and the largest interval not at all: it is what the others leave of the leaf. Where class counts are all that a leaf knows, the points
//! below each cut are counted instead.

use super::keys::{Column, Key, Keys, gather, gather_labels, select};
use super::{NONE, Outcome, Outcomes, Proposal};
use crate::cloud::Cloud;
use crate::cloud::evidence::{Queue, Ticket};
use crate::config::Evidence;
use crate::leaf::LeafModel;
use crate::rng::coin;
use crate::tree::{LeafNode, Split};

/// Working space for one leaf and dimension.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<K> {
    /// By point of the leaf, how it compares.
    keys: Keys<K>,
    labels: Keys<i16>,
    selection: Vec<K>,
    /// Cuts in ascending order, each with its proposal.
    cuts: Vec<(f64, u32)>,
    /// What keys are compared with, and how many points are below; one for all cuts between the same two points.
    sides: Vec<(K, u32)>,
    /// By cut, its entry in `sides`.
    side_of: Vec<u32>,
    /// Statistics of the points below each side, one after another.
    below: Vec<f64>,
    /// Of the points without a value.
    missing: Vec<f64>,
    /// Of the intervals between the sides.
    intervals: Vec<f64>,
    /// The points of one interval.
    members: Vec<u32>,
    /// All points, interval by interval, where there are many intervals, and where each begins.
    sorted: Vec<u32>,
    starts: Vec<u32>,
    children: Children,
}

impl<K: Key> Work<K> {
    /// Place the cuts of the proposals that begin at `head`, and put the children of each in line for their evidence.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a leaf, what is proposed to it, and where the results go")]
    pub fn evaluate<M: LeafModel, C: Column<Key = K>>(
        &mut self,
        column: &C,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        all: &mut [Proposal],
        head: u32,
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) {
        gather(column, &leaf.slots, &mut self.keys);
        let n_known = K::count_below(&self.keys, K::NONE) as usize;
        let Some(room) = self.room(column, n_known, cloud.settings.min_leaf) else { return };
        self.place_cuts(column, room, all, head);
        let n_missing = leaf.slots.len() - n_known;
        let n_classes = cloud.model.counts_classes().filter(|_| n_missing == 0 && cloud.pool.all_count_once());
        match n_classes {
            Some(n_classes) => self.count_below(cloud, leaf, n_classes),
            None => self.sum_below(cloud, leaf, n_known),
        }
        queue.be_about(&cloud.model, &leaf.origin);
        self.children(cloud, leaf, n_known, all, outcomes, queue);
    }

    /// The keys that every cut lies between: the last that must go left and the first that must not. None if there is no room for a cut.
    #[inline(always)]
    fn room<C: Column<Key = K>>(&mut self, column: &C, n_known: usize, min_leaf: usize) -> Option<(K, K)> {
        if n_known / 2 < min_leaf {
            return None;
        }
        let (low, high) = if min_leaf == 1 {
            K::smallest_and_largest(&self.keys)
        } else {
            K::nth_from_both_ends(&self.keys, &mut self.selection, min_leaf - 1, n_known)
        };
        (column.value(low) < column.value(high)).then_some((low, high))
    }

    /// Turn the uniforms of a group into cuts, and those into sides.
    #[inline(always)]
    fn place_cuts<C: Column<Key = K>>(&mut self, column: &C, room: (K, K), all: &mut [Proposal], head: u32) {
        let Self { keys, cuts, sides, side_of, .. } = self;
        let (low, high) = (column.value(room.0), column.value(room.1));
        cuts.clear();
        let mut at = head;
        while at != NONE {
            let proposal = &mut all[at as usize];
            // On (low, high]: everything up to `low` goes left and everything from `high` on goes right.
            let cut = low + proposal.u * (high - low);
            proposal.split.cut = if cut > low { cut.min(high) } else { high };
            cuts.push((proposal.split.cut, at));
            at = proposal.next;
        }
        if cuts.len() > 1 {
            cuts.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        sides.clear();
        side_of.clear();
        let mut last = None;
        for &(cut, _) in &*cuts {
            let threshold = column.threshold(cut, room.0, room.1);
            if last != Some(threshold) {
                last = Some(threshold);
                let n_below = K::count_below(keys, threshold);
                if sides.last().is_none_or(|(_, n)| *n != n_below) {
                    sides.push((threshold, n_below));
                }
            }
            side_of.push(sides.len() as u32 - 1);
        }
    }

    /// Class counts below each side.
    #[inline(always)]
    fn count_below<M: LeafModel>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode, n_classes: usize) {
        /// Up to here a pass over the points for each class is faster than adding them one at a time.
        const FEW: usize = 4;
        let Self { keys, labels, sides, below, .. } = self;
        let stat_len = 1 + n_classes;
        below.clear();
        below.resize(sides.len() * stat_len, 0.0);
        if n_classes <= FEW {
            gather_labels(cloud.pool.classes(), &leaf.slots, labels);
            for (below, &(threshold, n_below)) in below.chunks_exact_mut(stat_len).zip(&*sides) {
                below[0] = f64::from(n_below);
                let mut n_left = n_below;
                for class in 1..n_classes {
                    let n_class = K::count_labelled(keys, threshold, labels, class as i16);
                    below[1 + class] = f64::from(n_class);
                    n_left -= n_class;
                }
                below[1] = f64::from(n_left);
            }
        } else {
            for (&slot, key) in leaf.slots.iter().zip(keys.as_flattened()) {
                // The first side that the point is below.
                let side = sides.partition_point(|(threshold, _)| threshold <= key);
                if let Some(own) = below.get_mut(side * stat_len..(side + 1) * stat_len) {
                    own[0] += 1.0;
                    own[1 + cloud.pool.classes()[slot as usize] as usize] += 1.0;
                }
            }
            for at in stat_len..below.len() {
                below[at] += below[at - stat_len];
            }
        }
    }

    /// Statistics below each side, from those of the intervals.
    #[inline(always)]
    fn sum_below<M: LeafModel>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode, n_known: usize) {
        let stat_len = leaf.active.len();
        let n_sides = self.sides.len();
        let largest = self.sum_intervals(cloud, leaf, n_known);
        let Self { below, missing, intervals, .. } = self;
        // Up to each side before the largest interval, and from each side on after it.
        for interval in 1..largest {
            let (before, own) = intervals[(interval - 1) * stat_len..(interval + 1) * stat_len].split_at_mut(stat_len);
            add(own, before);
        }
        for interval in (largest + 1..n_sides).rev() {
            let (own, after) = intervals[interval * stat_len..(interval + 2) * stat_len].split_at_mut(stat_len);
            add(own, after);
        }
        below.clear();
        below.extend_from_slice(&intervals[..largest.min(n_sides) * stat_len]);
        for side in largest..n_sides {
            let from_side = &intervals[(side + 1) * stat_len..(side + 2) * stat_len];
            below.extend(leaf.active.iter().zip(from_side).zip(&*missing).map(|((whole, above), missing)| whole - above - missing));
        }
    }

    /// Sum every interval but the largest, whose number is returned, and the points without a value.
    #[inline(always)]
    fn sum_intervals<M: LeafModel>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode, n_known: usize) -> usize {
        /// Up to here looking for the points of each interval is faster than sorting all of them into intervals.
        const FEW: usize = 6;
        let stat_len = leaf.active.len();
        let Self { keys, sides, missing, intervals, members, starts, sorted, .. } = self;
        let n_sides = sides.len();
        let edge = |side: usize| sides.get(side).map_or(n_known as u32, |(_, n_below)| *n_below);
        let n_in = |interval: usize| edge(interval) - interval.checked_sub(1).map_or(0, edge);
        let largest = (1..=n_sides).fold(0, |best, interval| if n_in(interval) > n_in(best) { interval } else { best });
        intervals.clear();
        intervals.resize((n_sides + 1) * stat_len, 0.0);
        let in_order = n_sides > FEW;
        if in_order {
            starts.clear();
            starts.extend((0..=n_sides).map(|interval| interval.checked_sub(1).map_or(0, edge)));
            sorted.clear();
            sorted.resize(leaf.slots.len(), 0);
            for (&slot, key) in leaf.slots.iter().zip(keys.as_flattened()).filter(|(_, key)| **key != K::NONE) {
                let start = &mut starts[sides.partition_point(|(threshold, _)| threshold <= key)];
                sorted[*start as usize] = slot;
                *start += 1;
            }
        }
        for interval in (0..=n_sides).filter(|interval| *interval != largest) {
            let sum = &mut intervals[interval * stat_len..(interval + 1) * stat_len];
            if in_order {
                // Each start has moved to the end of its interval.
                let end = starts[interval];
                sum_points(cloud, leaf, &sorted[(end - n_in(interval)) as usize..end as usize], sum);
            } else {
                let from = interval.checked_sub(1).map_or(K::LOWEST, |side| sides[side].0);
                let to = sides.get(interval).map_or(K::NONE, |(threshold, _)| *threshold);
                select(&leaf.slots, keys, from, to, n_in(interval), members);
                sum_points(cloud, leaf, members, sum);
            }
        }
        missing.clear();
        missing.resize(stat_len, 0.0);
        if n_known < leaf.slots.len() {
            members.clear();
            let without = leaf.slots.iter().zip(keys.as_flattened()).filter(|(_, key)| **key == K::NONE);
            members.extend(without.map(|(slot, _)| *slot));
            sum_points(cloud, leaf, members, missing);
        }
        largest
    }

    /// Both children of every cut, left to right, and their places in the queue.
    #[inline(always)]
    fn children<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        n_known: usize,
        all: &mut [Proposal],
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) {
        let stat_len = leaf.active.len();
        let n_missing = (leaf.slots.len() - n_known) as u32;
        // The Gaussian division depends on the cut itself; otherwise only on which points go where.
        let by_cut = leaf.retired[0] > 0.0 && cloud.model.divides_by_cut(cloud.settings.division);
        let mut twins = [(NONE, NONE); 2];
        for (&(_, proposal), &side) in self.cuts.iter().zip(&self.side_of) {
            let n_below = self.sides[side as usize].1;
            let proposal = &mut all[proposal as usize];
            // Where the leaf has seen missing values either side may take them; otherwise the larger side will.
            let nan_left = if n_missing > 0 { coin(proposal.u) } else { 2 * n_below >= n_known as u32 };
            proposal.split.nan_left = nan_left;
            let twin = &mut twins[usize::from(nan_left)];
            if by_cut || twin.0 != side {
                let n_left = n_below + if nan_left { n_missing } else { 0 };
                *twin = (side, outcomes.all.len() as u32);
                let below = &self.below[side as usize * stat_len..(side as usize + 1) * stat_len];
                let missing = (n_left > n_below).then_some(&self.missing[..]);
                self.children.enqueue(cloud, leaf, &proposal.split, n_left, below, missing, outcomes, queue);
            }
            proposal.outcome = twin.1;
        }
    }
}

/// Working space for the children of one proposal.
#[derive(Clone, Debug, Default)]
struct Children {
    right: Vec<f64>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
}

impl Children {
    /// Put the two children in line and note the outcome. `below` are the statistics of the points that are not missing on the left, `missing`
    /// of those that are, where they go left.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a leaf, how it is divided, and where the result goes")]
    fn enqueue<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        split: &Split,
        n_left: u32,
        below: &[f64],
        missing: Option<&[f64]>,
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) {
        let Self { right, left_retired, right_retired } = self;
        let start = outcomes.left_active.len();
        outcomes.left_active.extend(below);
        let left = &mut outcomes.left_active[start..];
        if let Some(missing) = missing {
            add(left, missing);
        }
        right.clear();
        right.extend(leaf.active.iter().zip(&*left).map(|(whole, left)| whole - left));
        // Each side is what the other leaves of the whole; where one is far larger, little of the other is left but rounding.
        let afresh = cloud.model.is_lost(left, right) || cloud.model.is_lost(right, left);
        if afresh {
            sum_side(cloud, leaf, split, true, left);
            sum_side(cloud, leaf, split, false, right);
        }
        let kind = cloud.settings.config.evidence;
        let mut wait = Wait { queue, model: &cloud.model, kind };
        let (left, right) = if leaf.retired[0] == 0.0 && kind == Evidence::Joint {
            // Nothing to divide.
            (wait.for_active(left, &leaf.retired), wait.for_active(right, &leaf.retired))
        } else {
            cloud.divide_retired(leaf, split, n_left, left_retired, right_retired);
            (wait.for_both(left, left_retired), wait.for_both(right, right_retired))
        };
        outcomes.all.push(Outcome { n_left, afresh, left, right, ln_evidence: f64::NEG_INFINITY });
    }
}

/// Puts children in line.
struct Wait<'a, M> {
    queue: &'a mut Queue,
    model: &'a M,
    kind: Evidence,
}

impl<M: LeafModel> Wait<'_, M> {
    #[inline(always)]
    fn for_active(&mut self, active: &[f64], none_retired: &[f64]) -> Ticket {
        self.queue.push_about(self.model, self.kind, active.iter().copied(), none_retired)
    }

    #[inline(always)]
    fn for_both(&mut self, active: &[f64], retired: &[f64]) -> Ticket {
        let total = active.iter().zip(retired).map(|(a, r)| a + r);
        self.queue.push_about(self.model, self.kind, total, retired)
    }
}

/// Statistics of some points, about the leaf's origin.
#[inline(always)]
fn sum_points<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode, slots: &[u32], sum: &mut [f64]) {
    if cloud.point_stats.are_about(&leaf.origin) {
        cloud.point_stats.sum(slots, sum);
    } else {
        for &slot in slots {
            cloud.model.observe(sum, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
        }
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

#[inline(always)]
fn add(sum: &mut [f64], other: &[f64]) {
    for (a, b) in sum.iter_mut().zip(other) {
        *a += b;
    }
}
