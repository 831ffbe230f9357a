//! A Gaussian leaf written out from its definition with full matrices; it shares nothing with the packed factors.

use super::*;

/// Inverse and `ln |A|` by Gauss-Jordan elimination on a full matrix.
pub(super) fn invert(mut a: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
    let n = a.len();
    let mut ln_det = 0.0;
    let mut inverse: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for i in 0..n {
        let pivot = a[i][i];
        ln_det += pivot.ln();
        for k in 0..n {
            a[i][k] /= pivot;
            inverse[i][k] /= pivot;
        }
        for row in (0..n).filter(|row| *row != i) {
            let factor = a[row][i];
            for k in 0..n {
                a[row][k] -= factor * a[i][k];
                inverse[row][k] -= factor * inverse[i][k];
            }
        }
    }
    (inverse, ln_det)
}

/// `(beta, G*^-1, S, df, ln Z)` by their definitions, from the points themselves.
pub(super) struct Dense {
    pub(super) beta: Vec<f64>,
    pub(super) inverse: Vec<Vec<f64>>,
    pub(super) s: f64,
    pub(super) df: f64,
    pub(super) ln_z: f64,
}

pub(super) fn dense(points: &[Vec<f64>], prior: Option<&FixedPrior>) -> Dense {
    let m = points[0].len();
    let mut gram = vec![vec![0.0; m]; m];
    let mut b = vec![0.0; m];
    let mut q = 0.0;
    for point in points {
        let z: Vec<f64> = [1.0].iter().chain(&point[..m - 1]).copied().collect();
        for i in 0..m {
            (0..m).for_each(|j| gram[i][j] += z[i] * z[j]);
            b[i] += z[i] * point[m - 1];
        }
        q += point[m - 1] * point[m - 1];
    }
    let n = points.len() as f64;
    let ln_2pi = std::f64::consts::TAU.ln();
    let (mut df, mut constant, mut noise) = (n - m as f64, -0.5 * (n - m as f64) * ln_2pi, 0.0);
    if let Some(FixedPrior { precision, mean, nu0, s0 }) = prior {
        let l0: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| precision[packed_ix(i.max(j), i.min(j))]).collect()).collect();
        for i in 0..m {
            let pull: f64 = (0..m).map(|j| l0[i][j] * mean[j]).sum();
            b[i] += pull;
            q += mean[i] * pull;
            (0..m).for_each(|j| gram[i][j] += l0[i][j]);
        }
        noise = nu0 * s0;
        df = nu0 + n;
        constant = -0.5 * n * ln_2pi + 0.5 * invert(l0).1 - libm::lgamma(0.5 * nu0) + 0.5 * nu0 * (0.5 * noise).ln();
    }
    let (inverse, ln_det) = invert(gram);
    let beta: Vec<f64> = inverse.iter().map(|row| row.iter().zip(&b).map(|(a, b)| a * b).sum()).collect();
    let s = noise + q - beta.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>();
    let ln_z = constant - 0.5 * ln_det + libm::lgamma(0.5 * df) - 0.5 * df * (0.5 * s).ln();
    Dense { beta, inverse, s, df, ln_z }
}
