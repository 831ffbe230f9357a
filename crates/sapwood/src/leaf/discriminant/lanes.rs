//! Evidence of many discriminant leaves at once, eight abreast; see the Gaussian leaf's for how.

use pulp::{Arch, WithSimd};

use super::Discriminant;
use super::nested::{average, bayes_factors, space_len};
use crate::leaf::LeafModel;
use crate::num::lanes::{LANES, Lane};

/// `ln Z` of each row of statistics.
pub fn ln_z_rows(model: &Discriminant, rows: &[f64], out: &mut [f64]) {
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
        let layout = &model.layout;
        let stat_len = model.stat_len();
        let mut stats: Vec<Lane> = vec![[0.0; LANES]; stat_len];
        let mut space: Vec<Lane> = vec![[0.0; LANES]; space_len(layout)];
        for (at, out) in out.chunks_mut(LANES).enumerate() {
            for lane in 0..LANES {
                // Lanes beyond the last row repeat it.
                let row = at * LANES + lane.min(out.len() - 1);
                for (entry, value) in stats.iter_mut().zip(&rows[row * stat_len..(row + 1) * stat_len]) {
                    entry[lane] = *value;
                }
            }
            // Rounding may have brought a count just below zero.
            let count = |ix: usize| stats[ix].map(|count| count.max(0.0));
            let ln_counts = model.counts.ln_z_lanes(count(0), (0..layout.n_classes).map(|class| count(layout.count(class))));
            let factors = bayes_factors(layout, &model.ridge.squares, &stats, &mut space);
            for (lane, value) in out.iter_mut().enumerate() {
                *value = ln_counts[lane] + average(layout.covariance, factors.means[lane], factors.covariances[lane]).1;
            }
        }
    }
}
