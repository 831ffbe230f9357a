//! Sufficient statistics of single points, kept so that sums over points are plain additions.

use super::Pool;
use crate::leaf::LeafModel;

/// Statistics of every active point about one origin. Derived from the pool, never saved.
#[derive(Clone, Debug, Default)]
pub struct PointStats {
    origin: Vec<f64>,
    stat_len: usize,
    values: Vec<f64>,
}

impl PointStats {
    /// Start over about another origin.
    pub fn renew<M: LeafModel>(&mut self, model: &M, pool: &Pool) {
        self.values.clear();
        self.stat_len = if model.keeps_point_stats() { model.stat_len() } else { 0 };
        if self.stat_len > 0 {
            self.origin = model.origin();
            for &slot in pool.active() {
                self.insert(model, pool, slot);
            }
        }
    }

    pub fn insert<M: LeafModel>(&mut self, model: &M, pool: &Pool, slot: u32) {
        if self.stat_len == 0 {
            return;
        }
        self.values.resize(self.values.len().max((slot as usize + 1) * self.stat_len), 0.0);
        let row = &mut self.values[slot as usize * self.stat_len..(slot as usize + 1) * self.stat_len];
        row.fill(0.0);
        model.observe(row, &self.origin, pool.point(slot), pool.weight(slot));
    }

    /// Whether sums about `origin` can be made of these.
    pub fn are_about(&self, origin: &[f64]) -> bool {
        self.stat_len > 0 && self.origin == origin
    }

    /// `stats += statistics of a point`, about any origin.
    pub fn observe<M: LeafModel>(&self, model: &M, pool: &Pool, stats: &mut [f64], origin: &[f64], slot: u32) {
        if self.are_about(origin) {
            self.add_to(stats, slot);
        } else {
            model.observe(stats, origin, pool.point(slot), pool.weight(slot));
        }
    }

    /// Take them away again.
    pub fn forget<M: LeafModel>(&self, model: &M, pool: &Pool, stats: &mut [f64], origin: &[f64], slot: u32) {
        if self.are_about(origin) {
            let start = slot as usize * self.stat_len;
            for (sum, value) in stats.iter_mut().zip(&self.values[start..start + self.stat_len]) {
                *sum -= value;
            }
        } else {
            model.observe(stats, origin, pool.point(slot), -pool.weight(slot));
        }
    }

    #[inline]
    pub fn add_to(&self, stats: &mut [f64], slot: u32) {
        let start = slot as usize * self.stat_len;
        for (sum, value) in stats.iter_mut().zip(&self.values[start..start + self.stat_len]) {
            *sum += value;
        }
    }
}
