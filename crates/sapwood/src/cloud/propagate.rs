//! Moves: after the new point is in its leaf, every particle stays, prunes or grows there.
//!
//! The probabilities are proportional to prior times evidence of the part of the tree that changes. Written relative to leaving the
//! sibling's side as it is, with `D` the depth of the leaf:
//!
//! - stay: `(1 - p(D)) Z(leaf)`
//! - grow: `p(D) (1 - p(D+1))^2 Z(left) Z(right)`
//! - prune: `(1 - p(D-1)) Z(parent) / [p(D-1) * prior and evidence of the sibling subtree]`
//!
//! Stay and prune are the same for all copies of a tree. Every evidence that the draws need is put in one queue first.

use super::alike::Table;
use super::evidence::{Queue, Ticket};
use super::propose::{Outcome, Proposals};
use super::{Cloud, Marks, Tree};
use crate::config::Evidence;
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;
use crate::num::ln;
use crate::tree::{Branch, LeafNode, NodeId, Place, add_shifted};

/// Working space that is kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    proposals: Proposals,
    queue: Queue,
    prunes: Prunes,
    /// By tree, the weights of staying and pruning, and the `ln` and then the weight of the lesser one.
    odds: Vec<Odds>,
    others: Vec<f64>,
    /// By proposal, the weight of the grow.
    grows: Vec<f64>,
    grown: Vec<usize>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
}

impl Scratch {
    /// How many proposals, chains of groups of them, outcomes, and prunes there were.
    pub fn sizes(&self) -> (usize, usize, usize, usize) {
        let (proposals, chains, outcomes) = self.proposals.sizes();
        (proposals, chains, outcomes, self.prunes.all.len())
    }
}

/// The prunes that are possible, one for each branch above a visited leaf.
#[derive(Clone, Debug, Default)]
struct Prunes {
    /// By branch, its entry in `all`.
    number: Marks<u32>,
    all: Vec<Prune>,
    /// The first entry of `all` that merges the same points, none of them retired.
    alike: Table,
    /// Leaves that had no evidence yet.
    waiting: Vec<(usize, Ticket)>,
    is_waiting: Marks<()>,
    subtree: Vec<(usize, usize)>,
    total: Vec<f64>,
    retired: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Prune {
    /// Stands for the points that are merged.
    key: u128,
    sibling: NodeId,
    depth: usize,
    merged: Ticket,
    /// The move's weight relative to leaving the sibling as it is, once the queue has been worked off.
    ln_weight: f64,
}

impl<M: LeafModel> Cloud<M> {
    pub(super) fn propagate(&mut self, places: &[Place], x: &[f64]) {
        let mut scratch = std::mem::take(&mut self.scratch.propagate);
        let visits = std::mem::take(&mut self.scratch.visits);
        scratch.queue.begin(&self.model);
        scratch.proposals.draw(self, places, &visits);
        scratch.proposals.evaluate(self, &mut scratch.queue);
        self.consider_prunes(places, &mut scratch.prunes, &mut scratch.queue);
        scratch.queue.finish(&self.model);
        scratch.proposals.collect(&scratch.queue);
        self.weigh_prunes(&mut scratch.prunes, &scratch.queue);
        self.scratch.visits = visits;
        self.weigh_moves(places, &mut scratch);
        self.move_all(places, x, &mut scratch);
        self.scratch.propagate = scratch;
    }

    /// Put in line what the stays and prunes need: the evidence of visited leaves, of their siblings' leaves, and of their merged parents.
    fn consider_prunes(&self, places: &[Place], prunes: &mut Prunes, queue: &mut Queue) {
        let Prunes { number, all, alike, waiting, is_waiting, subtree, total, retired } = prunes;
        alike.begin(places.len());
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
        for place in places {
            let own = forest.leaf(place.leaf);
            require(place.leaf, own, queue);
            let Some((parent, leaf_is_left)) = place.parent else { continue };
            if number.get(parent).is_some() {
                continue;
            }
            number.set(parent, all.len() as u32);
            let sibling = forest.branch(parent).child(!leaf_is_left);
            let depth = place.depth;
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

    fn weigh_prunes(&mut self, prunes: &mut Prunes, queue: &Queue) {
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

    fn ln_evidence_of(&self, leaf_ix: usize) -> f64 {
        self.forest.leaf(leaf_ix).evidence_at(self.version).expect("the queue held every leaf without evidence").ln_evidence
    }

    /// The weights of every tree's moves.
    fn weigh_moves(&self, places: &[Place], scratch: &mut Scratch) {
        let Scratch { proposals, prunes, odds, others, grows, .. } = scratch;
        let ln_n_candidates = ln(self.settings.n_candidates as f64);
        odds.clear();
        others.clear();
        grows.clear();
        for (ix, place) in places.iter().enumerate() {
            let own = proposals.starts[ix]..proposals.starts[ix + 1];
            let prune = place.parent.and_then(|(parent, _)| prunes.number.get(parent));
            let ln_prune = prune.map_or(f64::NEG_INFINITY, |number| prunes.all[number as usize].ln_weight);
            if own.is_empty() && ln_prune == f64::NEG_INFINITY {
                odds.push(Odds::STAY);
                others.push(f64::NEG_INFINITY);
                continue;
            }
            let ln_stay = self.tree_prior.ln_stop(place.depth) + self.ln_evidence_of(place.leaf);
            let (tree_odds, ln_other) = Odds::new(ln_stay, ln_prune);
            let ln_grow = self.tree_prior.ln_split(place.depth) + 2.0 * self.tree_prior.ln_stop(place.depth + 1) - ln_n_candidates;
            grows.extend(own.map(|candidate| (ln_grow + proposals.ln_evidence(candidate) - tree_odds.ln_base).min(CERTAIN)));
            odds.push(tree_odds);
            others.push(ln_other);
        }
        exp_all(others);
        exp_all(grows);
        for (odds, other) in odds.iter_mut().zip(others) {
            odds.set_other(*other);
        }
    }

    /// Draw every particle's move and build the trees that result.
    fn move_all(&mut self, places: &[Place], x: &[f64], scratch: &mut Scratch) {
        let n_candidates = self.settings.n_candidates;
        let mut first_particle = 0;
        for (ix, &place) in places.iter().enumerate() {
            let tree = self.trees[ix];
            let n_copies = tree.n_copies as usize;
            let Scratch { proposals, odds, grows, grown, .. } = &mut *scratch;
            let own = proposals.starts[ix]..proposals.starts[ix + 1];
            let uniforms = &proposals.uniforms()[first_particle..first_particle + n_copies];
            first_particle += n_copies;
            let odds = odds[ix];
            if own.is_empty() && odds.prune == 0.0 {
                continue;
            }
            let (mut n_stay, mut n_prune) = (0, 0);
            grown.clear();
            let n_candidates = if own.is_empty() { 0 } else { n_candidates };
            for (copy, &u) in uniforms.iter().enumerate() {
                let first = own.start + copy * n_candidates;
                match odds.draw(u, &grows[first..first + n_candidates]) {
                    Move::Stay => n_stay += 1,
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => grown.push(first + candidate),
                }
            }
            if n_stay == tree.n_copies {
                continue;
            }
            // Every new tree but the last that the old one is needed for shares what it can with it; the last takes it over.
            let mut n_needed = n_stay.min(1) as usize + n_prune.min(1) as usize + scratch.grown.len();
            let mut moved = |cloud: &mut Self, depth: usize, replacement: NodeId, n_copies: u32| {
                n_needed -= 1;
                let root = cloud.replace(tree.root, x, depth, replacement, n_needed == 0);
                cloud.trees.push(Tree { root, n_copies, ..tree });
            };
            if n_prune > 0 {
                let merged = self.merged_leaf(&place, &mut scratch.prunes.subtree);
                moved(self, place.depth - 1, merged, n_prune);
            }
            for at in 0..scratch.grown.len() {
                let branch = self.grown_branch(&place, scratch.grown[at], scratch);
                moved(self, place.depth, branch, 1);
            }
            self.trees[ix].n_copies = n_stay;
        }
        self.trees.retain(|tree| tree.n_copies > 0);
    }

    /// The tree in which `replacement` stands where the path of `x` reaches `depth`. Its root is returned with one reference, which is the old
    /// root's if that is not needed any more.
    fn replace(&mut self, root: NodeId, x: &[f64], depth: usize, replacement: NodeId, take_over: bool) -> NodeId {
        if !take_over {
            let root = self.forest.replace(root, x, depth, replacement);
            self.forest.retain(root);
            return root;
        }
        // What belongs to this tree alone is changed in place, and the rest of the path copied.
        let (owned, rest, depth) = self.forest.owned_path(root, x, depth);
        let changed = self.forest.replace(rest, x, depth, replacement);
        self.forest.retain(changed);
        self.release(rest);
        match owned {
            Some((branch, left)) => {
                self.forest.set_child(branch, left, changed);
                root
            }
            None => changed,
        }
    }

    /// What the leaf's parent is when it has become a leaf.
    fn merged_leaf(&mut self, place: &Place, subtree: &mut Vec<(usize, usize)>) -> NodeId {
        let (parent, _) = place.parent.expect("only a leaf with a parent is pruned");
        subtree.clear();
        self.forest.for_each_leaf(NodeId::branch(parent), 0, &mut |leaf, depth| subtree.push((leaf, depth)));
        let merged = self.forest.copy_leaf(subtree[0].0);
        for &(leaf, _) in &subtree[1..] {
            let (target, source) = self.forest.two_leaves_mut(merged, leaf);
            target.merge(&self.model, source);
        }
        // Scores of the parts say nothing of the whole.
        self.forest.leaf_mut(merged).scores.clear();
        NodeId::leaf(merged)
    }

    /// What the leaf is when it has been split.
    fn grown_branch(&mut self, place: &Place, candidate: usize, scratch: &mut Scratch) -> NodeId {
        let Scratch { proposals, queue, left_retired, right_retired, .. } = scratch;
        let split = proposals.all[candidate].split;
        let (outcome, left_active) = proposals.outcome(candidate, self.model.stat_len());
        let Outcome { n_left, afresh, .. } = outcome;
        self.divide_retired(self.forest.leaf(place.leaf), &split, n_left, left_retired, right_retired);
        let children = [(self.forest.new_leaf(), true), (self.forest.new_leaf(), false)];
        let [parent, left, right] = self.forest.three_leaves_mut([place.leaf, children[0].0, children[1].0]);
        parent.points.divide(&self.pool, &split, &mut left.points, &mut right.points);
        for (child_ix, is_left) in children {
            let (parent, child) = self.forest.two_leaves_mut(place.leaf, child_ix);
            child.origin.clone_from(&parent.origin);
            if is_left {
                child.active.extend_from_slice(left_active);
                child.set_retired(left_retired);
            } else {
                child.active.extend(parent.active.iter().zip(left_active).map(|(whole, left)| whole - left));
                child.set_retired(right_retired);
            }
            child.n_forgotten = parent.n_forgotten.saturating_add((parent.n_active() - child.n_active()) as u32);
            if afresh {
                child.sum_afresh(&self.model, &self.pool, &self.point_stats);
            }
            child.lower.extend_from_slice(&parent.lower);
            child.upper.extend_from_slice(&parent.upper);
            if !child.lower.is_empty() {
                let bound = if is_left { &mut child.upper } else { &mut child.lower };
                bound[split.dim as usize] = split.cut;
            }
            // The same statistics, so the same evidence, to the bit.
            child.set_evidence(queue.get(if is_left { outcome.left } else { outcome.right }), self.version);
        }
        let [left, right] = children.map(|(ix, _)| NodeId::leaf(ix));
        self.forest.new_branch(Branch { split, left, right })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Stay,
    Prune,
    Grow(usize),
}

/// Weights of the moves that all copies of a tree share, relative to the larger of them.
#[derive(Clone, Copy, Debug)]
struct Odds {
    ln_base: f64,
    stay: f64,
    prune: f64,
    prune_is_larger: bool,
}

/// A grow this many nats ahead is certain, and its weight would overflow.
const CERTAIN: f64 = 700.0;

impl Odds {
    /// Nothing but a stay.
    const STAY: Self = Self { ln_base: 0.0, stay: 1.0, prune: 0.0, prune_is_larger: false };

    /// The larger of the two has weight 1; the other's is still to be set, to the exponential of what comes second.
    fn new(ln_stay: f64, ln_prune: f64) -> (Self, f64) {
        let prune_is_larger = ln_stay.is_nan() || ln_stay < ln_prune;
        let ln_base = ln_stay.max(ln_prune);
        let odds = Self { ln_base, stay: 1.0, prune: 1.0, prune_is_larger };
        if ln_base == f64::INFINITY {
            // An improper prior does not support the sibling: only the prune leads anywhere.
            (Self { prune_is_larger: true, ..odds }, f64::NEG_INFINITY)
        } else if ln_base == f64::NEG_INFINITY {
            (Self { ln_base: 0.0, stay: 0.0, prune: 0.0, prune_is_larger }, f64::NEG_INFINITY)
        } else {
            (odds, ln_stay.min(ln_prune) - ln_base)
        }
    }

    fn set_other(&mut self, weight: f64) {
        let other = if self.prune_is_larger { &mut self.stay } else { &mut self.prune };
        *other *= weight;
    }

    /// Draw a move; `grows` are the weights of the candidates.
    #[inline]
    fn draw(&self, u: f64, grows: &[f64]) -> Move {
        let total = self.stay + self.prune + grows.iter().sum::<f64>();
        let mut left = u * total - self.stay;
        if left < 0.0 {
            return Move::Stay;
        }
        left -= self.prune;
        if left < 0.0 {
            return Move::Prune;
        }
        for (candidate, weight) in grows.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return Move::Grow(candidate);
            }
        }
        // Rounding of the sum can leave a sliver beyond the last move; and where nothing is supported, nothing moves.
        Move::Stay
    }
}
