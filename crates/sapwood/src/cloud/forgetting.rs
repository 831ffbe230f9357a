//! Automatic forgetting: every particle carries its own factor, inherited by its copies, mutated now and then, selected by the weights.

use super::{Cloud, Tree};
use crate::config::FORGETTING_GRID;
use crate::leaf::LeafModel;
use crate::num::ln;
use crate::rng::{Purpose, Stream};

/// Probability per particle and step that an automatic forgetting factor is redrawn from its grid.
const MUTATION_RATE: f64 = 0.001;

impl<M: LeafModel> Cloud<M> {
    /// Start forgetting factors evenly spread over the grid, and over the copies of every tree.
    pub(super) fn spread_forgetting(&mut self) {
        let n_values = self.settings.forgetting_values().len() as u32;
        let n_particles = self.n_particles();
        let share = |value: u32| n_particles * (value + 1) / n_values - n_particles * value / n_values;
        let mut left: Vec<u32> = (0..n_values).map(share).collect();
        let mut dealt = (0..left.len()).cycle();
        for tree in std::mem::take(&mut self.trees) {
            let mut n_copies = vec![0; left.len()];
            for _ in 0..tree.n_copies {
                let value = dealt.find(|value| left[*value] > 0).expect("the shares add up to the number of particles");
                left[value] -= 1;
                n_copies[value] += 1;
            }
            for (value, n_copies) in n_copies.into_iter().enumerate().filter(|(_, n_copies)| *n_copies > 0) {
                self.forest.retain(tree.root);
                self.trees.push(Tree { root: tree.root, n_copies, lambda_ix: value as u8 });
            }
            self.release(tree.root);
        }
    }

    /// Redraw the forgetting factor of a few particles.
    pub(super) fn mutate_forgetting(&mut self) {
        if self.settings.config.forgetting.is_some() || !self.forgets {
            return;
        }
        let mut stream = Stream::new(self.seed, self.step, 0, Purpose::Mutate);
        let ln_stay = libm::log1p(-MUTATION_RATE);
        let n_particles = f64::from(self.n_particles());
        // The gaps between mutating particles are geometric.
        let gap = |stream: &mut Stream| (ln(stream.uniform_positive()) / ln_stay).floor();
        let mut next = gap(&mut stream);
        let mut first = 0.0;
        let n_trees = self.trees.len();
        for ix in 0..n_trees {
            let n_copies = f64::from(self.trees[ix].n_copies);
            let own_start = self.trees.len();
            while next < (first + n_copies).min(n_particles) {
                let lambda_ix = stream.below(FORGETTING_GRID.len()) as u8;
                let tree = self.trees[ix];
                if lambda_ix != tree.lambda_ix {
                    self.trees[ix].n_copies -= 1;
                    match self.trees[own_start..].iter_mut().find(|other| other.lambda_ix == lambda_ix) {
                        Some(other) => other.n_copies += 1,
                        None => {
                            self.forest.retain(tree.root);
                            self.trees.push(Tree { n_copies: 1, lambda_ix, ..tree });
                        }
                    }
                }
                next += 1.0 + gap(&mut stream);
            }
            first += n_copies;
        }
        for ix in (0..n_trees).rev() {
            if self.trees[ix].n_copies == 0 {
                let tree = self.trees.remove(ix);
                self.release(tree.root);
            }
        }
    }
}
