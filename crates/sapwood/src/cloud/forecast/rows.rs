//! The predictive of many rows at once: every node of the forest is visited once for all of them.
//!
//! A node that several trees share has the same box in all of them, so that the same rows reach it. A walk from every root that enters no node
//! twice finds, for each leaf, its rows and how many particles have it. Leaves are listed in the order in which the trees first reach them,
//! which is the order for a single row too: the predictive of a row does not depend on the other rows.

use crate::cloud::Cloud;
use crate::cloud::distinct_leaves::DistinctLeaves;
use crate::cloud::epoch_map::EpochMap;
use crate::leaf::{LeafModel, RegressionLeaf};
use crate::predict::Mixture;
use crate::tree::NodeId;

/// Buffers of such a walk.
#[derive(Clone, Debug, Default)]
pub struct RowWalk {
    n_rows: usize,
    /// The inputs, column by column.
    columns: Vec<f64>,
    leaves: DistinctLeaves,
    /// By number of the leaf: its rows, as a range of `rows`.
    leaf_rows: Vec<(usize, usize)>,
    rows: Vec<u32>,
    /// By branch of the forest, its number in `branches`.
    branch_numbers: EpochMap<u32>,
    /// Children before parents.
    branches: Vec<ReachedBranch>,
    order: Vec<u32>,
    points: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct ReachedBranch {
    children: [Reached; 2],
    n_particles: u32,
}

/// A node by its index or number; a child that no row reaches is not visited.
#[derive(Clone, Copy, Debug)]
enum Reached {
    Leaf(usize),
    Branch(u32),
    Nothing,
}

impl RowWalk {
    fn start<M: LeafModel>(&mut self, cloud: &Cloud<M>, x: &[f64]) {
        let n_inputs = cloud.settings.n_inputs();
        self.n_rows = x.len() / n_inputs;
        self.columns.clear();
        self.columns.extend((0..n_inputs).flat_map(|column| x.iter().skip(column).step_by(n_inputs)));
        self.leaves.clear(cloud.forest.n_leaf_slots());
        self.branch_numbers.clear(cloud.forest.n_branch_slots());
        self.leaf_rows.clear();
        self.branches.clear();
        self.rows.clear();
        self.order.clear();
        self.order.extend(0..self.n_rows as u32);
    }

    /// Find the rows and the number of particles of every leaf that any row reaches.
    fn find<M: LeafModel>(&mut self, cloud: &Cloud<M>, x: &[f64]) {
        self.start(cloud, x);
        let mut order = std::mem::take(&mut self.order);
        for tree in &cloud.trees {
            let root = self.visit(cloud, tree.root, &mut order);
            self.add_particles(root, tree.n_copies);
        }
        self.order = order;
        for ix in (0..self.branches.len()).rev() {
            let ReachedBranch { children, n_particles } = self.branches[ix];
            children.into_iter().for_each(|child| self.add_particles(child, n_particles));
        }
    }

    fn add_particles(&mut self, node: Reached, n_particles: u32) {
        match node {
            Reached::Leaf(leaf) => {
                self.leaves.add(leaf, n_particles);
            }
            Reached::Branch(number) => self.branches[number as usize].n_particles += n_particles,
            Reached::Nothing => {}
        }
    }

    /// Visit a node with the rows that reach it, which are reordered on the way.
    fn visit<M: LeafModel>(&mut self, cloud: &Cloud<M>, node: NodeId, rows: &mut [u32]) -> Reached {
        if rows.is_empty() {
            return Reached::Nothing;
        }
        if node.is_leaf() {
            if self.leaves.number(node.ix()).is_none() {
                self.leaves.add(node.ix(), 0);
                self.leaf_rows.push((self.rows.len(), self.rows.len() + rows.len()));
                self.rows.extend_from_slice(rows);
            }
            return Reached::Leaf(node.ix());
        }
        if let Some(number) = self.branch_numbers.get(node.ix()) {
            return Reached::Branch(number);
        }
        let branch = cloud.forest.branch(node.ix());
        let column = &self.columns[branch.split.dim as usize * self.n_rows..][..self.n_rows];
        let mut n_left = 0;
        for at in 0..rows.len() {
            let row = rows[at];
            rows.swap(at, n_left);
            n_left += usize::from(branch.split.sends_left(column[row as usize]));
        }
        let (left, right) = rows.split_at_mut(n_left);
        let children = [self.visit(cloud, branch.left, left), self.visit(cloud, branch.right, right)];
        let number = self.branches.len() as u32;
        self.branch_numbers.set(node.ix(), number);
        self.branches.push(ReachedBranch { children, n_particles: 0 });
        Reached::Branch(number)
    }
}

impl<M: RegressionLeaf> Cloud<M> {
    /// Add the predictive at each row of `x`, scaled by `weight`, to that row's mixture.
    pub fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        walk.find(self, x);
        let (n_inputs, point_len) = (self.settings.n_inputs(), self.model.point_len());
        walk.points.resize(walk.n_rows * point_len, 0.0);
        for (x, point) in x.chunks(n_inputs).zip(walk.points.chunks_mut(point_len)) {
            self.model.encode(x, 0.0, point);
        }
        let share = weight / f64::from(self.n_particles());
        for (&(leaf_ix, n_particles), &(start, end)) in walk.leaves.as_slice().iter().zip(&walk.leaf_rows) {
            let leaf = self.forest.leaf(leaf_ix);
            self.with_fit(leaf, |fit| {
                for &row in &walk.rows[start..end] {
                    let row = row as usize;
                    let point = &walk.points[row * point_len..(row + 1) * point_len];
                    mixtures[row].push(share * f64::from(n_particles), self.model.student_t(fit, &leaf.origin, point));
                }
            });
        }
    }
}
