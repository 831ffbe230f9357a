//! Evidences of leaves, existing or proposed, computed in batches.

use crate::config::Evidence;
use crate::leaf::{Batch, LeafModel, Origin, n_points};
use crate::num::lanes::Lane;
use crate::tree::LeafEvidence;

/// Leaves waiting for their `ln Z`. [`EvidenceQueue::finish`] gives the results.
#[derive(Clone, Debug, Default)]
pub(super) struct EvidenceQueue {
    batch: Batch,
    ln_z: Vec<f64>,
    /// The statistics of the prior about `prior_origin`; empty if they have not been computed.
    prior: Vec<f64>,
    prior_origin: Origin,
    scratch: Vec<Lane>,
}

/// Names a leaf in the queue; [`Evidences::get`] exchanges it for the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    whole: u32,
    /// The retired part, where it is divided out.
    retired: Option<u32>,
    bonus: f64,
}

/// Leaves per batch: enough to fill the SIMD lanes, few enough to stay in the cache.
const BATCH: usize = 64;

impl EvidenceQueue {
    /// Start over; earlier tickets are void.
    pub fn clear<M: LeafModel>(&mut self, model: &M) {
        self.batch.clear(model.stat_len());
        self.ln_z.clear();
        self.prior.clear();
    }

    /// Add a leaf; `retired` is empty where no point has been retired.
    #[inline(always)]
    pub fn push<M: LeafModel>(&mut self, model: &M, kind: Evidence, active: &[f64], retired: &[f64], origin: &Origin) -> Ticket {
        self.set_origin(model, origin);
        self.push_at_origin(model, kind, active, retired)
    }

    /// Set the origin of the leaves that are pushed next.
    #[inline(always)]
    pub fn set_origin<M: LeafModel>(&mut self, model: &M, origin: &Origin) {
        if self.prior.is_empty() || self.prior_origin != *origin {
            self.compute_prior(model, origin);
        }
    }

    /// Add a leaf about the origin that was set last.
    #[inline(always)]
    pub fn push_at_origin<M: LeafModel>(&mut self, model: &M, kind: Evidence, active: &[f64], retired: &[f64]) -> Ticket {
        if retired.is_empty() {
            return self.push_total(model, kind, active, retired);
        }
        let whole = self.next_id();
        self.batch.push_sum(active, retired, &self.prior);
        self.flush_if_full(model);
        self.ticket(model, kind, whole, n_points(active) + n_points(retired), retired)
    }

    /// The same for a leaf whose active and retired statistics are given as their total. Of `retired` the joint evidence reads only the number
    /// of points.
    #[inline(always)]
    pub fn push_total<M: LeafModel>(&mut self, model: &M, kind: Evidence, total: &[f64], retired: &[f64]) -> Ticket {
        let whole = self.next_id();
        self.batch.push(total, &self.prior);
        self.flush_if_full(model);
        self.ticket(model, kind, whole, n_points(total), retired)
    }

    /// The ticket of a leaf of `n` points, after adding its retired part to the queue if the kind of evidence needs it.
    #[inline(always)]
    fn ticket<M: LeafModel>(&mut self, model: &M, kind: Evidence, whole: u32, n: f64, retired: &[f64]) -> Ticket {
        match kind {
            Evidence::Joint => {
                let bonus = model.retired_bonus();
                let n_retired = retired.first().copied().unwrap_or(0.0);
                let has_bonus = bonus != 0.0 && n_retired != 0.0 && n > 0.0;
                Ticket { whole, retired: None, bonus: if has_bonus { bonus * (n_retired / n) } else { 0.0 } }
            }
            Evidence::Conditional => {
                let id = self.next_id();
                if retired.is_empty() {
                    // Not zero: a prior need not be normalised to 1.
                    self.batch.push_empty(&self.prior);
                } else {
                    self.batch.push(retired, &self.prior);
                }
                self.flush_if_full(model);
                Ticket { whole, retired: Some(id), bonus: 0.0 }
            }
        }
    }

    #[inline(always)]
    fn next_id(&self) -> u32 {
        (self.ln_z.len() + self.batch.len()) as u32
    }

    #[inline(always)]
    fn flush_if_full<M: LeafModel>(&mut self, model: &M) {
        if self.batch.len() == BATCH {
            self.flush(model);
        }
    }

    #[cold]
    fn compute_prior<M: LeafModel>(&mut self, model: &M, origin: &Origin) {
        self.prior.resize(model.stat_len(), 0.0);
        model.prior_stats(origin, &mut self.prior);
        self.prior_origin.clone_from(origin);
    }

    /// Compute all that is still waiting, and return the results.
    pub fn finish<M: LeafModel>(&mut self, model: &M) -> Evidences<'_> {
        self.flush(model);
        Evidences { ln_z: &self.ln_z }
    }

    #[inline(never)]
    fn flush<M: LeafModel>(&mut self, model: &M) {
        model.ln_z_batch(&mut self.batch, &mut self.scratch, &mut self.ln_z);
        self.batch.clear(model.stat_len());
    }
}

/// The results of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidences<'a> {
    ln_z: &'a [f64],
}

impl Evidences<'_> {
    #[inline]
    pub fn get(self, ticket: Ticket) -> LeafEvidence {
        let ln_z = self.ln_z[ticket.whole as usize];
        // A retired part that the prior cannot normalise is not divided out.
        let ln_z_retired = ticket.retired.map(|id| self.ln_z[id as usize]).filter(|ln_z| ln_z.is_finite()).unwrap_or(0.0);
        LeafEvidence { ln_z, ln_evidence: ln_z + ticket.bonus - ln_z_retired }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf::{Gaussian, GaussianPrior, Multinomial};

    fn evidence<M: LeafModel>(model: &M, kind: Evidence, total: &[f64], retired: &[f64]) -> LeafEvidence {
        let mut queue = EvidenceQueue::default();
        queue.clear(model);
        queue.set_origin(model, &model.origin().into());
        let ticket = queue.push_total(model, kind, total, retired);
        queue.finish(model).get(ticket)
    }

    /// `Z(active + retired) / Z(retired)`, and the bonus of the default prior's joint evidence.
    fn check_kinds<M: LeafModel>(model: &M, points: &[Vec<f64>], bonus: f64) {
        let (mut retired, mut total) = (vec![0.0; model.stat_len()], vec![0.0; model.stat_len()]);
        points.iter().for_each(|point| model.observe(&mut total, &model.origin(), point, 1.0));
        points[..9].iter().for_each(|point| model.observe(&mut retired, &model.origin(), point, 1.0));
        let none = vec![0.0; model.stat_len()];
        let ln_z = |stats: &[f64]| evidence(model, Evidence::Joint, stats, &none).ln_evidence;
        let conditional = evidence(model, Evidence::Conditional, &total, &retired);
        assert!((conditional.ln_evidence - (ln_z(&total) - ln_z(&retired))).abs() < 1e-12);
        let joint = evidence(model, Evidence::Joint, &total, &retired);
        assert!((joint.ln_evidence - (ln_z(&total) + bonus)).abs() < 1e-12);
        assert_eq!([conditional.ln_z, joint.ln_z], [ln_z(&total); 2]);
        // In parts or as a whole, and with no retired part or an empty one.
        let mut queue = EvidenceQueue::default();
        queue.clear(model);
        let active: Vec<f64> = total.iter().zip(&retired).map(|(total, retired)| total - retired).collect();
        let in_parts = queue.push(model, Evidence::Joint, &active, &retired, &model.origin().into());
        let kinds = [Evidence::Joint, Evidence::Conditional];
        let not_retired = kinds.map(|kind| queue.push_at_origin(model, kind, &total, &[]));
        let evidences = queue.finish(model);
        assert!((evidences.get(in_parts).ln_evidence - joint.ln_evidence).abs() < 1e-9);
        let zeros = kinds.map(|kind| evidence(model, kind, &total, &none).ln_evidence);
        assert_eq!(not_retired.map(|ticket| evidences.get(ticket).ln_evidence), zeros);
    }

    #[test]
    fn kinds_of_evidence() {
        let waves =
            |n: usize| (0..12).map(|i| (0..n).map(|j| f64::sin((3 * i + 5 * j + i * j) as f64)).collect()).collect::<Vec<Vec<f64>>>();
        let mut model = Gaussian::linear(2, GaussianPrior::default_for(2));
        waves(3).iter().for_each(|row| {
            model.track(&row[..2], row[2], 1.0);
        });
        check_kinds(&model, &waves(3), 1.5 * 3.0 * 9.0 / 12.0);
        check_kinds(&Gaussian::linear(2, GaussianPrior::Reference), &waves(3), 0.0);
        let classes: Vec<Vec<f64>> = (0..12).map(|i| vec![f64::from(i % 3)]).collect();
        check_kinds(&Multinomial::new(3, None), &classes, 0.0);
    }

    /// Fails if a batch that is flushed early loses or moves results.
    #[test]
    fn tickets_survive_full_batches() {
        let model = Multinomial::new(2, None);
        let stats = |i: usize| [i as f64, i as f64 / 4.0, 3.0 * i as f64 / 4.0];
        let mut queue = EvidenceQueue::default();
        queue.clear(&model);
        let none = [0.0; 3];
        let origin = Origin::default();
        let tickets: Vec<Ticket> = (0..3 * BATCH + 5).map(|i| queue.push(&model, Evidence::Joint, &stats(i), &[], &origin)).collect();
        let evidences = queue.finish(&model);
        for (i, ticket) in tickets.into_iter().enumerate() {
            assert_eq!(evidences.get(ticket).ln_z, evidence(&model, Evidence::Joint, &stats(i), &none).ln_z);
        }
    }
}
