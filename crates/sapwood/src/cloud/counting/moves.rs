//! Drawing the moves of undecided particles and carrying them out.

use super::proposals::Proposals;
use super::rooms::Division;
use super::{Visit, Work, evidence};
use crate::cloud::Cloud;
use crate::cloud::landing::Spot;
use crate::cloud::propagate::{Move, Odds};
use crate::leaf::LeafModel;
use crate::pool::SlotSet;
use crate::tree::{Branch, NodeId};

impl<M: LeafModel> Cloud<M> {
    /// Draw the moves that are still open, and build the trees that result.
    pub(super) fn move_counts<const K: usize>(&mut self, spots: &[Spot], x: &[f64], work: &mut Work<K>) {
        let Work { line, visits, prunes, proposals, subtree, grown, .. } = work;
        let mut end = 0;
        for (ix, &Spot { place, number }) in spots.iter().enumerate() {
            let start = end;
            end += proposals.n_undecided[ix] as usize;
            if start == end {
                continue;
            }
            let odds = Odds::against_stay(prunes.odds[ix]);
            let mut n_prune = 0;
            grown.clear();
            for (u, first, grows) in proposals.open_moves(start..end) {
                match odds.draw(u, grows) {
                    Move::Stay => {}
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => grown.push(first + candidate),
                }
            }
            self.move_tree(ix, &place, x, n_prune, grown, subtree, |cloud, proposal| {
                cloud.grown_counts(&visits[number as usize], proposal, proposals, &line.ln_z)
            });
        }
        self.trees.retain(|tree| tree.n_copies > 0);
    }

    /// What a leaf is when it has been split.
    fn grown_counts<const K: usize>(&mut self, visit: &Visit<K>, proposal: usize, proposals: &mut Proposals, ln_z: &[f64]) -> NodeId {
        let division = proposals.outcome(&self.pool, visit, proposal);
        let of_class: &[SlotSet; K] = proposals.rooms.of_class.first_chunk().expect("a set for every class");
        let Division { split, left: left_points, n_left } = division;
        let ixs = [self.forest.new_leaf(), self.forest.new_leaf()];
        let [parent, left, right] = self.forest.three_leaves_mut([visit.leaf as usize, ixs[0], ixs[1]]);
        parent.points.divide_set(left_points, n_left, &mut left.points, &mut right.points);
        let share = division.share(visit.n_points);
        left.active.push(f64::from(n_left));
        left.active.extend(division.left_counts(of_class));
        right.active.extend(parent.active.iter().zip(&left.active).map(|(whole, left)| whole - left));
        left.retired.extend(parent.retired.iter().map(|count| share * count));
        right.retired.extend(parent.retired.iter().zip(&left.retired).map(|(whole, left)| whole - left));
        let place = proposals.children[proposal] as usize;
        for (child, ln_z) in [left, right].into_iter().zip(&ln_z[place..]) {
            child.origin.clone_from(&parent.origin);
            child.n_forgotten = parent.n_forgotten.saturating_add((parent.n_active() - child.n_active()) as u32);
            // The same statistics, so the same evidence, to the bit.
            child.set_evidence(evidence(*ln_z), self.version);
        }
        let [left, right] = ixs.map(NodeId::leaf);
        self.forest.new_branch(Branch { split, left, right })
    }
}
