//! Weigh: how well each particle predicts the new point.

use super::evidence::{EvidenceQueue, Ticket};
use super::leaf_dedup::LeafDedup;
use super::look_up::LeafLookup;
use crate::cloud::Cloud;
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;
use crate::num::ln;
use crate::tree::LeafEvidence;

/// Buffers that are kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pending: Vec<PendingLeaf>,
    weighed: Vec<WeighedLeaf>,
    dedup: LeafDedup,
    queue: EvidenceQueue,
    masses: Vec<f64>,
    active: Vec<f64>,
    total: Vec<f64>,
}

/// The result of weighing a point.
pub(super) struct Weights<'a> {
    /// `ln` of the mean weight over particles.
    pub ln_mean: f64,
    /// By tree: copies times predictive weight, up to a common factor.
    pub masses: &'a [f64],
    /// By number of the distinct leaves in the lookup.
    pub leaves: &'a [WeighedLeaf],
    /// The version of the prior that the point was weighed under.
    pub version: u64,
}

/// A distinct leaf at the new point.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeighedLeaf {
    /// The first leaf with the same points, and the first with the same statistics too.
    pub same_points: u32,
    pub same_content: u32,
    /// The evidence with the new point, where it was computed.
    pub evidence: Option<LeafEvidence>,
    ln_weight: f64,
}

/// A leaf whose evidences are in the queue.
#[derive(Clone, Copy, Debug)]
struct PendingLeaf {
    leaf: usize,
    same_points: u32,
    same_content: u32,
    /// Without the new point, where that is not cached.
    before: Option<Ticket>,
    /// With the new point.
    after: Option<Ticket>,
}

impl Workspace {
    /// The number of leaves, of different sets of points, and of different statistics in the last step.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let n_firsts = |first: fn(&WeighedLeaf) -> u32| {
            self.weighed.iter().enumerate().filter(|(number, leaf)| first(leaf) as usize == *number).count()
        };
        (self.weighed.len(), n_firsts(|leaf| leaf.same_points), n_firsts(|leaf| leaf.same_content))
    }
}

impl<M: LeafModel> Cloud<M> {
    pub(super) fn weigh<'a>(&mut self, lookup: &LeafLookup, slot: u32, work: &'a mut Workspace) -> Weights<'a> {
        self.enqueue_leaves(lookup, slot, work);
        self.weigh_leaves(slot, work);
        let Workspace { weighed, masses, .. } = work;
        masses.clear();
        masses.extend(lookup.tree_leaves.iter().map(|leaf| weighed[leaf.number as usize].ln_weight));
        let ln_mean = self.masses_from_ln(masses);
        Weights { ln_mean, masses, leaves: weighed, version: self.version }
    }

    /// Turn the log weights of the trees into masses; returns the `ln` of the mean weight over particles.
    fn masses_from_ln(&self, masses: &mut [f64]) -> f64 {
        let max = masses.iter().fold(f64::NEG_INFINITY, |max, ln_weight| max.max(*ln_weight));
        if max.is_infinite() {
            // No particle gives the point a density: keep all as they are.
            masses.iter_mut().zip(&self.trees).for_each(|(mass, tree)| *mass = f64::from(tree.n_copies));
            return f64::MIN;
        }
        masses.iter_mut().for_each(|mass| *mass -= max);
        exp_all(masses);
        let mut sum = 0.0;
        for (mass, tree) in masses.iter_mut().zip(&self.trees) {
            *mass *= f64::from(tree.n_copies);
            sum += *mass;
        }
        max + ln(sum / f64::from(self.n_particles()))
    }

    /// Deduplicate the leaves, and put in the queue the evidences that their predictives are ratios of.
    ///
    /// The evidence with the point is also what a stay needs next.
    fn enqueue_leaves(&mut self, lookup: &LeafLookup, slot: u32, work: &mut Workspace) {
        let Self { forest, model, pool, point_stats, settings, version, .. } = self;
        let Workspace { pending, dedup, queue, active, .. } = work;
        let kind = settings.config.evidence;
        let leaves = lookup.leaves();
        pending.clear();
        dedup.clear(leaves.len());
        queue.clear(model);
        let by_evidence = model.evidence_predicts();
        for &(leaf_ix, _) in leaves {
            let own = pending.len() as u32;
            let leaf = forest.leaf(leaf_ix);
            let leaf_at = |number: u32| leaves[number as usize].0;
            let same_content = if by_evidence { dedup.same_content(forest, leaf, own, leaf_at) } else { own };
            let same_points = match pending.get(same_content as usize) {
                Some(first) => first.same_points,
                None => dedup.same_points(forest, leaf, own, leaf_at),
            };
            let (mut before, mut after) = (None, None);
            if by_evidence && same_content == own {
                if leaf.evidence_at(*version).is_none() {
                    before = Some(queue.push(model, kind, &leaf.active, &leaf.retired, &leaf.origin));
                }
                active.clear();
                active.extend_from_slice(&leaf.active);
                point_stats.observe(model, pool, active, &leaf.origin, slot);
                after = Some(queue.push(model, kind, active, &leaf.retired, &leaf.origin));
            }
            pending.push(PendingLeaf { leaf: leaf_ix, same_points, same_content, before, after });
        }
    }

    /// Weigh the point in every distinct leaf.
    fn weigh_leaves(&mut self, slot: u32, work: &mut Workspace) {
        let Workspace { pending, weighed, queue, total, .. } = work;
        let evidences = queue.finish(&self.model);
        if !self.model.evidence_predicts() {
            self.refresh_stale_fits(pending.iter().map(|leaf| leaf.leaf), |_| true);
        }
        let Self { forest, model, pool, version, .. } = self;
        weighed.clear();
        for &PendingLeaf { leaf: leaf_ix, same_points, same_content, before, after } in &*pending {
            if let Some(&first) = weighed.get(same_content as usize) {
                let (leaf, first_leaf) = forest.two_leaves_mut(leaf_ix, pending[same_content as usize].leaf);
                leaf.copy_sums(first_leaf);
                weighed.push(WeighedLeaf { same_points, same_content, ..first });
                continue;
            }
            let leaf = forest.leaf_mut(leaf_ix);
            if let Some(before) = before {
                leaf.set_evidence(evidences.get(before), *version);
            }
            let evidence = after.map(|after| evidences.get(after));
            let ln_ratio = evidence.zip(leaf.evidence_at(*version)).map(|(after, before)| after.ln_z - before.ln_z);
            let ln_weight = ln_ratio.filter(|ratio| ratio.is_finite()).unwrap_or_else(|| {
                leaf.refresh_fit(model, *version, total);
                leaf.total(total);
                let ln_weight = model.ln_predictive(leaf.fit(), total, &leaf.origin, pool.point(slot), pool.weight(slot));
                // A density that underflows says nothing about the other particles.
                if ln_weight.is_nan() { f64::NEG_INFINITY } else { ln_weight }
            });
            weighed.push(WeighedLeaf { same_points, same_content, evidence, ln_weight });
        }
    }
}
