//! Propagate: with the new point in its leaf, every particle stays, prunes or grows there.
//!
//! The probabilities are proportional to prior times evidence of the part of the tree that changes. Relative to leaving the sibling's side
//! as it is, with `D` the depth of the leaf:
//!
//! - stay: `(1 - p(D)) Z(leaf)`
//! - grow: `p(D) (1 - p(D+1))^2 Z(left) Z(right)`
//! - prune: `(1 - p(D-1)) Z(parent) / [p(D-1) * prior and evidence of the sibling subtree]`
//!
//! Stay and prune are the same for all copies of a tree. All evidences that the draws need go through one queue.

mod moves;
mod odds;
mod prunes;
#[cfg(test)]
mod tests;

use self::odds::{CERTAIN, Odds};
use self::prunes::Prunes;
use super::evidence::EvidenceQueue;
use super::insert::InsertedLeaves;
use super::look_up::TreeLeaf;
use super::propose::Proposals;
use crate::cloud::Cloud;
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;
use crate::num::ln;
use crate::tree::{LeafPath, MAX_DEPTH};

/// Buffers that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    proposals: Proposals,
    queue: EvidenceQueue,
    prunes: Prunes,
    odds: Vec<Odds>,
    ln_others: Vec<f64>,
    grow_weights: Vec<f64>,
    moves: moves::Workspace,
}

impl Workspace {
    /// The number of proposals, of chains of groups of them, of outcomes, and of prunes.
    pub fn sizes(&self) -> (usize, usize, usize, usize) {
        let (proposals, chains, outcomes) = self.proposals.sizes();
        (proposals, chains, outcomes, self.prunes.len())
    }
}

impl<M: LeafModel> Cloud<M> {
    pub(super) fn propagate(&mut self, x: &[f64], tree_leaves: &[TreeLeaf], inserted: &InsertedLeaves, work: &mut Workspace) {
        let Workspace { proposals, queue, prunes, odds, ln_others, grow_weights, moves } = work;
        queue.clear(&self.model);
        self.enqueue_prunes(tree_leaves, prunes, queue);
        proposals.draw(self, tree_leaves, inserted);
        proposals.enqueue(self, queue);
        let evidences = queue.finish(&self.model);

        self.weigh_prunes(prunes, evidences);
        self.weigh_stays(tree_leaves, prunes, odds, ln_others);
        proposals.collect(evidences);
        self.weigh_grows(tree_leaves, proposals, odds, grow_weights);

        let drawn = moves::DrawnMoves { proposals, odds, grow_weights, subtree: &mut prunes.subtree, evidences };
        self.move_trees(x, tree_leaves, drawn, moves);
    }

    /// Whether a leaf has enough points for two.
    pub(super) fn can_grow(&self, path: &LeafPath) -> bool {
        self.forest.leaf(path.leaf()).n_active() / 2 >= self.settings.min_leaf && path.depth() < MAX_DEPTH
    }

    /// The weights of staying and pruning, by tree.
    fn weigh_stays(&self, tree_leaves: &[TreeLeaf], prunes: &Prunes, odds: &mut Vec<Odds>, ln_others: &mut Vec<f64>) {
        odds.clear();
        ln_others.clear();
        for TreeLeaf { path, .. } in tree_leaves {
            let ln_prune = prunes.ln_weight(path);
            let (tree_odds, ln_other) = if ln_prune == f64::NEG_INFINITY && !self.can_grow(path) {
                (Odds::STAY, f64::NEG_INFINITY)
            } else {
                Odds::new(self.tree_prior.ln_stop(path.depth()) + self.ln_evidence_of(path.leaf()), ln_prune)
            };
            odds.push(tree_odds);
            ln_others.push(ln_other);
        }
        exp_all(ln_others);
        for (odds, other) in odds.iter_mut().zip(ln_others) {
            odds.set_other(*other);
        }
    }

    /// The weights of all proposed grows, relative to the other moves of their tree.
    fn weigh_grows(&self, tree_leaves: &[TreeLeaf], proposals: &Proposals, odds: &[Odds], weights: &mut Vec<f64>) {
        let ln_n_candidates = ln(self.settings.n_candidates as f64);
        weights.clear();
        let mut first_particle = 0;
        for ((tree, TreeLeaf { path, .. }), odds) in self.trees.iter().zip(tree_leaves).zip(odds) {
            let particles = first_particle..first_particle + tree.n_copies as usize;
            first_particle = particles.end;
            let depth = path.depth();
            let ln_prior = self.tree_prior.ln_split(depth) + 2.0 * self.tree_prior.ln_stop(depth + 1) - ln_n_candidates;
            let weight = |proposal| (ln_prior + proposals.ln_evidence(proposal) - odds.ln_base).min(CERTAIN);
            weights.extend(proposals.of_particles(particles).map(weight));
        }
        exp_all(weights);
    }
}
