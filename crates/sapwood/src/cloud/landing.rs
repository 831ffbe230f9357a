//! Where an input falls in every tree, found once for what is forecast there and what is learned.

use super::{Cloud, Marks};
use crate::leaf::LeafModel;
use crate::num::same_bits;
use crate::tree::Place;

/// An input and the leaves that hold it.
#[derive(Clone, Debug, Default)]
pub(super) struct Landing {
    x: Vec<f64>,
    /// Whether the trees are still those that were walked.
    is_current: bool,
    /// By tree.
    pub spots: Vec<Spot>,
    /// The distinct leaves in the order of the trees, and how many particles have each.
    pub leaves: Vec<(usize, u32)>,
    numbers: Marks<u32>,
    waiting: Vec<u32>,
}

/// Where an input falls in one tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub place: Place,
    /// The leaf's entry in [`Landing::leaves`].
    pub number: u32,
}

impl AsMut<Place> for Spot {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut Place {
        &mut self.place
    }
}

impl Landing {
    /// The trees are about to change.
    pub fn leave(&mut self) {
        self.is_current = false;
    }

    fn is_at(&self, x: &[f64]) -> bool {
        self.is_current && same_bits(&self.x, x)
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Find the leaves that hold `x`, unless they were the last that were looked for.
    pub(super) fn land(&mut self, x: &[f64]) {
        let Self { forest, trees, scratch, .. } = self;
        let landing = &mut scratch.landing;
        if landing.is_at(x) {
            return;
        }
        let Landing { x: at, is_current, spots, leaves, numbers, waiting } = landing;
        at.clear();
        at.extend_from_slice(x);
        *is_current = true;
        spots.clear();
        leaves.clear();
        numbers.begin(forest.n_leaf_slots());
        spots.extend(trees.iter().map(|tree| Spot { place: Place::at_root(tree.root), number: 0 }));
        forest.descend(spots, x, waiting);
        for (spot, tree) in spots.iter_mut().zip(trees) {
            let leaf = spot.place.leaf();
            match numbers.get(leaf) {
                Some(number) => {
                    spot.number = number;
                    leaves[number as usize].1 += tree.n_copies;
                }
                None => {
                    spot.number = leaves.len() as u32;
                    numbers.set(leaf, spot.number);
                    leaves.push((leaf, tree.n_copies));
                }
            }
        }
    }

    /// The leaves that hold `x` and how many particles have each, where that is known.
    pub(crate) fn leaves_at(&self, x: &[f64]) -> Option<&[(usize, u32)]> {
        let landing = &self.scratch.landing;
        landing.is_at(x).then_some(&landing.leaves)
    }
}

#[cfg(test)]
mod tests {
    use crate::cloud::Cloud;
    use crate::config::{CloudConfig, Leaf, Task};
    use crate::leaf::{Gaussian, GaussianPrior};
    use crate::rng::{Purpose, Stream};

    /// Fails if where an input fell is believed after the trees have changed, or of another input.
    #[test]
    fn to_have_looked_changes_nothing() {
        let config = CloudConfig { n_particles: 40, max_active: Some(50), ..CloudConfig::new(Leaf::Linear) };
        let settings = config.check(Task::Regression, 2).expect("settings");
        let mut looked = Cloud::new(settings, Gaussian::linear(2, GaussianPrior::default_for(2)), 3);
        let mut plain = looked.clone();
        let mut noise = Stream::new(5, 0, 0, Purpose::Sample);
        for row in 0..300 {
            let x = [noise.uniform(), if noise.below(9) == 0 { f64::NAN } else { noise.uniform() }];
            let y = f64::from(u8::from(x[0] < 0.5)) + 0.1 * noise.uniform();
            looked.settle_at(if row % 5 == 0 { &[0.5, 0.5] } else { &x });
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
