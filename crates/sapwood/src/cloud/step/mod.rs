//! One observation through the filter, in the order of the paper: look up leaves, weigh, resample, propagate, retire.

mod evidence;
mod insert;
mod leaf_dedup;
mod look_up;
mod propagate;
mod propose;
mod resample;
mod retire;
mod weigh;

pub(super) use self::look_up::LeafLookup;
pub use self::resample::systematic;

use super::{Cloud, StepSizes};
use crate::leaf::LeafModel;

/// An observation as a cloud learns it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observation<'a> {
    pub x: &'a [f64],
    pub y: f64,
    pub weight: f64,
    /// The number of the row in the stream.
    pub arrival: u64,
}

/// Whether an observation comes from the stream or is replayed, in which case the running scale includes it already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    First,
    Replay,
}

/// Buffers that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    point: Vec<f64>,
    weigh: weigh::Workspace,
    n_offspring: Vec<u32>,
    inserted: insert::InsertedLeaves,
    propagate: propagate::Workspace,
    retire: retire::Workspace,
}

impl<M: LeafModel> Cloud<M> {
    /// Learn one observation; returns the `ln` of its predictive density before it was learned.
    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        self.step += 1;
        let ln_mean_weight = self.filter(Observation { x, y, weight, arrival: self.step }, Pass::First);
        self.ln_evidence += ln_mean_weight;
        self.retire_surplus();
        ln_mean_weight
    }

    /// Look up, weigh, resample, propagate. Returns the `ln` of the mean weight.
    pub(super) fn filter(&mut self, observation: Observation, pass: Pass) -> f64 {
        let mut work = std::mem::take(&mut self.scratch.step);

        self.look_up(observation.x);
        let mut lookup = std::mem::take(&mut self.scratch.lookup);
        lookup.invalidate();
        let slot = self.activate(observation, &mut work.point);

        let weights = self.weigh(&lookup, slot, &mut work.weigh);
        let ln_mean_weight = weights.ln_mean;

        self.resample(weights.masses, &mut lookup.tree_leaves, &mut work.n_offspring);

        self.widen_range(observation.x);
        if pass == Pass::First && self.model.track(observation.x, observation.y, observation.weight) {
            self.refresh_prior();
        }
        self.insert_point(slot, &lookup.tree_leaves, weights.leaves, weights.version, &mut work.inserted);
        self.propagate(observation.x, &lookup.tree_leaves, &work.inserted, &mut work.propagate);
        self.mutate_forgetting();

        self.scratch.lookup = lookup;
        self.scratch.step = work;
        ln_mean_weight
    }

    /// Retire points until the pool is no larger than allowed.
    fn retire_surplus(&mut self) {
        let Some(max_active) = self.settings.config.max_active else { return };
        if self.pool.len() > max_active {
            self.update_scores();
            while self.pool.len() > max_active {
                let position = self.choose_discard();
                self.retire_at(position);
            }
        }
    }

    /// Add an observation to the active pool; returns its slot.
    fn activate(&mut self, observation: Observation, point: &mut Vec<f64>) -> u32 {
        let Observation { x, y, weight, arrival } = observation;
        point.resize(self.model.point_len(), 0.0);
        self.model.encode(x, y, point);
        let slot = self.pool.insert(x, y, weight, arrival, |out| out.copy_from_slice(point));
        self.point_stats.insert(&self.model, &self.pool, slot);
        if self.uses_scores() {
            self.tally.resize(self.pool.n_slots(), 0.0);
            self.tally[slot as usize] = 0.0;
        }
        slot
    }

    /// Extend the range of the inputs. It bounds the boxes of the leaves: scores that depend on them become stale.
    fn widen_range(&mut self, x: &[f64]) {
        let mut widened = false;
        for (value, range) in x.iter().zip(&mut self.range) {
            // NaN fails both comparisons.
            if *value < range.0 {
                range.0 = *value;
                widened = true;
            }
            if *value > range.1 {
                range.1 = *value;
                widened = true;
            }
        }
        if widened && self.settings.config.discard.uses_boxes() {
            self.forest.for_each_live_leaf_mut(|leaf| leaf.scored = false);
        }
    }

    /// The leaf prior has changed: mark every fit as stale, and move the statistics to the prior's new centre.
    fn refresh_prior(&mut self) {
        self.version += 1;
        self.rebuild_point_stats();
        let Self { forest, model, pool, point_stats, .. } = self;
        forest.for_each_live_leaf_mut(|leaf| {
            leaf.recentre(model, pool, point_stats, point_stats.origin());
            leaf.invalidate();
        });
    }

    /// The amount of work in the last step.
    pub fn step_sizes(&self) -> StepSizes {
        let Workspace { weigh, propagate, .. } = &self.scratch.step;
        let (leaves, sets_of_points, contents) = weigh.sizes();
        let (proposals, chains, outcomes, prunes) = propagate.sizes();
        StepSizes { leaves, sets_of_points, contents, proposals, chains, outcomes, prunes }
    }
}
