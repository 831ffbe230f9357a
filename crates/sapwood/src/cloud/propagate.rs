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
use crate::config::{Division, Evidence};
use crate::leaf::{LeafModel, SWAMPED};
use crate::num::{exp, ln};
use crate::pool::Pool;
use crate::rng::{Purpose, Stream, coin};
use crate::tree::{Branch, LeafNode, NodeId, Place, SortKey, Split};

/// A split proposed to one particle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposal {
    leaf: u32,
    /// Which copy of its tree the particle is.
    copy: u32,
    split: Split,
    /// Points with a value below the cut, and points that go left.
    n_below: u32,
    n_left: u32,
    /// `ln Z(left) + ln Z(right)`.
    ln_children: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    proposals: Vec<Proposal>,
    /// Where each tree's proposals begin; one more entry than trees.
    starts: Vec<usize>,
    /// A uniform for each particle, to draw its move with.
    uniforms: Vec<f64>,
    sort_keys: Vec<SortKey>,
    /// Proposals by leaf, dimension, number below the cut and side of missing values; the low bits are their position.
    order: Vec<u128>,
    /// Active statistics of each proposal's left child.
    left_active: Vec<f64>,
    sums: Sums,
    batch: Batch,
    subtree: Vec<(usize, usize)>,
    total: Vec<f64>,
    retired: Vec<f64>,
    factor: Vec<f64>,
    grown: Vec<usize>,
}

/// Sums over the points of one leaf along one dimension.
#[derive(Clone, Debug, Default)]
struct Sums {
    parent_total: Vec<f64>,
    below: Vec<f64>,
    missing: Vec<f64>,
}

/// Children waiting for their evidence, two rows a proposal.
#[derive(Clone, Debug, Default)]
struct Batch {
    proposals: Vec<u32>,
    rows: Vec<f64>,
    n: Vec<f64>,
    /// What is added to the joint evidence of each child.
    extra: Vec<f64>,
    ln_evidence: Vec<f64>,
}

/// Proposals evaluated at a time: enough to fill the lanes, few enough to stay in the cache.
const BATCH: usize = 32;

impl<M: LeafModel> Cloud<M> {
    pub(super) fn propagate(&mut self, places: &[Place], x: &[f64]) {
        let mut scratch = std::mem::take(&mut self.scratch.propagate);
        self.propose(places, &mut scratch);
        self.evaluate(&mut scratch);
        self.scratch.branch_marks.begin(self.forest.n_branch_slots());
        self.move_all(places, x, &mut scratch);
        self.scratch.propagate = scratch;
    }

    /// Draw the grow proposals of every particle, and the number its move will be drawn with.
    fn propose(&mut self, places: &[Place], scratch: &mut Scratch) {
        let Scratch { proposals, starts, uniforms, sort_keys, .. } = scratch;
        proposals.clear();
        starts.clear();
        uniforms.clear();
        let (seed, step, n_inputs, n_candidates) = (self.seed, self.step, self.settings.n_inputs, self.settings.n_candidates);
        for (tree, place) in self.trees.iter().zip(places) {
            starts.push(proposals.len());
            let leaf = self.forest.leaf_mut(place.leaf);
            let may_grow = leaf.n_active() / 2 >= self.settings.min_leaf;
            if !may_grow && place.parent.is_none() {
                // Nothing to draw: the particle can only stay.
                uniforms.resize(uniforms.len() + tree.n_copies as usize, 0.0);
                continue;
            }
            for copy in 0..tree.n_copies {
                let particle = uniforms.len() as u32;
                let block = Stream::first_block(seed, step, particle, Purpose::Propagate);
                uniforms.push(block.uniform);
                if !may_grow {
                    continue;
                }
                let mut further = (n_candidates > 1).then(|| Stream::new(seed, step, particle, Purpose::Candidate));
                let (mut dim, mut u) = (block.below(n_inputs), block.positive);
                for candidate in 0..n_candidates {
                    if let Some(stream) = further.as_mut().filter(|_| candidate > 0) {
                        (dim, u) = (stream.below(n_inputs), stream.uniform_positive());
                    }
                    let known = propose_cut(leaf, &self.pool, self.settings.min_leaf, dim, u, sort_keys);
                    if let Some((split, n_below, n_left)) = known {
                        let (leaf, ln_children) = (place.leaf as u32, f64::NEG_INFINITY);
                        proposals.push(Proposal { leaf, copy, split, n_below, n_left, ln_children });
                    }
                }
            }
        }
        starts.push(proposals.len());
    }

    /// Evidence of every proposal's children. Proposals are visited by leaf, dimension and cut, so that each leaf's points are summed
    /// once a dimension, and those that divide the points alike are evaluated once where nothing else tells them apart.
    fn evaluate(&mut self, scratch: &mut Scratch) {
        let Scratch { proposals, order, left_active, sums, batch, retired, total, factor, .. } = scratch;
        let stat_len = self.model.stat_len();
        order.clear();
        order.extend(proposals.iter().enumerate().map(|(ix, proposal)| {
            let Split { dim, nan_left, .. } = proposal.split;
            u128::from(proposal.leaf) << 96
                | u128::from(dim) << 65
                | u128::from(proposal.n_below) << 33
                | u128::from(nan_left) << 32
                | ix as u128
        }));
        order.sort_unstable();
        left_active.resize(proposals.len() * stat_len, 0.0);
        let mut group = u128::MAX;
        let mut n_summed = 0;
        let mut twin: Option<(u128, u32)> = None;
        for &key in order.iter() {
            let ix = key as u32 as usize;
            let proposal = proposals[ix];
            let dim = proposal.split.dim as usize;
            let leaf = self.forest.leaf(proposal.leaf as usize);
            // The Gaussian division depends on the cut itself; otherwise only on which points go where.
            let by_points_only = leaf.retired[0] <= 0.0 || self.settings.division == Division::Proportional;
            if let Some((_, like)) = twin.filter(|(twin_key, _)| by_points_only && *twin_key == key >> 32) {
                // Filled in when its twin has been evaluated.
                proposals[ix].ln_children = f64::NAN;
                let start = like as usize * stat_len;
                left_active.copy_within(start..start + stat_len, ix * stat_len);
                continue;
            }
            twin = Some((key >> 32, ix as u32));

            let sorted = leaf.sorted_ready(dim);
            let quick = self.point_stats.are_about(&leaf.origin);
            let add = |stats: &mut [f64], slot: u32| {
                if quick {
                    self.point_stats.add_to(stats, slot);
                } else {
                    self.model.observe(stats, &leaf.origin, self.pool.point(slot), self.pool.weight(slot));
                }
            };
            if group != key >> 65 {
                group = key >> 65;
                n_summed = 0;
                leaf.total(&mut sums.parent_total);
                sums.below.clear();
                sums.below.resize(stat_len, 0.0);
                sums.missing.clear();
                sums.missing.resize(stat_len, 0.0);
                for &slot in sorted.iter().rev().take_while(|&&slot| self.pool.x(slot)[dim].is_nan()) {
                    add(&mut sums.missing, slot);
                }
            }
            while n_summed < proposal.n_below {
                add(&mut sums.below, sorted[n_summed as usize]);
                n_summed += 1;
            }
            let left = &mut left_active[ix * stat_len..(ix + 1) * stat_len];
            left.copy_from_slice(&sums.below);
            if proposal.n_left > proposal.n_below {
                add_assign(left, &sums.missing);
            }
            self.divide_retired(leaf, &proposal, retired);
            batch.push(&self.model, self.settings.config.evidence, leaf, ix as u32, left, retired, &sums.parent_total, total, factor);
            if batch.proposals.len() == BATCH {
                batch.flush(&self.model, proposals);
            }
        }
        batch.flush(&self.model, proposals);
        let mut known = f64::NEG_INFINITY;
        for &key in order.iter() {
            let proposal = &mut proposals[key as u32 as usize];
            if proposal.ln_children.is_nan() {
                proposal.ln_children = known;
            }
            known = proposal.ln_children;
        }
    }

    /// The left child's part of a leaf's retired statistics.
    fn divide_retired(&self, leaf: &LeafNode, proposal: &Proposal, left: &mut Vec<f64>) {
        left.resize(leaf.retired.len(), 0.0);
        if leaf.retired[0] > 0.0 {
            let share = f64::from(proposal.n_left) / leaf.n_active() as f64;
            self.model.divide(self.settings.division, &leaf.retired, &leaf.origin, &proposal.split, share, left);
        } else {
            left.fill(0.0);
        }
    }

    /// Draw every particle's move and build the trees that result.
    fn move_all(&mut self, places: &[Place], x: &[f64], scratch: &mut Scratch) {
        let ln_n_candidates = ln(self.settings.n_candidates as f64);
        let mut old_roots = Vec::new();
        let mut first_particle = 0;
        for (ix, &place) in places.iter().enumerate() {
            let tree = self.trees[ix];
            let n_copies = tree.n_copies as usize;
            let mut own = scratch.starts[ix]..scratch.starts[ix + 1];
            if own.is_empty() && place.parent.is_none() {
                first_particle += n_copies;
                continue;
            }
            let total = &mut self.scratch.total;
            let leaf = self.forest.leaf_mut(place.leaf);
            let fit = leaf.refit(&self.model, self.settings.config.evidence, self.version, total);
            let ln_stay = self.tree_prior.ln_stop(place.depth) + fit.ln_evidence;
            let ln_prune = self.ln_prune(&place, scratch);
            let ln_grow_prior = self.tree_prior.ln_split(place.depth) + 2.0 * self.tree_prior.ln_stop(place.depth + 1) - ln_n_candidates;
            let odds = Odds::new(ln_stay, ln_prune);

            let (mut n_stay, mut n_prune) = (0, 0);
            scratch.grown.clear();
            for copy in 0..n_copies {
                let begin = own.start;
                while own.start < own.end && scratch.proposals[own.start].copy as usize == copy {
                    own.start += 1;
                }
                let ln_grow = |candidate: usize| ln_grow_prior + scratch.proposals[candidate].ln_children;
                match odds.draw(scratch.uniforms[first_particle + copy], begin..own.start, ln_grow) {
                    Move::Stay => n_stay += 1,
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => scratch.grown.push(candidate),
                }
            }
            first_particle += n_copies;
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

    /// The prune's weight relative to leaving the sibling as it is; minus infinity at the root.
    fn ln_prune(&mut self, place: &Place, scratch: &mut Scratch) -> f64 {
        let Some((parent, leaf_is_left)) = place.parent else { return f64::NEG_INFINITY };
        if let Some(known) = self.scratch.branch_marks.get(parent) {
            return known;
        }
        let depth = place.depth;
        let sibling = self.forest.branch(parent).child(!leaf_is_left);
        let Scratch { subtree, retired, total, factor, .. } = scratch;
        subtree.clear();
        self.forest.for_each_leaf(sibling, depth, &mut |leaf, leaf_depth| subtree.push((leaf, leaf_depth)));
        let mut ln_sibling = self.ln_split_prior(sibling, depth);

        let own = self.forest.leaf(place.leaf);
        let origin = own.origin.clone();
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
        let ln_parent = self.model.ln_evidence(self.settings.config.evidence, total, retired, &origin, factor);
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
        let proposal = scratch.proposals[candidate];
        let Proposal { split, n_below, n_left, .. } = proposal;
        let stat_len = self.model.stat_len();
        let left_active = &scratch.left_active[candidate * stat_len..(candidate + 1) * stat_len];
        let (left_ix, right_ix) = (self.forest.new_leaf(), self.forest.new_leaf());
        let n_inputs = self.settings.n_inputs;
        let retired = &mut scratch.retired;
        self.divide_retired(self.forest.leaf(place.leaf), &proposal, retired);
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
                // Found by taking the left child's points away, unless they were far larger than what is left.
                child.n_forgotten = parent.n_forgotten + n_left;
                if child.active.iter().zip(left_active).any(|(left, gone)| gone.abs() > SWAMPED * left.abs()) {
                    child.sum_afresh(&self.model, &self.pool);
                }
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

/// A cut along one dimension that leaves `min_leaf` points on either side: the split, how many points lie below it and how many go left.
/// None if the points there leave no room for one.
fn propose_cut(
    leaf: &mut LeafNode,
    pool: &Pool,
    min_leaf: usize,
    dim: usize,
    u: f64,
    sort_keys: &mut Vec<SortKey>,
) -> Option<(Split, u32, u32)> {
    let sorted = leaf.sorted(dim, pool, sort_keys);
    let value = |position: usize| pool.x(sorted[position])[dim];
    // Missing values stand last.
    let n_known = if value(sorted.len() - 1).is_nan() { sorted.partition_point(|&slot| !pool.x(slot)[dim].is_nan()) } else { sorted.len() };
    if n_known / 2 < min_leaf {
        return None;
    }
    let (low, high) = (value(min_leaf - 1), value(n_known - min_leaf));
    if low >= high {
        return None;
    }
    // On (low, high]: everything up to `low` goes left and everything from `high` on goes right.
    let cut = low + u * (high - low);
    let cut = if cut > low { cut.min(high) } else { high };
    let n_below = sorted[..n_known].partition_point(|&slot| pool.x(slot)[dim] < cut);
    let n_missing = sorted.len() - n_known;
    // Where the leaf has seen missing values either side may take them; otherwise the larger side will.
    let nan_left = if n_missing > 0 { coin(u) } else { 2 * n_below >= n_known };
    let n_left = n_below + if nan_left { n_missing } else { 0 };
    Some((Split { dim: dim as u32, nan_left, cut }, n_below as u32, n_left as u32))
}

impl Batch {
    /// Put the two children of a proposal in line.
    #[expect(clippy::too_many_arguments, reason = "a leaf, how it is divided, and working space")]
    fn push<M: LeafModel>(
        &mut self,
        model: &M,
        evidence: Evidence,
        leaf: &LeafNode,
        proposal: u32,
        left_active: &[f64],
        left_retired: &mut [f64],
        parent_total: &[f64],
        total: &mut Vec<f64>,
        factor: &mut Vec<f64>,
    ) {
        self.proposals.push(proposal);
        total.clear();
        total.extend(left_active.iter().zip(&*left_retired).map(|(a, r)| a + r));
        self.push_child(model, evidence, leaf, total, left_retired, factor);
        for (t, p) in total.iter_mut().zip(parent_total) {
            *t = p - *t;
        }
        for (r, p) in left_retired.iter_mut().zip(&leaf.retired) {
            *r = p - *r;
        }
        self.push_child(model, evidence, leaf, total, left_retired, factor);
    }

    fn push_child<M: LeafModel>(
        &mut self,
        model: &M,
        evidence: Evidence,
        leaf: &LeafNode,
        total: &[f64],
        retired: &[f64],
        factor: &mut Vec<f64>,
    ) {
        let start = self.rows.len();
        self.rows.resize(start + total.len(), 0.0);
        model.posterior_row(total, &leaf.origin, &mut self.rows[start..]);
        self.n.push(total[0]);
        self.extra.push(match evidence {
            Evidence::Joint if total[0] > 0.0 => model.retired_bonus() * retired[0] / total[0],
            Evidence::Joint => 0.0,
            // The conditional evidence takes off the retired part's own.
            Evidence::Conditional => {
                let joint = model.ln_evidence(Evidence::Joint, total, retired, &leaf.origin, factor);
                let conditional = model.ln_evidence(Evidence::Conditional, total, retired, &leaf.origin, factor);
                if joint.is_finite() { conditional - joint + model.retired_bonus() * retired[0] / total[0] } else { 0.0 }
            }
        });
    }

    fn flush<M: LeafModel>(&mut self, model: &M, proposals: &mut [Proposal]) {
        self.ln_evidence.resize(self.n.len(), 0.0);
        model.ln_evidence_rows(&self.rows, &self.n, &mut self.ln_evidence);
        for (at, &ix) in self.proposals.iter().enumerate() {
            let child = |which: usize| self.ln_evidence[2 * at + which] + self.extra[2 * at + which];
            proposals[ix as usize].ln_children = child(0) + child(1);
        }
        self.proposals.clear();
        self.rows.clear();
        self.n.clear();
        self.extra.clear();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Stay,
    Prune,
    Grow(usize),
}

/// Weights of the moves that all copies of a tree share, relative to the larger of them.
struct Odds {
    ln_base: f64,
    stay: f64,
    prune: f64,
}

/// A grow this many nats ahead is certain, and its weight would overflow.
const CERTAIN: f64 = 700.0;

impl Odds {
    fn new(ln_stay: f64, ln_prune: f64) -> Self {
        let ln_base = ln_stay.max(ln_prune);
        if ln_base == f64::INFINITY {
            // An improper prior does not support the sibling: only the prune leads anywhere.
            return Self { ln_base, stay: 0.0, prune: 1.0 };
        }
        if ln_base == f64::NEG_INFINITY {
            return Self { ln_base: 0.0, stay: 0.0, prune: 0.0 };
        }
        Self { ln_base, stay: exp(ln_stay - ln_base), prune: exp(ln_prune - ln_base) }
    }

    fn draw(&self, u: f64, candidates: std::ops::Range<usize>, ln_grow: impl Fn(usize) -> f64) -> Move {
        if self.prune == 0.0 && candidates.is_empty() {
            return Move::Stay;
        }
        // The candidates' weights are cheap enough to compute twice; there is mostly one.
        let weight = |candidate: usize| exp((ln_grow(candidate) - self.ln_base).min(CERTAIN));
        let total = self.stay + self.prune + candidates.clone().map(weight).sum::<f64>();
        let mut left = u * total - self.stay;
        if left < 0.0 {
            return Move::Stay;
        }
        left -= self.prune;
        if left < 0.0 {
            return Move::Prune;
        }
        for candidate in candidates {
            left -= weight(candidate);
            if left < 0.0 {
                return Move::Grow(candidate);
            }
        }
        // Rounding of the sum can leave a sliver beyond the last move; and where nothing is supported, nothing moves.
        Move::Stay
    }
}

fn add_assign(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
}
