//! Numerical building blocks: portable special functions, packed Cholesky factors, sums in log space.

pub mod cholesky;
mod elementary;
pub mod lanes;
pub(crate) mod short;
pub mod special;

pub const LN_2PI: f64 = 1.837_877_066_409_345_5;

pub use elementary::{exp, ln};
pub(crate) use elementary::{exp_normal, ln_normal, outside};

/// `ln sum exp(x_i)`; minus infinity for an empty or all-minus-infinity input.
pub fn ln_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let max = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        return max;
    }
    max + ln(values.map(|v| exp(v - max)).sum())
}

/// Whether two slices are equal bit by bit; NaN equals itself.
#[inline]
pub fn same_bits(a: &[f64], b: &[f64]) -> bool {
    std::ptr::eq(a, b) || (a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_sum_exp_handles_extremes() {
        assert_eq!(ln_sum_exp([].into_iter()), f64::NEG_INFINITY);
        assert_eq!(ln_sum_exp([f64::NEG_INFINITY; 3].into_iter()), f64::NEG_INFINITY);
        let x = ln_sum_exp([-1e6, -1e6].into_iter());
        assert!((x + 1e6 - std::f64::consts::LN_2).abs() < 1e-9);
    }
}
