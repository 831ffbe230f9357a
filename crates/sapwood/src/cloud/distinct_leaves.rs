//! The distinct leaves among those of many trees.

use super::epoch_map::EpochMap;

/// Leaves numbered in order of first appearance, each with the number of particles that have it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DistinctLeaves {
    numbers: EpochMap<u32>,
    leaves: Vec<(usize, u32)>,
}

impl DistinctLeaves {
    /// Start over, for a forest with so many leaf slots.
    pub fn clear(&mut self, n_leaf_slots: usize) {
        self.numbers.clear(n_leaf_slots);
        self.leaves.clear();
    }

    /// Add particles that have a leaf; returns the leaf's number.
    #[inline]
    pub fn add(&mut self, leaf: usize, n_particles: u32) -> u32 {
        match self.numbers.get(leaf) {
            Some(number) => {
                self.leaves[number as usize].1 += n_particles;
                number
            }
            None => {
                let number = self.leaves.len() as u32;
                self.numbers.set(leaf, number);
                self.leaves.push((leaf, n_particles));
                number
            }
        }
    }

    /// The number of a leaf that has been added.
    #[inline]
    pub fn number(&self, leaf: usize) -> Option<u32> {
        self.numbers.get(leaf)
    }

    /// Leaves and particle counts, by number.
    #[inline]
    pub fn as_slice(&self) -> &[(usize, u32)] {
        &self.leaves
    }

    /// Replace the content by leaves that are known to be distinct.
    pub fn assign(&mut self, leaves: &[(usize, u32)]) {
        self.leaves.clear();
        self.leaves.extend_from_slice(leaves);
    }
}
