//! How well each particle predicts the new point, and taking it in.

use super::alike::Alike;
use super::evidence::Ticket;
use super::landing::{Landing, Spot};
use super::{Cloud, Scratch};
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;
use crate::num::ln;
use crate::tree::LeafEvidence;

/// The distinct leaves that the new point falls in, as the landing numbers them.
#[derive(Clone, Debug, Default)]
pub(super) struct Visits {
    all: Vec<Visit>,
    alike: Alike,
    /// The version of the prior that they were weighed under.
    version: u64,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    leaf: usize,
    /// The first visit to a leaf with the same points, and to one with the same statistics too.
    same_points: u32,
    same_content: u32,
    /// In the queue: the leaf as it is, where that is not known, and with the new point.
    before: Option<Ticket>,
    after: Option<Ticket>,
    /// The evidence with the new point, where it could be computed.
    evidence: Option<LeafEvidence>,
    ln_weight: f64,
    /// Whether a leaf with the same statistics is known to be near its origin with the new point.
    is_centred: bool,
    /// Whether the new point has been taken in.
    is_taken: bool,
}

impl Visits {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many leaves, how many that hold different points, and how many that differ in their statistics.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let firsts =
            |first: fn(&Visit) -> u32| self.all.iter().enumerate().filter(|(number, visit)| first(visit) as usize == *number).count();
        (self.all.len(), firsts(|visit| visit.same_points), firsts(|visit| visit.same_content))
    }

    /// One number for all leaves with the same points, and one for those with the same statistics too.
    pub fn alike(&self, number: u32) -> (usize, usize) {
        let Visit { same_points, same_content, .. } = self.all[number as usize];
        (same_points as usize, same_content as usize)
    }
}

impl<M: LeafModel> Cloud<M> {
    /// Each tree's mass becomes copies times predictive weight; returns the `ln` of the mean weight over particles.
    pub(super) fn weigh(&mut self, landing: &Landing, slot: u32) -> f64 {
        self.visit(landing, slot);
        let Scratch { visits, masses, .. } = &mut self.scratch;
        masses.clear();
        masses.extend(landing.spots.iter().map(|spot| visits.all[spot.number as usize].ln_weight));
        let max = masses.iter().fold(f64::NEG_INFINITY, |max, ln_weight| max.max(*ln_weight));
        if max.is_infinite() {
            // No particle can tell: all are kept as they are.
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
        max + ln(sum / f64::from(self.settings.config.n_particles as u32))
    }

    /// Find the point's predictive in each of the leaves that it falls in.
    ///
    /// Where it is a ratio of evidences, the one with the point is what a stay will need next.
    fn visit(&mut self, landing: &Landing, slot: u32) {
        let Self { forest, model, pool, point_stats, settings, scratch, version, .. } = self;
        let Scratch { visits: Visits { all, alike, version: weighed_under }, queue, active, .. } = scratch;
        let kind = settings.config.evidence;
        all.clear();
        alike.begin(landing.leaves.len());
        queue.begin(model);
        *weighed_under = *version;
        let by_evidence = model.evidence_predicts();
        for &(leaf_ix, _) in &landing.leaves {
            let own = all.len() as u32;
            let leaf = forest.leaf(leaf_ix);
            let leaf_of = |number: u32| landing.leaves[number as usize].0;
            let same_content = if by_evidence { alike.same_content(forest, leaf, own, leaf_of) } else { own };
            let same_points = match all.get(same_content as usize) {
                Some(visit) => visit.same_points,
                None => alike.same_points(forest, leaf, own, leaf_of),
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
            all.push(Visit {
                leaf: leaf_ix,
                same_points,
                same_content,
                before,
                after,
                evidence: None,
                ln_weight: f64::NEG_INFINITY,
                is_centred: false,
                is_taken: false,
            });
        }
        queue.finish(model);
        if !by_evidence {
            let unknown = |visit: &&Visit| forest.leaf(visit.leaf).fit_at(*version).is_none();
            scratch.fits.waiting.extend(all.iter().filter(unknown).map(|visit| visit.leaf));
            self.fit_waiting();
        }
        let Self { forest, model, pool, scratch, version, .. } = self;
        let Scratch { visits: Visits { all, .. }, queue, total, .. } = scratch;
        for at in 0..all.len() {
            let first = all[all[at].same_content as usize];
            let visit = &mut all[at];
            if first.leaf != visit.leaf {
                let (leaf, first_leaf) = forest.two_leaves_mut(visit.leaf, first.leaf);
                leaf.agree_with(first_leaf);
                (visit.evidence, visit.ln_weight) = (first.evidence, first.ln_weight);
                continue;
            }
            let leaf = forest.leaf_mut(visit.leaf);
            if let Some(before) = visit.before {
                leaf.set_evidence(queue.get(before), *version);
            }
            if let Some(after) = visit.after {
                let after = queue.get(after);
                visit.evidence = Some(after);
                let ln_ratio = leaf.evidence_at(*version).map_or(f64::NAN, |before| after.ln_z - before.ln_z);
                if ln_ratio.is_finite() {
                    visit.ln_weight = ln_ratio;
                    continue;
                }
            }
            leaf.refit(model, *version, total);
            leaf.total(total);
            let ln_weight = model.ln_predictive(leaf.fit(), total, &leaf.origin, pool.point(slot), pool.weight(slot));
            // A density too small for its logarithm says nothing about the others.
            visit.ln_weight = if ln_weight.is_nan() { f64::NEG_INFINITY } else { ln_weight };
        }
    }

    /// Put the new point in the leaves of the particles that have survived.
    pub(super) fn take_in(&mut self, spots: &[Spot], slot: u32) {
        let Self { forest, model, pool, point_stats, scratch, version, .. } = self;
        let Scratch { visits, total, .. } = scratch;
        let renewed = *version != visits.version;
        for spot in spots {
            let number = spot.number as usize;
            let visit = &mut visits.all[number];
            if std::mem::replace(&mut visit.is_taken, true) {
                continue;
            }
            let &mut Visit { evidence, same_content, .. } = visit;
            let leaf = forest.leaf_mut(spot.place.leaf());
            leaf.add_point(model, pool, point_stats, slot);
            if let Some(evidence) = evidence.filter(|_| !renewed) {
                leaf.set_evidence(evidence, *version);
            }
            // What is found of one leaf holds for all with the same statistics.
            let is_centred = !renewed && visits.all[same_content as usize].is_centred;
            if !is_centred {
                if leaf.keep_centred(model, pool, point_stats, total) || renewed {
                    // Summed afresh in the leaf's own order, which rounds in its own way.
                    visits.all[number].same_content = number as u32;
                } else {
                    visits.all[same_content as usize].is_centred = true;
                }
            }
            if leaf.n_tallied > 0 || !leaf.extras.scores.is_empty() {
                leaf.extras.scores.push(0.0);
            }
        }
    }
}
