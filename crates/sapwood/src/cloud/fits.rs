//! Posteriors of the leaves that an input falls in, computed together.

use super::Cloud;
use crate::leaf::{Fit, LeafModel};
use crate::num::lanes::Lane;

/// Working space that is kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Fits {
    /// Leaves whose posterior is out of date.
    pub waiting: Vec<usize>,
    total: Vec<f64>,
    totals: Vec<f64>,
    origins: Vec<f64>,
    fits: Vec<Fit>,
    supported: Vec<bool>,
    lanes: Vec<Lane>,
}

impl<M: LeafModel> Cloud<M> {
    /// Bring the posteriors of the leaves at `x` up to date, so that predicting and learning there need not do so twice.
    pub fn settle_at(&mut self, x: &[f64]) {
        self.land(x);
        if !self.model.predicts_from_fit() {
            return;
        }
        let Self { forest, scratch, version, .. } = self;
        let unknown = |leaf: &usize| forest.leaf(*leaf).fit_at(*version).is_none();
        scratch.fits.waiting.clear();
        scratch.fits.waiting.extend(scratch.landing.leaves.iter().map(|(leaf, _)| *leaf).filter(unknown));
        self.fit_waiting();
    }

    /// Compute the posteriors of the leaves that wait for one.
    pub(super) fn fit_waiting(&mut self) {
        let Self { forest, model, scratch, version, .. } = self;
        let Fits { waiting, total, totals, origins, fits, supported, lanes } = &mut scratch.fits;
        totals.clear();
        origins.clear();
        fits.clear();
        for &leaf_ix in &*waiting {
            let leaf = forest.leaf_mut(leaf_ix);
            leaf.total(total);
            totals.extend_from_slice(total);
            origins.extend_from_slice(&leaf.origin);
            fits.push(leaf.take_fit());
        }
        supported.clear();
        supported.resize(waiting.len(), true);
        model.fit_rows(totals, origins, lanes, fits, supported);
        for ((leaf_ix, fit), supported) in waiting.drain(..).zip(fits.drain(..)).zip(&*supported) {
            forest.leaf_mut(leaf_ix).set_fit(fit, if *supported { *version } else { 0 });
        }
    }
}
