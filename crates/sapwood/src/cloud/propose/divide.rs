//! What the proposals on leaves with the same points would do, along one dimension.
//!
//! Their cuts divide the points into intervals. Each point is added to its interval's sum once, whatever the number of proposals, and the
//! largest interval not at all: it is what the others leave of the leaf. Where class counts are all that a leaf knows, the points below each
//! cut are counted instead.

use super::keys::{Column, Key, Keys, count_values_below, gather, gather_labels, gather_values, select};
use super::{Group, NONE, Outcome, Outcomes, Proposal, place_cut};
use crate::cloud::Cloud;
use crate::cloud::evidence::Queue;
use crate::leaf::LeafModel;
use crate::num::short::add;
use crate::rng::coin;
use crate::tree::{LeafNode, Split};

/// Working space for one set of points and one dimension.
#[derive(Clone, Debug, Default)]
pub(super) struct Work<K> {
    /// By point, how it compares.
    keys: Keys<K>,
    values: Keys<f64>,
    labels: Keys<i16>,
    selection: Vec<K>,
    /// Where cuts fall: what keys are compared with, and how many points are below. Ascending; one for all cuts between the same two points.
    sides: Vec<(K, u32)>,
    /// By how many points are below, the entry in `sides`.
    side_of: Vec<u32>,
    /// First the statistics of the points below each side before the largest interval, then nothing of use in that interval's place, then
    /// those of the points from each further side on.
    sums: Vec<f64>,
    /// Which interval is the largest; the number of sides if all sums are of points below.
    largest: usize,
    /// Of the points without a value.
    missing: Vec<f64>,
    /// The points of one interval.
    members: Vec<u32>,
    /// By point, its interval, where there are many; then all points, interval by interval, and where each begins.
    intervals: Keys<u16>,
    sorted: Vec<u32>,
    starts: Vec<u32>,
    /// By side, and by where missing values go, the outcome.
    outcome_of: Vec<[u32; 2]>,
    children: Children,
}

impl<K: Key> Work<K> {
    /// Place the cuts of the proposals on some groups of leaves, all with the same points, and put the children of each in line.
    #[inline(always)]
    pub fn evaluate<'a, M: LeafModel, C: Column<Key = K>>(
        &mut self,
        column: &C,
        cloud: &Cloud<M>,
        groups: impl Iterator<Item = &'a Group> + Clone,
        all: &mut [Proposal],
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) {
        let any = groups.clone().next().expect("a chain has a group");
        let leaf = cloud.forest.leaf(any.leaf as usize);
        let slots = leaf.points.slots();
        gather(column, slots, &mut self.keys);
        let n_known = K::count_below(&self.keys, K::NONE) as usize;
        if let Some(room) = self.room(column, n_known, cloud.settings.min_leaf) {
            self.begin_sides(n_known);
            gather_values(cloud.pool.column(any.dim as usize), slots, &mut self.values);
            for group in groups.clone() {
                self.place_cuts(column, room, all, group.last);
            }
            self.sort_sides();
            let n_missing = slots.len() - n_known;
            let n_classes = cloud.model.counted_classes().filter(|_| n_missing == 0 && cloud.pool.all_count_once());
            match n_classes {
                Some(n_classes) => self.count_below(cloud, slots, n_classes),
                None => self.sum_sides(cloud, leaf, slots, n_known),
            }
            for group in groups {
                let leaf = cloud.forest.leaf(group.leaf as usize);
                queue.be_about(&cloud.model, &leaf.origin);
                self.children(cloud, leaf, n_known, all, group.last, outcomes, queue);
            }
        }
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

    fn begin_sides(&mut self, n_known: usize) {
        self.sides.clear();
        self.side_of.clear();
        self.side_of.resize(n_known + 1, NONE);
    }

    /// Turn the uniforms of a group into cuts, and note the sides they fall on.
    #[inline(always)]
    fn place_cuts<C: Column<Key = K>>(&mut self, column: &C, room: (K, K), all: &mut [Proposal], last: u32) {
        let Self { values, sides, side_of, .. } = self;
        let (low, high) = (column.value(room.0), column.value(room.1));
        let mut at = last;
        while at != NONE {
            let proposal = &mut all[at as usize];
            let cut = place_cut(proposal.u, low, high);
            let n_below = count_values_below(values, cut);
            proposal.split.cut = cut;
            proposal.n_below = n_below;
            let side = &mut side_of[n_below as usize];
            if *side == NONE {
                *side = 0;
                sides.push((column.threshold(cut, room.0, room.1), n_below));
            }
            at = proposal.next;
        }
    }

    #[inline(always)]
    fn sort_sides(&mut self) {
        let Self { sides, side_of, .. } = self;
        if sides.len() > 1 {
            sides.sort_unstable_by_key(|(_, n_below)| *n_below);
        }
        for (side, &(_, n_below)) in sides.iter().enumerate() {
            side_of[n_below as usize] = side as u32;
        }
    }

    /// Class counts below each side.
    #[inline(always)]
    fn count_below<M: LeafModel>(&mut self, cloud: &Cloud<M>, slots: &[u32], n_classes: usize) {
        /// Up to here a pass over the points for each class is faster than adding them one at a time.
        const FEW: usize = 4;
        let Self { keys, labels, sides, sums: below, largest, .. } = self;
        let stat_len = 1 + n_classes;
        *largest = sides.len();
        below.clear();
        below.resize(sides.len() * stat_len, 0.0);
        if n_classes <= FEW {
            gather_labels(cloud.pool.classes(), slots, labels);
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
            for (&slot, key) in slots.iter().zip(keys.as_flattened()) {
                // The first side that the point is below.
                let side = sides.partition_point(|(threshold, _)| threshold <= key);
                if let Some(own) = below.get_mut(side * stat_len..(side + 1) * stat_len) {
                    own[0] += 1.0;
                    own[1 + cloud.pool.y(slot) as usize] += 1.0;
                }
            }
            for at in stat_len..below.len() {
                below[at] += below[at - stat_len];
            }
        }
    }

    /// Statistics below each side or from it on, from those of the intervals.
    #[inline(always)]
    fn sum_sides<M: LeafModel>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode, slots: &[u32], n_known: usize) {
        let stat_len = leaf.active.len();
        let n_sides = self.sides.len();
        self.sum_intervals(cloud, leaf, slots, n_known);
        let Self { sums, largest, .. } = self;
        for interval in 1..*largest {
            let (before, own) = sums[(interval - 1) * stat_len..(interval + 1) * stat_len].split_at_mut(stat_len);
            add(own, before);
        }
        for interval in (*largest + 1..n_sides).rev() {
            let (own, after) = sums[interval * stat_len..(interval + 2) * stat_len].split_at_mut(stat_len);
            add(own, after);
        }
    }

    /// Sum every interval but the largest, and the points without a value.
    #[inline(always)]
    fn sum_intervals<M: LeafModel>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode, slots: &[u32], n_known: usize) {
        /// Up to here looking for the points of each interval is faster than sorting all of them into intervals.
        const FEW: usize = 3;
        let stat_len = leaf.active.len();
        let Self { keys, sides, missing, sums, largest: the_largest, members, intervals, starts, sorted, .. } = self;
        let n_sides = sides.len();
        let edge = |side: usize| sides.get(side).map_or(n_known as u32, |(_, n_below)| *n_below);
        let n_in = |interval: usize| edge(interval) - interval.checked_sub(1).map_or(0, edge);
        let largest = (1..=n_sides).fold(0, |best, interval| if n_in(interval) > n_in(best) { interval } else { best });
        *the_largest = largest;
        // Whatever they held before: each is written anew.
        sums.resize((n_sides + 1) * stat_len, 0.0);
        let in_order = (FEW + 1..usize::from(u16::MAX)).contains(&n_sides);
        if in_order {
            starts.clear();
            starts.extend((0..=n_sides + 1).map(|interval| interval.checked_sub(1).map_or(0, edge)));
            // Beyond the last interval are those without a value.
            K::count_reached(keys, sides.iter().map(|(threshold, _)| *threshold).chain([K::NONE]), intervals);
            sorted.clear();
            sorted.resize(slots.len(), 0);
            for (&slot, interval) in slots.iter().zip(intervals.as_flattened()) {
                let start = &mut starts[usize::from(*interval)];
                sorted[*start as usize] = slot;
                *start += 1;
            }
        }
        for interval in (0..=n_sides).filter(|interval| *interval != largest) {
            let sum = &mut sums[interval * stat_len..(interval + 1) * stat_len];
            if in_order {
                // Each start has moved to the end of its interval.
                let end = starts[interval];
                sum_points(cloud, leaf, &sorted[(end - n_in(interval)) as usize..end as usize], sum);
            } else {
                let from = interval.checked_sub(1).map_or(K::LOWEST, |side| sides[side].0);
                let to = sides.get(interval).map_or(K::NONE, |(threshold, _)| *threshold);
                select(slots, keys, from, to, n_in(interval), members);
                sum_points(cloud, leaf, members, sum);
            }
        }
        missing.clear();
        missing.resize(stat_len, 0.0);
        if n_known < slots.len() {
            members.clear();
            let without = slots.iter().zip(keys.as_flattened()).filter(|(_, key)| **key == K::NONE);
            members.extend(without.map(|(slot, _)| *slot));
            sum_points(cloud, leaf, members, missing);
        }
    }

    /// Both children of every cut on one group of leaves, and their places in the queue.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a leaf, what is proposed to it, and where the results go")]
    fn children<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        n_known: usize,
        all: &mut [Proposal],
        last: u32,
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) {
        let stat_len = leaf.active.len();
        let n_missing = (leaf.n_active() - n_known) as u32;
        // The Gaussian division depends on the cut itself; otherwise only on which points go where.
        let by_cut = leaf.n_retired() > 0.0 && cloud.model.divides_by_cut(cloud.settings.division);
        self.outcome_of.clear();
        self.outcome_of.resize(self.sides.len(), [NONE; 2]);
        let mut at = last;
        while at != NONE {
            let proposal = &mut all[at as usize];
            at = proposal.next;
            let n_below = proposal.n_below;
            let side = self.side_of[n_below as usize] as usize;
            // Where the leaf has seen missing values either side may take them; otherwise the larger side will.
            let nan_left = if n_missing > 0 { coin(proposal.u) } else { 2 * n_below >= n_known as u32 };
            proposal.split.nan_left = nan_left;
            let outcome = &mut self.outcome_of[side][usize::from(nan_left)];
            if by_cut || *outcome == NONE {
                *outcome = outcomes.all.len() as u32;
                let sum = |at: usize| &self.sums[at * stat_len..(at + 1) * stat_len];
                let known = if side < self.largest { Known::Left(sum(side)) } else { Known::Right(sum(side + 1)) };
                let missing = (n_missing > 0).then_some((&self.missing[..], nan_left));
                let n_left = n_below + if nan_left { n_missing } else { 0 };
                self.children.enqueue(cloud, leaf, &proposal.split, n_left, known, missing, outcomes, queue);
            }
            proposal.outcome = *outcome;
        }
    }
}

/// The statistics of the points with a value on one side of a cut.
#[derive(Clone, Copy)]
enum Known<'a> {
    Left(&'a [f64]),
    Right(&'a [f64]),
}

/// Working space for the children of one proposal.
#[derive(Clone, Debug, Default)]
struct Children {
    right: Vec<f64>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
}

impl Children {
    /// Put the two children in line and note the outcome. `missing` are the statistics of the points without a value, and whether they go left.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "a leaf, how it is divided, and where the result goes")]
    fn enqueue<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode,
        split: &Split,
        n_left: u32,
        known: Known,
        missing: Option<(&[f64], bool)>,
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) {
        let Self { right, left_retired, right_retired } = self;
        let start = outcomes.left_active.len();
        match known {
            Known::Left(below) => outcomes.left_active.extend(below),
            Known::Right(above) => outcomes.left_active.extend(leaf.active.iter().zip(above).map(|(whole, above)| whole - above)),
        }
        let left = &mut outcomes.left_active[start..];
        match (known, missing) {
            (Known::Left(_), Some((missing, true))) => add(left, missing),
            (Known::Right(_), Some((missing, false))) => left.iter_mut().zip(missing).for_each(|(left, missing)| *left -= missing),
            _ => {}
        }
        right.clear();
        right.extend(leaf.active.iter().zip(&*left).map(|(whole, left)| whole - left));
        // Each side is what the other leaves of the whole; where one is far larger, little of the other is left but rounding.
        let afresh = cloud.model.either_is_lost(left, right);
        if afresh {
            sum_side(cloud, leaf, split, true, left);
            sum_side(cloud, leaf, split, false, right);
        }
        let kind = cloud.settings.config.evidence;
        cloud.divide_retired(leaf, split, n_left, left_retired, right_retired);
        let left = queue.push_about(&cloud.model, kind, left, left_retired);
        let right = queue.push_about(&cloud.model, kind, right, right_retired);
        outcomes.all.push(Outcome { n_left, afresh, left, right, ln_evidence: f64::NEG_INFINITY, children: [NONE; 2] });
    }
}

/// Statistics of some points, about the leaf's origin.
#[inline(always)]
fn sum_points<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode, slots: &[u32], sum: &mut [f64]) {
    if cloud.point_stats.are_about(&leaf.origin) {
        cloud.point_stats.sum(slots, sum);
    } else {
        sum.fill(0.0);
        for &slot in slots {
            cloud.model.observe(sum, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
        }
    }
}

/// Statistics of the points on one side of a split, summed in the order of the leaf.
fn sum_side<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode, split: &Split, left: bool, out: &mut [f64]) {
    out.fill(0.0);
    let values = cloud.pool.column(split.dim as usize);
    for &slot in leaf.points.slots() {
        if split.sends_left(values[slot as usize]) == left {
            cloud.model.observe(out, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
        }
    }
}
