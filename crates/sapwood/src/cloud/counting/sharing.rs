//! What a prune leads to is often there already, in a tree that never grew there: then the two trees share it.
//!
//! Most trees that grow are soon pruned back. Where nothing has been forgotten in the meantime, the merged leaf is to the bit the one that
//! other trees have kept, and so may be the branches above it. Particles keep their numbers, so that no draw changes and no tree; but there
//! are fewer leaves to go through.

use super::{NONE, Visit, retired};
use crate::cloud::Cloud;
use crate::cloud::alike::{Table, content_key};
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
    /// Trees with such leaves, in lists.
    holders: Vec<Holder>,
}

/// A tree that has a leaf with some content, and where the list goes on.
#[derive(Clone, Copy, Debug)]
struct Holder {
    tree: u32,
    next: u32,
}

/// A tree that has been pruned, and what is in the merged leaf.
#[derive(Clone, Copy, Debug)]
struct Pruned<const K: usize> {
    points: SlotSet,
    retired: [f64; K],
    tree: u32,
    depth: u32,
    /// The first of those with the same content, and, of the first, where the list of trees with such leaves begins.
    first: u32,
    holders: u32,
}

impl<const K: usize> Sharing<K> {
    pub fn begin(&mut self) {
        self.pruned.clear();
    }

    /// A tree has been pruned where a leaf was.
    pub fn add(&mut self, tree: usize, merged: &LeafNode, place: &Place) {
        let depth = place.depth() as u32 - 1;
        let (points, retired) = (merged.points.set(), retired(merged));
        self.pruned.push(Pruned { points, retired, tree: tree as u32, depth, first: NONE, holders: NONE });
    }
}

impl<const K: usize> Pruned<K> {
    fn holds(&self, points: SlotSet, retired: &[f64; K]) -> bool {
        self.points == points && same_bits(&self.retired, retired)
    }

    fn add_holder(&mut self, tree: u32, holders: &mut Vec<Holder>) {
        holders.push(Holder { tree, next: self.holders });
        self.holders = holders.len() as u32 - 1;
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Let the trees that have been pruned share what other trees have. Those without copies are still in their places.
    #[inline(never)]
    pub(super) fn share_pruned<const K: usize>(&mut self, x: &[f64], visits: &[Visit<K>], sharing: &mut Sharing<K>) {
        let Sharing { pruned, by_content, holders } = sharing;
        by_content.begin(4 * pruned.len());
        holders.clear();
        for at in 0..pruned.len() {
            let Pruned { points, retired, .. } = pruned[at];
            pruned[at].first = by_content
                .find_or_insert(content_key(points.bits(), &retired), at as u32, |other| pruned[other as usize].holds(points, &retired));
        }
        for &Visit { points, ref retired, tree, .. } in visits {
            let found = by_content.find(content_key(points.bits(), retired), |other| pruned[other as usize].holds(points, retired));
            if let Some(first) = found.filter(|_| self.trees[tree as usize].n_copies > 0) {
                pruned[first as usize].add_holder(tree, holders);
            }
        }
        for at in 0..pruned.len() {
            let Pruned { tree, depth, first, .. } = pruned[at];
            let mut next = pruned[first as usize].holders;
            let is_shared = loop {
                let Some(&Holder { tree: other, next: after }) = holders.get(next as usize) else { break false };
                if self.share(tree as usize, other as usize, x, depth) {
                    break true;
                }
                next = after;
            };
            if !is_shared {
                pruned[first as usize].add_holder(tree, holders);
            }
        }
    }

    /// Let a tree share what is at the input with another that has the same there, from `depth` on and as far up as they agree. False if it
    /// does not have the same.
    fn share(&mut self, tree: usize, with: usize, x: &[f64], depth: u32) -> bool {
        if self.trees[tree].lambda_ix != self.trees[with].lambda_ix {
            // What trees with different factors share comes apart when it forgets.
            return false;
        }
        let Self { forest, trees, .. } = self;
        let (mut own, mut others) = (trees[tree].root, trees[with].root);
        // Where the shared part will hang, and what is there now.
        let (mut above, mut instead, mut shared) = (None, own, others);
        for _ in 0..depth {
            if others.is_leaf() {
                return false;
            }
            let (branch, other_branch) = (forest.branch(own.ix()), forest.branch(others.ix()));
            if branch.split != other_branch.split {
                // The same points, but in another box.
                return false;
            }
            let left = branch.split.goes_left(x);
            let parted = branch.child(!left) != other_branch.child(!left);
            let here = own.ix();
            (own, others) = (branch.child(left), other_branch.child(left));
            if parted {
                (above, instead, shared) = (Some((here, left)), own, others);
            }
        }
        if !others.is_leaf() || !same_bits(&forest.leaf(own.ix()).retired, &forest.leaf(others.ix()).retired) {
            return false;
        }
        forest.retain(shared);
        match above {
            // A tree that has just moved has all that is above the place to itself.
            Some((branch, left)) => forest.set_child(branch, left, shared),
            None => trees[tree].root = shared,
        }
        self.release(instead);
        true
    }
}
