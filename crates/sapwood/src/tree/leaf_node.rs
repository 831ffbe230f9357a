//! A leaf: which points it holds and their sufficient statistics.

use smallvec::SmallVec;

use super::Points;
use crate::leaf::{Fit, LeafModel, Origin};
use crate::num::short::add;
use crate::pool::{PointStats, Pool};

/// The evidence of a leaf, under one version of the prior.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafEvidence {
    /// `ln Z` of active and retired points together; its ratios are predictives.
    pub ln_z: f64,
    /// The evidence that moves compare: `ln_z` with the configured treatment of retired points. Minus infinity where the (improper) prior does
    /// not support the leaf.
    pub ln_evidence: f64,
}

/// Sufficient statistics. Those of a few classes or of a constant leaf are stored inline, to avoid a cache miss.
pub type Stats = SmallVec<[f64; INLINE_STATS]>;

/// Up to this many entries are stored inline.
pub const INLINE_STATS: usize = 4;

#[derive(Debug, Default)]
pub struct LeafNode<F: Fit> {
    /// The active points in this leaf.
    pub points: Points,
    pub active: Stats,
    /// Statistics of the retired points; empty if there are none, which is cheap to test.
    pub retired: Stats,
    evidence: LeafEvidence,
    /// The version of the prior under which `evidence` was computed; 0 if it is stale.
    evidence_version: u64,
    pub origin: Origin,
    /// The same for `fit`.
    fit_version: u64,
    pub extras: Box<LeafExtras<F>>,
    /// Number of points removed since `active` was last recomputed.
    pub n_removed: u32,
    /// How many times the scores are in the tally, and whether they are up to date.
    pub n_tallied: u32,
    pub scored: bool,
}

/// Rarely read fields, boxed to keep the rest dense in memory.
#[derive(Debug, Default)]
pub struct LeafExtras<F: Fit> {
    fit: F,
    /// The leaf's box, stored only if the discard rule needs it.
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Discard score of each slot.
    pub scores: Vec<f64>,
}

impl<F: Fit> Clone for LeafNode<F> {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.clone_from(self);
        copy
    }

    /// Reuses the existing allocations.
    fn clone_from(&mut self, source: &Self) {
        self.copy_content(source);
        self.n_tallied = source.n_tallied;
        self.scored = source.scored;
        self.extras.scores.extend_from_slice(&source.extras.scores);
        if source.fit_version > 0 {
            self.extras.fit.clone_from(&source.extras.fit);
            self.fit_version = source.fit_version;
        }
        self.evidence = source.evidence;
        self.evidence_version = source.evidence_version;
    }
}

impl<F: Fit> LeafNode<F> {
    /// An empty leaf with capacity for some points and statistics.
    pub fn with_capacity(n_points: usize, stat_len: usize) -> Self {
        let mut leaf = Self { points: Points::with_capacity(n_points), ..Self::default() };
        leaf.active.reserve(stat_len);
        leaf.retired.reserve(stat_len);
        leaf
    }

    /// Empty the leaf, keeping its allocations.
    pub fn clear(&mut self) {
        self.points.clear();
        self.active.clear();
        self.retired.clear();
        self.n_removed = 0;
        self.extras.lower.clear();
        self.extras.upper.clear();
        self.extras.scores.clear();
        self.n_tallied = 0;
        self.invalidate();
    }

    /// Copy another leaf's points, statistics and box, but nothing derived from them.
    pub fn copy_content(&mut self, source: &Self) {
        self.clear();
        self.points.copy_from(&source.points);
        self.origin.clone_from(&source.origin);
        self.active.extend_from_slice(&source.active);
        self.retired.extend_from_slice(&source.retired);
        self.n_removed = source.n_removed;
        self.extras.lower.extend_from_slice(&source.extras.lower);
        self.extras.upper.extend_from_slice(&source.extras.upper);
    }

    /// An empty leaf with this origin.
    pub fn reset<M: LeafModel<Fit = F>>(&mut self, model: &M, origin: &Origin) {
        self.clear();
        self.origin.clone_from(origin);
        self.active.resize(model.stat_len(), 0.0);
    }

    pub fn n_active(&self) -> usize {
        self.points.len()
    }

    /// The points with their discard scores, if there are any.
    pub fn scored_points(&self) -> impl Iterator<Item = (u32, f64)> {
        self.points.slots().iter().copied().zip(self.extras.scores.iter().copied())
    }

    /// The effective number of retired points.
    #[inline]
    pub fn n_retired(&self) -> f64 {
        self.retired.first().copied().unwrap_or(0.0)
    }

    /// Store statistics of retired points, which may be all zero.
    pub fn set_retired(&mut self, retired: &[f64]) {
        self.retired.clear();
        if retired.iter().any(|value| *value != 0.0) {
            self.retired.extend_from_slice(retired);
        }
    }

    /// Statistics of active and retired points together.
    pub fn total(&self, out: &mut Vec<f64>) {
        out.clear();
        if self.retired.is_empty() {
            out.extend_from_slice(&self.active);
        } else {
            out.extend(self.active.iter().zip(&self.retired).map(|(a, r)| a + r));
        }
    }

    pub fn insert_point<M: LeafModel<Fit = F>>(&mut self, model: &M, pool: &Pool, point_stats: &PointStats, slot: u32) {
        self.points.push(pool, slot);
        point_stats.observe(model, pool, &mut self.active, &self.origin, slot);
        self.invalidate();
    }

    /// Remove an active point. Returns its position, to which the last point has moved.
    pub fn remove_point<M: LeafModel<Fit = F>>(&mut self, model: &M, pool: &Pool, point_stats: &PointStats, slot: u32) -> usize {
        let position = self.points.swap_remove(pool, slot);
        self.n_removed = self.n_removed.saturating_add(1);
        // Recomputing after as many removals as there are points costs no more than the removals did, and bounds the rounding error.
        point_stats.forget(model, pool, &mut self.active, &self.origin, slot);
        let swamped = model.is_swamped(&self.active, &self.origin, pool.point(slot), pool.weight(slot));
        if swamped || self.n_removed as usize > 16 + self.points.len() {
            self.resum(model, pool, point_stats);
        }
        position
    }

    pub fn resum<M: LeafModel<Fit = F>>(&mut self, model: &M, pool: &Pool, point_stats: &PointStats) {
        self.active.fill(0.0);
        let Self { points, active, origin, .. } = self;
        points.slots().iter().for_each(|slot| point_stats.observe(model, pool, active, origin, *slot));
        self.n_removed = 0;
    }

    /// Retire a point of this leaf: it leaves the active part and joins a retired part that fades by `lambda`.
    pub fn retire_point<M: LeafModel<Fit = F>>(
        &mut self,
        model: &M,
        pool: &Pool,
        point_stats: &PointStats,
        slot: u32,
        lambda: f64,
    ) -> usize {
        let position = self.remove_point(model, pool, point_stats, slot);
        if self.retired.is_empty() {
            self.retired.resize(self.active.len(), 0.0);
        } else if lambda < 1.0 {
            self.retired.iter_mut().for_each(|r| *r *= lambda);
            self.scored = false;
        }
        point_stats.observe(model, pool, &mut self.retired, &self.origin, slot);
        // Stale even without forgetting: the evidence may treat retired points differently, and the sum rounds differently.
        self.fit_version = 0;
        self.evidence_version = 0;
        position
    }

    /// Re-centre the statistics on another origin.
    pub fn recentre<M: LeafModel<Fit = F>>(&mut self, model: &M, pool: &Pool, point_stats: &PointStats, origin: &Origin) {
        if self.origin != *origin {
            if !self.retired.is_empty() {
                model.shift(&mut self.retired, &self.origin, origin);
            }
            self.origin.clone_from(origin);
            self.resum(model, pool, point_stats);
            self.invalidate();
        }
    }

    /// Add another leaf's points and statistics to this one (a prune).
    pub fn merge<M: LeafModel<Fit = F>>(&mut self, model: &M, other: &Self) {
        self.points.append(&other.points);
        self.n_removed = self.n_removed.saturating_add(other.n_removed);
        add_shifted(model, &mut self.active, &self.origin, &other.active, &other.origin);
        if !other.retired.is_empty() {
            self.retired.resize(self.active.len(), 0.0);
            add_shifted(model, &mut self.retired, &self.origin, &other.retired, &other.origin);
        }
        for (a, b) in self.extras.lower.iter_mut().zip(&other.extras.lower) {
            *a = a.min(*b);
        }
        for (a, b) in self.extras.upper.iter_mut().zip(&other.extras.upper) {
            *a = a.max(*b);
        }
        self.invalidate();
    }

    /// Keep the origin near the data; true if it was moved. Called when points arrive, never by queries, which must not change any bit of the
    /// model.
    pub fn recentre_if_far<M: LeafModel<Fit = F>>(
        &mut self,
        model: &M,
        pool: &Pool,
        point_stats: &PointStats,
        total: &mut Vec<f64>,
        is_among_the_data: impl Fn(&[f64]) -> bool,
    ) -> bool {
        if self.origin.is_empty() {
            return false;
        }
        self.total(total);
        // A mean that is mostly rounding error may lie outside the data.
        let better = model.better_origin(total, &self.origin).filter(|better| is_among_the_data(better));
        let moved = better.is_some();
        if let Some(origin) = better {
            self.recentre(model, pool, point_stats, &origin.into());
        }
        moved
    }

    /// Copy the sums of a leaf with the same points and origin, which removes differences in rounding.
    pub fn copy_sums(&mut self, other: &Self) {
        self.active.copy_from_slice(&other.active);
        self.n_removed = other.n_removed;
        self.evidence = other.evidence;
        self.evidence_version = other.evidence_version;
        self.fit_version = 0;
    }

    /// The posterior under the current version of the prior, computed if it is stale.
    pub fn refresh_fit<M: LeafModel<Fit = F>>(&mut self, model: &M, version: u64, total: &mut Vec<f64>) -> &F {
        if self.fit_version != version {
            self.total(total);
            let supported = model.fit(total, &self.origin, &mut self.extras.fit);
            // A fit by the fallback prior depends on the running scale of the stream, which changes with every row, so it is not cached.
            self.fit_version = if supported { version } else { 0 };
        }
        &self.extras.fit
    }

    /// The cached evidence, unless it is stale.
    pub fn evidence_at(&self, version: u64) -> Option<LeafEvidence> {
        (self.evidence_version == version).then_some(self.evidence)
    }

    /// Cache the evidence of the current statistics.
    pub fn set_evidence(&mut self, evidence: LeafEvidence, version: u64) {
        self.evidence = evidence;
        self.evidence_version = version;
    }

    /// Move the posterior out, so that many can be computed in one batch; [`LeafNode::set_fit`] puts it back.
    pub fn take_fit(&mut self) -> F {
        self.fit_version = 0;
        std::mem::take(&mut self.extras.fit)
    }

    /// Cache the posterior of the current statistics; version 0 marks it as stale.
    pub fn set_fit(&mut self, fit: F, version: u64) {
        self.extras.fit = fit;
        self.fit_version = version;
    }

    /// The cached posterior, unless it is stale.
    pub fn fit_at(&self, version: u64) -> Option<&F> {
        (self.fit_version == version).then_some(&self.extras.fit)
    }

    /// The posterior that [`LeafNode::refresh_fit`] has just computed.
    pub fn fit(&self) -> &F {
        &self.extras.fit
    }

    /// Invalidate everything derived from the statistics.
    pub fn invalidate(&mut self) {
        self.fit_version = 0;
        self.evidence_version = 0;
        self.scored = false;
    }
}

/// `stats += other`, where the two may have different origins.
pub fn add_shifted<M: LeafModel>(model: &M, stats: &mut [f64], origin: &Origin, other: &[f64], other_origin: &Origin) {
    if origin == other_origin {
        add(stats, other);
    } else {
        let mut shifted = other.to_vec();
        model.shift(&mut shifted, other_origin, origin);
        add(stats, &shifted);
    }
}
