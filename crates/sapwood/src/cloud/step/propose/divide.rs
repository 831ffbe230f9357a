//! Placing the cuts of the proposals on leaves with the same points, along one dimension, and enqueueing the children.

use super::keys::{Column, Key, Keys, count_values_below, gather, gather_values};
use super::side_stats::{KeyedPoints, KnownSide, Side, SideStats, sum_one_side};
use super::{Group, NONE, Outcome, Outcomes, Placement, Proposal, place_cut};
use crate::cloud::Cloud;
use crate::cloud::step::evidence::EvidenceQueue;
use crate::leaf::LeafModel;
use crate::num::short::add;
use crate::rng::coin;
use crate::split::Split;
use crate::tree::LeafNode;

/// Where the results of a step's proposals go.
pub(super) struct Target<'a> {
    pub proposals: &'a [Proposal],
    pub placements: &'a mut [Placement],
    pub outcomes: &'a mut Outcomes,
    pub queue: &'a mut EvidenceQueue,
}

/// Buffers for one set of points and one dimension.
#[derive(Clone, Debug, Default)]
pub(super) struct Divider<K> {
    keys: Keys<K>,
    values: Keys<f64>,
    selection: Vec<K>,
    /// The distinct sides of the cuts, ascending once sorted.
    sides: Vec<Side<K>>,
    /// By how many points are below, the number of the side.
    side_of: Vec<u32>,
    stats: SideStats,
    /// By side, and by where missing values go, the outcome.
    outcome_of: Vec<[u32; 2]>,
    children: Children,
}

impl<K: Key> Divider<K> {
    /// Place the cuts of the proposals on some groups of leaves, all with the same points, and enqueue the children of each.
    #[inline(always)]
    pub fn evaluate<'a, M: LeafModel, C: Column<Key = K>>(
        &mut self,
        column: &C,
        cloud: &Cloud<M>,
        groups: impl Iterator<Item = &'a Group> + Clone,
        target: &mut Target,
    ) {
        let any = groups.clone().next().expect("a chain has a group");
        let leaf = cloud.forest.leaf(any.leaf as usize);
        let slots = leaf.points.slots();
        gather(column, slots, &mut self.keys);
        let n_known = K::count_below(&self.keys, K::NONE) as usize;
        let Some(range) = self.cut_range(column, n_known, cloud.settings.min_leaf) else { return };
        self.sides.clear();
        self.side_of.clear();
        self.side_of.resize(n_known + 1, NONE);
        gather_values(cloud.pool.column(any.dim as usize), slots, &mut self.values);
        for group in groups.clone() {
            self.place_cuts(column, range, group, target);
        }
        self.sort_sides();
        self.stats.compute(cloud, leaf, &self.sides, KeyedPoints { slots, keys: &self.keys, n_known });
        for group in groups {
            self.enqueue_children(cloud, group, n_known, target);
        }
    }

    /// The keys that every cut lies between: the last that must go left and the first that must not. `None` if no cut leaves both sides
    /// `min_leaf` points.
    #[inline(always)]
    fn cut_range<C: Column<Key = K>>(&mut self, column: &C, n_known: usize, min_leaf: usize) -> Option<(K, K)> {
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

    /// Turn the uniforms of a group into cuts, and note the sides they fall on.
    #[inline(always)]
    fn place_cuts<C: Column<Key = K>>(&mut self, column: &C, range: (K, K), group: &Group, target: &mut Target) {
        let Self { values, sides, side_of, .. } = self;
        let (low, high) = (column.value(range.0), column.value(range.1));
        let mut at = group.last;
        while at != NONE {
            let Proposal { u, next, .. } = target.proposals[at as usize];
            let cut = place_cut(u, low, high);
            let n_below = count_values_below(values, cut);
            let placement = &mut target.placements[at as usize];
            (placement.cut, placement.n_below) = (cut, n_below);
            let side = &mut side_of[n_below as usize];
            if *side == NONE {
                *side = 0;
                sides.push(Side { threshold: column.threshold(cut, range.0, range.1), n_below });
            }
            at = next;
        }
    }

    #[inline(always)]
    fn sort_sides(&mut self) {
        let Self { sides, side_of, .. } = self;
        if sides.len() > 1 {
            sides.sort_unstable_by_key(|side| side.n_below);
        }
        for (number, side) in sides.iter().enumerate() {
            side_of[side.n_below as usize] = number as u32;
        }
    }

    /// Enqueue both children of every cut on one group of leaves.
    #[inline(always)]
    fn enqueue_children<M: LeafModel>(&mut self, cloud: &Cloud<M>, group: &Group, n_known: usize, target: &mut Target) {
        let leaf = cloud.forest.leaf(group.leaf as usize);
        let Target { proposals, placements, outcomes, queue } = target;
        queue.set_origin(&cloud.model, &leaf.origin);
        let n_missing = (leaf.n_active() - n_known) as u32;
        // The Gaussian division depends on the cut itself; otherwise only on which points go where.
        let by_cut = leaf.n_retired() > 0.0 && cloud.model.divides_by_cut(cloud.settings.division);
        self.outcome_of.clear();
        self.outcome_of.resize(self.sides.len(), [NONE; 2]);
        let mut at = group.last;
        while at != NONE {
            let Proposal { dim, u, next } = proposals[at as usize];
            let placement = &mut placements[at as usize];
            at = next;
            let Placement { cut, n_below, .. } = *placement;
            let side = self.side_of[n_below as usize] as usize;
            // Where the leaf has seen missing values a coin decides their side; otherwise they will follow the larger side.
            let nan_left = if n_missing > 0 { coin(u) } else { 2 * n_below >= n_known as u32 };
            let outcome = &mut self.outcome_of[side][usize::from(nan_left)];
            if by_cut || *outcome == NONE {
                *outcome = outcomes.all.len() as u32;
                let division = Division {
                    split: Split { dim, nan_left, cut },
                    n_left: n_below + if nan_left { n_missing } else { 0 },
                    known: self.stats.known(side),
                    missing: (n_missing > 0).then_some(&self.stats.missing[..]),
                };
                self.children.enqueue(cloud, leaf, division, outcomes, queue);
            }
            (placement.nan_left, placement.outcome) = (nan_left, *outcome);
        }
    }
}

/// A leaf's points divided by a split.
struct Division<'a> {
    split: Split,
    n_left: u32,
    known: KnownSide<'a>,
    /// The statistics of the points without a value, if there are any.
    missing: Option<&'a [f64]>,
}

/// Buffers for the children of one proposal.
#[derive(Clone, Debug, Default)]
struct Children {
    right: Vec<f64>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
}

impl Children {
    /// Enqueue the two children and record the outcome.
    #[inline(always)]
    fn enqueue<M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        leaf: &LeafNode<M::Fit>,
        division: Division,
        outcomes: &mut Outcomes,
        queue: &mut EvidenceQueue,
    ) {
        let Division { split, n_left, known, missing } = division;
        let Self { right, left_retired, right_retired } = self;
        let start = outcomes.left_active.len();
        match known {
            KnownSide::Left(below) => outcomes.left_active.extend(below),
            KnownSide::Right(above) => outcomes.left_active.extend(leaf.active.iter().zip(above).map(|(whole, above)| whole - above)),
        }
        let left = &mut outcomes.left_active[start..];
        match (known, missing) {
            (KnownSide::Left(_), Some(missing)) if split.nan_left => add(left, missing),
            (KnownSide::Right(_), Some(missing)) if !split.nan_left => {
                left.iter_mut().zip(missing).for_each(|(left, missing)| *left -= missing);
            }
            _ => {}
        }
        right.clear();
        right.extend(leaf.active.iter().zip(&*left).map(|(whole, left)| whole - left));
        let needs_resum = cloud.model.either_is_lost(left, right);
        if needs_resum {
            sum_one_side(cloud, leaf, &split, true, left);
            sum_one_side(cloud, leaf, &split, false, right);
        }
        let kind = cloud.settings.config.evidence;
        cloud.divide_retired(leaf, &split, n_left, left_retired, right_retired);
        let left = queue.push_at_origin(&cloud.model, kind, left, left_retired);
        let right = queue.push_at_origin(&cloud.model, kind, right, right_retired);
        outcomes.all.push(Outcome { n_left, needs_resum, left, right, children: None });
    }
}
