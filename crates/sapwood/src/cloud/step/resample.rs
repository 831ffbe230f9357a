//! Resample: draw particles in proportion to their masses.

use super::look_up::TreeLeaf;
use crate::cloud::{Cloud, Tree};
use crate::leaf::LeafModel;
use crate::rng::{Purpose, Stream};

impl<M: LeafModel> Cloud<M> {
    /// Draw the surviving copies of each tree; trees without any are dropped, with their entries in `tree_leaves`.
    pub(super) fn resample(&mut self, masses: &[f64], tree_leaves: &mut Vec<TreeLeaf>, n_offspring: &mut Vec<u32>) {
        let u = Stream::new(self.seed, self.step, 0, Purpose::Resample).uniform();
        systematic(masses, self.n_particles(), u, n_offspring);
        let mut n_kept = 0;
        for (ix, &n_copies) in n_offspring.iter().enumerate() {
            let tree = self.trees[ix];
            if n_copies == 0 {
                self.release(tree.root);
                continue;
            }
            self.trees[n_kept] = Tree { n_copies, ..tree };
            tree_leaves[n_kept] = tree_leaves[ix];
            n_kept += 1;
        }
        self.trees.truncate(n_kept);
        tree_leaves.truncate(n_kept);
    }
}

/// Systematic resampling: how many of `n` offspring each mass gets, from one uniform `u` in [0, 1). Unbiased: the expected count is
/// `n * mass / total`, and every count is within one of that.
pub fn systematic(masses: &[f64], n: u32, u: f64, counts: &mut Vec<u32>) {
    let total: f64 = masses.iter().sum();
    let scale = f64::from(n) / total;
    counts.clear();
    let mut cumulative = 0.0;
    let mut given = 0;
    for mass in masses {
        cumulative += mass;
        // Offspring k is at position u + k of n. Rounds up by truncating first: `ceil` is a library call on baseline x86-64.
        let position = scale * cumulative - u;
        let whole = position as u32;
        let reached = (whole + u32::from(f64::from(whole) < position)).clamp(given, n);
        counts.push(reached - given);
        given = reached;
    }
    // Rounding may put the last position just beyond the last mass.
    if given < n {
        let last = masses.iter().rposition(|mass| *mass > 0.0).expect("a positive mass");
        counts[last] += n - given;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_unbiased_and_within_one() {
        let masses = [0.05, 0.0, 1.7, 0.25, 3.0, 1e-12];
        let total: f64 = masses.iter().sum();
        let n = 10;
        let n_grid = 20_000;
        let mut mean = vec![0.0; masses.len()];
        let mut counts = Vec::new();
        for k in 0..n_grid {
            let u = (f64::from(k) + 0.5) / f64::from(n_grid);
            systematic(&masses, n, u, &mut counts);
            assert_eq!(counts.iter().sum::<u32>(), n);
            for (i, &count) in counts.iter().enumerate() {
                let expected = f64::from(n) * masses[i] / total;
                assert!((f64::from(count) - expected).abs() <= 1.0 + 1e-9);
                mean[i] += f64::from(count) / f64::from(n_grid);
            }
        }
        for i in 0..masses.len() {
            // A grid of u integrates a step function to half a grid step.
            assert!((mean[i] - f64::from(n) * masses[i] / total).abs() < 1e-4, "{mean:?}");
        }
    }

    #[test]
    fn equal_masses_keep_every_particle() {
        let mut counts = Vec::new();
        systematic(&[1.0; 8], 8, 0.5, &mut counts);
        assert_eq!(counts, [1; 8]);
    }
}
