//! Trees, their prior, and the enumeration of all trees on a line of integers.

use std::ops::Range;

/// A binary tree with splits `S` and leaves `L`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tree<S, L> {
    Leaf(L),
    Split(S, Box<Tree<S, L>>, Box<Tree<S, L>>),
}

/// A tree on integer inputs: a split `b` sends `x < b` left. Two trees are equal if they have the same
/// splits.
pub type LineTree = Tree<i64, ()>;

/// A split of real inputs: `x[dim] < cut` goes left, a missing value to the given side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    pub dim: usize,
    pub cut: f64,
    pub nan_left: bool,
}

impl Split {
    pub fn goes_left(&self, x: &[f64]) -> bool {
        let value = x[self.dim];
        if value.is_nan() { self.nan_left } else { value < self.cut }
    }
}

impl<S, L> Tree<S, L> {
    pub fn split(split: S, left: Self, right: Self) -> Self {
        Self::Split(split, Box::new(left), Box::new(right))
    }

    pub fn leaves(&self) -> Vec<&L> {
        match self {
            Self::Leaf(leaf) => vec![leaf],
            Self::Split(_, left, right) => {
                let mut leaves = left.leaves();
                leaves.extend(right.leaves());
                leaves
            }
        }
    }

    /// Sum over the leaves of their depths; the top of this subtree is at `depth`.
    pub fn path_length(&self, depth: usize) -> usize {
        match self {
            Self::Leaf(_) => depth,
            Self::Split(_, left, right) => left.path_length(depth + 1) + right.path_length(depth + 1),
        }
    }

    pub fn map<S2, L2>(&self, split: &impl Fn(&S) -> S2, leaf: &impl Fn(&L) -> L2) -> Tree<S2, L2> {
        match self {
            Self::Leaf(value) => Tree::Leaf(leaf(value)),
            Self::Split(value, left, right) => Tree::split(split(value), left.map(split, leaf), right.map(split, leaf)),
        }
    }
}

impl<L> Tree<Split, L> {
    /// The same tree as seen by integer inputs on one axis: `x < cut` and `x < ceil(cut)` agree on integers.
    pub fn on_line(&self) -> LineTree {
        self.map(&|split| split.cut.ceil() as i64, &|_| ())
    }

    pub fn leaf_at(&self, x: &[f64]) -> &L {
        match self {
            Self::Leaf(leaf) => leaf,
            Self::Split(split, left, right) => (if split.goes_left(x) { left } else { right }).leaf_at(x),
        }
    }
}

/// A node at depth `D` is split with probability `alpha (1 + D)^-beta`.
#[derive(Clone, Copy, Debug)]
pub struct SplitPrior {
    pub alpha: f64,
    pub beta: f64,
}

impl SplitPrior {
    fn probability(&self, depth: usize) -> f64 {
        self.alpha * (1.0 + depth as f64).powf(-self.beta)
    }

    pub fn ln_split(&self, depth: usize) -> f64 {
        self.probability(depth).ln()
    }

    pub fn ln_leaf(&self, depth: usize) -> f64 {
        (-self.probability(depth)).ln_1p()
    }

    /// Log prior of a subtree whose top is at `depth`.
    pub fn ln_tree<S, L>(&self, tree: &Tree<S, L>, depth: usize) -> f64 {
        match tree {
            Tree::Leaf(_) => self.ln_leaf(depth),
            Tree::Split(_, left, right) => self.ln_split(depth) + self.ln_tree(left, depth + 1) + self.ln_tree(right, depth + 1),
        }
    }
}

/// Every tree on the integers `cells` whose leaves each hold at least `min_leaf` of `inputs`.
///
/// With no inputs and `min_leaf = 0` these are all trees: 1, 2, 5, 15, 51, 188 for 1 to 6 integers.
pub fn enumerate(cells: Range<i64>, inputs: &[i64], min_leaf: usize) -> Vec<LineTree> {
    let held = inputs.iter().filter(|x| cells.contains(x)).count();
    if held < min_leaf {
        return Vec::new();
    }
    let mut trees = vec![Tree::Leaf(())];
    for boundary in cells.start + 1..cells.end {
        let lefts = enumerate(cells.start..boundary, inputs, min_leaf);
        let rights = enumerate(boundary..cells.end, inputs, min_leaf);
        for left in &lefts {
            trees.extend(rights.iter().map(|right| Tree::split(boundary, left.clone(), right.clone())));
        }
    }
    trees
}
