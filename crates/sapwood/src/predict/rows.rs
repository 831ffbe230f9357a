//! The predictive of many rows at once: every node of the forest is visited once for all of them.
//!
//! A node that several trees share has the same box in all of them, so the rows that reach it are the same too. A walk from every root that
//! does not enter a node twice finds, for each leaf, its rows and how many particles have it. Leaves are listed in the order in which the
//! trees first show them, which is the order that a row alone would see: the company of a row changes no bit of its predictive.

use super::Mixture;
use crate::cloud::Cloud;
use crate::leaf::LeafModel;
use crate::tree::NodeId;

/// Working space of such a walk.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    n_rows: usize,
    /// The inputs, column by column.
    columns: Vec<f64>,
    /// By leaf and by branch of the forest: the walk that last met it and its place in the list below.
    pass: u64,
    leaf_met: Vec<(u64, u32)>,
    branch_met: Vec<(u64, u32)>,
    leaves: Vec<MetLeaf>,
    /// Children before parents.
    branches: Vec<MetBranch>,
    /// The rows of the leaves, one leaf after another.
    rows: Vec<u32>,
    order: Vec<u32>,
    points: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct MetLeaf {
    leaf: usize,
    first_row: usize,
    n_rows: usize,
    n_copies: u32,
}

#[derive(Clone, Copy, Debug)]
struct MetBranch {
    children: [Met; 2],
    n_copies: u32,
}

/// A place in one of the lists; a child that no row reaches is in neither.
#[derive(Clone, Copy, Debug)]
enum Met {
    Leaf(u32),
    Branch(u32),
    Nothing,
}

impl Walk {
    fn start<M: LeafModel>(&mut self, cloud: &Cloud<M>, x: &[f64]) {
        let n_inputs = cloud.settings.n_inputs();
        self.n_rows = x.len() / n_inputs;
        self.columns.clear();
        self.columns.extend((0..n_inputs).flat_map(|column| x.iter().skip(column).step_by(n_inputs)));
        self.pass += 1;
        self.leaf_met.resize(cloud.forest.n_leaf_slots().max(self.leaf_met.len()), (0, 0));
        self.branch_met.resize(cloud.forest.n_branch_slots().max(self.branch_met.len()), (0, 0));
        self.leaves.clear();
        self.branches.clear();
        self.rows.clear();
        self.order.clear();
        self.order.extend(0..self.n_rows as u32);
    }

    fn find<M: LeafModel>(&mut self, cloud: &Cloud<M>, x: &[f64]) {
        self.start(cloud, x);
        let mut order = std::mem::take(&mut self.order);
        for tree in &cloud.trees {
            let root = self.visit(cloud, tree.root, &mut order);
            self.add_copies(root, tree.n_copies);
        }
        self.order = order;
        for ix in (0..self.branches.len()).rev() {
            let MetBranch { children, n_copies } = self.branches[ix];
            children.into_iter().for_each(|child| self.add_copies(child, n_copies));
        }
    }

    fn add_copies(&mut self, node: Met, n_copies: u32) {
        match node {
            Met::Leaf(ix) => self.leaves[ix as usize].n_copies += n_copies,
            Met::Branch(ix) => self.branches[ix as usize].n_copies += n_copies,
            Met::Nothing => {}
        }
    }

    /// Visit what is below a node with the rows that reach it; they are put into another order on the way.
    fn visit<M: LeafModel>(&mut self, cloud: &Cloud<M>, node: NodeId, rows: &mut [u32]) -> Met {
        if rows.is_empty() {
            return Met::Nothing;
        }
        if node.is_leaf() {
            let (pass, ix) = self.leaf_met[node.ix()];
            if pass == self.pass {
                return Met::Leaf(ix);
            }
            let ix = self.leaves.len() as u32;
            self.leaf_met[node.ix()] = (self.pass, ix);
            self.leaves.push(MetLeaf { leaf: node.ix(), first_row: self.rows.len(), n_rows: rows.len(), n_copies: 0 });
            self.rows.extend_from_slice(rows);
            return Met::Leaf(ix);
        }
        let (pass, ix) = self.branch_met[node.ix()];
        if pass == self.pass {
            return Met::Branch(ix);
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
        let ix = self.branches.len() as u32;
        self.branch_met[node.ix()] = (self.pass, ix);
        self.branches.push(MetBranch { children, n_copies: 0 });
        Met::Branch(ix)
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Add the predictive at each row of `x`, scaled by `weight`, to that row's mixture (regression).
    pub fn add_components_of_rows(&self, x: &[f64], weight: f64, walk: &mut Walk, mixtures: &mut [Mixture]) {
        walk.find(self, x);
        let (n_inputs, point_len) = (self.settings.n_inputs(), self.model.point_len());
        walk.points.resize(walk.n_rows * point_len, 0.0);
        for (x, point) in x.chunks(n_inputs).zip(walk.points.chunks_mut(point_len)) {
            self.model.encode(x, 0.0, point);
        }
        let share = weight / f64::from(self.n_particles());
        for met in &walk.leaves {
            let leaf = self.forest.leaf(met.leaf);
            self.fit_of(leaf, |fit| {
                for &row in &walk.rows[met.first_row..met.first_row + met.n_rows] {
                    let row = row as usize;
                    let point = &walk.points[row * point_len..(row + 1) * point_len];
                    mixtures[row].push(share * f64::from(met.n_copies), self.model.student_t(fit, &leaf.origin, point));
                }
            });
        }
    }
}
