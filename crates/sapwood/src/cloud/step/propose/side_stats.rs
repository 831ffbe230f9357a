//! The statistics of a leaf's points on either side of many cuts along one dimension.
//!
//! Distinct cuts divide the points into intervals. Each point is added to the sum of its interval once, whatever the number of proposals, and
//! the largest interval is skipped: it is the difference between the leaf and the others. Where the statistics are class counts, the labels
//! below each cut are counted instead.

use super::keys::{Key, Keys, gather_labels, select};
use crate::cloud::Cloud;
use crate::leaf::{LeafModel, N_POINTS, class_count_ix};
use crate::num::short::add;
use crate::split::Split;
use crate::tree::LeafNode;

/// A distinct way in which cuts divide the points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<K> {
    /// Points with a key below this are below the cut.
    pub threshold: K,
    pub n_below: u32,
}

/// The points with a value on one side of a cut.
#[derive(Clone, Copy)]
pub(super) enum KnownSide<'a> {
    Left(&'a [f64]),
    Right(&'a [f64]),
}

/// The points of one leaf, and their keys along the dimension of the cuts.
#[derive(Clone, Copy)]
pub(super) struct KeyedPoints<'a, K> {
    pub slots: &'a [u32],
    pub keys: &'a Keys<K>,
    /// How many have a value.
    pub n_known: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct SideStats {
    stat_len: usize,
    /// The statistics of the points below each side before the largest interval, an unused entry for that interval, then those of the points
    /// from each further side on.
    sums: Vec<f64>,
    /// The largest interval; the number of sides if all sums are of points below.
    largest: usize,
    /// The statistics of the points without a value.
    pub missing: Vec<f64>,
    labels: Keys<i16>,
    members: Vec<u32>,
    /// By point, its interval, where there are many; then all points, interval by interval, and where each begins.
    intervals: Keys<u16>,
    sorted: Vec<u32>,
    starts: Vec<u32>,
}

impl SideStats {
    /// Compute the statistics for all sides, which are in ascending order.
    #[inline(always)]
    pub fn compute<M: LeafModel, K: Key>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode<M::Fit>, sides: &[Side<K>], points: KeyedPoints<K>) {
        self.stat_len = leaf.active.len();
        let only_counts = points.n_known == points.slots.len() && cloud.pool.all_count_once();
        match cloud.model.counted_classes().filter(|_| only_counts) {
            Some(n_classes) => self.count_below(cloud, sides, points, n_classes),
            None => self.sum_sides(cloud, leaf, sides, points),
        }
    }

    /// The statistics on one side of a cut.
    #[inline(always)]
    pub fn known(&self, side: usize) -> KnownSide<'_> {
        let sum = |at: usize| &self.sums[at * self.stat_len..(at + 1) * self.stat_len];
        if side < self.largest { KnownSide::Left(sum(side)) } else { KnownSide::Right(sum(side + 1)) }
    }

    /// Class counts below each side.
    #[inline(always)]
    fn count_below<M: LeafModel, K: Key>(&mut self, cloud: &Cloud<M>, sides: &[Side<K>], points: KeyedPoints<K>, n_classes: usize) {
        /// Up to here a vectorised pass over the points per class is faster than adding them one at a time.
        const FEW_CLASSES: usize = 4;
        let Self { labels, sums: below, largest, stat_len, .. } = self;
        let KeyedPoints { slots, keys, .. } = points;
        let stat_len = *stat_len;
        *largest = sides.len();
        below.clear();
        below.resize(sides.len() * stat_len, 0.0);
        if n_classes <= FEW_CLASSES {
            gather_labels(cloud.pool.classes(), slots, labels);
            for (below, &Side { threshold, n_below }) in below.chunks_exact_mut(stat_len).zip(sides) {
                below[N_POINTS] = f64::from(n_below);
                let mut n_left = n_below;
                for class in 1..n_classes {
                    let n_class = K::count_labelled(keys, threshold, labels, class as i16);
                    below[class_count_ix(class)] = f64::from(n_class);
                    n_left -= n_class;
                }
                below[class_count_ix(0)] = f64::from(n_left);
            }
        } else {
            for (&slot, key) in slots.iter().zip(keys.as_flattened()) {
                // The first side that the point is below.
                let side = sides.partition_point(|side| side.threshold <= *key);
                if let Some(own) = below.get_mut(side * stat_len..(side + 1) * stat_len) {
                    own[N_POINTS] += 1.0;
                    own[class_count_ix(cloud.pool.y(slot) as usize)] += 1.0;
                }
            }
            for at in stat_len..below.len() {
                below[at] += below[at - stat_len];
            }
        }
    }

    /// Statistics below each side or from it on, as running sums over the intervals.
    #[inline(always)]
    fn sum_sides<M: LeafModel, K: Key>(&mut self, cloud: &Cloud<M>, leaf: &LeafNode<M::Fit>, sides: &[Side<K>], points: KeyedPoints<K>) {
        self.sum_intervals(cloud, leaf, sides, points);
        let Self { sums, largest, stat_len, .. } = self;
        let stat_len = *stat_len;
        for interval in 1..*largest {
            let (before, own) = sums[(interval - 1) * stat_len..(interval + 1) * stat_len].split_at_mut(stat_len);
            add(own, before);
        }
        for interval in (*largest + 1..sides.len()).rev() {
            let (own, after) = sums[interval * stat_len..(interval + 2) * stat_len].split_at_mut(stat_len);
            add(own, after);
        }
    }

    /// Sum every interval but the largest, and the points without a value.
    #[inline(always)]
    fn sum_intervals<M: LeafModel, K: Key>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode<M::Fit>,
        sides: &[Side<K>],
        points: KeyedPoints<K>,
    ) {
        /// Up to here selecting the points of each interval is faster than sorting all of them into intervals.
        const FEW_SIDES: usize = 3;
        let KeyedPoints { slots, keys, n_known } = points;
        let Self { stat_len, missing, sums, largest: the_largest, members, intervals, starts, sorted, .. } = self;
        let stat_len = *stat_len;
        let n_sides = sides.len();
        let edge = |side: usize| sides.get(side).map_or(n_known as u32, |side| side.n_below);
        let n_in = |interval: usize| edge(interval) - interval.checked_sub(1).map_or(0, edge);
        let largest = (1..=n_sides).fold(0, |best, interval| if n_in(interval) > n_in(best) { interval } else { best });
        *the_largest = largest;
        // Stale content is fine: every entry that is read is written first.
        sums.resize((n_sides + 1) * stat_len, 0.0);
        let is_sorted = (FEW_SIDES + 1..usize::from(u16::MAX)).contains(&n_sides);
        if is_sorted {
            starts.clear();
            starts.extend((0..=n_sides + 1).map(|interval| interval.checked_sub(1).map_or(0, edge)));
            // Points without a value come after the last interval.
            K::count_reached(keys, sides.iter().map(|side| side.threshold).chain([K::NONE]), intervals);
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
            if is_sorted {
                // Each start has advanced to the end of its interval.
                let end = starts[interval];
                sum_points(cloud, leaf, &sorted[(end - n_in(interval)) as usize..end as usize], sum);
            } else {
                let from = interval.checked_sub(1).map_or(K::LOWEST, |side| sides[side].threshold);
                let to = sides.get(interval).map_or(K::NONE, |side| side.threshold);
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
}

/// Statistics of some points, about the leaf's origin.
#[inline(always)]
fn sum_points<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode<M::Fit>, slots: &[u32], sum: &mut [f64]) {
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
pub(super) fn sum_one_side<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode<M::Fit>, split: &Split, left: bool, out: &mut [f64]) {
    out.fill(0.0);
    let values = cloud.pool.column(split.dim as usize);
    for &slot in leaf.points.slots() {
        if split.sends_left(values[slot as usize]) == left {
            cloud.model.observe(out, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
        }
    }
}
