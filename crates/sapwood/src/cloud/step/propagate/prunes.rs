//! Prunes: their evidence, their weight, and the leaf that results.

use crate::cloud::Cloud;
use crate::cloud::epoch_map::EpochMap;
use crate::cloud::step::evidence::{EvidenceQueue, Evidences, Ticket};
use crate::cloud::step::leaf_dedup::KeyTable;
use crate::cloud::step::look_up::TreeLeaf;
use crate::config::Evidence;
use crate::leaf::{LeafModel, N_POINTS};
use crate::tree::{Branch, LeafNode, LeafPath, NodeId, add_shifted};

/// The possible prunes, one per branch above a leaf at the input.
#[derive(Clone, Debug, Default)]
pub(super) struct Prunes {
    /// By branch, its number in `pending` and `ln_weights`.
    numbers: EpochMap<u32>,
    pending: Vec<PendingPrune>,
    ln_weights: Vec<f64>,
    /// The first prune that merges the same points, none of them retired.
    by_points: KeyTable,
    /// Leaves without a cached evidence.
    leaves_without: Vec<(usize, Ticket)>,
    enqueued: EpochMap<()>,
    pub subtree: Vec<usize>,
    total: Vec<f64>,
    retired: Vec<f64>,
}

/// A prune whose merged leaf is in the queue.
#[derive(Clone, Copy, Debug)]
struct PendingPrune {
    /// The fingerprint of the merged points.
    fingerprint: u64,
    sibling: NodeId,
    depth: usize,
    merged: Ticket,
}

impl Prunes {
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// `ln` of the weight of pruning at a leaf, relative to leaving its sibling as it is; minus infinity at a root.
    pub fn ln_weight(&self, path: &LeafPath) -> f64 {
        let number = path.parent().and_then(|(parent, _)| self.numbers.get(parent));
        number.map_or(f64::NEG_INFINITY, |number| self.ln_weights[number as usize])
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Enqueue what stays and prunes need: the evidences of the leaves at the input, of their siblings' leaves, and of their merged parents.
    pub(super) fn enqueue_prunes(&self, tree_leaves: &[TreeLeaf], prunes: &mut Prunes, queue: &mut EvidenceQueue) {
        let Prunes { numbers, pending, by_points, leaves_without, enqueued, subtree, total, retired, .. } = prunes;
        by_points.clear(tree_leaves.len());
        numbers.clear(self.forest.n_branch_slots());
        enqueued.clear(self.forest.n_leaf_slots());
        pending.clear();
        leaves_without.clear();
        let Self { forest, model, version, .. } = self;
        let kind = self.settings.config.evidence;
        let mut enqueue = |leaf_ix: usize, leaf: &LeafNode<M::Fit>, queue: &mut EvidenceQueue| {
            if leaf.evidence_at(*version).is_none() && enqueued.insert(leaf_ix) {
                leaves_without.push((leaf_ix, queue.push(model, kind, &leaf.active, &leaf.retired, &leaf.origin)));
            }
        };
        for TreeLeaf { path, .. } in tree_leaves {
            let own = forest.leaf(path.leaf());
            enqueue(path.leaf(), own, queue);
            let Some((parent, leaf_is_left)) = path.parent() else { continue };
            if numbers.get(parent).is_some() {
                continue;
            }
            let number = pending.len() as u32;
            numbers.set(parent, number);
            let sibling = forest.branch(parent).child(!leaf_is_left);
            let depth = path.depth();
            subtree.clear();
            forest.for_each_leaf(sibling, depth, &mut |leaf, _| subtree.push(leaf));
            let mut none_retired = own.retired.is_empty();
            let mut fingerprint = own.points.fingerprint();
            for &leaf_ix in &*subtree {
                let leaf = forest.leaf(leaf_ix);
                enqueue(leaf_ix, leaf, queue);
                fingerprint ^= leaf.points.fingerprint();
                none_retired = none_retired && leaf.retired.is_empty() && leaf.origin == own.origin;
            }
            // Where no point has been retired, all prunes that merge the same points have the same evidence.
            let is_same = |other: u32| pending[other as usize].fingerprint == fingerprint;
            let first = if none_retired { by_points.find_or_insert(fingerprint, number, is_same) } else { number };
            let merged = if first == number {
                self.merge_stats(own, subtree, total, retired);
                queue.set_origin(model, &own.origin);
                queue.push_total(model, kind, total, retired)
            } else {
                pending[first as usize].merged
            };
            pending.push(PendingPrune { fingerprint, sibling, depth, merged });
        }
    }

    /// The total and the retired statistics of a leaf merged with others, about the leaf's own origin.
    fn merge_stats(&self, own: &LeafNode<M::Fit>, others: &[usize], total: &mut Vec<f64>, retired: &mut Vec<f64>) {
        let Self { forest, model, .. } = self;
        own.total(total);
        retired.clear();
        retired.extend_from_slice(&own.retired);
        for &leaf_ix in others {
            let leaf = forest.leaf(leaf_ix);
            add_shifted(model, total, &own.origin, &leaf.active, &leaf.origin);
            if !leaf.retired.is_empty() {
                add_shifted(model, total, &own.origin, &leaf.retired, &leaf.origin);
                retired.resize(total.len(), 0.0);
                match self.settings.config.evidence {
                    // The joint evidence reads only how many points have been retired.
                    Evidence::Joint => retired[N_POINTS] += leaf.n_retired(),
                    Evidence::Conditional => add_shifted(model, retired, &own.origin, &leaf.retired, &leaf.origin),
                }
            }
        }
    }

    /// Cache the evidences of the leaves, and weigh the prunes.
    pub(super) fn weigh_prunes(&mut self, prunes: &mut Prunes, evidences: Evidences) {
        for &(leaf_ix, ticket) in &prunes.leaves_without {
            self.forest.leaf_mut(leaf_ix).set_evidence(evidences.get(ticket), self.version);
        }
        let Prunes { pending, ln_weights, .. } = prunes;
        ln_weights.clear();
        ln_weights.extend(pending.iter().map(|&PendingPrune { sibling, depth, merged, .. }| {
            let ln_merged = self.tree_prior.ln_stop(depth - 1) + evidences.get(merged).ln_evidence;
            if ln_merged > f64::NEG_INFINITY {
                ln_merged - self.tree_prior.ln_split(depth - 1) - self.ln_posterior(sibling, depth)
            } else {
                f64::NEG_INFINITY
            }
        }));
    }

    /// Log of prior and evidence of a subtree.
    fn ln_posterior(&self, node: NodeId, depth: usize) -> f64 {
        if node.is_leaf() {
            return self.tree_prior.ln_stop(depth) + self.ln_evidence_of(node.ix());
        }
        let &Branch { left, right, .. } = self.forest.branch(node.ix());
        self.tree_prior.ln_split(depth) + self.ln_posterior(left, depth + 1) + self.ln_posterior(right, depth + 1)
    }

    pub(super) fn ln_evidence_of(&self, leaf_ix: usize) -> f64 {
        self.forest.leaf(leaf_ix).evidence_at(self.version).expect("leaves without an evidence were enqueued").ln_evidence
    }

    /// The leaf that replaces a branch when the move at one of its leaves is a prune.
    pub(super) fn merged_leaf(&mut self, parent: usize, subtree: &mut Vec<usize>) -> NodeId {
        subtree.clear();
        self.forest.for_each_leaf(NodeId::branch(parent), 0, &mut |leaf, _| subtree.push(leaf));
        let merged = self.forest.copy_content(subtree[0]);
        for &leaf in &subtree[1..] {
            let (target, source) = self.forest.two_leaves_mut(merged, leaf);
            target.merge(&self.model, source);
        }
        NodeId::leaf(merged)
    }
}
