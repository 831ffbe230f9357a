//! Evidence and posteriors of many discriminant leaves at once, in SIMD lanes.

use pulp::{Arch, WithSimd};

use super::nested::{BayesFactors, bayes_factors, space_len};
use super::predict;
use super::{Discriminant, DiscriminantFit};
use crate::leaf::{Batch, LeafModel, N_POINTS};
use crate::num::lanes::{LANES, Lane};

/// `ln Z` of each leaf of a batch.
pub fn ln_z_batch(model: &Discriminant, batch: &mut Batch, scratch: &mut Vec<Lane>, out: &mut Vec<f64>) {
    scratch.clear();
    scratch.resize(space_len(&model.layout), [0.0; LANES]);
    Arch::new().dispatch(Evidence { model, batch, space: scratch, out });
}

/// The posterior of each row of statistics.
pub fn fit_rows(model: &Discriminant, rows: &[f64], scratch: &mut Vec<Lane>, fits: &mut [DiscriminantFit]) {
    Arch::new().dispatch(Fits { model, rows, lanes: Lanes::new(model, scratch), fits });
}

/// Statistics of eight leaves, and working space for them.
struct Lanes<'a> {
    stats: &'a mut [Lane],
    space: &'a mut [Lane],
}

impl<'a> Lanes<'a> {
    fn new(model: &Discriminant, scratch: &'a mut Vec<Lane>) -> Self {
        scratch.clear();
        scratch.resize(model.stat_len() + space_len(&model.layout), [0.0; LANES]);
        let (stats, space) = scratch.split_at_mut(model.stat_len());
        Self { stats, space }
    }

    #[inline(always)]
    fn bayes_factors(&mut self, model: &Discriminant, rows: &[f64]) -> BayesFactors<LANES> {
        let stat_len = self.stats.len();
        for lane in 0..LANES {
            // Unused lanes repeat the last row.
            let row = lane.min(rows.len() / stat_len - 1);
            for (entry, value) in self.stats.iter_mut().zip(&rows[row * stat_len..(row + 1) * stat_len]) {
                entry[lane] = *value;
            }
        }
        bayes_factors(&model.layout, &model.ridge.squares, self.stats, self.space)
    }
}

struct Evidence<'a> {
    model: &'a Discriminant,
    batch: &'a mut Batch,
    space: &'a mut [Lane],
    out: &'a mut Vec<f64>,
}

impl WithSimd for Evidence<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { model, batch, space, out } = self;
        let layout = &model.layout;
        for (_, stats, n_leaves) in batch.blocks() {
            let (_, ln_mean) = bayes_factors(layout, &model.ridge.squares, stats, space).average(layout.covariance);
            // Rounding may have left a count slightly negative.
            let count = |ix: usize| stats[ix].map(|count| if count > 0.0 { count } else { 0.0 });
            let ln_counts = model.counts.ln_z_lanes(count(N_POINTS), (0..layout.n_classes).map(|class| count(layout.count(class))));
            out.extend((0..n_leaves).map(|lane| ln_counts[lane] + ln_mean[lane]));
        }
    }
}

struct Fits<'a> {
    model: &'a Discriminant,
    rows: &'a [f64],
    lanes: Lanes<'a>,
    fits: &'a mut [DiscriminantFit],
}

impl WithSimd for Fits<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { model, rows, mut lanes, fits } = self;
        let stat_len = model.stat_len();
        for (rows, fits) in rows.chunks(LANES * stat_len).zip(fits.chunks_mut(LANES)) {
            let (weights, _) = lanes.bayes_factors(model, rows).average(model.layout.covariance);
            for (lane, (fit, row)) in fits.iter_mut().zip(rows.chunks(stat_len)).enumerate() {
                fit.model_weights = weights.map(|weight| weight[lane]);
                fit.factor.clear();
                fit.factor.extend(lanes.space.iter().map(|entry| entry[lane]));
                predict::prepare(&model.layout, model.counts.pseudo_count(), row, fit);
            }
        }
    }
}
