//! Evidence of many Gaussian leaves at once, in SIMD lanes.
//!
//! Every operation is applied to eight leaves at a time, which compiles to vector instructions; the instruction set is chosen at run time.
//! Lanes do not mix: the result for a leaf is bit-identical whatever the instruction set and the other leaves of the batch.

use pulp::{Arch, WithSimd};

use super::Gaussian;
use crate::leaf::Batch;
use crate::num::cholesky::packed_ix;
use crate::num::lanes::{LANES, Lane, ln_gamma_lanes, ln_lanes};
use crate::num::{LN_2PI, ln, outside};

/// `ln Z` of each leaf of a batch; minus infinity where a pivot is not positive or no degree of freedom is left.
pub fn ln_z_batch(model: &Gaussian, batch: &mut Batch, out: &mut Vec<f64>) {
    Arch::new().dispatch(Kernel { model, batch, out });
}

struct Kernel<'a> {
    model: &'a Gaussian,
    batch: &'a mut Batch,
    out: &'a mut Vec<f64>,
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        // With a constant number of coefficients the loops are unrolled and a small matrix stays in registers.
        match self.model.n_coefficients() {
            1 => self.run(Known::<1, 3>),
            2 => self.run(Known::<2, 6>),
            3 => self.run(Known::<3, 10>),
            4 => self.run(Known::<4, 15>),
            5 => self.run(Known::<5, 21>),
            6 => self.run(Known::<6, 28>),
            m => self.run(Any(m)),
        }
    }
}

impl Kernel<'_> {
    #[inline(always)]
    fn run(self, size: impl Size) {
        let Self { model, batch, out } = self;
        let m = model.n_coefficients();
        let ln_constant = model.prior.ln_constant(m);
        let (df_empty, floor) = (model.prior.df(0.0, m), model.prior.sum_of_squares_floor());
        for (n, stats, n_leaves) in batch.blocks() {
            let Factored { product, ln_scale, residual, supported } = size.factor(stats);
            let mut s = [0.0; LANES];
            let mut half_df = [0.0; LANES];
            let mut rejected = [0.0; LANES];
            for lane in 0..LANES {
                let df = df_empty + n[lane];
                s[lane] = if residual[lane] > floor { residual[lane] } else { floor };
                let good = (df > 0.0) & (s[lane] > 0.0) & (supported[lane] > 0.0);
                rejected[lane] = if good { 0.0 } else { f64::NEG_INFINITY };
                // Rejected lanes continue with harmless numbers.
                half_df[lane] = if df > 0.0 { 0.5 * df } else { 1.0 };
                s[lane] = if s[lane] > 0.0 { 0.5 * s[lane] } else { 1.0 };
            }
            let ln_det = ln_lanes(product);
            let ln_half_s = ln_lanes(s);
            let ln_gamma = ln_gamma_lanes(half_df);
            let mut ln_z = [0.0; LANES];
            for lane in 0..LANES {
                let value = ln_constant - 0.5 * (n[lane] * LN_2PI + ln_det[lane] + ln_scale[lane]) + ln_gamma[lane]
                    - half_df[lane] * ln_half_s[lane];
                ln_z[lane] = if rejected[lane] < 0.0 { f64::NEG_INFINITY } else { value };
            }
            out.extend_from_slice(&ln_z[..n_leaves]);
        }
    }
}

/// The result of a factorisation.
struct Factored {
    /// The product of the pivots, without the factors that were moved to `ln_scale`.
    product: Lane,
    /// Logarithms of factors taken out of the product to avoid overflow.
    ln_scale: Lane,
    /// The Schur complement of the last row.
    residual: Lane,
    /// Zero where a pivot was not positive.
    supported: Lane,
}

/// A matrix size, known at compile time or not.
trait Size {
    fn factor(&self, a: &mut [Lane]) -> Factored;
}

/// `M` coefficients, `LEN` entries.
struct Known<const M: usize, const LEN: usize>;

impl<const M: usize, const LEN: usize> Size for Known<M, LEN> {
    #[inline(always)]
    fn factor(&self, a: &mut [Lane]) -> Factored {
        const { assert!(LEN == (M + 1) * (M + 2) / 2) };
        let mut own: [Lane; LEN] = (&*a).try_into().expect("statistics of this many coefficients");
        factor(&mut own, M)
    }
}

/// Any number of coefficients.
struct Any(usize);

impl Size for Any {
    #[inline(always)]
    fn factor(&self, a: &mut [Lane]) -> Factored {
        factor(a, self.0)
    }
}

/// `L D L'` of the leading `m` rows.
#[inline(always)]
fn factor(a: &mut [Lane], m: usize) -> Factored {
    let mut product = [1.0; LANES];
    let mut ln_scale = [0.0; LANES];
    let mut supported = [1.0; LANES];
    for j in 0..m {
        let pivot_row = packed_ix(j, 0);
        let pivot = a[pivot_row + j];
        let mut inverse = [0.0; LANES];
        let mut is_large = 0;
        for lane in 0..LANES {
            let positive = pivot[lane] > 0.0;
            supported[lane] = if positive { supported[lane] } else { 0.0 };
            // Rejected lanes continue with a harmless pivot.
            let safe = if positive { pivot[lane] } else { 1.0 };
            product[lane] *= safe;
            inverse[lane] = 1.0 / safe;
            is_large |= is_extreme(product[lane]);
        }
        if is_large != 0 {
            move_to_ln_scale(&mut product, &mut ln_scale);
        }
        // Column j holds unscaled entries; subtract their outer product over the pivot from the rest of the matrix.
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
    Factored { product, ln_scale, residual: a[packed_ix(m, m)], supported }
}

#[inline(always)]
fn is_extreme(product: f64) -> u64 {
    outside(product, 1e-200, 1e200)
}

/// Only in the extreme lanes: the rounding of the others must not depend on them.
#[cold]
fn move_to_ln_scale(product: &mut Lane, ln_scale: &mut Lane) {
    for (product, ln_scale) in product.iter_mut().zip(ln_scale).filter(|(product, _)| is_extreme(**product) != 0) {
        *ln_scale += ln(*product);
        *product = 1.0;
    }
}
