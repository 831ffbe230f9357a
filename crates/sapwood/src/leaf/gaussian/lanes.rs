//! Evidence of many Gaussian leaves at once, eight abreast.
//!
//! The same operation is done to eight leaves before the next one, which the compiler turns into vector instructions; the instruction set is
//! chosen when the program runs. Lanes do not mix, and neither the set nor the company a leaf is evaluated in changes a bit of its result.

use pulp::{Arch, WithSimd};

use super::Gaussian;
use crate::leaf::LeafModel;
use crate::num::cholesky::packed_ix;
use crate::num::lanes::{LANES, Lane, ln_gamma_lanes, ln_lanes};
use crate::num::{LN_2PI, ln};

/// `ln Z` of each row of posterior moments; minus infinity where a pivot is not positive or no degree of freedom is left.
pub fn ln_z_rows(model: &Gaussian, rows: &[f64], n: &[f64], scratch: &mut Vec<Lane>, out: &mut [f64]) {
    scratch.clear();
    scratch.resize(model.stat_len(), [0.0; LANES]);
    Arch::new().dispatch(Kernel { model, rows, n, a: scratch, out });
}

struct Kernel<'a> {
    model: &'a Gaussian,
    rows: &'a [f64],
    n: &'a [f64],
    a: &'a mut [Lane],
    out: &'a mut [f64],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { model, rows, n, a, out } = self;
        let stat_len = model.stat_len();
        let m = model.n_coefficients();
        for (at, out) in out.chunks_mut(LANES).enumerate() {
            let first = at * LANES;
            for lane in 0..LANES {
                // Lanes beyond the last row repeat it.
                let row = first + lane.min(out.len() - 1);
                for (entry, value) in a.iter_mut().zip(&rows[row * stat_len..(row + 1) * stat_len]) {
                    entry[lane] = *value;
                }
            }
            let (product, residual, ln_scale, supported) = factor(a, m);
            let n: Lane = std::array::from_fn(|lane| n[first + lane.min(out.len() - 1)]);
            let df = n.map(|n| model.prior.df(n, m));
            let s = residual.map(|residual| residual.max(model.prior.sum_of_squares_floor()));
            let ln_det = ln_lanes(product);
            let ln_half_s = ln_lanes(s.map(|s| 0.5 * s));
            // A lane without a degree of freedom goes on with a harmless one.
            let ln_gamma = ln_gamma_lanes(df.map(|df| if df > 0.0 { 0.5 * df } else { 1.0 }));
            let ln_constant = model.prior.ln_constant(m);
            for (lane, value) in out.iter_mut().enumerate() {
                let ln_z = ln_constant - 0.5 * (n[lane] * LN_2PI + ln_det[lane] + ln_scale[lane]) + ln_gamma[lane]
                    - 0.5 * df[lane] * ln_half_s[lane];
                *value = if supported[lane] && df[lane] > 0.0 && s[lane] > 0.0 { ln_z } else { f64::NEG_INFINITY };
            }
        }
    }
}

/// `L D L'` of the leading `m` rows: the product of the pivots (with logs taken out where it grew too far), the residual of the last row,
/// and whether every pivot was positive.
#[inline(always)]
fn factor(a: &mut [Lane], m: usize) -> (Lane, Lane, Lane, [bool; LANES]) {
    let mut product = [1.0; LANES];
    let mut ln_scale = [0.0; LANES];
    let mut supported = [true; LANES];
    for j in 0..m {
        let pivot_row = packed_ix(j, 0);
        let pivot = a[pivot_row + j];
        let mut inverse = [0.0; LANES];
        for lane in 0..LANES {
            supported[lane] &= pivot[lane] > 0.0;
            // A lane that has failed goes on with a harmless pivot.
            let safe = if pivot[lane] > 0.0 { pivot[lane] } else { 1.0 };
            product[lane] *= safe;
            inverse[lane] = 1.0 / safe;
        }
        let too_far = |p: &f64| !(1e-200..1e200).contains(p);
        if product.iter().any(too_far) {
            // Only in the lanes concerned: the others must not round differently because of them.
            for (product, ln_scale) in product.iter_mut().zip(&mut ln_scale).filter(|(product, _)| too_far(product)) {
                *ln_scale += ln(*product);
                *product = 1.0;
            }
        }
        // Column j holds the unscaled entries; what is below and to the right loses their outer product over the pivot.
        for i in j + 1..=m {
            let row = packed_ix(i, 0);
            let mut factor = a[row + j];
            for lane in 0..LANES {
                factor[lane] *= inverse[lane];
            }
            for k in j + 1..=i {
                let other = a[packed_ix(k, j)];
                let entry = &mut a[row + k];
                for lane in 0..LANES {
                    entry[lane] -= factor[lane] * other[lane];
                }
            }
        }
    }
    (product, a[packed_ix(m, m)], ln_scale, supported)
}
