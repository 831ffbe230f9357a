//! Prunes: what they would lead to, and carrying them out.

use crate::cloud::alike::Table;
use crate::cloud::evidence::{Queue, Ticket};
use crate::cloud::landing::Spot;
use crate::cloud::{Cloud, Marks};
use crate::config::Evidence;
use crate::leaf::LeafModel;
use crate::tree::{Branch, LeafNode, NodeId, Place, add_shifted};

/// The prunes that are possible, one for each branch above a visited leaf.
#[derive(Clone, Debug, Default)]
pub(super) struct Prunes {
    /// By branch, its entry in `all`.
    number: Marks<u32>,
    pub all: Vec<Prune>,
    /// The first entry of `all` that merges the same points, none of them retired.
    alike: Table,
    /// Leaves that had no evidence yet.
    waiting: Vec<(usize, Ticket)>,
    is_waiting: Marks<()>,
    pub subtree: Vec<(usize, usize)>,
    total: Vec<f64>,
    retired: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Prune {
    /// Stands for the points that are merged.
    key: u64,
    sibling: NodeId,
    depth: usize,
    merged: Ticket,
    /// The move's weight relative to leaving the sibling as it is, once the queue has been worked off.
    ln_weight: f64,
}

impl Prunes {
    /// The weight of pruning a visited leaf, once it is known.
    pub fn ln_weight(&self, place: &Place) -> f64 {
        let number = place.parent().and_then(|(parent, _)| self.number.get(parent));
        number.map_or(f64::NEG_INFINITY, |number| self.all[number as usize].ln_weight)
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Put in line what the stays and prunes need: the evidence of visited leaves, of their siblings' leaves, and of their merged parents.
    pub(super) fn consider_prunes(&self, spots: &[Spot], prunes: &mut Prunes, queue: &mut Queue) {
        let Prunes { number, all, alike, waiting, is_waiting, subtree, total, retired } = prunes;
        alike.begin(spots.len());
        number.begin(self.forest.n_branch_slots());
        is_waiting.begin(self.forest.n_leaf_slots());
        all.clear();
        waiting.clear();
        let Self { forest, model, version, .. } = self;
        let kind = self.settings.config.evidence;
        let mut require = |leaf_ix: usize, leaf: &LeafNode, queue: &mut Queue| {
            if leaf.evidence_at(*version).is_none() && is_waiting.first_time(leaf_ix) {
                waiting.push((leaf_ix, queue.push(model, kind, &leaf.active, &leaf.retired, &leaf.origin)));
            }
        };
        for Spot { place, .. } in spots {
            let own = forest.leaf(place.leaf());
            require(place.leaf(), own, queue);
            let Some((parent, leaf_is_left)) = place.parent() else { continue };
            if number.get(parent).is_some() {
                continue;
            }
            number.set(parent, all.len() as u32);
            let sibling = forest.branch(parent).child(!leaf_is_left);
            let depth = place.depth();
            subtree.clear();
            forest.for_each_leaf(sibling, depth, &mut |leaf, depth| subtree.push((leaf, depth)));
            let mut none_retired = own.retired.is_empty();
            let mut key = own.points.fingerprint();
            for &(leaf_ix, _) in &*subtree {
                let leaf = forest.leaf(leaf_ix);
                require(leaf_ix, leaf, queue);
                key ^= leaf.points.fingerprint();
                none_retired = none_retired && leaf.retired.is_empty() && leaf.origin == own.origin;
            }
            // Where nothing has been retired, all prunes that merge the same points come to the same.
            let next = all.len() as u32;
            let first = if none_retired { alike.find_or_insert(key, next, |other| all[other as usize].key == key) } else { next };
            let merged = if first != next {
                all[first as usize].merged
            } else {
                own.total(total);
                retired.clear();
                retired.extend_from_slice(&own.retired);
                for &(leaf_ix, _) in &*subtree {
                    let leaf = forest.leaf(leaf_ix);
                    add_shifted(model, total, &own.origin, &leaf.active, &leaf.origin);
                    if !leaf.retired.is_empty() {
                        add_shifted(model, total, &own.origin, &leaf.retired, &leaf.origin);
                        retired.resize(total.len(), 0.0);
                        match kind {
                            // All that it asks for is how many have been retired.
                            Evidence::Joint => retired[0] += leaf.retired[0],
                            Evidence::Conditional => add_shifted(model, retired, &own.origin, &leaf.retired, &leaf.origin),
                        }
                    }
                }
                queue.be_about(model, &own.origin);
                queue.push_whole(model, kind, total, retired)
            };
            all.push(Prune { key, sibling, depth, merged, ln_weight: f64::NEG_INFINITY });
        }
    }

    pub(super) fn weigh_prunes(&mut self, prunes: &mut Prunes, queue: &Queue) {
        for &(leaf_ix, ticket) in &prunes.waiting {
            self.forest.leaf_mut(leaf_ix).set_evidence(queue.get(ticket), self.version);
        }
        for prune in &mut prunes.all {
            let &mut Prune { sibling, depth, merged, .. } = prune;
            let numerator = self.tree_prior.ln_stop(depth - 1) + queue.get(merged).ln_evidence;
            if numerator > f64::NEG_INFINITY {
                prune.ln_weight = numerator - self.tree_prior.ln_split(depth - 1) - self.ln_posterior(sibling, depth);
            }
        }
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
        self.forest.leaf(leaf_ix).evidence_at(self.version).expect("the queue held every leaf without evidence").ln_evidence
    }

    /// What the leaf's parent is when it has become a leaf.
    pub(super) fn merged_leaf(&mut self, place: &Place, subtree: &mut Vec<(usize, usize)>) -> NodeId {
        let (parent, _) = place.parent().expect("only a leaf with a parent is pruned");
        subtree.clear();
        self.forest.for_each_leaf(NodeId::branch(parent), 0, &mut |leaf, depth| subtree.push((leaf, depth)));
        let merged = self.forest.copy_content(subtree[0].0);
        for &(leaf, _) in &subtree[1..] {
            let (target, source) = self.forest.two_leaves_mut(merged, leaf);
            target.merge(&self.model, source);
        }
        NodeId::leaf(merged)
    }
}
