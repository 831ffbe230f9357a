//! Cached sufficient statistics of single points, so that sums over points are plain additions.

use super::Pool;
use crate::leaf::{LeafModel, Origin};
use crate::num::lanes::LANES;

/// Number of entries summed at a time.
const BLOCK: usize = 4 * LANES;

/// Statistics of every active point about one origin. Derived from the pool, never saved.
#[derive(Clone, Debug, Default)]
pub struct PointStats {
    origin: Origin,
    stat_len: usize,
    /// Distance from one point to the next, padded to whole lanes.
    stride: usize,
    values: Vec<f64>,
}

impl PointStats {
    /// Start over about another origin.
    pub fn rebuild<M: LeafModel>(&mut self, model: &M, pool: &Pool) {
        self.values.clear();
        self.stat_len = if model.caches_point_stats() { model.stat_len() } else { 0 };
        self.stride = self.stat_len.next_multiple_of(LANES);
        self.origin = model.origin().into();
        if self.stat_len > 0 {
            for &slot in pool.active() {
                self.insert(model, pool, slot);
            }
        }
    }

    pub fn insert<M: LeafModel>(&mut self, model: &M, pool: &Pool, slot: u32) {
        if self.stat_len == 0 {
            return;
        }
        self.values.resize(self.values.len().max((slot as usize + 1) * self.stride), 0.0);
        let row = &mut self.values[slot as usize * self.stride..slot as usize * self.stride + self.stat_len];
        row.fill(0.0);
        model.observe(row, &self.origin, pool.point(slot), pool.weight(slot));
    }

    /// The origin of the statistics.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The given origin, or the shared copy of it if it equals the origin of the cache.
    pub fn shared(&self, origin: Vec<f64>) -> Origin {
        if *self.origin == origin[..] { self.origin.clone() } else { origin.into() }
    }

    /// Whether these statistics can be summed for a leaf with this origin.
    #[inline]
    pub fn are_about(&self, origin: &Origin) -> bool {
        self.stat_len > 0 && self.origin == *origin
    }

    /// `stats += statistics of a point`, about any origin.
    pub fn observe<M: LeafModel>(&self, model: &M, pool: &Pool, stats: &mut [f64], origin: &Origin, slot: u32) {
        if self.are_about(origin) {
            self.add_to(stats, slot);
        } else {
            model.observe(stats, origin, pool.point(slot), pool.weight(slot));
        }
    }

    /// `stats -= statistics of a point`.
    pub fn forget<M: LeafModel>(&self, model: &M, pool: &Pool, stats: &mut [f64], origin: &Origin, slot: u32) {
        if self.are_about(origin) {
            let start = slot as usize * self.stride;
            for (sum, value) in stats.iter_mut().zip(&self.values[start..start + self.stat_len]) {
                *sum -= value;
            }
        } else {
            model.observe(stats, origin, pool.point(slot), -pool.weight(slot));
        }
    }

    /// `sum <- statistics of some points`, added in their order, a few lanes at a time, which stay in registers.
    #[inline(always)]
    pub fn sum(&self, slots: &[u32], sum: &mut [f64]) {
        for (block, sum) in sum.chunks_mut(BLOCK).enumerate() {
            let start = block * BLOCK;
            match sum.len().div_ceil(LANES) {
                1 => self.sum_lanes::<1>(start, slots, sum),
                2 => self.sum_lanes::<2>(start, slots, sum),
                3 => self.sum_lanes::<3>(start, slots, sum),
                _ => self.sum_lanes::<4>(start, slots, sum),
            }
        }
    }

    #[inline(always)]
    fn sum_lanes<const N: usize>(&self, start: usize, slots: &[u32], out: &mut [f64]) {
        let mut sums = [[0.0; LANES]; N];
        for &slot in slots {
            let row = slot as usize * self.stride + start;
            let (values, _) = self.values[row..row + N * LANES].as_chunks::<LANES>();
            for (sum, values) in sums.iter_mut().zip(values) {
                for lane in 0..LANES {
                    sum[lane] += values[lane];
                }
            }
        }
        out.copy_from_slice(&sums.as_flattened()[..out.len()]);
    }

    #[inline]
    pub fn add_to(&self, stats: &mut [f64], slot: u32) {
        let start = slot as usize * self.stride;
        for (sum, value) in stats.iter_mut().zip(&self.values[start..start + self.stat_len]) {
            *sum += value;
        }
    }
}
