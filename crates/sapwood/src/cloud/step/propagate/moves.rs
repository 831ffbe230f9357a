//! Drawing every particle's move and building the trees that result.

use super::odds::{Move, Odds};
use crate::cloud::step::evidence::Evidences;
use crate::cloud::step::look_up::TreeLeaf;
use crate::cloud::step::propose::{Outcome, Proposals};
use crate::cloud::{Cloud, Tree};
use crate::leaf::LeafModel;
use crate::tree::{Branch, LeafExtras, LeafPath, NodeId};

/// Buffers that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    grown: Vec<usize>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
}

/// What the moves are drawn from.
pub(super) struct DrawnMoves<'a> {
    pub proposals: &'a mut Proposals,
    /// By tree.
    pub odds: &'a [Odds],
    /// By proposal.
    pub grow_weights: &'a [f64],
    /// Working space for the leaves of a pruned branch.
    pub subtree: &'a mut Vec<usize>,
    pub evidences: Evidences<'a>,
}

impl<M: LeafModel> Cloud<M> {
    pub(super) fn move_trees(&mut self, x: &[f64], tree_leaves: &[TreeLeaf], mut drawn: DrawnMoves, work: &mut Workspace) {
        let mut first_particle = 0;
        for (ix, TreeLeaf { path, .. }) in tree_leaves.iter().enumerate() {
            let particles = first_particle..first_particle + self.trees[ix].n_copies as usize;
            first_particle = particles.end;
            let DrawnMoves { proposals, odds, grow_weights, .. } = &drawn;
            let mut n_prune = 0;
            work.grown.clear();
            for particle in particles {
                let own = proposals.of_particles(particle..particle + 1);
                match odds[ix].draw(proposals.uniforms()[particle], &grow_weights[own.clone()]) {
                    Move::Stay => {}
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => work.grown.push(own.start + candidate),
                }
            }
            if n_prune > 0 || !work.grown.is_empty() {
                self.move_tree(ix, x, path, n_prune, &mut drawn, work);
            }
        }
        self.trees.retain(|tree| tree.n_copies > 0);
    }

    /// Move the particles of one tree: `n_prune` of them prune, those in `work.grown` grow, the rest stays. A tree that no particle keeps is
    /// left with no copies; its root has then been reused by one of the new trees.
    fn move_tree(&mut self, ix: usize, x: &[f64], path: &LeafPath, n_prune: u32, drawn: &mut DrawnMoves, work: &mut Workspace) {
        let tree = self.trees[ix];
        let n_grow = work.grown.len();
        let n_stay = tree.n_copies - n_prune - n_grow as u32;
        // New trees share what they can with the old one; the last one may change it in place if no particle stays.
        let mut n_users = n_stay.min(1) as usize + n_prune.min(1) as usize + n_grow;
        let mut push_moved = |cloud: &mut Self, depth: usize, replacement: NodeId, n_copies: u32| {
            n_users -= 1;
            let root = cloud.replace(tree.root, x, depth, replacement, n_users == 0);
            cloud.trees.push(Tree { root, n_copies, ..tree });
        };
        if let Some((parent, _)) = path.parent().filter(|_| n_prune > 0) {
            let merged = self.merged_leaf(parent, drawn.subtree);
            push_moved(self, path.depth() - 1, merged, n_prune);
        }
        for at in 0..n_grow {
            let proposal = work.grown[at];
            let branch = self.grown_branch(path, proposal, drawn, work);
            push_moved(self, path.depth(), branch, 1);
        }
        self.trees[ix].n_copies = n_stay;
    }

    /// The tree in which `replacement` stands where the path of `x` reaches `depth`. The returned root carries one reference; if
    /// `reuse_root` is set, it is the old root's.
    fn replace(&mut self, root: NodeId, x: &[f64], depth: usize, replacement: NodeId, reuse_root: bool) -> NodeId {
        if !reuse_root {
            let root = self.forest.replace(root, x, depth, replacement);
            self.forest.retain(root);
            return root;
        }
        // Branches that belong to this tree alone are changed in place; the rest of the path is copied.
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

    /// The branch that replaces a leaf when the move is a grow.
    fn grown_branch(&mut self, path: &LeafPath, proposal: usize, drawn: &mut DrawnMoves, work: &mut Workspace) -> NodeId {
        let split = drawn.proposals.split(proposal);
        // Leaves with the same statistics, divided in the same way, have children that differ only in their boxes.
        let children = match drawn.proposals.children_of_same(proposal) {
            Some(others) => others.map(|other| self.forest.copy_leaf(other)),
            None => {
                let children = self.new_children(path, proposal, drawn, work);
                drawn.proposals.set_children(proposal, children);
                children
            }
        };
        for (child_ix, is_left) in children.into_iter().zip([true, false]) {
            let (parent, child) = self.forest.two_leaves_mut(path.leaf(), child_ix);
            let LeafExtras { lower, upper, .. } = &*parent.extras;
            if !lower.is_empty() {
                let extras = &mut child.extras;
                extras.lower.clone_from(lower);
                extras.upper.clone_from(upper);
                let bound = if is_left { &mut extras.upper } else { &mut extras.lower };
                bound[split.dim as usize] = split.cut;
            }
        }
        let [left, right] = children.map(NodeId::leaf);
        self.forest.new_branch(Branch { split, left, right })
    }

    /// The two leaves of a split, without boxes.
    fn new_children(&mut self, path: &LeafPath, proposal: usize, drawn: &DrawnMoves, work: &mut Workspace) -> [usize; 2] {
        let DrawnMoves { proposals, evidences, .. } = drawn;
        let Workspace { left_retired, right_retired, .. } = work;
        let split = proposals.split(proposal);
        let (outcome, left_active) = proposals.outcome(proposal, self.model.stat_len());
        let Outcome { n_left, needs_resum, .. } = outcome;
        self.divide_retired(self.forest.leaf(path.leaf()), &split, n_left, left_retired, right_retired);
        let children = [self.forest.new_leaf(), self.forest.new_leaf()];
        let [parent, left, right] = self.forest.three_leaves_mut([path.leaf(), children[0], children[1]]);
        parent.points.divide(&self.pool, &split, &mut left.points, &mut right.points);
        left.active.extend_from_slice(left_active);
        left.set_retired(left_retired);
        right.active.extend(parent.active.iter().zip(left_active).map(|(whole, left)| whole - left));
        right.set_retired(right_retired);
        for (child, ticket) in [(left, outcome.left), (right, outcome.right)] {
            child.origin.clone_from(&parent.origin);
            child.n_removed = parent.n_removed.saturating_add((parent.n_active() - child.n_active()) as u32);
            if needs_resum {
                child.resum(&self.model, &self.pool, &self.point_stats);
            }
            // The statistics are those of the proposal, to the bit, and so is the evidence.
            child.set_evidence(evidences.get(ticket), self.version);
        }
        children
    }
}
