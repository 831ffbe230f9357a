//! Special functions of the leaf models and their predictive distributions.

use super::{LN_2PI, exp, ln};

/// `ln Gamma(x)` for `x > 0`: Stirling's series, with the recurrence below 10. Absolute error below 1e-13 of the larger of 1 and the result.
pub fn ln_gamma(x: f64) -> f64 {
    debug_assert!(x > 0.0);
    let (shifted, product) = shift_up(x);
    stirling(shifted, ln(shifted)) - ln(product)
}

/// `(x + 8, x (x+1) ... (x+7))` below 10, otherwise `(x, 1)`. The factors pair up: with `t = x (x+7)` the pairs are `t`, `t + 6`, `t + 10`
/// and `t + 12`.
#[inline(always)]
pub(super) fn shift_up(x: f64) -> (f64, f64) {
    // Rounding may have left a count slightly negative.
    let x = if x > f64::MIN_POSITIVE { x } else { f64::MIN_POSITIVE };
    let t = x * (x + 7.0);
    let product = (t * (t + 6.0)) * ((t + 10.0) * (t + 12.0));
    let shifted = x + 8.0;
    // Two selects between computed values instead of one `if` around the computation, which would compile to scalar branches.
    (if x < 10.0 { shifted } else { x }, if x < 10.0 { product } else { 1.0 })
}

/// `ln Gamma(x)` for `x >= 8`. Stirling's series is replaced by a minimax polynomial with five terms (Remez), error below 4e-16.
#[inline(always)]
pub(super) fn stirling(x: f64, ln_x: f64) -> f64 {
    let r = 1.0 / x;
    let r2 = r * r;
    let r4 = r2 * r2;
    let low = 0.083_333_333_333_330_33 - r2 * 0.002_777_777_768_061_094;
    let high = 0.000_793_645_763_553_823_5 - r2 * 0.000_594_322_440_998_593_6 + r4 * 0.000_772_806_468_281_920_1;
    let series = r * (low + r4 * high);
    (x - 0.5) * ln_x - x + 0.5 * LN_2PI + series
}

/// Standard normal density.
pub fn normal_pdf(x: f64) -> f64 {
    exp(-0.5 * x * x - 0.5 * LN_2PI)
}

/// Standard normal distribution function.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Standard normal quantile: a rational approximation, refined by three Halley steps.
pub fn normal_quantile(q: f64) -> f64 {
    if q <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if q >= 1.0 {
        return f64::INFINITY;
    }
    let tail = q.min(1.0 - q);
    let t = (-2.0 * ln(tail)).sqrt();
    // Abramowitz & Stegun 26.2.23, accurate to 4.5e-4: a starting value.
    let mut z = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for _ in 0..3 {
        let error = 0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2) - tail;
        let step = error / normal_pdf(z);
        z += step / (1.0 - 0.5 * z * step);
    }
    if q < 0.5 { -z } else { z }
}

/// Regularised incomplete beta function `I_x(a, b)` by Lentz's continued fraction; `y = 1 - x` is passed too, so that neither loses
/// precision where the other is near 1.
fn incomplete_beta(a: f64, b: f64, x: f64, y: f64, ln_beta: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let front = exp(a * ln(x) + b * ln(y) - ln_beta);
    if x < (a + 1.0) / (a + b + 2.0) { front * beta_fraction(a, b, x) / a } else { 1.0 - front * beta_fraction(b, a, y) / b }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nudge = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nudge(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    for m in 1..500 {
        let m = f64::from(m);
        for numerator in
            [m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)), -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))]
        {
            d = 1.0 / nudge(1.0 + numerator * d);
            c = nudge(1.0 + numerator / c);
            result *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

/// From this many degrees of freedom on, Hill's expansion of the Student-t is accurate to 1e-12 and several times as fast as the continued
/// fraction.
const HILL_DF: f64 = 30.0;

/// Student-t distribution function with `df > 0` degrees of freedom.
pub fn student_t_cdf(t: f64, df: f64) -> f64 {
    /// Squares beyond this overflow; the tail is zero there.
    const FAR: f64 = 1e150;
    if t.abs() > FAR {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    if df >= HILL_DF {
        return normal_cdf(student_t_to_normal(t, df));
    }
    let square = df + t * t;
    // Where `t` dwarfs the degrees of freedom, or they dwarf it, rounding may lead out of the range.
    let tail = (0.5 * incomplete_beta(0.5 * df, 0.5, df / square, t * t / square, ln_beta_half(df))).clamp(0.0, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// `ln B(1/2, df/2)`.
fn ln_beta_half(df: f64) -> f64 {
    ln_gamma(0.5) + ln_gamma(0.5 * df) - ln_gamma(0.5 * df + 0.5)
}

/// The normal deviate with the same tail probability as `t` (Hill 1970, algorithm 395).
fn student_t_to_normal(t: f64, df: f64) -> f64 {
    let a = df - 0.5;
    let b = 48.0 * a * a;
    let z2 = a * libm::log1p(t * t / df);
    let z = z2.sqrt();
    let correction = (((-0.4 * z2 - 3.3) * z2 - 24.0) * z2 - 85.5) / (0.8 * z2 * z2 + 100.0 + b);
    let value = z + ((correction + z2 + 3.0) / b) * z;
    if t < 0.0 { -value } else { value }
}

/// `ln` of the normalising constant of the standard Student-t density: `lnG((df+1)/2) - lnG(df/2) - ln(pi df)/2`.
pub fn student_t_ln_norm(df: f64) -> f64 {
    ln_gamma(0.5 * df + 0.5) - ln_gamma(0.5 * df) - 0.5 * ln(std::f64::consts::PI * df)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_gamma_agrees_with_the_reference_library() {
        for i in 1..4000 {
            let x = 1e-3 * f64::from(i) * f64::from(i);
            let (want, got) = (libm::lgamma(x), ln_gamma(x));
            assert!((got - want).abs() < 1e-13 * want.abs().max(1.0), "{x}: {got} {want}");
        }
        assert!((ln_gamma(1e-200) - 200.0 * std::f64::consts::LN_10).abs() < 1e-9);
    }

    /// Closed forms: df = 1 is Cauchy, df = 2 and df = 4 are algebraic.
    #[test]
    fn student_t_cdf_closed_forms() {
        for i in -200..=200 {
            let t = 0.05 * f64::from(i) * (1.0 + 0.01 * f64::from(i * i));
            let cauchy = 0.5 + libm::atan(t) / std::f64::consts::PI;
            assert!((student_t_cdf(t, 1.0) - cauchy).abs() < 1e-13, "{t}");
            let two = 0.5 + t / (2.0 * (2.0 + t * t).sqrt());
            assert!((student_t_cdf(t, 2.0) - two).abs() < 1e-13, "{t}");
            let s = t / (4.0 + t * t).sqrt();
            let four = 0.5 + 0.75 * (s - s * s * s / 3.0);
            assert!((student_t_cdf(t, 4.0) - four).abs() < 1e-13, "{t}");
        }
    }

    #[test]
    fn student_t_cdf_is_continuous_where_methods_meet() {
        for t in [-8.0, -3.0, -1.0, -0.1, 0.4, 2.0, 6.0] {
            let below = student_t_cdf(t, HILL_DF * (1.0 - 1e-12));
            let above = student_t_cdf(t, HILL_DF);
            // The error of the expansion at 30 degrees of freedom: 1e-12 in the centre, 1e-6 relative to a far tail.
            assert!((below - above).abs() < 2e-12 && (below / above - 1.0).abs() < 1e-6, "{t}: {below} {above}");
        }
    }

    #[test]
    fn normal_quantile_inverts_the_cdf() {
        for i in 1..1000 {
            let q = f64::from(i) / 1000.0;
            assert!((normal_cdf(normal_quantile(q)) - q).abs() < 1e-14);
        }
        assert!((normal_quantile(1e-12) + 7.034_483_825).abs() < 1e-8);
    }
}
