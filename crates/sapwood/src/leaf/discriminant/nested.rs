//! The nested models of a discriminant leaf and their Bayes factors, for one leaf or for several in SIMD lanes.
//!
//! All have class probabilities with a Dirichlet prior and inputs that are Gaussian given the class. With `n_c` points of class `c`, `p`
//! inputs, `m` the leaf's mean, `d_c` the distance of the class mean from it, and `S_t` the leaf's total scatter about `m`:
//!
//! 0. one Gaussian: the inputs say nothing about the class;
//! 1. class means `mu_c ~ N(m, Sigma/k0)` with one covariance `Sigma ~ IW(nu0, Psi)`;
//! 2. class means `mu_c ~ N(m, Sigma_c/k0)` with covariances `Sigma_c ~ IW(nu0, Psi)` of their own.
//!
//! `Psi = tau S_t / max(n, 1) + ridge` shrinks towards the leaf's own scatter and, slightly, towards the scale of the stream's inputs. With `S_t* = Psi + S_t` and `S_w* = S_t* - sum_c n_c^2/(n_c + k0) d_c d_c'` the densities of the inputs under models
//! 1 and 0 have the ratio
//!
//! `ln BF_1 = (n + nu0)/2 (ln|S_t*| - ln|S_w*|) - p/2 (sum_c ln(1 + n_c/k0) - ln(1 + n/k0))`,
//!
//! and with `S_c* = Psi + S_c + k0 n_c/(n_c + k0) d_c d_c'`, `S_c` the scatter of class `c` about its own mean,
//! `R_c = ln|S_c*| - ln|S_t*|`, `R = ln|Psi| - ln|S_t*|`, `g(n) = lnG_p((nu0 + n)/2) - lnG_p(nu0/2)` and `K'` classes that have points
//!
//! `ln BF_2 = sum_c [g(n_c) - (n_c + nu0)/2 R_c] - g(n) + (K' - 1) nu0/2 R - p/2 (sum_c ln(1 + n_c/k0) - ln(1 + n/k0))`.
//!
//! Determinants enter only as ratios, so units cancel before they can overflow. A diagonal covariance is `p` such problems of one input
//! each, whose logarithms add up, each with the weight of [`Shape::weight`].

use super::layout::{Covariance, Layout, Shape};
use crate::leaf::N_POINTS;
use crate::num::cholesky::packed_ix;
use crate::num::lanes::{exp_lanes, ln_gamma_lanes, ln_lanes};
use crate::num::special::ln_gamma;

/// Pseudo-observations behind a class mean.
pub const K0: f64 = 1.0;

/// Pseudo-observations (`tau` and `nu0`) behind a covariance of order `order`.
pub fn strength(order: usize) -> f64 {
    order as f64 + 2.0
}

pub type Lane<const L: usize> = [f64; L];

/// `ln` Bayes factors against the model of one Gaussian; minus infinity for a model that is not used or that rounding has made
/// impossible.
#[derive(Clone, Copy, Debug)]
pub struct BayesFactors<const L: usize> {
    pub means: Lane<L>,
    pub covariances: Lane<L>,
}

/// Number of entries of working space.
pub fn space_len(layout: &Layout) -> usize {
    let n_matrices = if layout.covariance == Covariance::ByClass { 4 } else { 2 };
    2 * layout.n_inputs + n_matrices * layout.second_len()
}

/// Working space, divided into its parts.
pub struct Parts<'a, const L: usize> {
    /// The leaf's mean about its origin.
    pub mean: &'a mut [Lane<L>],
    /// Factors of `S_t*` and `S_w*`.
    pub total: &'a mut [Lane<L>],
    pub within: &'a mut [Lane<L>],
    /// `Psi`, and the scatter of the current class; empty where classes have no covariance of their own.
    pub psi: &'a mut [Lane<L>],
    class_scatter: &'a mut [Lane<L>],
    pub distance: &'a mut [Lane<L>],
}

impl<'a, const L: usize> Parts<'a, L> {
    #[inline(always)]
    pub fn new(layout: &Layout, space: &'a mut [Lane<L>]) -> Self {
        let (p, len) = (layout.n_inputs, layout.second_len());
        let (mean, rest) = space.split_at_mut(p);
        let (total, rest) = rest.split_at_mut(len);
        let (within, rest) = rest.split_at_mut(len);
        let (distance, rest) = rest.split_at_mut(p);
        let (psi, class_scatter) = rest.split_at_mut(rest.len() / 2);
        Self { mean, total, within, psi, class_scatter, distance }
    }
}

/// The Bayes factors of `L` leaves. `space` has [`space_len`] entries, which may hold anything.
#[inline(always)]
pub fn bayes_factors<const L: usize>(layout: &Layout, ridge: &[f64], stats: &[Lane<L>], space: &mut [Lane<L>]) -> BayesFactors<L> {
    let Layout { n_classes, n_inputs: p, covariance, shape } = *layout;
    let order = shape.order(p);
    let (strength, weight) = (strength(order), shape.weight(p));
    let Parts { mean, total, within, psi, class_scatter, distance } = Parts::new(layout, space);
    let n = stats[N_POINTS].map(|n| n.max(0.0));
    scatter(layout, &n, stats, mean, total);
    add_prior(layout, ridge, &n, total, psi);
    within.copy_from_slice(total);

    // The product of (1 + n_c/k0); factors are moved to `ln_occam` before it overflows.
    let mut occam: Lane<L> = n.map(|n| 1.0 / (1.0 + n / K0));
    let mut ln_occam = [0.0; L];
    let counts = |class: usize| stats[layout.count(class)].map(|count| count.max(0.0));
    for class in (0..n_classes).filter(|&class| counts(class).iter().any(|&count| count > 0.0)) {
        let count = counts(class);
        for lane in 0..L {
            occam[lane] *= 1.0 + count[lane] / K0;
        }
        fold_logs(&mut occam, &mut ln_occam);
        distances(layout, class, &count, stats, mean, distance);
        // `distance` is multiplied by n_c. The gain is zero for leaves without the class: their rounding errors must have no effect, because
        // evaluated alone they would skip this class.
        let gain: Lane<L> = count.map(|count| if count > 0.0 { 1.0 / (count + K0) } else { 0.0 });
        take_square(shape, within, distance, &gain);
    }
    let mut supported = [true; L];
    factor(shape, total, distance, &mut supported);
    factor(shape, within, distance, &mut supported);
    let ln_ratio = ln_determinant_ratio(shape, p, total, within);
    let mut factors = BayesFactors { means: [f64::NEG_INFINITY; L], covariances: [f64::NEG_INFINITY; L] };
    let mut ln_penalty = ln_lanes(occam);
    for lane in 0..L {
        ln_penalty[lane] = 0.5 * p as f64 * (ln_penalty[lane] + ln_occam[lane]);
        if supported[lane] {
            factors.means[lane] = weight * (0.5 * (n[lane] + strength) * ln_ratio[lane] - ln_penalty[lane]);
        }
    }
    if covariance == Covariance::Pooled {
        return factors;
    }

    let n_blocks = (p / order) as f64;
    let mut value: Lane<L> = ln_gamma_growth(order, &n).map(|growth| -n_blocks * growth);
    let mut n_present = [0.0; L];
    for class in (0..n_classes).filter(|&class| counts(class).iter().any(|&count| count > 0.0)) {
        let count = counts(class);
        class_scatter_star(layout, class, &count, stats, mean, psi, distance, class_scatter);
        let mut own_supported = [true; L];
        factor(shape, class_scatter, distance, &mut own_supported);
        let ln_ratio = ln_determinant_ratio(shape, p, total, class_scatter);
        let growth = ln_gamma_growth(order, &count);
        for lane in 0..L {
            let present = count[lane] > 0.0;
            supported[lane] &= own_supported[lane] | !present;
            n_present[lane] += if present { 1.0 } else { 0.0 };
            value[lane] += if present { n_blocks * growth[lane] + 0.5 * (count[lane] + strength) * ln_ratio[lane] } else { 0.0 };
        }
    }
    class_scatter.copy_from_slice(psi);
    factor(shape, class_scatter, distance, &mut supported);
    let ln_ratio = ln_determinant_ratio(shape, p, total, class_scatter);
    for lane in (0..L).filter(|&lane| supported[lane]) {
        // Without points the models are equivalent.
        let n_repeats = f64::max(n_present[lane] - 1.0, 0.0);
        factors.covariances[lane] = weight * (value[lane] - n_repeats * 0.5 * strength * ln_ratio[lane] - ln_penalty[lane]);
    }
    factors
}

/// `matrix -= gain v v'`.
#[inline(always)]
fn take_square<const L: usize>(shape: Shape, matrix: &mut [Lane<L>], v: &[Lane<L>], gain: &Lane<L>) {
    for i in 0..v.len() {
        let mut scaled = v[i];
        for lane in 0..L {
            scaled[lane] *= gain[lane];
        }
        let (start, from) = match shape {
            Shape::Full => (packed_ix(i, 0), 0),
            Shape::Diagonal => (i, i),
        };
        for (entry, other) in matrix[start..].iter_mut().zip(&v[from..=i]) {
            for lane in 0..L {
                entry[lane] -= scaled[lane] * other[lane];
            }
        }
    }
}

/// Turn `S_t` into `S_t* = Psi + S_t`, and compute `Psi` where classes have covariances of their own.
#[inline(always)]
fn add_prior<const L: usize>(layout: &Layout, ridge: &[f64], n: &Lane<L>, total: &mut [Lane<L>], psi: &mut [Lane<L>]) {
    let strength = strength(layout.shape.order(layout.n_inputs));
    let shrink = n.map(|n| strength / n.max(1.0));
    if layout.covariance == Covariance::ByClass {
        for (psi, scatter) in psi.iter_mut().zip(&*total) {
            for lane in 0..L {
                psi[lane] = shrink[lane] * scatter[lane];
            }
        }
        add_ridge(layout.shape, ridge, psi);
    }
    for entry in total.iter_mut() {
        for lane in 0..L {
            entry[lane] *= 1.0 + shrink[lane];
        }
    }
    add_ridge(layout.shape, ridge, total);
}

#[inline(always)]
fn add_ridge<const L: usize>(shape: Shape, ridge: &[f64], matrix: &mut [Lane<L>]) {
    for (i, square) in ridge.iter().enumerate() {
        for entry in &mut matrix[shape.diagonal_ix(i)] {
            *entry += square;
        }
    }
}

/// The leaf's mean (about its origin) and total scatter.
#[inline(always)]
fn scatter<const L: usize>(layout: &Layout, n: &Lane<L>, stats: &[Lane<L>], mean: &mut [Lane<L>], total: &mut [Lane<L>]) {
    mean.fill([0.0; L]);
    for class in 0..layout.n_classes {
        for (sum, first) in mean.iter_mut().zip(&stats[layout.first(class)]) {
            for lane in 0..L {
                sum[lane] += first[lane];
            }
        }
    }
    total.fill([0.0; L]);
    for block in 0..layout.n_seconds() {
        for (sum, second) in total.iter_mut().zip(&stats[layout.second(block)]) {
            for lane in 0..L {
                sum[lane] += second[lane];
            }
        }
    }
    let inverse = n.map(|n| if n > 0.0 { 1.0 / n } else { 0.0 });
    take_square(layout.shape, total, mean, &inverse);
    for i in 0..layout.n_inputs {
        let square = &mut total[layout.shape.diagonal_ix(i)];
        *square = square.map(|square| square.max(0.0));
    }
    for sum in mean.iter_mut() {
        for lane in 0..L {
            sum[lane] *= inverse[lane];
        }
    }
}

/// `n_c d_c`: the first moments of a class about the leaf's mean.
#[inline(always)]
fn distances<const L: usize>(
    layout: &Layout,
    class: usize,
    count: &Lane<L>,
    stats: &[Lane<L>],
    mean: &[Lane<L>],
    distance: &mut [Lane<L>],
) {
    for ((distance, first), mean) in distance.iter_mut().zip(&stats[layout.first(class)]).zip(mean) {
        for lane in 0..L {
            distance[lane] = first[lane] - count[lane] * mean[lane];
        }
    }
}

/// `S_c*` of one class, from second moments about the origin: about the leaf's mean they are
/// `Q - s m' - m s' + n_c m m'`, and the squared distance of the class mean gets the factor `k0 n_c/(n_c + k0)` instead of `n_c`.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "a class, its leaf, and working space")]
pub fn class_scatter_star<const L: usize>(
    layout: &Layout,
    class: usize,
    count: &Lane<L>,
    stats: &[Lane<L>],
    mean: &[Lane<L>],
    psi: &[Lane<L>],
    distance: &mut [Lane<L>],
    out: &mut [Lane<L>],
) {
    distances(layout, class, count, stats, mean, distance);
    let (first, second) = (&stats[layout.first(class)], &stats[layout.second(class)]);
    layout.shape.for_each_entry(layout.n_inputs, |k, i, j| {
        for lane in 0..L {
            let about_mean = second[k][lane] - first[i][lane] * mean[j][lane] - mean[i][lane] * distance[j][lane];
            let own = about_mean - distance[i][lane] * distance[j][lane] / (count[lane] + K0);
            out[k][lane] = psi[k][lane] + if i == j { own.max(0.0) } else { own };
        }
    });
}

/// `L D L'` in place: pivots on the diagonal, `L D` below it. Lanes with a pivot that is not positive are marked as not supported. `column` is
/// working space with one entry per input.
#[inline(always)]
pub fn factor<const L: usize>(shape: Shape, a: &mut [Lane<L>], column: &mut [Lane<L>], supported: &mut [bool; L]) {
    let p = column.len();
    for j in 0..p {
        let pivot = &mut a[shape.diagonal_ix(j)];
        let mut inverse = [0.0; L];
        for lane in 0..L {
            supported[lane] &= pivot[lane] > 0.0;
            // Rejected lanes continue with a harmless pivot.
            pivot[lane] = if pivot[lane] > 0.0 { pivot[lane] } else { 1.0 };
            inverse[lane] = 1.0 / pivot[lane];
        }
        if shape == Shape::Diagonal {
            continue;
        }
        // The column is copied, so that its outer product can be subtracted from the rest of the matrix row by row.
        for i in j + 1..p {
            let row = packed_ix(i, 0);
            column[i] = a[row + j];
            let mut factor = column[i];
            for lane in 0..L {
                factor[lane] *= inverse[lane];
            }
            for (entry, other) in a[row + j + 1..=row + i].iter_mut().zip(&column[j + 1..=i]) {
                for lane in 0..L {
                    entry[lane] -= factor[lane] * other[lane];
                }
            }
        }
    }
}

/// `ln|A| - ln|B|` from their factors.
#[inline(always)]
pub fn ln_determinant_ratio<const L: usize>(shape: Shape, p: usize, a: &[Lane<L>], b: &[Lane<L>]) -> Lane<L> {
    let mut product = [1.0; L];
    let mut sum = [0.0; L];
    for j in 0..p {
        let ix = shape.diagonal_ix(j);
        for lane in 0..L {
            product[lane] *= a[ix][lane] / b[ix][lane];
        }
        fold_logs(&mut product, &mut sum);
    }
    let ln_product = ln_lanes(product);
    for lane in 0..L {
        sum[lane] += ln_product[lane];
    }
    sum
}

/// Move the logarithm of extreme products to the sum. Only of those: the rounding of the other lanes must not depend on them.
#[inline(always)]
fn fold_logs<const L: usize>(product: &mut Lane<L>, sum: &mut Lane<L>) {
    let is_extreme = |product: f64| !(1e-100..1e100).contains(&product);
    if product.iter().fold(false, |far, product| far | is_extreme(*product)) {
        let ln_product = ln_lanes(*product);
        for lane in 0..L {
            let far = is_extreme(product[lane]);
            sum[lane] += if far { ln_product[lane] } else { 0.0 };
            product[lane] = if far { 1.0 } else { product[lane] };
        }
    }
}

/// `lnG_p((nu0 + n)/2) - lnG_p(nu0/2)` with `G_p` the multivariate gamma function of this order.
#[inline(always)]
fn ln_gamma_growth<const L: usize>(order: usize, n: &Lane<L>) -> Lane<L> {
    let strength = strength(order);
    let mut growth = [0.0; L];
    for j in 0..order {
        let start = strength - j as f64;
        let (grown, at_start) = (ln_gamma_lanes(n.map(|n| 0.5 * (start + n))), ln_gamma(0.5 * start));
        for lane in 0..L {
            growth[lane] += grown[lane] - at_start;
        }
    }
    growth
}

impl<const L: usize> BayesFactors<L> {
    /// Posterior probabilities of the models under equal prior probabilities, and `ln` of their mean evidence relative to that of one Gaussian.
    #[inline(always)]
    pub fn average(&self, covariance: Covariance) -> ([Lane<L>; 3], Lane<L>) {
        let by_class = covariance == Covariance::ByClass;
        let mut largest = [0.0; L];
        for (lane, largest) in largest.iter_mut().enumerate() {
            *largest = f64::max(self.means[lane].max(self.covariances[lane]), 0.0);
        }
        let mut shares = [[0.0; L]; 3];
        let mut sum = [0.0; L];
        for (share, ln_factor) in shares.iter_mut().zip([&[0.0; L], &self.means, &self.covariances]).take(if by_class { 3 } else { 2 }) {
            let mut relative = [0.0; L];
            for lane in 0..L {
                // Anything further below the largest is negligible.
                relative[lane] = f64::max(ln_factor[lane] - largest[lane], -700.0);
            }
            let weights = exp_lanes(relative);
            for lane in 0..L {
                share[lane] = if ln_factor[lane] > f64::NEG_INFINITY { weights[lane] } else { 0.0 };
                sum[lane] += share[lane];
            }
        }
        let n_models = if by_class { 3.0 } else { 2.0 };
        let mut mean = sum;
        for value in &mut mean {
            *value /= n_models;
        }
        let mut ln_mean = ln_lanes(mean);
        for lane in 0..L {
            ln_mean[lane] += largest[lane];
            shares.iter_mut().for_each(|share| share[lane] /= sum[lane]);
        }
        (shares, ln_mean)
    }
}
