//! Trees as a forest of shared nodes.
//!
//! Particles that descend from a common ancestor share every subtree that they have not changed. A node is stored once and reference-counted
//! by its parents (or roots). A grow or a prune copies only the path from the root. Adding and retiring points changes leaves in
//! place: every particle sees the same points, and a shared leaf has the same box in every tree that holds it.

mod leaf_node;
mod points;
mod prior;

pub use leaf_node::{LeafEvidence, LeafExtras, LeafNode, Stats, add_shifted};
pub use points::Points;
pub use prior::TreePrior;

use crate::leaf::Fit;
use crate::split::Split;

/// No leaf deeper than this is split. Far deeper than the default prior lets trees live, and shallow enough to walk recursively.
pub const MAX_DEPTH: usize = 1000;

/// A branch or a leaf of the forest, distinguished by the top bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

const LEAF_BIT: u32 = 1 << 31;

impl NodeId {
    pub fn branch(ix: usize) -> Self {
        Self(ix as u32)
    }

    pub fn leaf(ix: usize) -> Self {
        Self(ix as u32 | LEAF_BIT)
    }

    #[inline]
    pub fn is_leaf(self) -> bool {
        self.0 & LEAF_BIT != 0
    }

    #[inline]
    pub fn ix(self) -> usize {
        (self.0 & !LEAF_BIT) as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub split: Split,
    pub left: NodeId,
    pub right: NodeId,
}

impl Branch {
    #[inline]
    pub fn child(&self, left: bool) -> NodeId {
        if left { self.left } else { self.right }
    }
}

/// The leaf of one tree that holds an input. Hundreds of these are read several times per step, so they are small.
#[derive(Clone, Copy, Debug)]
pub struct LeafPath {
    /// The leaf, once the descent is complete.
    node: NodeId,
    depth: u32,
    /// The branch above the leaf, with the top bit set if the leaf is its left child; [`LeafPath::NO_PARENT`] at the root.
    parent: u32,
}

impl LeafPath {
    const NO_PARENT: u32 = u32::MAX;
    const LEFT_BIT: u32 = 1 << 31;

    /// The start of the descent.
    pub fn at_root(root: NodeId) -> Self {
        Self { node: root, depth: 0, parent: Self::NO_PARENT }
    }

    /// Descend one level.
    #[inline(always)]
    fn below(self, branch: &Branch, depth: u32, goes_left: &impl Fn(&Split) -> bool) -> Self {
        let left = goes_left(&branch.split);
        let parent = self.node.ix() as u32 | if left { Self::LEFT_BIT } else { 0 };
        Self { node: branch.child(left), depth, parent }
    }

    #[inline]
    pub fn leaf(&self) -> usize {
        self.node.ix()
    }

    #[inline]
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// The branch above the leaf, and whether the leaf is its left child.
    #[inline]
    pub fn parent(&self) -> Option<(usize, bool)> {
        let is_left = self.parent & Self::LEFT_BIT != 0;
        (self.parent != Self::NO_PARENT).then_some(((self.parent & !Self::LEFT_BIT) as usize, is_left))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Forest<F: Fit> {
    branches: Vec<Branch>,
    branch_refs: Vec<u32>,
    free_branches: Vec<u32>,
    leaves: Vec<LeafNode<F>>,
    leaf_refs: Vec<u32>,
    free_leaves: Vec<u32>,
    /// The capacity of a new leaf for points and statistics.
    leaf_capacity: (usize, usize),
}

impl<F: Fit> Forest<F> {
    /// A forest for pools of at most `max_active` points and statistics of `stat_len` entries.
    pub fn new(max_active: Option<usize>, stat_len: usize) -> Self {
        /// Up to a kilobyte per leaf, reserving capacity for the whole pool pays off: a leaf then never reallocates.
        const MAX_RESERVED: usize = 256;
        // A point arrives before another is retired.
        Self { leaf_capacity: (max_active.map_or(0, |max| max.saturating_add(1)).min(MAX_RESERVED), stat_len), ..Self::default() }
    }

    pub fn branch(&self, ix: usize) -> &Branch {
        &self.branches[ix]
    }

    pub fn leaf(&self, ix: usize) -> &LeafNode<F> {
        &self.leaves[ix]
    }

    pub fn leaf_mut(&mut self, ix: usize) -> &mut LeafNode<F> {
        &mut self.leaves[ix]
    }

    /// Number of leaf slots, free ones included: the length of any table indexed by leaf.
    pub fn n_leaf_slots(&self) -> usize {
        self.leaves.len()
    }

    pub fn n_branch_slots(&self) -> usize {
        self.branches.len()
    }

    /// Indices of the leaves in use.
    pub fn live_leaves(&self) -> impl Iterator<Item = usize> + '_ {
        self.leaf_refs.iter().enumerate().filter(|(_, refs)| **refs > 0).map(|(ix, _)| ix)
    }

    pub fn for_each_live_leaf_mut(&mut self, mut f: impl FnMut(&mut LeafNode<F>)) {
        for (leaf, refs) in self.leaves.iter_mut().zip(&self.leaf_refs) {
            if *refs > 0 {
                f(leaf);
            }
        }
    }

    /// An empty leaf without references; it reuses the allocations of a freed one if there is any.
    pub fn new_leaf(&mut self) -> usize {
        if self.free_leaves.is_empty() {
            self.allocate_leaves();
        }
        let ix = self.free_leaves.pop().expect("leaves have just been allocated") as usize;
        self.leaves[ix].clear();
        ix
    }

    /// Allocate more leaves than are needed now, so that allocations are rare once the forest has reached its size.
    fn allocate_leaves(&mut self) {
        let n_before = self.leaves.len();
        let n_after = n_before + (n_before / 4).max(8);
        self.leaves.resize_with(n_after, || LeafNode::with_capacity(self.leaf_capacity.0, self.leaf_capacity.1));
        self.leaf_refs.resize(n_after, 0);
        self.free_leaves.reserve(n_after);
        self.free_leaves.extend((n_before as u32..n_after as u32).rev());
    }

    /// A copy of a leaf, which is not in the tally yet.
    pub fn copy_leaf(&mut self, from: usize) -> usize {
        let copy = self.new_leaf();
        let (source, target) = pick_two(&mut self.leaves, from, copy);
        target.clone_from(source);
        target.n_tallied = 0;
        copy
    }

    /// The same without anything derived from its content, which is about to change.
    pub fn copy_content(&mut self, from: usize) -> usize {
        let copy = self.new_leaf();
        let (source, target) = pick_two(&mut self.leaves, from, copy);
        target.copy_content(source);
        copy
    }

    /// Mutable references to two different leaves.
    pub fn two_leaves_mut(&mut self, a: usize, b: usize) -> (&mut LeafNode<F>, &mut LeafNode<F>) {
        pick_two(&mut self.leaves, a, b)
    }

    /// Mutable references to three different leaves.
    pub fn three_leaves_mut(&mut self, which: [usize; 3]) -> [&mut LeafNode<F>; 3] {
        self.leaves.get_disjoint_mut(which).expect("three different leaves")
    }

    /// Store a branch, which takes ownership of one reference to each child.
    pub fn new_branch(&mut self, branch: Branch) -> NodeId {
        self.retain(branch.left);
        self.retain(branch.right);
        match self.free_branches.pop() {
            Some(ix) => {
                self.branches[ix as usize] = branch;
                NodeId::branch(ix as usize)
            }
            None => {
                self.branches.push(branch);
                self.branch_refs.push(0);
                NodeId::branch(self.branches.len() - 1)
            }
        }
    }

    pub fn retain(&mut self, node: NodeId) {
        if node.is_leaf() {
            self.leaf_refs[node.ix()] += 1;
        } else {
            self.branch_refs[node.ix()] += 1;
        }
    }

    /// Drop one reference. Nodes without references are freed; `on_freed` is called with each leaf before it is freed.
    pub fn release(&mut self, node: NodeId, on_freed: &mut impl FnMut(&LeafNode<F>)) {
        let ix = node.ix();
        if node.is_leaf() {
            self.leaf_refs[ix] -= 1;
            if self.leaf_refs[ix] == 0 {
                // Cleared when the slot is reused, when it is in the cache anyway.
                on_freed(&self.leaves[ix]);
                self.free_leaves.push(ix as u32);
            }
        } else {
            self.branch_refs[ix] -= 1;
            if self.branch_refs[ix] == 0 {
                let Branch { left, right, .. } = self.branches[ix];
                self.free_branches.push(ix as u32);
                self.release(left, on_freed);
                self.release(right, on_freed);
            }
        }
    }

    /// The leaf that holds `x`.
    #[inline]
    pub fn find(&self, root: NodeId, x: &[f64]) -> usize {
        let mut node = root;
        while !node.is_leaf() {
            let branch = &self.branches[node.ix()];
            node = branch.child(branch.split.goes_left(x));
        }
        node.ix()
    }

    /// Descend from roots to the leaves that hold `x`. `waiting` is working space.
    ///
    /// All trees descend one level at a time. Their memory accesses then overlap, which they do not if each tree is walked to its end and the
    /// branch predictor mispredicts the depth.
    pub fn descend(&self, paths: &mut [impl AsMut<LeafPath>], x: &[f64], waiting: &mut Vec<u32>) {
        // Tested once instead of at every branch.
        if x.iter().any(|value| value.is_nan()) {
            self.descend_by(paths, waiting, |split| split.goes_left(x));
        } else {
            self.descend_by(paths, waiting, |split| x[split.dim as usize] < split.cut);
        }
    }

    #[inline(always)]
    fn descend_by(&self, paths: &mut [impl AsMut<LeafPath>], waiting: &mut Vec<u32>, goes_left: impl Fn(&Split) -> bool) {
        waiting.clear();
        waiting.extend(0..paths.len() as u32);
        let mut n_waiting = compact(waiting, |ix| !paths[ix as usize].as_mut().node.is_leaf());
        let mut depth = 0;
        while n_waiting > 0 {
            depth += 1;
            n_waiting = compact(&mut waiting[..n_waiting], |ix| {
                let path = paths[ix as usize].as_mut();
                *path = path.below(&self.branches[path.node.ix()], depth, &goes_left);
                !path.node.is_leaf()
            });
        }
    }

    /// The path to the leaf that holds `x`.
    pub fn leaf_path(&self, root: NodeId, x: &[f64]) -> LeafPath {
        let mut path = LeafPath::at_root(root);
        while !path.node.is_leaf() {
            path = path.below(&self.branches[path.node.ix()], path.depth + 1, &|split: &Split| split.goes_left(x));
        }
        path
    }

    /// The tree in which `replacement` stands where the path of `x` reaches depth `depth`. The old tree is left as it was; the new root
    /// carries no reference yet.
    pub fn replace(&mut self, root: NodeId, x: &[f64], depth: usize, replacement: NodeId) -> NodeId {
        if depth == 0 {
            return replacement;
        }
        let branch = self.branches[root.ix()];
        let left = branch.split.goes_left(x);
        let child = self.replace(branch.child(left), x, depth - 1, replacement);
        let copy = if left { Branch { left: child, ..branch } } else { Branch { right: child, ..branch } };
        self.new_branch(copy)
    }

    /// Follow the path of `x` while only one node or root refers to each branch, at most to `depth`. Returns the last such branch with the side
    /// that the path takes there, where the path goes on, and how much of the depth is left from there.
    pub fn owned_path(&self, root: NodeId, x: &[f64], depth: usize) -> (Option<(usize, bool)>, NodeId, usize) {
        let (mut last, mut node, mut depth) = (None, root, depth);
        while depth > 0 && self.branch_refs[node.ix()] == 1 {
            let branch = &self.branches[node.ix()];
            let left = branch.split.goes_left(x);
            last = Some((node.ix(), left));
            node = branch.child(left);
            depth -= 1;
        }
        (last, node, depth)
    }

    /// Replace one child of a branch; reference counts are up to the caller.
    pub fn set_child(&mut self, branch: usize, left: bool, child: NodeId) {
        let branch = &mut self.branches[branch];
        *if left { &mut branch.left } else { &mut branch.right } = child;
    }

    /// Visit the leaves below a node, left to right, with their depth (the node itself is at `depth`).
    pub fn for_each_leaf(&self, node: NodeId, depth: usize, visit: &mut impl FnMut(usize, usize)) {
        if node.is_leaf() {
            visit(node.ix(), depth);
        } else {
            let Branch { left, right, .. } = self.branches[node.ix()];
            self.for_each_leaf(left, depth + 1, visit);
            self.for_each_leaf(right, depth + 1, visit);
        }
    }

    /// By branch, its reference count.
    pub fn branch_refs(&self) -> &[u32] {
        &self.branch_refs
    }

    /// The reference count of a node, for consistency checks.
    pub fn refs(&self, node: NodeId) -> u32 {
        if node.is_leaf() { self.leaf_refs[node.ix()] } else { self.branch_refs[node.ix()] }
    }
}

/// Compact the elements that satisfy a predicate at the front; returns their number. Branchless: every element is written, and the position
/// advances only if the predicate holds.
#[inline(always)]
fn compact(list: &mut [u32], mut holds: impl FnMut(u32) -> bool) -> usize {
    let mut n_kept = 0;
    for at in 0..list.len() {
        let one = list[at];
        list[n_kept] = one;
        n_kept += usize::from(holds(one));
    }
    n_kept
}

fn pick_two<F: Fit>(leaves: &mut [LeafNode<F>], a: usize, b: usize) -> (&mut LeafNode<F>, &mut LeafNode<F>) {
    let [first, second] = leaves.get_disjoint_mut([a, b]).expect("two different leaves");
    (first, second)
}
