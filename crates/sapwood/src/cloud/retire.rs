//! Retiring a point from every particle.

use super::{Cloud, Marks};
use crate::leaf::LeafModel;
use crate::tree::NodeId;

/// Working space that is kept between retirements.
#[derive(Clone, Debug, Default)]
pub(super) struct Retirements {
    /// By leaf, the first entry of `all` for it.
    first: Marks<u32>,
    all: Vec<Retirement>,
    old_roots: Vec<NodeId>,
}

/// A leaf to retire the point in.
#[derive(Clone, Copy, Debug)]
struct Retirement {
    /// The forgetting factor; none if the leaf has nothing to forget, so that particles with different ones may go on sharing it.
    lambda_ix: Option<u8>,
    target: usize,
    /// The next entry for copies of the same leaf.
    next: Option<u32>,
}

impl<M: LeafModel> Cloud<M> {
    /// Retire the point at a position of the pool from every particle.
    pub fn retire_at(&mut self, position: usize) {
        self.scratch.landing.leave();
        if !self.forgets {
            self.forgets = true;
            self.spread_forgetting();
        }
        let slot = self.pool.active()[position];
        self.retire_slot(slot);
        if self.uses_scores() {
            self.tally[slot as usize] = 0.0;
        }
        self.pool.remove(position);
    }

    /// Retire a point where the forgetting factor is the tree's: a leaf that trees with different ones share comes apart.
    fn retire_slot(&mut self, slot: u32) {
        let mut retirements = std::mem::take(&mut self.scratch.retirements);
        let Retirements { first, all, old_roots } = &mut retirements;
        first.begin(self.forest.n_leaf_slots());
        all.clear();
        old_roots.clear();
        for tree_ix in 0..self.trees.len() {
            let tree = self.trees[tree_ix];
            let place = self.forest.place(tree.root, self.pool.x(slot));
            let Some(first_entry) = first.get(place.leaf()) else {
                let forgets = self.forest.leaf(place.leaf()).n_retired() > 0.0;
                first.set(place.leaf(), all.len() as u32);
                all.push(Retirement { lambda_ix: forgets.then_some(tree.lambda_ix), target: place.leaf(), next: None });
                continue;
            };
            let mut at = first_entry as usize;
            let target = loop {
                let Retirement { lambda_ix, target, next } = all[at];
                if lambda_ix.is_none_or(|ix| ix == tree.lambda_ix) {
                    break target;
                }
                at = next.map_or_else(
                    || {
                        // Copied before anything is retired, so from the leaf as it was.
                        let copy = self.forest.copy_leaf(place.leaf());
                        all[at].next = Some(all.len() as u32);
                        all.push(Retirement { lambda_ix: Some(tree.lambda_ix), target: copy, next: None });
                        all.len() - 1
                    },
                    |next| next as usize,
                );
            };
            if target != place.leaf() {
                let root = self.forest.replace(tree.root, self.pool.x(slot), place.depth(), NodeId::leaf(target));
                self.forest.retain(root);
                old_roots.push(tree.root);
                self.trees[tree_ix].root = root;
            }
        }
        for &Retirement { lambda_ix, target, .. } in all.iter() {
            let lambda = lambda_ix.map_or(1.0, |ix| self.settings.forgetting_values()[ix as usize]);
            let leaf = self.forest.leaf_mut(target);
            let at = leaf.retire_point(&self.model, &self.pool, &self.point_stats, slot, lambda);
            if !leaf.extras.scores.is_empty() {
                leaf.extras.scores.swap_remove(at);
            }
        }
        for &root in old_roots.iter() {
            self.release(root);
        }
        self.scratch.retirements = retirements;
    }
}
