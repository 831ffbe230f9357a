//! Prunes: what they would lead to, and what they weigh against a stay.

use super::{Line, NONE, Visit, Work, active, evidence, retired, sum};
use crate::cloud::landing::Spot;
use crate::cloud::propagate::CERTAIN;
use crate::cloud::{Cloud, Marks};
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;
use crate::tree::{Branch, Forest, NodeId, TreePrior};

/// The prunes that are possible, one for each branch above a visited leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Prunes {
    pub all: Vec<Prune>,
    /// By branch, its entry in `all`.
    number: Marks<u32>,
    /// The leaves on the other side of the branches, one prune after another.
    pub siblings: Vec<u32>,
    /// Leaves that had no evidence yet, and their places in line.
    pub waiting: Vec<(u32, u32)>,
    /// By prune, its weight where that of the stay is 1; first as `ln`.
    pub weights: Vec<f64>,
    /// By tree, its prune, and the weight of that.
    of_tree: Vec<u32>,
    pub odds: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Prune {
    /// `ln` of the prior of one leaf in place of the branch and all that is below it.
    pub ln_prior: f64,
    /// The visit to the leaf on the input's side.
    pub visit: u32,
    /// The merged leaf's place in line.
    pub merged: u32,
    /// Where the leaves on the other side end in [`Prunes::siblings`].
    pub siblings_end: u32,
}

impl Prunes {
    /// The weights of all prunes relative to their trees' stays.
    #[inline(never)]
    pub fn weigh(&mut self) {
        let Self { weights, of_tree, odds, .. } = self;
        weights.iter_mut().for_each(|ln_weight| *ln_weight = ln_weight.min(CERTAIN));
        exp_all(weights);
        odds.clear();
        odds.extend(of_tree.iter().map(|&prune| weights.get(prune as usize).copied().unwrap_or(0.0)));
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Put in line the leaves that prunes would lead to, and those of which they would be made.
    #[inline(never)]
    pub(super) fn consider_prunes_of_counts<const K: usize>(&mut self, spots: &[Spot], work: &mut Work<K>) {
        let Work { line, visits, prunes: Prunes { all, number, siblings, waiting, of_tree, .. }, .. } = work;
        let Self { forest, tree_prior, version, .. } = self;
        number.begin(forest.n_branch_slots());
        all.clear();
        siblings.clear();
        waiting.clear();
        of_tree.clear();
        for &Spot { place, number: visit } in spots {
            let Some((parent, leaf_is_left)) = place.parent() else {
                of_tree.push(NONE);
                continue;
            };
            if let Some(prune) = number.get(parent) {
                of_tree.push(prune);
                continue;
            }
            of_tree.push(all.len() as u32);
            number.set(parent, all.len() as u32);
            let Visit { active, retired, .. } = visits[visit as usize];
            let mut merge = Merge { counts: sum(active, retired), ln_prior: 0.0, version: *version, siblings, waiting, line };
            let sibling = forest.branch(parent).child(!leaf_is_left);
            let depth = place.depth();
            if sibling.is_leaf() {
                merge.add_leaf(forest, tree_prior, sibling, depth);
            } else {
                merge.add(forest, tree_prior, sibling, depth);
            }
            let Merge { counts, ln_prior, .. } = merge;
            let ln_prior = tree_prior.ln_stop(depth - 1) - tree_prior.ln_split(depth - 1) - tree_prior.ln_stop(depth) - ln_prior;
            let (merged, siblings_end) = (line.push(counts), siblings.len() as u32);
            all.push(Prune { ln_prior, visit, merged, siblings_end });
        }
    }
}

/// A leaf to which others are added.
struct Merge<'a, const K: usize> {
    counts: [f64; K],
    /// Of what is merged as it is.
    ln_prior: f64,
    version: u64,
    siblings: &'a mut Vec<u32>,
    waiting: &'a mut Vec<(u32, u32)>,
    line: &'a mut Line<K>,
}

impl<const K: usize> Merge<'_, K> {
    fn add(&mut self, forest: &mut Forest, tree_prior: &TreePrior, node: NodeId, depth: usize) {
        if node.is_leaf() {
            return self.add_leaf(forest, tree_prior, node, depth);
        }
        let &Branch { left, right, .. } = forest.branch(node.ix());
        self.ln_prior += tree_prior.ln_split(depth);
        self.add(forest, tree_prior, left, depth + 1);
        self.add(forest, tree_prior, right, depth + 1);
    }

    #[inline(always)]
    fn add_leaf(&mut self, forest: &mut Forest, tree_prior: &TreePrior, node: NodeId, depth: usize) {
        let leaf = forest.leaf_mut(node.ix());
        let counts = sum(active(leaf), retired(leaf));
        self.counts = sum(self.counts, counts);
        self.ln_prior += tree_prior.ln_stop(depth);
        self.siblings.push(node.ix() as u32);
        if leaf.evidence_at(self.version).is_none() {
            // What it is will be known before anybody asks.
            leaf.set_evidence(evidence(f64::NAN), self.version);
            self.waiting.push((node.ix() as u32, self.line.push(counts)));
        }
    }
}
