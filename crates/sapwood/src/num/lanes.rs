//! Elementary functions in SIMD lanes.
//!
//! Plain loops over arrays, which compile to vector instructions inside functions that are compiled for a wide instruction set. Each lane
//! gets exactly the result of the scalar function, whatever the instruction set and the other lanes.

use pulp::{Arch, WithSimd};

use super::elementary::{exp_normal, has_rare_exp, has_rare_ln, ln_normal};
use super::special::{shift_up, stirling};
use super::{exp, ln};

pub const LANES: usize = 8;
pub type Lane = [f64; LANES];

/// Cold path for rare arguments; not inlined, to keep the hot path short.
#[cold]
#[inline(never)]
fn one_by_one<const L: usize>(x: [f64; L], f: impl Fn(f64) -> f64) -> [f64; L] {
    x.map(f)
}

/// `ln` of each lane.
#[inline(always)]
pub fn ln_lanes<const L: usize>(x: [f64; L]) -> [f64; L] {
    // One rare argument sends all lanes down the cold path, which gives the same bits.
    if x.iter().fold(0, |rare, x| rare | has_rare_ln(*x)) != 0 {
        return one_by_one(x, ln);
    }
    let mut out = [0.0; L];
    for lane in 0..L {
        out[lane] = ln_normal(x[lane]);
    }
    out
}

/// `exp` of each lane.
#[inline(always)]
pub fn exp_lanes<const L: usize>(x: [f64; L]) -> [f64; L] {
    /// `exp` underflows to zero below this.
    const UNDERFLOW: f64 = -746.0;
    // Weights that underflow are common and must not take the cold path.
    let mut usual = [0.0; L];
    for lane in 0..L {
        usual[lane] = if x[lane] < UNDERFLOW { 0.0 } else { x[lane] };
    }
    if usual.iter().fold(0, |rare, x| rare | has_rare_exp(*x)) != 0 {
        return one_by_one(x, exp);
    }
    let mut out = [0.0; L];
    for lane in 0..L {
        let value = exp_normal(usual[lane]);
        out[lane] = if x[lane] < UNDERFLOW { 0.0 } else { value };
    }
    out
}

/// Replace every number by its `exp`.
pub fn exp_all(x: &mut [f64]) {
    struct Kernel<'a>(&'a mut [f64]);

    impl WithSimd for Kernel<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _simd: S) {
            let (whole, rest) = self.0.as_chunks_mut::<LANES>();
            for chunk in whole {
                *chunk = exp_lanes(*chunk);
            }
            rest.iter_mut().for_each(|x| *x = exp(*x));
        }
    }

    Arch::new().dispatch(Kernel(x));
}

/// `ln Gamma` of each lane, for positive arguments.
#[inline(always)]
pub fn ln_gamma_lanes<const L: usize>(x: [f64; L]) -> [f64; L] {
    let (mut value, product) = ln_gamma_parts_lanes(x);
    let ln_product = ln_lanes(product);
    for lane in 0..L {
        value[lane] -= ln_product[lane];
    }
    value
}

/// `ln Gamma` as `value - ln(product)`, so that a sum of several needs only one logarithm. Products are below 10^10.
#[inline(always)]
pub fn ln_gamma_parts_lanes<const L: usize>(x: [f64; L]) -> ([f64; L], [f64; L]) {
    let mut product = [1.0; L];
    let mut shifted = [0.0; L];
    for lane in 0..L {
        (shifted[lane], product[lane]) = shift_up(x[lane]);
    }
    let ln_x = ln_lanes(shifted);
    let mut value = [0.0; L];
    for lane in 0..L {
        value[lane] = stirling(shifted[lane], ln_x[lane]);
    }
    (value, product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::ln_gamma;

    #[test]
    fn lanes_have_the_bits_of_the_scalar_functions() {
        let mixed = [1e-300, 0.3, 1.0, 9.999, 10.0, 57.25, 1e9, f64::MIN_POSITIVE / 2.0];
        let even = [0.5, 1.5, 2.5, 3.5, 12.0, 100.0, 1e5, 4.0];
        for x in [mixed, even] {
            assert_eq!(exp_lanes(x).map(f64::to_bits), x.map(|x| exp(x).to_bits()));
            assert_eq!(ln_lanes(x).map(f64::to_bits), x.map(|x| ln(x).to_bits()));
            assert_eq!(ln_gamma_lanes(x).map(f64::to_bits), x.map(|x| ln_gamma(x).to_bits()));
        }
        let vanishing = [-1.0, f64::NEG_INFINITY, -700.0, -746.1, -1e300, 0.0, -800.0, -3.0];
        let subnormal = [-1.0, f64::NEG_INFINITY, -745.0, -746.1, -720.0, 0.0, f64::NAN, 720.0];
        for x in [vanishing, subnormal] {
            assert_eq!(exp_lanes(x).map(f64::to_bits), x.map(|x| exp(x).to_bits()));
            let mut list = [x, x].concat();
            list.push(1.5);
            exp_all(&mut list);
            assert!(list.iter().zip([x, x].as_flattened().iter().chain([&1.5])).all(|(got, x)| got.to_bits() == exp(*x).to_bits()));
        }
    }
}
