//! The leaf of every tree that holds an input, found once and shared by the forecast and the step.

use crate::cloud::Cloud;
use crate::cloud::distinct_leaves::DistinctLeaves;
use crate::leaf::LeafModel;
use crate::num::same_bits;
use crate::tree::LeafPath;

/// An input and the leaves that hold it.
#[derive(Clone, Debug, Default)]
pub(in crate::cloud) struct LeafLookup {
    x: Vec<f64>,
    /// False once the trees have changed since the lookup.
    is_current: bool,
    /// By tree.
    pub(super) tree_leaves: Vec<TreeLeaf>,
    distinct: DistinctLeaves,
    descending: Vec<u32>,
}

/// The leaf of one tree that holds the input.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeLeaf {
    pub path: LeafPath,
    /// The leaf's number among the distinct leaves, [`LeafLookup::leaves`].
    pub number: u32,
}

impl AsMut<LeafPath> for TreeLeaf {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut LeafPath {
        &mut self.path
    }
}

impl LeafLookup {
    /// Mark the lookup as stale: the trees are about to change.
    pub(in crate::cloud) fn invalidate(&mut self) {
        self.is_current = false;
    }

    /// The distinct leaves in order of the trees, and how many particles have each.
    pub(in crate::cloud) fn leaves(&self) -> &[(usize, u32)] {
        self.distinct.as_slice()
    }

    fn is_at(&self, x: &[f64]) -> bool {
        self.is_current && same_bits(&self.x, x)
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Find the leaves that hold `x`, unless the cached lookup is for `x` already.
    pub(in crate::cloud) fn look_up(&mut self, x: &[f64]) {
        let Self { forest, trees, scratch, .. } = self;
        if scratch.lookup.is_at(x) {
            return;
        }
        let LeafLookup { x: at, is_current, tree_leaves, distinct, descending } = &mut scratch.lookup;
        at.clear();
        at.extend_from_slice(x);
        *is_current = true;
        tree_leaves.clear();
        distinct.clear(forest.n_leaf_slots());
        tree_leaves.extend(trees.iter().map(|tree| TreeLeaf { path: LeafPath::at_root(tree.root), number: 0 }));
        forest.descend(tree_leaves, x, descending);
        for (leaf, tree) in tree_leaves.iter_mut().zip(trees) {
            leaf.number = distinct.add(leaf.path.leaf(), tree.n_copies);
        }
    }

    /// The distinct leaves that hold `x` and how many particles have each, if they are cached.
    pub(in crate::cloud) fn cached_leaves_at(&self, x: &[f64]) -> Option<&[(usize, u32)]> {
        let lookup = &self.scratch.lookup;
        lookup.is_at(x).then(|| lookup.leaves())
    }
}

#[cfg(test)]
mod tests {
    use crate::cloud::Cloud;
    use crate::config::{CloudConfig, Leaf, Task};
    use crate::leaf::{Gaussian, GaussianPrior};
    use crate::rng::{Purpose, Stream};

    /// Fails if a cached lookup is used after the trees have changed, or for another input.
    #[test]
    fn a_cached_lookup_changes_nothing() {
        let config = CloudConfig { n_particles: 40, max_active: Some(50), ..CloudConfig::new(Leaf::Linear) };
        let settings = config.check(Task::Regression, 2).expect("settings");
        let mut looked = Cloud::new(settings, Gaussian::linear(2, GaussianPrior::default_for(2)), 3);
        let mut plain = looked.clone();
        let mut noise = Stream::new(5, 0, 0, Purpose::Sample);
        for row in 0..300 {
            let x = [noise.uniform(), if noise.below(9) == 0 { f64::NAN } else { noise.uniform() }];
            let y = f64::from(u8::from(x[0] < 0.5)) + 0.1 * noise.uniform();
            looked.refresh_fits_at(if row % 5 == 0 { &[0.5, 0.5] } else { &x });
            for cloud in [&mut looked, &mut plain] {
                if row % 3 == 1 && row > 30 {
                    cloud.retire_at(row % 7);
                }
                if row % 50 == 41 {
                    cloud.rejuvenate();
                }
            }
            let ln_weights = [&mut looked, &mut plain].map(|cloud| cloud.observe(&x, y, 1.0).to_bits());
            assert_eq!(ln_weights[0], ln_weights[1], "row {row}");
        }
    }
}
