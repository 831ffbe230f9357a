//! What a prune leads to is often there already, in a tree that never grew there: such trees share it again.
//!
//! A tree grows and is soon pruned back. Where nothing has been forgotten in the meantime the merged leaf is, to the bit, the one that other
//! trees have kept, and so may be the branches above it. Particles keep their numbers, so that no draw and no tree is another; but there are
//! fewer leaves to go through.

use super::{NONE, Visit, retired};
use crate::cloud::alike::Table;
use crate::cloud::landing::Spot;
use crate::cloud::{Cloud, Tree};
use crate::leaf::LeafModel;
use crate::pool::SlotSet;
use crate::tree::NodeId;

/// Working space that is kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Sharing<const K: usize> {
    /// The trees that have been pruned in this step, and how deep.
    pub pruned: Vec<(u32, u32)>,
    table: Table,
    known: Vec<Known<K>>,
    is_known: Vec<bool>,
    path: Vec<NodeId>,
    other_path: Vec<NodeId>,
}

/// A leaf at the input, and a tree that has it.
#[derive(Clone, Copy, Debug)]
struct Known<const K: usize> {
    points: SlotSet,
    retired: [f64; K],
    n_retired: f64,
    tree: u32,
    depth: u32,
}

impl<M: LeafModel> Cloud<M> {
    /// Let trees that have been pruned share what other trees have. Trees without copies are still in their places.
    pub(super) fn share_pruned<const K: usize>(&mut self, spots: &[Spot], x: &[f64], visits: &[Visit<K>], sharing: &mut Sharing<K>) {
        let Sharing { pruned, table, known, is_known, path, other_path } = sharing;
        if pruned.is_empty() { return; }
        table.begin(visits.len() + pruned.len());
        known.clear();
        is_known.clear();
        is_known.resize(visits.len(), false);
        let mut find = |known: &mut Vec<Known<K>>, one: Known<K>, lambda: u8, trees: &[Tree]| {
            let key = one.retired.iter().fold(one.points.bits(), |key, count| key.rotate_left(23) ^ u128::from(count.to_bits()));
            let next = known.len() as u32;
            let found = table.find_or_insert(key, next, |other| {
                let other = &known[other as usize];
                other.points == one.points && other.retired.map(f64::to_bits) == one.retired.map(f64::to_bits) && other.n_retired.to_bits() == one.n_retired.to_bits()
                    && other.depth == one.depth && trees[other.tree as usize].lambda_ix == lambda
            });
            if found == next { known.push(one); NONE } else { known[found as usize].tree }
        };
        for (ix, (spot, tree)) in spots.iter().zip(&self.trees).enumerate() {
            if tree.n_copies == 0 || std::mem::replace(&mut is_known[spot.number as usize], true) { continue; }
            let &Visit { points, retired, leaf, .. } = &visits[spot.number as usize];
            let n_retired = self.forest.leaf(leaf as usize).n_retired();
            find(known, Known { points, retired, n_retired, tree: ix as u32, depth: spot.place.depth() as u32 }, tree.lambda_ix, &self.trees);
        }
        for &(ix, depth) in &*pruned {
            let tree = self.trees[ix as usize];
            walk(self, tree.root, x, depth, path);
            let leaf = self.forest.leaf(path[depth as usize].ix());
            let one = Known { points: leaf.points.set(), retired: retired(leaf), n_retired: leaf.n_retired(), tree: ix, depth };
            let other = find(known, one, tree.lambda_ix, &self.trees);
            if other == NONE { continue; }
            walk(self, self.trees[other as usize].root, x, depth, other_path);
            if !other_path[depth as usize].is_leaf() { continue; }
            let same_path = path.iter().zip(&*other_path).take(depth as usize).all(|(a, b)| self.forest.branch(a.ix()).split == self.forest.branch(b.ix()).split);
            if !same_path { continue; }
            let mut at = depth as usize;
            while at > 0 {
                let (own, others) = (self.forest.branch(path[at - 1].ix()), self.forest.branch(other_path[at - 1].ix()));
                let left = own.split.goes_left(x);
                if own.child(!left) != others.child(!left) { break; }
                at -= 1;
            }
            let shared = other_path[at];
            self.forest.retain(shared);
            if at == 0 {
                self.trees[ix as usize].root = shared;
            } else {
                let above = path[at - 1].ix();
                debug_assert_eq!(self.forest.refs(path[at - 1]), 1);
                let left = self.forest.branch(above).split.goes_left(x);
                self.forest.set_child(above, left, shared);
            }
            self.release(path[at]);
        }
    }
}

fn walk<M: LeafModel>(cloud: &Cloud<M>, root: NodeId, x: &[f64], depth: u32, path: &mut Vec<NodeId>) {
    path.clear();
    path.push(root);
    for at in 0..depth as usize {
        let node = path[at];
        if node.is_leaf() { path.push(node); continue; }
        let branch = cloud.forest.branch(node.ix());
        path.push(branch.child(branch.split.goes_left(x)));
    }
}
