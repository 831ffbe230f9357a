//! The two special functions the reference needs.

use std::f64::consts::PI;

/// `ln Gamma(x)` for `x > 0`: Stirling's series at `x + k >= 8`, shifted back by `Gamma(x+1) = x Gamma(x)`.
///
/// At 8 the first omitted term of the series is below 1e-15.
pub fn ln_gamma(x: f64) -> f64 {
    assert!(x > 0.0, "ln_gamma({x}): the argument must be positive");
    let mut shifted = x;
    let mut product = 1.0;
    while shifted < 8.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let inverse2 = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - inverse2
                * (1.0 / 360.0
                    - inverse2
                        * (1.0 / 1260.0
                            - inverse2 * (1.0 / 1680.0 - inverse2 * (1.0 / 1188.0 - inverse2 * (691.0 / 360_360.0 - inverse2 / 156.0))))));
    (shifted - 0.5) * shifted.ln() - shifted + 0.5 * (2.0 * PI).ln() + series - product.ln()
}

/// `ln sum exp`, without overflow; minus infinity for an empty sum.
pub fn ln_sum_exp(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + logs.iter().map(|value| (value - largest).exp()).sum::<f64>().ln()
}

/// Probabilities in proportion to `exp(logs)`.
pub fn softmax(logs: &[f64]) -> Vec<f64> {
    let ln_total = ln_sum_exp(logs);
    logs.iter().map(|value| (value - ln_total).exp()).collect()
}
