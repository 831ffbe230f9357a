//! What the evidence of a leaf does not exceed: rough, and several times faster than the evidence.
//!
//! Most splits that are proposed are far from being worth it, and nobody asks how far.

use pulp::{Arch, WithSimd};

use super::Multinomial;
use crate::num::lanes::{LANES, Lane};

type Rough = [f32; LANES];

/// How far a rough `ln Z` may be off, whatever the counts and for each of them: several times what has been seen.
const OFF: f32 = 1e-3;
const OFF_A_COUNT: f32 = 2e-5;

impl Multinomial {
    /// Whether there are ceilings: pseudo-counts far from 1 are beyond what short numbers can tell.
    pub fn has_ceilings(&self) -> bool {
        (1e-3..=1e3).contains(&self.pseudo_count)
    }

    /// What `ln Z` of leaves with counts of `K` classes does not exceed, given eight abreast.
    pub fn ln_z_ceilings<const K: usize>(&self, blocks: &[[Lane; K]], out: &mut Vec<f32>) {
        out.clear();
        Arch::new().dispatch(Ceilings { model: self, blocks, out });
    }

    #[inline(always)]
    fn ln_z_ceiling<const K: usize>(&self, block: &[Lane; K]) -> Rough {
        let constant = (self.ln_gamma_total - K as f64 * self.ln_gamma_count) as f32 + OFF;
        let mut n = [0.0; LANES];
        let mut ln_z = [constant; LANES];
        let mut product = [1.0; LANES];
        for counts in block {
            let x = counts.map(|count| (count + self.pseudo_count) as f32);
            let (value, product_k) = ln_gamma_parts(x);
            for lane in 0..LANES {
                n[lane] += x[lane];
                ln_z[lane] += value[lane];
                product[lane] *= product_k[lane];
            }
        }
        let (value, product_n) = ln_gamma_parts(n);
        for lane in 0..LANES {
            product[lane] = product_n[lane] / product[lane];
        }
        let ln_ratio = ln(product);
        for lane in 0..LANES {
            ln_z[lane] += (ln_ratio[lane] - value[lane]) + OFF_A_COUNT * n[lane];
        }
        // Counts beyond what short numbers can hold have no ceiling.
        ln_z.map(|ln_z| ln_z.min(f32::INFINITY))
    }
}

struct Ceilings<'a, const K: usize> {
    model: &'a Multinomial,
    blocks: &'a [[Lane; K]],
    out: &'a mut Vec<f32>,
}

impl<const K: usize> WithSimd for Ceilings<'_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { model, blocks, out } = self;
        for block in blocks {
            out.extend_from_slice(&model.ln_z_ceiling(block));
        }
    }
}

/// `ln Gamma` as `value - ln(product)`, by Stirling's series with one term and the recurrence below 4.
#[inline(always)]
fn ln_gamma_parts(x: Rough) -> (Rough, Rough) {
    const HALF_LN_2PI: f32 = 0.918_938_5;
    let (mut shifted, mut product) = ([0.0; LANES], [1.0; LANES]);
    for lane in 0..LANES {
        let x = x[lane];
        // Factors of 0 and 1 in place of a choice, for which the compiler would take the lanes apart.
        let low = if x < 4.0 { 1.0 } else { 0.0 };
        let t = x * (x + 3.0);
        shifted[lane] = x + 4.0 * low;
        product[lane] = t * (t + 2.0) * low + (1.0 - low);
    }
    let ln_x = ln(shifted);
    let mut value = [0.0; LANES];
    for lane in 0..LANES {
        let x = shifted[lane];
        value[lane] = (x - 0.5) * ln_x[lane] - x + (HALF_LN_2PI + (1.0 / 12.0) / x);
    }
    (value, product)
}

/// The logarithm of positive numbers within 2e-6: `x = m 2^e` with `m` in [sqrt(1/2), sqrt(2)), and three terms of the series of `2 atanh(s)`
/// with `s = (m - 1)/(m + 1)`.
#[inline(always)]
fn ln(x: Rough) -> Rough {
    const SQRT_HALF: u32 = 0x3F35_04F3;
    const MANTISSA: u32 = (1 << 23) - 1;
    let mut out = [0.0; LANES];
    for lane in 0..LANES {
        let shifted = x[lane].to_bits().wrapping_sub(SQRT_HALF);
        let exponent = (shifted as i32 >> 23) as f32;
        let m = f32::from_bits((shifted & MANTISSA) + SQRT_HALF);
        let s = (m - 1.0) / (m + 1.0);
        let z = s * s;
        out[lane] = exponent * std::f32::consts::LN_2 + (s + s) * (1.0 + z * (1.0 / 3.0 + z * 0.2));
    }
    out
}
