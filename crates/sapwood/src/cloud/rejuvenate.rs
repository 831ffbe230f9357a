//! Regrowing the trees: the active points are learned again, in a random order, on top of the retired statistics.

use super::step::{Observation, Pass};
use super::{Cloud, Tree};
use crate::leaf::{LeafModel, Origin};
use crate::rng::{Purpose, Stream};
use crate::tree::add_shifted;

impl<M: LeafModel> Cloud<M> {
    /// Replace every tree by a single leaf that holds its retired statistics, then learn the active points again in a random order.
    ///
    /// The resulting trees do not depend on the order in which the points arrived. Particles keep their forgetting factors; those with the
    /// same factor start from the average of their retired statistics, which at a factor of 1 are all the same. The evidence is unchanged: it
    /// belongs to the stream, not to the replay.
    pub fn rejuvenate(&mut self) {
        self.scratch.lookup.invalidate();
        let n_values = self.settings.forgetting_values().len();
        let origin = Origin::from(self.model.origin());
        let stat_len = self.model.stat_len();
        let mut retired = vec![vec![0.0; stat_len]; n_values];
        let mut n_copies = vec![0u32; n_values];
        for tree in &self.trees {
            let value = tree.lambda_ix as usize;
            n_copies[value] += tree.n_copies;
            let mut own = vec![0.0; stat_len];
            self.forest.for_each_leaf(tree.root, 0, &mut |leaf_ix, _| {
                let leaf = self.forest.leaf(leaf_ix);
                if !leaf.retired.is_empty() {
                    add_shifted(&self.model, &mut own, &origin, &leaf.retired, &leaf.origin);
                }
            });
            for (sum, one) in retired[value].iter_mut().zip(&own) {
                *sum += f64::from(tree.n_copies) * one;
            }
        }
        for tree in std::mem::take(&mut self.trees) {
            self.release(tree.root);
        }
        let points: Vec<(Vec<f64>, f64, f64, u64)> = self
            .pool
            .active()
            .iter()
            .map(|&slot| (self.pool.x(slot).to_vec(), self.pool.y(slot), self.pool.weight(slot), self.pool.arrival(slot)))
            .collect();
        while !self.pool.is_empty() {
            self.pool.remove(0);
        }
        self.tally.fill(0.0);
        for value in 0..n_values {
            if n_copies[value] > 0 {
                let root = self.new_root_leaf();
                retired[value].iter_mut().for_each(|sum| *sum /= f64::from(n_copies[value]));
                self.forest.leaf_mut(root.ix()).set_retired(&retired[value]);
                self.forest.retain(root);
                self.trees.push(Tree { root, n_copies: n_copies[value], lambda_ix: value as u8 });
            }
        }
        self.replay(points);
    }

    /// Learn points again in a random order, then put the pool back in order of arrival.
    fn replay(&mut self, mut points: Vec<(Vec<f64>, f64, f64, u64)>) {
        let (step, seed) = (self.step, self.seed);
        let mut stream = Stream::new(seed, step, 0, Purpose::Rejuvenate);
        for last in (1..points.len()).rev() {
            points.swap(last, stream.below(last + 1));
        }
        // The replay has random numbers of its own.
        self.seed = seed ^ (0x5AB0_0D00_0000_0000 | step);
        for (x, y, weight, arrival) in &points {
            self.step += 1;
            self.filter(Observation { x, y: *y, weight: *weight, arrival: *arrival }, Pass::Replay);
        }
        self.seed = seed;
        self.step = step;
        self.pool.sort_by_arrival();
    }
}
