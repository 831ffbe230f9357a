//! The predictive at an input: the mixture of the particles' leaf predictives.

mod rows;

pub use rows::RowWalk;

use super::Cloud;
use super::distinct_leaves::DistinctLeaves;
use crate::leaf::{ClassificationLeaf, LeafModel, RegressionLeaf};
use crate::predict::Mixture;
use crate::tree::LeafNode;

/// Buffers for the forecast of one row.
#[derive(Clone, Debug, Default)]
pub struct ForecastScratch {
    leaves: DistinctLeaves,
    point: Vec<f64>,
    total: Vec<f64>,
}

impl ForecastScratch {
    /// Find the distinct leaves that hold `x`, and encode it.
    fn look_up<M: LeafModel>(&mut self, cloud: &Cloud<M>, x: &[f64]) {
        self.point.resize(cloud.model.point_len(), 0.0);
        cloud.model.encode(x, 0.0, &mut self.point);
        if let Some(cached) = cloud.cached_leaves_at(x) {
            return self.leaves.assign(cached);
        }
        self.leaves.clear(cloud.forest.n_leaf_slots());
        for tree in &cloud.trees {
            self.leaves.add(cloud.forest.find(tree.root, x), tree.n_copies);
        }
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Use a leaf's posterior, computing a temporary one if the cached one is stale.
    pub(super) fn with_fit<T>(&self, leaf: &LeafNode<M::Fit>, f: impl FnOnce(&M::Fit) -> T) -> T {
        match leaf.fit_at(self.version) {
            Some(fit) => f(fit),
            None if !self.model.predicts_from_fit() => f(leaf.fit()),
            None => {
                let mut total = Vec::new();
                leaf.total(&mut total);
                let mut fit = M::Fit::default();
                self.model.fit(&total, &leaf.origin, &mut fit);
                f(&fit)
            }
        }
    }
}

impl<M: RegressionLeaf> Cloud<M> {
    /// Add the predictive at `x`, scaled by `weight`, to a mixture.
    pub fn add_components(&self, x: &[f64], weight: f64, scratch: &mut ForecastScratch, mixture: &mut Mixture) {
        scratch.look_up(self, x);
        let share = weight / f64::from(self.n_particles());
        for &(leaf_ix, n_particles) in scratch.leaves.as_slice() {
            let leaf = self.forest.leaf(leaf_ix);
            let predictive = self.with_fit(leaf, |fit| self.model.student_t(fit, &leaf.origin, &scratch.point));
            mixture.push(share * f64::from(n_particles), predictive);
        }
    }
}

impl<M: ClassificationLeaf> Cloud<M> {
    /// Add the class probabilities at `x`, scaled by `weight`, to `out`.
    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, scratch: &mut ForecastScratch, out: &mut [f64]) {
        scratch.look_up(self, x);
        let ForecastScratch { leaves, point, total } = scratch;
        let share = weight / f64::from(self.n_particles());
        for &(leaf_ix, n_particles) in leaves.as_slice() {
            let leaf = self.forest.leaf(leaf_ix);
            leaf.total(total);
            let own_share = share * f64::from(n_particles);
            self.with_fit(leaf, |fit| self.model.add_class_probabilities(fit, total, &leaf.origin, point, own_share, out));
        }
    }
}
