//! Predictive distributions: the exact mixture of the particles' leaf predictives.

mod mixture;
mod student_t;

pub use mixture::{Component, Mixture, Moments};
pub use student_t::StudentT;

use crate::cloud::Cloud;
use crate::leaf::LeafModel;

impl<M: LeafModel> Cloud<M> {
    /// Visit the distinct leaves that hold `x`, each with the share of the particles that have it.
    fn for_each_share(&self, x: &[f64], visit: &mut impl FnMut(usize, f64)) {
        let mut leaves: Vec<(usize, u32)> =
            self.trees.iter().map(|tree| (self.forest.find(tree.root, x), tree.n_copies)).collect();
        leaves.sort_unstable();
        let n_particles = f64::from(self.n_particles());
        for group in leaves.chunk_by(|a, b| a.0 == b.0) {
            let n_copies: u32 = group.iter().map(|(_, n)| n).sum();
            visit(group[0].0, f64::from(n_copies) / n_particles);
        }
    }

    /// Add the predictive at `x`, scaled by `weight`, to a mixture (regression).
    pub fn add_components(&self, x: &[f64], weight: f64, mixture: &mut Mixture) {
        let mut point = vec![0.0; self.model.point_len()];
        self.model.encode(x, 0.0, &mut point);
        self.for_each_share(x, &mut |leaf_ix, share| {
            let leaf = self.forest.leaf(leaf_ix);
            let dist = self.fit_of(leaf, |fit| self.model.student_t(fit, &leaf.origin, &point));
            mixture.push(weight * share, dist);
        });
    }

    /// Add the class probabilities at `x`, scaled by `weight` (classification).
    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, out: &mut [f64]) {
        let mut total = Vec::new();
        self.for_each_share(x, &mut |leaf_ix, share| {
            self.forest.leaf(leaf_ix).total(&mut total);
            self.model.add_class_probabilities(&total, weight * share, out);
        });
    }
}
