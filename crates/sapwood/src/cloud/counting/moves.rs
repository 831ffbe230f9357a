//! Drawing the moves of undecided particles and carrying them out.

use super::proposals::{Proposals, Undecided};
use super::rooms::Division;
use super::{Visit, Work, active, difference, evidence, retired, sum};
use crate::cloud::Cloud;
use crate::cloud::landing::Spot;
use crate::cloud::propagate::{Move, Odds};
use crate::leaf::LeafModel;
use crate::pool::SlotSet;
use crate::tree::{Branch, IN_PLACE, NodeId, Place, Points, Stats};

impl<M: LeafModel> Cloud<M> {
    /// Draw the moves that are still open, and build the trees that result.
    #[inline(never)]
    pub(super) fn move_counts<const K: usize>(&mut self, spots: &[Spot], x: &[f64], work: &mut Work<K>) {
        let Work { line, visits, prunes, proposals, grown, sharing, .. } = work;
        sharing.begin();
        let mut at = 0;
        while let Some(&Undecided { tree, .. }) = proposals.undecided.get(at) {
            let odds = Odds::against_stay(prunes.odds[tree as usize]);
            let n_candidates = proposals.n_candidates;
            let mut n_prune = 0;
            grown.clear();
            while let Some(undecided) = proposals.undecided.get(at).filter(|undecided| undecided.tree == tree) {
                let first = at * n_candidates;
                match odds.draw(undecided.uniform, &proposals.grows[first..first + n_candidates]) {
                    Move::Stay => {}
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => grown.push(first + candidate),
                }
                at += 1;
            }
            if n_prune == 0 && grown.is_empty() {
                continue;
            }
            let Spot { place, number } = spots[tree as usize];
            let merge = |cloud: &mut Self| {
                let merged = cloud.merged_counts::<K>(&place);
                sharing.add(cloud.trees.len(), cloud.forest.leaf(merged.ix()), &place);
                merged
            };
            let grow = |cloud: &mut Self, proposal| cloud.grown_counts(&visits[number as usize], proposal, proposals, &line.ln_z);
            self.move_tree(tree as usize, &place, x, n_prune, grown, merge, grow);
        }
        self.share_pruned(x, visits, sharing);
        self.trees.retain(|tree| tree.n_copies > 0);
    }

    /// What a leaf's parent is when it has become a leaf.
    #[inline(never)]
    fn merged_counts<const K: usize>(&mut self, place: &Place) -> NodeId {
        let (parent, _) = place.parent().expect("only a leaf with a parent is pruned");
        let ix = self.forest.new_leaf();
        let (mut points, mut n_points, mut n_forgotten) = (SlotSet::default(), 0, 0u32);
        let (mut sums, mut retired_sums, mut n_retired) = ([0.0; K], [0.0; K], 0.0);
        self.forest.for_each_leaf(NodeId::branch(parent), 0, &mut |part, _| {
            let part = self.forest.leaf(part);
            points = points.or(part.points.set());
            n_points += part.n_active() as u32;
            n_forgotten = n_forgotten.saturating_add(part.n_forgotten);
            sums = sum(sums, active(part));
            retired_sums = sum(retired_sums, retired(part));
            n_retired += part.n_retired();
        });
        let leaf = self.forest.leaf_mut(ix);
        leaf.points = Points::Set { set: points, n_points };
        leaf.n_forgotten = n_forgotten;
        set_stats(&mut leaf.active, f64::from(n_points), sums);
        if n_retired > 0.0 {
            set_stats(&mut leaf.retired, n_retired, retired_sums);
        }
        NodeId::leaf(ix)
    }

    /// What a leaf is when it has been split.
    #[inline(never)]
    fn grown_counts<const K: usize>(&mut self, visit: &Visit<K>, proposal: usize, proposals: &mut Proposals, ln_z: &[f64]) -> NodeId {
        let division = proposals.outcome(&self.pool, visit, proposal);
        let of_class: &[SlotSet; K] = proposals.rooms.of_class.first_chunk().expect("a set for every class");
        let Division { split, left: left_points, n_left } = division;
        let ixs = [self.forest.new_leaf(), self.forest.new_leaf()];
        let [parent, left, right] = self.forest.three_leaves_mut([visit.leaf as usize, ixs[0], ixs[1]]);
        parent.points.divide_set(left_points, n_left, &mut left.points, &mut right.points);
        let share = division.share(visit.n_points);
        let left_counts = division.left_counts(of_class);
        set_stats(&mut left.active, f64::from(n_left), left_counts);
        set_stats(&mut right.active, f64::from(visit.n_points - n_left), difference(visit.active, left_counts));
        let n_retired = parent.n_retired();
        if n_retired > 0.0 {
            let left_retired = visit.retired.map(|count| share * count);
            set_stats(&mut left.retired, share * n_retired, left_retired);
            set_stats(&mut right.retired, n_retired - share * n_retired, difference(visit.retired, left_retired));
        }
        let place = proposals.children[proposal] as usize;
        for (child, ln_z) in [left, right].into_iter().zip(&ln_z[place..]) {
            child.n_forgotten = parent.n_forgotten.saturating_add((parent.n_active() - child.n_active()) as u32);
            // The same statistics, so the same evidence, to the bit.
            child.set_evidence(evidence(*ln_z), self.version);
        }
        let [left, right] = ixs.map(NodeId::leaf);
        self.forest.new_branch(Branch { split, left, right })
    }
}

/// Write a number of points and the counts by class.
#[inline(always)]
fn set_stats<const K: usize>(stats: &mut Stats, n_points: f64, counts: [f64; K]) {
    let mut all = [0.0; IN_PLACE];
    if K < IN_PLACE {
        all[0] = n_points;
        all[1..1 + K].copy_from_slice(&counts);
        *stats = Stats::from_buf_and_len(all, 1 + K);
    } else {
        stats.clear();
        stats.push(n_points);
        stats.extend_from_slice(&counts);
    }
}
