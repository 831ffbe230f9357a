//! Plain dense linear algebra for symmetric positive definite matrices.

/// A square matrix as a list of rows.
pub type Matrix = Vec<Vec<f64>>;

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(u, v)| u * v).sum()
}

pub fn times(matrix: &Matrix, vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

/// The lower factor `C` with `C C' = matrix`, or `None` when the matrix is not positive definite.
pub fn cholesky(matrix: &Matrix) -> Option<Matrix> {
    let n = matrix.len();
    let mut factor = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let rest = matrix[i][j] - dot(&factor[i][..j], &factor[j][..j]);
            if i == j {
                if rest <= matrix[i][i].abs() * f64::EPSILON {
                    return None;
                }
                factor[i][i] = rest.sqrt();
            } else {
                factor[i][j] = rest / factor[j][j];
            }
        }
    }
    Some(factor)
}

/// Solves `C C' x = right`.
pub fn solve(factor: &Matrix, right: &[f64]) -> Vec<f64> {
    let forward = solve_lower(factor, right);
    solve_upper(factor, &forward)
}

/// Solves `C x = right`.
pub fn solve_lower(factor: &Matrix, right: &[f64]) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(right.len());
    for (i, value) in right.iter().enumerate() {
        x.push((value - dot(&factor[i][..i], &x)) / factor[i][i]);
    }
    x
}

/// Solves `C' x = right`.
pub fn solve_upper(factor: &Matrix, right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut x = right.to_vec();
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= factor[j][i] * x[j];
        }
        x[i] /= factor[i][i];
    }
    x
}

/// `ln |C C'|`.
pub fn ln_det(factor: &Matrix) -> f64 {
    factor.iter().enumerate().map(|(i, row)| 2.0 * row[i].ln()).sum()
}
