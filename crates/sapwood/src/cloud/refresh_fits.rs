//! Recomputing stale posteriors, many leaves at a time.

use super::Cloud;
use crate::leaf::LeafModel;
use crate::num::lanes::Lane;
use crate::tree::LeafNode;

/// Buffers that are kept between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers<F> {
    stale: Vec<usize>,
    total: Vec<f64>,
    totals: Vec<f64>,
    origins: Vec<f64>,
    fits: Vec<F>,
    supported: Vec<bool>,
    lanes: Vec<Lane>,
}

impl<M: LeafModel> Cloud<M> {
    /// Refresh the posteriors of the leaves at `x`, so that predicting and learning there share the work.
    pub fn refresh_fits_at(&mut self, x: &[f64]) {
        self.look_up(x);
        if self.model.predicts_from_fit() {
            let lookup = std::mem::take(&mut self.scratch.lookup);
            self.refresh_stale_fits(lookup.leaves().iter().map(|(leaf, _)| *leaf), |_| true);
            self.scratch.lookup = lookup;
        }
    }

    /// Refresh the posterior of every leaf, for many predictions to come.
    pub fn refresh_fits(&mut self) {
        let Self { forest, model, version, scratch, .. } = self;
        forest.for_each_live_leaf_mut(|leaf| {
            leaf.refresh_fit(model, *version, &mut scratch.total);
        });
    }

    /// Refresh the stale posteriors among those of some leaves, if they are `wanted`.
    pub(super) fn refresh_stale_fits(&mut self, leaves: impl Iterator<Item = usize>, wanted: impl Fn(&LeafNode<M::Fit>) -> bool) {
        let Self { forest, model, scratch, version, .. } = self;
        let Buffers { stale, total, totals, origins, fits, supported, lanes } = &mut scratch.fits;
        stale.clear();
        stale.extend(leaves.filter(|ix| {
            let leaf = forest.leaf(*ix);
            leaf.fit_at(*version).is_none() && wanted(leaf)
        }));
        totals.clear();
        origins.clear();
        fits.clear();
        for &leaf_ix in &*stale {
            let leaf = forest.leaf_mut(leaf_ix);
            leaf.total(total);
            totals.extend_from_slice(total);
            origins.extend_from_slice(&leaf.origin);
            fits.push(leaf.take_fit());
        }
        supported.clear();
        supported.resize(stale.len(), true);
        model.fit_rows(totals, origins, lanes, fits, supported);
        for ((&leaf_ix, fit), supported) in stale.iter().zip(fits.drain(..)).zip(&*supported) {
            forest.leaf_mut(leaf_ix).set_fit(fit, if *supported { *version } else { 0 });
        }
    }
}
