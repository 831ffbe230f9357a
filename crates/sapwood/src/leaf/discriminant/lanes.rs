//! Evidence of many discriminant leaves at once, eight abreast; see the Gaussian leaf's for how.

use pulp::{Arch, WithSimd};

use super::Discriminant;
use super::nested::{Lane, average, bayes_factors, space_len};
use crate::leaf::LeafModel;

const LANES: usize = 8;

/// `ln Z` of each row of statistics.
pub fn ln_evidence_rows(model: &Discriminant, rows: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(Kernel { model, rows, out });
}

struct Kernel<'a> {
    model: &'a Discriminant,
    rows: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { model, rows, out } = self;
        let stat_len = model.stat_len();
        let mut stats: Vec<Lane<LANES>> = vec![[0.0; LANES]; stat_len];
        let mut space: Vec<Lane<LANES>> = vec![[0.0; LANES]; space_len(&model.layout)];
        for (at, out) in out.chunks_mut(LANES).enumerate() {
            let first = at * LANES;
            let row = |lane: usize| &rows[(first + lane) * stat_len..(first + lane + 1) * stat_len];
            for lane in 0..LANES {
                // Lanes beyond the last row repeat it.
                for (entry, value) in stats.iter_mut().zip(row(lane.min(out.len() - 1))) {
                    entry[lane] = *value;
                }
            }
            let factors = bayes_factors(&model.layout, &model.ridge.squares, &stats, &mut space);
            for (lane, value) in out.iter_mut().enumerate() {
                let (_, ln_average) = average(model.layout.covariance, factors.means[lane], factors.covariances[lane]);
                *value = model.ln_counts(row(lane)) + ln_average;
            }
        }
    }
}
