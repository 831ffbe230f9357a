//! Moves: after the new point is in its leaf, every particle stays, prunes or grows there.
//!
//! The probabilities are proportional to prior times evidence of the part of the tree that changes. Written relative to leaving the
//! sibling's side as it is, with `D` the depth of the leaf:
//!
//! - stay: `(1 - p(D)) Z(leaf)`
//! - grow: `p(D) (1 - p(D+1))^2 Z(left) Z(right)`
//! - prune: `(1 - p(D-1)) Z(parent) / [p(D-1) * prior and evidence of the sibling subtree]`
//!
//! Stay and prune are the same for all copies of a tree. Grow proposals are drawn a particle at a time, but those on the same leaf and
//! dimension share one running sum over the sorted points.

use super::{Cloud, Tree};
use crate::leaf::LeafModel;
use crate::num::{exp, ln};
use crate::rng::{Purpose, Stream};
use crate::tree::{Branch, NodeId, Place, Split};

/// A split proposed to one particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    leaf: u32,
    /// Which copy of its tree the particle is.
    copy: u32,
    split: Split,
    /// Points with a value below the cut.
    n_below: u32,
    /// `ln Z(left) + ln Z(right)`.
    ln_children: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    proposals: Vec<Proposal>,
    /// Where each tree's proposals begin; one more entry than trees.
    starts: Vec<usize>,
    order: Vec<u32>,
    /// Active statistics of each proposal's left child.
    left_active: Vec<f64>,
    children: Children,
    subtree: Vec<(usize, usize)>,
    retired: Vec<f64>,
    grown: Vec<usize>,
}

/// Statistics of the two children of a proposal, with working space.
#[derive(Clone, Debug, Default)]
struct Children {
    parent_total: Vec<f64>,
    below: Vec<f64>,
    missing: Vec<f64>,
    total: Vec<f64>,
    retired: Vec<f64>,
    factor: Vec<f64>,
}

impl<M: LeafModel> Cloud<M> {
    pub(super) fn propagate(&mut self, places: &[Place], x: &[f64]) {
        let mut scratch = std::mem::take(&mut self.scratch.propagate);
        self.propose(places, &mut scratch);
        self.evaluate(&mut scratch);
        self.scratch.branch_marks.begin(self.forest.n_branch_slots());
        self.move_all(places, x, &mut scratch);
        self.scratch.propagate = scratch;
    }

    /// Draw the grow proposals of every particle.
    fn propose(&mut self, places: &[Place], scratch: &mut Scratch) {
        let Scratch { proposals, starts, .. } = scratch;
        proposals.clear();
        starts.clear();
        let (n_inputs, min_leaf, n_candidates) = (self.settings.n_inputs, self.settings.min_leaf, self.settings.n_candidates);
        let mut first_particle = 0;
        for (tree, place) in self.trees.iter().zip(places) {
            starts.push(proposals.len());
            let leaf = self.forest.leaf_mut(place.leaf);
            if leaf.n_active() >= 2 * min_leaf {
                for copy in 0..tree.n_copies {
                    let mut stream = Stream::new(self.seed, self.step, first_particle + copy, Purpose::Propose);
                    for _ in 0..n_candidates {
                        let dim = stream.below(n_inputs);
                        let (u, coin) = (stream.uniform_positive(), stream.uniform());
                        let sorted = leaf.sorted(dim, &self.pool);
                        let value = |position: usize| self.pool.x(sorted[position])[dim];
                        // Missing values stand last.
                        let n_known = if value(sorted.len() - 1).is_nan() {
                            sorted.partition_point(|&slot| !self.pool.x(slot)[dim].is_nan())
                        } else {
                            sorted.len()
                        };
                        if n_known < 2 * min_leaf {
                            continue;
                        }
                        let (low, high) = (value(min_leaf - 1), value(n_known - min_leaf));
                        if low >= high {
                            continue;
                        }
                        // On (low, high]: everything up to `low` goes left and everything from `high` on goes right.
                        let cut = low + u * (high - low);
                        let cut = if cut > low { cut.min(high) } else { high };
                        let n_below = sorted[..n_known].partition_point(|&slot| self.pool.x(slot)[dim] < cut);
                        // Where the leaf has seen missing values either side may take them; otherwise the larger side will.
                        let nan_left = if n_known < sorted.len() { coin < 0.5 } else { 2 * n_below >= n_known };
                        proposals.push(Proposal {
                            leaf: place.leaf as u32,
                            copy,
                            split: Split { dim: dim as u32, nan_left, cut },
                            n_below: n_below as u32,
                            ln_children: f64::NEG_INFINITY,
                        });
                    }
                }
            }
            first_particle += tree.n_copies;
        }
        starts.push(proposals.len());
    }

    /// Evidence of every proposal's children. Proposals are visited by leaf, dimension and cut, so that each leaf's points are summed
    /// once a dimension.
    fn evaluate(&mut self, scratch: &mut Scratch) {
        let Scratch { proposals, order, left_active, children, .. } = scratch;
        let stat_len = self.model.stat_len();
        order.clear();
        order.extend(0..proposals.len() as u32);
        order.sort_unstable_by_key(|&ix| {
            let Proposal { leaf, split, n_below, .. } = proposals[ix as usize];
            (leaf, split.dim, n_below, ix)
        });
        left_active.resize(proposals.len() * stat_len, 0.0);
        let mut group = None;
        let mut n_summed = 0;
        for &ix in order.iter() {
            let proposal = proposals[ix as usize];
            let Split { dim, nan_left, .. } = proposal.split;
            let leaf = self.forest.leaf(proposal.leaf as usize);
            let sorted = leaf.sorted_ready(dim as usize);
            let add = |stats: &mut [f64], slot: u32| self.model.observe(stats, &leaf.origin, self.pool.point(slot), self.pool.weight(slot));
            if group != Some((proposal.leaf, dim)) {
                group = Some((proposal.leaf, dim));
                n_summed = 0;
                leaf.total(&mut children.parent_total);
                children.below.clear();
                children.below.resize(stat_len, 0.0);
                children.missing.clear();
                children.missing.resize(stat_len, 0.0);
                for &slot in sorted.iter().rev().take_while(|&&slot| self.pool.x(slot)[dim as usize].is_nan()) {
                    add(&mut children.missing, slot);
                }
            }
            while n_summed < proposal.n_below {
                add(&mut children.below, sorted[n_summed as usize]);
                n_summed += 1;
            }
            let left = &mut left_active[ix as usize * stat_len..(ix as usize + 1) * stat_len];
            left.copy_from_slice(&children.below);
            if nan_left {
                add_assign(left, &children.missing);
            }
            proposals[ix as usize].ln_children = self.ln_children(proposal, left, children);
        }
    }

    fn n_left(&self, proposal: &Proposal) -> usize {
        let sorted = self.forest.leaf(proposal.leaf as usize).sorted_ready(proposal.split.dim as usize);
        let n_missing = sorted.iter().rev().take_while(|&&slot| self.pool.x(slot)[proposal.split.dim as usize].is_nan()).count();
        proposal.n_below as usize + if proposal.split.nan_left { n_missing } else { 0 }
    }

    fn ln_children(&self, proposal: Proposal, left_active: &[f64], children: &mut Children) -> f64 {
        let leaf = self.forest.leaf(proposal.leaf as usize);
        let evidence = self.settings.config.evidence;
        let Children { parent_total, total, retired, factor, .. } = children;
        retired.resize(leaf.retired.len(), 0.0);
        if leaf.retired[0] > 0.0 {
            let share = self.n_left(&proposal) as f64 / leaf.n_active() as f64;
            self.model.divide(self.settings.division, &leaf.retired, &leaf.origin, &proposal.split, share, retired);
        } else {
            retired.fill(0.0);
        }
        total.clear();
        total.extend(left_active.iter().zip(&*retired).map(|(a, r)| a + r));
        let ln_left = self.model.ln_evidence(evidence, total, retired, &leaf.origin, factor);
        for (t, p) in total.iter_mut().zip(&*parent_total) {
            *t = p - *t;
        }
        for (r, p) in retired.iter_mut().zip(&leaf.retired) {
            *r = p - *r;
        }
        ln_left + self.model.ln_evidence(evidence, total, retired, &leaf.origin, factor)
    }

    /// Draw every particle's move and build the trees that result.
    fn move_all(&mut self, places: &[Place], x: &[f64], scratch: &mut Scratch) {
        let ln_n_candidates = ln(self.settings.n_candidates as f64);
        let n_trees = self.trees.len();
        let mut old_roots = Vec::new();
        let mut first_particle = 0;
        for ix in 0..n_trees {
            let (tree, place) = (self.trees[ix], places[ix]);
            let total = &mut self.scratch.total;
            let leaf = self.forest.leaf_mut(place.leaf);
            let fit = leaf.refit(&self.model, self.settings.config.evidence, self.version, total);
            let ln_stay = self.tree_prior.ln_stop(place.depth) + fit.ln_evidence;
            let ln_prune = self.ln_prune(&place, scratch);
            let ln_grow_prior = self.tree_prior.ln_split(place.depth) + 2.0 * self.tree_prior.ln_stop(place.depth + 1) - ln_n_candidates;

            let (mut n_stay, mut n_prune) = (0, 0);
            scratch.grown.clear();
            let mut own = scratch.starts[ix]..scratch.starts[ix + 1];
            for copy in 0..tree.n_copies {
                let begin = own.start;
                while own.start < own.end && scratch.proposals[own.start].copy == copy {
                    own.start += 1;
                }
                let candidates = begin..own.start;
                let ln_grow = |candidate: usize| ln_grow_prior + scratch.proposals[candidate].ln_children;
                let chosen = self.draw_move(first_particle + copy, ln_stay, ln_prune, candidates, ln_grow);
                match chosen {
                    Move::Stay => n_stay += 1,
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => scratch.grown.push(candidate),
                }
            }
            first_particle += tree.n_copies;
            if n_stay == tree.n_copies {
                continue;
            }
            if n_prune > 0 {
                let root = self.prune(&tree, &place, x, &mut scratch.subtree);
                self.trees.push(Tree { root, n_copies: n_prune, ..tree });
            }
            for at in 0..scratch.grown.len() {
                let candidate = scratch.grown[at];
                let root = self.grow(&tree, &place, x, candidate, scratch);
                self.trees.push(Tree { root, n_copies: 1, ..tree });
            }
            self.trees[ix].n_copies = n_stay;
            if n_stay == 0 {
                old_roots.push(tree.root);
            }
        }
        // Old trees are let go of last: proposals read the leaves they point to.
        self.trees.retain(|tree| tree.n_copies > 0);
        for root in old_roots {
            self.release(root);
        }
    }

    fn draw_move(
        &self,
        particle: u32,
        ln_stay: f64,
        ln_prune: f64,
        candidates: std::ops::Range<usize>,
        ln_grow: impl Fn(usize) -> f64,
    ) -> Move {
        if ln_prune == f64::NEG_INFINITY && candidates.is_empty() {
            return Move::Stay;
        }
        let max = candidates.clone().map(&ln_grow).fold(ln_stay.max(ln_prune), f64::max);
        if max.is_infinite() {
            // No state is supported by an improper prior (stay), or the sibling is not (prune).
            return if max > 0.0 { Move::Prune } else { Move::Stay };
        }
        let weight = |ln_weight: f64| exp(ln_weight - max);
        let total = weight(ln_stay) + weight(ln_prune) + candidates.clone().map(|c| weight(ln_grow(c))).sum::<f64>();
        let mut left = Stream::new(self.seed, self.step, particle, Purpose::Move).uniform() * total;
        left -= weight(ln_stay);
        if left < 0.0 {
            return Move::Stay;
        }
        left -= weight(ln_prune);
        if left < 0.0 {
            return Move::Prune;
        }
        for candidate in candidates {
            left -= weight(ln_grow(candidate));
            if left < 0.0 {
                return Move::Grow(candidate);
            }
        }
        // Rounding of the sum can leave a sliver beyond the last move.
        Move::Stay
    }

    /// The prune's weight relative to leaving the sibling as it is; minus infinity at the root.
    fn ln_prune(&mut self, place: &Place, scratch: &mut Scratch) -> f64 {
        let Some((parent, leaf_is_left)) = place.parent else { return f64::NEG_INFINITY };
        if let Some(known) = self.scratch.branch_marks.get(parent) {
            return known;
        }
        let depth = place.depth;
        let sibling = self.forest.branch(parent).child(!leaf_is_left);
        let Scratch { subtree, retired, children, .. } = scratch;
        subtree.clear();
        self.forest.for_each_leaf(sibling, depth, &mut |leaf, leaf_depth| subtree.push((leaf, leaf_depth)));
        let mut ln_sibling = self.ln_split_prior(sibling, depth);

        let own = self.forest.leaf(place.leaf);
        let origin = own.origin.clone();
        let total = &mut children.total;
        own.total(total);
        retired.clear();
        retired.extend_from_slice(&own.retired);
        for &(leaf_ix, leaf_depth) in subtree.iter() {
            let leaf = self.forest.leaf_mut(leaf_ix);
            let fit = leaf.refit(&self.model, self.settings.config.evidence, self.version, &mut self.scratch.total);
            ln_sibling += self.tree_prior.ln_stop(leaf_depth) + fit.ln_evidence;
            crate::tree::add_shifted(&self.model, total, &origin, &leaf.active, &leaf.origin);
            crate::tree::add_shifted(&self.model, total, &origin, &leaf.retired, &leaf.origin);
            crate::tree::add_shifted(&self.model, retired, &origin, &leaf.retired, &leaf.origin);
        }
        let ln_parent = self.model.ln_evidence(self.settings.config.evidence, total, retired, &origin, &mut children.factor);
        let numerator = self.tree_prior.ln_stop(depth - 1) + ln_parent;
        let value =
            if numerator == f64::NEG_INFINITY { f64::NEG_INFINITY } else { numerator - self.tree_prior.ln_split(depth - 1) - ln_sibling };
        self.scratch.branch_marks.set(parent, value);
        value
    }

    /// Log prior of the splits in a subtree.
    fn ln_split_prior(&self, node: NodeId, depth: usize) -> f64 {
        if node.is_leaf() {
            return 0.0;
        }
        let &Branch { left, right, .. } = self.forest.branch(node.ix());
        self.tree_prior.ln_split(depth) + self.ln_split_prior(left, depth + 1) + self.ln_split_prior(right, depth + 1)
    }

    /// The tree in which the leaf's parent has become a leaf. Its root is returned with one reference.
    fn prune(&mut self, tree: &Tree, place: &Place, x: &[f64], subtree: &mut Vec<(usize, usize)>) -> NodeId {
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
        let root = self.forest.replace(tree.root, x, place.depth - 1, NodeId::leaf(merged));
        self.forest.retain(root);
        root
    }

    /// The tree in which the leaf has been split. Its root is returned with one reference.
    fn grow(&mut self, tree: &Tree, place: &Place, x: &[f64], candidate: usize, scratch: &mut Scratch) -> NodeId {
        let Proposal { split, n_below, .. } = scratch.proposals[candidate];
        let n_left = self.n_left(&scratch.proposals[candidate]);
        let stat_len = self.model.stat_len();
        let left_active = &scratch.left_active[candidate * stat_len..(candidate + 1) * stat_len];
        let (left_ix, right_ix) = (self.forest.new_leaf(), self.forest.new_leaf());
        let n_inputs = self.settings.n_inputs;

        let retired = &mut scratch.retired;
        retired.clear();
        retired.resize(stat_len, 0.0);
        let parent = self.forest.leaf(place.leaf);
        if parent.retired[0] > 0.0 {
            let share = n_left as f64 / parent.n_active() as f64;
            self.model.divide(self.settings.division, &parent.retired, &parent.origin, &split, share, retired);
        }
        for (child_ix, is_left) in [(left_ix, true), (right_ix, false)] {
            let (parent, child) = self.forest.two_leaves_mut(place.leaf, child_ix);
            child.origin.extend_from_slice(&parent.origin);
            let sorted = parent.sorted_ready(split.dim as usize);
            let (below, rest) = sorted.split_at(n_below as usize);
            let n_missing = rest.iter().rev().take_while(|&&slot| self.pool.x(slot)[split.dim as usize].is_nan()).count();
            let (above, missing) = rest.split_at(rest.len() - n_missing);
            let own_missing = if split.nan_left == is_left { missing } else { &[] };
            child.set_slots_sorted(split.dim as usize, n_inputs, if is_left { below } else { above }, own_missing);
            if is_left {
                child.active.extend_from_slice(left_active);
                child.retired.extend_from_slice(retired);
            } else {
                child.active.extend(parent.active.iter().zip(left_active).map(|(p, l)| p - l));
                child.retired.extend(parent.retired.iter().zip(&*retired).map(|(p, l)| p - l));
                // Found by taking the left child's points away.
                child.n_forgotten = parent.n_forgotten + n_left as u32;
            }
            child.lower.extend_from_slice(&parent.lower);
            child.upper.extend_from_slice(&parent.upper);
            if !child.lower.is_empty() {
                let bound = if is_left { &mut child.upper } else { &mut child.lower };
                bound[split.dim as usize] = split.cut;
            }
        }
        let branch = self.forest.new_branch(Branch { split, left: NodeId::leaf(left_ix), right: NodeId::leaf(right_ix) });
        let root = self.forest.replace(tree.root, x, place.depth, branch);
        self.forest.retain(root);
        root
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Stay,
    Prune,
    Grow(usize),
}

fn add_assign(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}
