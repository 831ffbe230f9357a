//! Active learning Cohn: the predictive variance that a point removes from the box of its leaf, for all points of a leaf, in SIMD lanes.
//!
//! With `z = [1, x]` about the origin and `g = G*^-1 z`, the score is `V / (1 + z'g) * integral over the box of ([1, u]'g)^2 du`: the mean
//! square of a linear function over a box is its squared value at the centre plus `sum g_i^2 side_i^2 / 12`.

use pulp::{Arch, WithSimd};

use super::{Gaussian, GaussianFit};
use crate::leaf::{Bounds, EncodedPoints};
use crate::num::cholesky::packed_ix;
use crate::num::lanes::{LANES, Lane};

pub fn scores(model: &Gaussian, fit: &GaussianFit, origin: &[f64], bounds: &Bounds, points: EncodedPoints, out: &mut Vec<f64>) {
    Arch::new().dispatch(Kernel { model, fit, origin, bounds, points, out });
}

struct Kernel<'a> {
    model: &'a Gaussian,
    fit: &'a GaussianFit,
    origin: &'a [f64],
    bounds: &'a Bounds,
    points: EncodedPoints<'a>,
    out: &'a mut Vec<f64>,
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        // With a constant number of coefficients the loops are unrolled and the lanes stay in registers.
        match self.model.n_coefficients() {
            1 => self.run(&mut [[0.0; LANES]; 1]),
            2 => self.run(&mut [[0.0; LANES]; 2]),
            3 => self.run(&mut [[0.0; LANES]; 3]),
            4 => self.run(&mut [[0.0; LANES]; 4]),
            5 => self.run(&mut [[0.0; LANES]; 5]),
            6 => self.run(&mut [[0.0; LANES]; 6]),
            m @ 7..=32 => self.run(&mut [[0.0; LANES]; 32][..m]),
            m => self.run(&mut vec![[0.0; LANES]; m]),
        }
    }
}

impl Kernel<'_> {
    /// `g` has one entry per coefficient.
    #[inline(always)]
    fn run(self, g: &mut [Lane]) {
        let Self { model: _, fit, origin, bounds: Bounds { lower, upper, volume }, points, out } = self;
        let m = g.len();
        // With two or fewer degrees of freedom the variance does not exist; the squared scale replaces it.
        let variance = fit.sum_of_squares / if fit.df > 2.0 { fit.df - 2.0 } else { fit.df };
        let factor = &fit.factor[..packed_ix(m, 0)];
        for chunk in points.chunks(LANES) {
            let n_points = chunk.len();
            g[0] = [1.0; LANES];
            for (lane, point) in chunk.enumerate() {
                for (i, (value, origin)) in point[..m - 1].iter().zip(origin).enumerate() {
                    g[i + 1][lane] = value - origin;
                }
            }
            let leverage = solve(factor, g);
            let mut centre = g[0];
            let mut spread = [0.0; LANES];
            for i in 0..m - 1 {
                let middle = 0.5 * (lower[i] + upper[i]) - origin[i];
                let square = (upper[i] - lower[i]) * (upper[i] - lower[i]) / 12.0;
                for lane in 0..LANES {
                    centre[lane] += g[i + 1][lane] * middle;
                    spread[lane] += g[i + 1][lane] * g[i + 1][lane] * square;
                }
            }
            let mut scores = [0.0; LANES];
            for lane in 0..LANES {
                scores[lane] = variance / (1.0 + leverage[lane]) * volume * (centre[lane] * centre[lane] + spread[lane]);
            }
            out.extend_from_slice(&scores[..n_points]);
        }
    }
}

/// `z <- (L L')^-1 z`, and `z' (L L')^-1 z`.
#[inline(always)]
fn solve(factor: &[f64], z: &mut [Lane]) -> Lane {
    let m = z.len();
    let mut leverage = [0.0; LANES];
    for i in 0..m {
        let mut value = z[i];
        for j in 0..i {
            let l = factor[packed_ix(i, j)];
            for lane in 0..LANES {
                value[lane] -= l * z[j][lane];
            }
        }
        let inverse = 1.0 / factor[packed_ix(i, i)];
        for lane in 0..LANES {
            value[lane] *= inverse;
            leverage[lane] += value[lane] * value[lane];
        }
        z[i] = value;
    }
    for i in (0..m).rev() {
        let inverse = 1.0 / factor[packed_ix(i, i)];
        let value = z[i].map(|value| value * inverse);
        z[i] = value;
        for j in 0..i {
            let l = factor[packed_ix(i, j)];
            for lane in 0..LANES {
                z[j][lane] -= l * value[lane];
            }
        }
    }
    leverage
}
