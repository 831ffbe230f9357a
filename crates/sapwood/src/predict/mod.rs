//! Predictive distributions: the exact mixture of the particles' leaf predictives.

mod abreast;
mod coarse;
mod crps;
mod mixture;
mod moments;
mod quantile;
mod rows;
mod solver;
mod student_t;

pub use mixture::{Component, Mixture, ln_mix};
pub use moments::Moments;
pub use rows::Walk;
pub use solver::Solver;
pub use student_t::StudentT;

use crate::cloud::Cloud;
use crate::leaf::LeafModel;

/// The distinct leaves that hold an input and how many particles have each, in the order of the trees: working space for predictions.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    pass: u64,
    /// By leaf: the pass that last met it and its place in `leaves`.
    met: Vec<(u64, usize)>,
    leaves: Vec<(usize, u32)>,
    point: Vec<f64>,
    total: Vec<f64>,
}

impl Groups {
    fn find<M: LeafModel>(&mut self, cloud: &Cloud<M>, x: &[f64]) {
        self.leaves.clear();
        if let Some(known) = cloud.leaves_at(x) {
            self.leaves.extend_from_slice(known);
            return;
        }
        self.pass += 1;
        if self.met.len() < cloud.forest.n_leaf_slots() {
            self.met.resize(cloud.forest.n_leaf_slots(), (0, 0));
        }
        for tree in &cloud.trees {
            let leaf = cloud.forest.find(tree.root, x);
            let (pass, at) = self.met[leaf];
            if pass == self.pass {
                self.leaves[at].1 += tree.n_copies;
            } else {
                self.met[leaf] = (self.pass, self.leaves.len());
                self.leaves.push((leaf, tree.n_copies));
            }
        }
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Add the predictive at `x`, scaled by `weight`, to a mixture (regression).
    pub fn add_components(&self, x: &[f64], weight: f64, groups: &mut Groups, mixture: &mut Mixture) {
        groups.find(self, x);
        let point = &mut groups.point;
        point.resize(self.model.point_len(), 0.0);
        self.model.encode(x, 0.0, point);
        let share = weight / f64::from(self.n_particles());
        for &(leaf_ix, n_copies) in &groups.leaves {
            let leaf = self.forest.leaf(leaf_ix);
            let dist = self.fit_of(leaf, |fit| self.model.student_t(fit, &leaf.origin, point));
            mixture.push(share * f64::from(n_copies), dist);
        }
    }

    /// Add the class probabilities at `x`, scaled by `weight` (classification).
    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, groups: &mut Groups, out: &mut [f64]) {
        groups.find(self, x);
        let Groups { leaves, point, total, .. } = groups;
        point.resize(self.model.point_len(), 0.0);
        self.model.encode(x, 0.0, point);
        let share = weight / f64::from(self.n_particles());
        for &(leaf_ix, n_copies) in &*leaves {
            let leaf = self.forest.leaf(leaf_ix);
            leaf.total(total);
            let own_share = share * f64::from(n_copies);
            self.fit_of(leaf, |fit| self.model.add_class_probabilities(fit, total, &leaf.origin, point, own_share, out));
        }
    }
}
