//! Logarithm and exponential: bit-identical on every platform, inlined, and branch-free in the common case, so that loops over them
//! vectorise. Rare arguments (zero, subnormal, infinite, NaN, overflowing) are passed to `libm`.

/// ln 2 as a sum of two parts; the product of the first with a small integer is exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

const MANTISSA: u64 = (1 << 52) - 1;
const ONE: u64 = 1023 << 52;

/// Natural logarithm, within two units in the last place.
#[inline]
pub fn ln(x: f64) -> f64 {
    if has_rare_ln(x) == 0 { ln_normal(x) } else { libm::log(x) }
}

/// Zero if [`ln_normal`] applies.
#[inline(always)]
pub(super) fn has_rare_ln(x: f64) -> u64 {
    outside(x, f64::MIN_POSITIVE, f64::INFINITY)
}

/// One if `x` is outside `[low, high)`, both positive, else zero. Positive floats are ordered like their bits, and the sign bit of the
/// difference gives the result without a comparison, so that results for many numbers can be combined branchlessly.
#[inline(always)]
pub(crate) fn outside(x: f64, low: f64, high: f64) -> u64 {
    let above_low = x.to_bits().wrapping_sub(low.to_bits());
    let below_high = (high.to_bits() - low.to_bits() - 1).wrapping_sub(above_low);
    (above_low | below_high) >> 63
}

/// `x = m 2^e` with `m` in [sqrt(1/2), sqrt(2)), and `ln m = 2 atanh(s)` with `s = (m - 1)/(m + 1)`, `s^2 < 0.0295`.
#[inline(always)]
pub(crate) fn ln_normal(x: f64) -> f64 {
    // Subtracting the bits of sqrt(1/2) puts the boundary between exponents there.
    const SQRT_HALF: u64 = 0x3FE6_A09E_667F_3BCD;
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF);
    // The biased exponent goes into the low bits of 2^52 + 1024 + exponent: AVX2 can neither shift signed 64-bit lanes arithmetically nor
    // convert them to floats.
    const BIASED: u64 = 1024 << 52;
    const LOW_BITS: f64 = (1u64 << 52) as f64;
    let exponent = f64::from_bits(shifted.wrapping_add(BIASED) >> 52 | LOW_BITS.to_bits()) - (LOW_BITS + 1024.0);
    let m = f64::from_bits((shifted & MANTISSA).wrapping_add(SQRT_HALF));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    // atanh(s)/s - 1 = z/3 + z^2/5 + ...; minimax polynomial with seven terms (Remez), error below 5e-18.
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = (0.333_333_333_333_333_5 + z * 0.199_999_999_999_492_56) + z2 * (0.142_857_143_131_854_63 + z * 0.111_111_055_387_103_5);
    let high = (0.090_914_464_429_240_77 + z * 0.076_658_040_107_585_81) + z2 * 0.073_088_679_641_817_24;
    let tail = z * (low + z4 * high);
    let twice = s + s;
    exponent * LN_2_HIGH + (twice + (twice * tail + exponent * LN_2_LOW))
}

/// Exponential, within two units in the last place.
#[inline]
pub fn exp(x: f64) -> f64 {
    if has_rare_exp(x) == 0 { exp_normal(x) } else { libm::exp(x) }
}

/// Zero if [`exp_normal`] applies.
#[inline(always)]
pub(super) fn has_rare_exp(x: f64) -> u64 {
    const LARGEST: u64 = 708.0f64.to_bits();
    LARGEST.wrapping_sub(x.abs().to_bits()) >> 63
}

/// `exp(x) = 2^k exp(r)` with `|r| <= ln(2)/2`; with fourteen terms of the series the error is below 1e-17.
#[inline(always)]
pub(crate) fn exp_normal(x: f64) -> f64 {
    // Adding and subtracting 1.5 * 2^52 rounds to an integer, which is left in the low bits of the sum.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    let r2 = r * r;
    let r4 = r2 * r2;
    let a = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0));
    let b = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40_320.0 + r * (1.0 / 362_880.0));
    let c = (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0)) + r2 * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0));
    let series = 1.0 + (r + r2 * (a + r4 * (b + r4 * c)));
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(ONE));
    series * power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place.
    fn ulps(a: f64, b: f64) -> i64 {
        (a.to_bits() as i64 - b.to_bits() as i64).abs()
    }

    #[test]
    fn ln_agrees_with_the_library() {
        let mut x = 1e-300;
        while x < 1e300 {
            assert!(ulps(ln(x), libm::log(x)) <= 2, "{x}");
            x *= 1.000_37;
        }
        for i in 1..20_000 {
            let x = 1.0 + (f64::from(i) - 10_000.0) * 1e-6;
            // Near 1 the exponent contributes nothing, so the roundings of the quotient and of the sum show in full.
            assert!(ulps(ln(x), libm::log(x)) <= 2, "{x}");
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan());
        assert_eq!(ln(5e-324), libm::log(5e-324));
    }

    #[test]
    fn exp_agrees_with_the_library() {
        for i in -70_900..70_900 {
            let x = 0.01 * f64::from(i);
            if x > -708.0 {
                assert!(ulps(exp(x), libm::exp(x)) <= 2, "{x}");
            }
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(800.0), f64::INFINITY);
        assert!(exp(f64::NAN).is_nan());
        assert_eq!(exp(-740.0), libm::exp(-740.0));
    }
}
