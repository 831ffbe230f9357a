//! Functions of eight numbers abreast.
//!
//! Plain loops over arrays: inside a function compiled for a wide instruction set they become vector instructions. Each lane gets the bits
//! that the scalar function would give it, whatever set is used and whatever stands in the other lanes.

use super::elementary::{exp_normal, has_normal_exp, is_normal_positive, ln_normal};
use super::special::{shift_up, stirling};
use super::{exp, ln};

pub const LANES: usize = 8;
pub type Lane = [f64; LANES];

/// `ln` of each lane.
#[inline(always)]
pub fn ln_lanes<const L: usize>(x: [f64; L]) -> [f64; L] {
    // One rare argument sends all eight the slow way, which gives the others the same bits.
    let usual = x.iter().fold(true, |usual, x| usual & is_normal_positive(*x));
    if !usual {
        return x.map(ln);
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
    if !x.iter().fold(true, |usual, x| usual & has_normal_exp(*x)) {
        return x.map(exp);
    }
    let mut out = [0.0; L];
    for lane in 0..L {
        out[lane] = exp_normal(x[lane]);
    }
    out
}

/// `ln Gamma` of each lane, for positive lanes.
#[inline(always)]
pub fn ln_gamma_lanes<const L: usize>(x: [f64; L]) -> [f64; L] {
    let (mut value, product) = ln_gamma_parts_lanes(x);
    let ln_product = ln_lanes(product);
    for lane in 0..L {
        value[lane] -= ln_product[lane];
    }
    value
}

/// `ln Gamma` as `value - ln(product)`: a sum of several needs one logarithm for all their products, which are below 10^10.
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
    }
}
