//! What a prune leads to is often there already, in a tree that never grew there: then the two trees share it.
//!
//! Most trees that grow are soon pruned back. Where nothing has been forgotten in the meantime, the merged leaf is to the bit the one that
//! other trees have kept, and so may be the branches above it. Particles keep their numbers, so that no draw changes and no tree; but there
//! are fewer leaves to go through.

use super::{NONE, Visit, retired};
use crate::cloud::Cloud;
use crate::cloud::alike::Table;
use crate::leaf::LeafModel;
use crate::num::same_bits;
use crate::pool::SlotSet;
use crate::tree::{LeafNode, Place};

/// The trees that have been pruned in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing<const K: usize> {
    pruned: Vec<Pruned<K>>,
    /// Their leaves by what is in them.
    by_content: Table,
}

/// A tree that has been pruned, and what is in the merged leaf.
#[derive(Clone, Copy, Debug)]
struct Pruned<const K: usize> {
    points: SlotSet,
    retired: [f64; K],
    tree: u32,
    depth: u32,
    /// The first of those with the same content, and a tree that has such a leaf: of the first, once it is known.
    first: u32,
    other_tree: u32,
}

impl<const K: usize> Sharing<K> {
    pub fn begin(&mut self) {
        self.pruned.clear();
    }

    /// A tree has been pruned where a leaf was.
    pub fn add(&mut self, tree: usize, merged: &LeafNode, place: &Place) {
        let depth = place.depth() as u32 - 1;
        let (points, retired) = (merged.points.set(), retired(merged));
        self.pruned.push(Pruned { points, retired, tree: tree as u32, depth, first: NONE, other_tree: NONE });
    }
}

fn key<const K: usize>(points: SlotSet, retired: &[f64; K]) -> u128 {
    retired.iter().fold(points.bits(), |key, count| key.rotate_left(23) ^ u128::from(count.to_bits()))
}

impl<M: LeafModel> Cloud<M> {
    /// Let the trees that have been pruned share what other trees have. Those without copies are still in their places.
    #[inline(never)]
    pub(super) fn share_pruned<const K: usize>(&mut self, x: &[f64], visits: &[Visit<K>], sharing: &mut Sharing<K>) {
        let Sharing { pruned, by_content } = sharing;
        by_content.begin(4 * pruned.len());
        for at in 0..pruned.len() {
            let Pruned { points, retired, .. } = pruned[at];
            let is_same = |other: u32| pruned[other as usize].points == points && same_bits(&pruned[other as usize].retired, &retired);
            pruned[at].first = by_content.find_or_insert(key(points, &retired), at as u32, is_same);
        }
        for visit in visits {
            let is_same = |other: u32| pruned[other as usize].points == visit.points && same_bits(&pruned[other as usize].retired, &visit.retired);
            if let Some(first) = by_content.find(key(visit.points, &visit.retired), is_same) {
                if self.trees[visit.tree as usize].n_copies > 0 {
                    pruned[first as usize].other_tree = visit.tree;
                }
            }
        }
        for at in 0..pruned.len() {
            let Pruned { tree, depth, first, .. } = pruned[at];
            let first = &mut pruned[first as usize];
            if first.other_tree == NONE {
                first.other_tree = tree;
            } else {
                self.share(tree as usize, first.other_tree as usize, x, depth);
            }
        }
    }

    /// Let a tree share what is at the input with another that has the same there, from `depth` on and as far up as they agree.
    fn share(&mut self, tree: usize, with: usize, x: &[f64], depth: u32) {
        if self.trees[tree].lambda_ix != self.trees[with].lambda_ix {
            // What trees with different factors share comes apart when it forgets.
            return;
        }
        let Self { forest, trees, .. } = self;
        let (mut own, mut others) = (trees[tree].root, trees[with].root);
        // Where the shared part will hang, and what is there now.
        let (mut above, mut instead, mut shared) = (None, own, others);
        for _ in 0..depth {
            if others.is_leaf() {
                return;
            }
            let (branch, other_branch) = (forest.branch(own.ix()), forest.branch(others.ix()));
            if branch.split != other_branch.split {
                // The same points, but in another box.
                return;
            }
            let left = branch.split.goes_left(x);
            let parted = branch.child(!left) != other_branch.child(!left);
            let here = own.ix();
            (own, others) = (branch.child(left), other_branch.child(left));
            if parted {
                (above, instead, shared) = (Some((here, left)), own, others);
            }
        }
        if !others.is_leaf() || own == others || !same_bits(&forest.leaf(own.ix()).retired, &forest.leaf(others.ix()).retired) {
            return;
        }
        forest.retain(shared);
        match above {
            // A tree that has just moved has all that is above the place to itself.
            Some((branch, left)) => forest.set_child(branch, left, shared),
            None => trees[tree].root = shared,
        }
        self.release(instead);
    }
}
