//! Retire: move a point from the active to the retired statistics of its leaf, in every particle.

use crate::cloud::Cloud;
use crate::cloud::epoch_map::EpochMap;
use crate::leaf::LeafModel;
use crate::tree::NodeId;

/// Buffers that are kept between retirements.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// By leaf, the first entry of `all` for it.
    first: EpochMap<u32>,
    all: Vec<Retirement>,
    old_roots: Vec<NodeId>,
}

/// A leaf that the point is retired in.
#[derive(Clone, Copy, Debug)]
struct Retirement {
    /// The forgetting factor; `None` if the leaf has no retired points yet, so that particles with different factors can keep sharing it.
    lambda_ix: Option<u8>,
    target: usize,
    /// The next entry for copies of the same leaf.
    next: Option<u32>,
}

impl<M: LeafModel> Cloud<M> {
    /// Retire the point at a position of the pool from every particle.
    pub fn retire_at(&mut self, position: usize) {
        self.scratch.lookup.invalidate();
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

    /// The forgetting factor is the tree's: a leaf shared by trees with different factors is copied.
    fn retire_slot(&mut self, slot: u32) {
        let mut work = std::mem::take(&mut self.scratch.step.retire);
        let Workspace { first, all, old_roots } = &mut work;
        first.clear(self.forest.n_leaf_slots());
        all.clear();
        old_roots.clear();
        for tree_ix in 0..self.trees.len() {
            let tree = self.trees[tree_ix];
            let path = self.forest.leaf_path(tree.root, self.pool.x(slot));
            let Some(first_entry) = first.get(path.leaf()) else {
                let forgets = self.forest.leaf(path.leaf()).n_retired() > 0.0;
                first.set(path.leaf(), all.len() as u32);
                all.push(Retirement { lambda_ix: forgets.then_some(tree.lambda_ix), target: path.leaf(), next: None });
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
                        // All copies are made before the point is retired in any of them.
                        let copy = self.forest.copy_leaf(path.leaf());
                        all[at].next = Some(all.len() as u32);
                        all.push(Retirement { lambda_ix: Some(tree.lambda_ix), target: copy, next: None });
                        all.len() - 1
                    },
                    |next| next as usize,
                );
            };
            if target != path.leaf() {
                let root = self.forest.replace(tree.root, self.pool.x(slot), path.depth(), NodeId::leaf(target));
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
        self.scratch.step.retire = work;
    }
}
