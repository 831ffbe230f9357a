//! The statistics of many leaves, transposed into SIMD lanes.

use super::n_points;
use crate::num::lanes::{LANES, Lane};
use crate::num::short::{short, short_mut};

/// Leaves in blocks of [`LANES`]. A block holds a lane of numbers of points, then a lane per entry of the statistics with the prior's entry
/// added.
///
/// Leaves are transposed when they are pushed, long before they are read: doing so just before would stall on store forwarding.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    block_len: usize,
    lanes: Vec<Lane>,
    n_leaves: usize,
}

impl Batch {
    /// Start over, with statistics of `stat_len` entries.
    pub fn clear(&mut self, stat_len: usize) {
        self.block_len = 1 + stat_len;
        self.n_leaves = 0;
    }

    pub fn len(&self) -> usize {
        self.n_leaves
    }

    pub fn is_empty(&self) -> bool {
        self.n_leaves == 0
    }

    /// Add a leaf: its statistics, and those of the prior.
    #[inline(always)]
    pub fn push(&mut self, stats: &[f64], prior: &[f64]) {
        let (lane, n, entries) = self.next_leaf();
        n[lane] = n_points(stats);
        if let (Some(entries), Some(stats), Some(prior)) = (short_mut(entries), short(stats), short(prior)) {
            (0..stats.len()).for_each(|i| entries[i][lane] = stats[i] + prior[i]);
            return;
        }
        for ((entry, value), prior) in entries.iter_mut().zip(stats).zip(prior) {
            entry[lane] = value + prior;
        }
    }

    /// Add a leaf whose statistics are the sum of two.
    #[inline(always)]
    pub fn push_sum(&mut self, some: &[f64], others: &[f64], prior: &[f64]) {
        let (lane, n, entries) = self.next_leaf();
        n[lane] = n_points(some) + n_points(others);
        if let (Some(entries), Some(some), Some(others), Some(prior)) = (short_mut(entries), short(some), short(others), short(prior)) {
            (0..some.len()).for_each(|i| entries[i][lane] = (some[i] + others[i]) + prior[i]);
            return;
        }
        for (((entry, value), other), prior) in entries.iter_mut().zip(some).zip(others).zip(prior) {
            entry[lane] = (value + other) + prior;
        }
    }

    /// Add a leaf without points.
    pub fn push_empty(&mut self, prior: &[f64]) {
        let (lane, n, entries) = self.next_leaf();
        n[lane] = 0.0;
        for (entry, prior) in entries.iter_mut().zip(prior) {
            entry[lane] = *prior;
        }
    }

    /// Where to write the next leaf: its lane, and the lanes of its number of points and of each entry.
    #[inline(always)]
    fn next_leaf(&mut self) -> (usize, &mut Lane, &mut [Lane]) {
        let lane = self.n_leaves % LANES;
        let start = self.n_leaves / LANES * self.block_len;
        self.n_leaves += 1;
        if self.lanes.len() < start + self.block_len {
            self.lanes.resize(start + self.block_len, [0.0; LANES]);
        }
        let (n, entries) = self.lanes[start..start + self.block_len].split_first_mut().expect("a block has entries");
        (lane, n, entries)
    }

    /// The blocks: numbers of points, statistics, and how many lanes are used. Unused lanes repeat the last leaf.
    #[inline(always)]
    pub fn blocks(&mut self) -> impl Iterator<Item = (&Lane, &mut [Lane], usize)> {
        let (n_leaves, block_len) = (self.n_leaves, self.block_len);
        let n_blocks = n_leaves.div_ceil(LANES);
        let in_use = move |block: usize| (n_leaves - block * LANES).min(LANES);
        self.lanes[..n_blocks * block_len].chunks_exact_mut(block_len.max(1)).enumerate().map(move |(at, block)| {
            let n_used = in_use(at);
            if n_used < LANES {
                for entry in &mut *block {
                    let last = entry[n_used - 1];
                    entry[n_used..].fill(last);
                }
            }
            let (n, stats) = block.split_first_mut().expect("a block has entries");
            (&*n, stats, n_used)
        })
    }
}

/// The evidence of each of some leaves about one origin, computed together.
#[cfg(test)]
pub fn ln_z_of_each<M: super::LeafModel>(model: &M, leaves: &[Vec<f64>], origin: &[f64]) -> Vec<f64> {
    let mut batch = Batch::default();
    batch.clear(model.stat_len());
    let mut prior = vec![0.0; model.stat_len()];
    model.prior_stats(origin, &mut prior);
    leaves.iter().for_each(|stats| batch.push(stats, &prior));
    let mut ln_z = Vec::new();
    model.ln_z_batch(&mut batch, &mut Vec::new(), &mut ln_z);
    ln_z
}
