//! Posteriors of many Gaussian leaves at once in SIMD lanes; see [`super::lanes`].

use pulp::{Arch, WithSimd};

use super::{Gaussian, GaussianFit};
use crate::leaf::{LeafModel, n_points};
use crate::num::cholesky::packed_ix;
use crate::num::lanes::{LANES, Lane};

/// The same as [`LeafModel::fit`] for each leaf, bit for bit.
pub fn fit_rows(
    model: &Gaussian,
    totals: &[f64],
    origins: &[f64],
    lanes: &mut Vec<Lane>,
    fits: &mut [GaussianFit],
    supported: &mut [bool],
) {
    Arch::new().dispatch(Kernel { model, totals, origins, lanes, fits, supported });
}

struct Kernel<'a> {
    model: &'a Gaussian,
    totals: &'a [f64],
    origins: &'a [f64],
    lanes: &'a mut Vec<Lane>,
    fits: &'a mut [GaussianFit],
    supported: &'a mut [bool],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { model, totals, origins, lanes, fits, supported } = self;
        let (m, stat_len, origin_len) = (model.n_coefficients(), model.stat_len(), model.point_len());
        let leaves = totals.chunks(LANES * stat_len).zip(origins.chunks(LANES * origin_len));
        for ((totals, origins), (fits, supported)) in leaves.zip(fits.chunks_mut(LANES).zip(supported.chunks_mut(LANES))) {
            // Unused lanes hold zeros.
            lanes.clear();
            lanes.resize(stat_len, [0.0; LANES]);
            let each = totals.chunks_exact(stat_len).zip(origins.chunks_exact(origin_len));
            for (lane, ((total, origin), fit)) in each.clone().zip(&mut *fits).enumerate() {
                fit.factor.clear();
                fit.factor.extend_from_slice(total);
                model.prior.add_to(&mut fit.factor, origin);
                for (entry, value) in lanes.iter_mut().zip(&fit.factor) {
                    entry[lane] = *value;
                }
            }
            let good = match m {
                2 => factor(&mut lanes[..packed_ix(3, 0)], 2),
                3 => factor(&mut lanes[..packed_ix(4, 0)], 3),
                4 => factor(&mut lanes[..packed_ix(5, 0)], 4),
                5 => factor(&mut lanes[..packed_ix(6, 0)], 5),
                6 => factor(&mut lanes[..packed_ix(7, 0)], 6),
                m => factor(lanes, m),
            };
            for (lane, (((total, origin), fit), supported)) in each.zip(fits).zip(supported).enumerate() {
                fit.df = model.prior.df(n_points(total), m);
                fit.sum_of_squares = lanes[packed_ix(m, m)][lane].max(model.prior.sum_of_squares_floor());
                *supported = good[lane] > 0.0 && fit.df > 0.0 && fit.sum_of_squares > 0.0;
                if *supported {
                    for (value, entry) in fit.factor.iter_mut().zip(&*lanes) {
                        *value = entry[lane];
                    }
                } else {
                    *supported = model.fit(total, origin, fit);
                }
            }
        }
    }
}

/// Factor the leading `m` rows and solve the last one, with the operations of the scalar function in the same order. Returns zero in lanes
/// where a pivot is not positive.
#[inline(always)]
fn factor(a: &mut [Lane], m: usize) -> Lane {
    let mut good = [1.0; LANES];
    for i in 0..=m {
        let row = packed_ix(i, 0);
        for j in 0..=i {
            let other = packed_ix(j, 0);
            let mut sum = a[row + j];
            for k in 0..j {
                for lane in 0..LANES {
                    sum[lane] -= a[row + k][lane] * a[other + k][lane];
                }
            }
            if i < m && i == j {
                for lane in 0..LANES {
                    good[lane] = if sum[lane] > 0.0 { good[lane] } else { 0.0 };
                    sum[lane] = if sum[lane] > 0.0 { sum[lane] } else { 1.0 };
                    sum[lane] = sum[lane].sqrt();
                }
            } else if j < m {
                for lane in 0..LANES {
                    sum[lane] /= a[other + j][lane];
                }
            }
            a[row + j] = sum;
        }
    }
    good
}
