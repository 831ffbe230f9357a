//! Cholesky factors of small symmetric matrices in packed row-major lower triangles: entry (i, j), j <= i, is at `i (i+1)/2 + j`.

/// Position of entry (i, j), `j <= i`.
#[inline]
pub const fn packed_ix(i: usize, j: usize) -> usize {
    i * (i + 1) / 2 + j
}

/// Number of entries of a packed triangle of order `d`.
#[inline]
pub const fn packed_len(d: usize) -> usize {
    d * (d + 1) / 2
}

/// Factor the leading `m` rows in place and forward-solve the remaining rows, leaving the Schur complement of the last `d - m` rows on
/// their own entries. For an augmented moment matrix (`d = m + 1`) the last diagonal entry becomes the residual sum of squares.
///
/// Returns false, with the contents unspecified, if one of the first `m` pivots is not positive.
pub fn factor_leading(a: &mut [f64], d: usize, m: usize) -> bool {
    for i in 0..d {
        let row = packed_ix(i, 0);
        for j in 0..=i {
            let other = packed_ix(j, 0);
            let n_terms = j.min(m);
            let mut sum = a[row + j];
            for k in 0..n_terms {
                sum -= a[row + k] * a[other + k];
            }
            if j >= m {
                a[row + j] = sum;
            } else if i == j {
                if sum.is_nan() || sum <= 0.0 {
                    return false;
                }
                a[row + j] = sum.sqrt();
            } else {
                a[row + j] = sum / a[other + j];
            }
        }
    }
    true
}

/// Solve `L v = b` in place for the leading `b.len()` rows of a factor.
#[inline]
pub fn forward_solve(l: &[f64], b: &mut [f64]) {
    for i in 0..b.len() {
        let row = packed_ix(i, 0);
        let mut sum = b[i];
        for (lij, bj) in l[row..row + i].iter().zip(b.iter()) {
            sum -= lij * bj;
        }
        b[i] = sum / l[row + i];
    }
}

/// Solve `L' v = b` in place.
#[inline]
pub fn backward_solve(l: &[f64], b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        b[i] /= l[packed_ix(i, i)];
        let bi = b[i];
        for j in 0..i {
            b[j] -= l[packed_ix(i, j)] * bi;
        }
    }
}

/// `ln |A|` from the first `m` pivots of its factor. Pivots are multiplied in groups small enough not to overflow.
pub fn ln_det(l: &[f64], m: usize) -> f64 {
    let mut total = 0.0;
    let mut product = 1.0;
    for i in 0..m {
        product *= l[packed_ix(i, i)];
        if !(1e-100..=1e100).contains(&product) {
            total += super::ln(product);
            product = 1.0;
        }
    }
    2.0 * (total + super::ln(product))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Vec<f64>, usize) {
        // X'X for a small design with an intercept, two inputs and a target.
        let rows = [[1.0, 0.5, -1.0, 2.0], [1.0, 1.5, 0.25, 1.0], [1.0, -2.0, 3.0, 0.0], [1.0, 0.0, 1.0, -1.0], [1.0, 4.0, 2.0, 5.0]];
        let d = 4;
        let mut a = vec![0.0; packed_len(d)];
        for r in rows {
            for i in 0..d {
                for j in 0..=i {
                    a[packed_ix(i, j)] += r[i] * r[j];
                }
            }
        }
        (a, d)
    }

    #[test]
    fn factor_gives_residual_and_determinant() {
        let (a, d) = example();
        let mut l = a.clone();
        assert!(factor_leading(&mut l, d, d - 1));
        // The residual is the ratio of determinants |A_4| / |A_3|.
        let mut full = a.clone();
        assert!(factor_leading(&mut full, d, d));
        let ratio = crate::num::exp(ln_det(&full, d) - ln_det(&full, d - 1));
        assert!((l[packed_ix(3, 3)] / ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn solves_invert_the_matrix() {
        let (a, _) = example();
        let mut l = a.clone();
        assert!(factor_leading(&mut l, 3, 3));
        let mut v = vec![1.0, -2.0, 0.5];
        forward_solve(&l, &mut v);
        backward_solve(&l, &mut v);
        for i in 0..3 {
            let got: f64 = (0..3).map(|j| a[packed_ix(i.max(j), i.min(j))] * v[j]).sum();
            assert!((got - [1.0, -2.0, 0.5][i]).abs() < 1e-12);
        }
    }

    #[test]
    fn indefinite_matrices_are_refused() {
        let mut a = vec![1.0, 2.0, 1.0];
        assert!(!factor_leading(&mut a, 2, 2));
        let mut nan = vec![f64::NAN];
        assert!(!factor_leading(&mut nan, 1, 1));
    }

    #[test]
    fn determinants_do_not_overflow() {
        let d = 60;
        let mut l = vec![0.0; packed_len(d)];
        for i in 0..d {
            l[packed_ix(i, i)] = if i % 2 == 0 { 1e80 } else { 1e-90 };
        }
        assert!((ln_det(&l, d) - 2.0 * 30.0 * -10.0 * std::f64::consts::LN_10).abs() < 1e-6);
    }
}
