//! The class probabilities of a leaf at an input, averaged over the nested models.
//!
//! Model 0 gives `(n_c + a0)/(n + K a0)`. Under the other two this is multiplied by the predictive density of the input, which for a class with
//! `k_c = k0 + n_c`, mean `m_c = m + n_c/k_c d_c` and `q = (x - m_c)' S*^-1 (x - m_c)` is a Student-t:
//!
//! - model 1, up to a factor common to all classes: `(1 + 1/k_c)^(-p/2) [1 + q k_c/(k_c + 1)]^(-(nu0 + n + 1)/2)` with `S* = S_w*`;
//! - model 2: the same with `S* = S_c*` and `n_c` for `n`, times `G((nu0 + n_c + 1)/2) / G((nu0 + n_c + 1 - p)/2) |S_c*|^(-1/2)`.
//!
//! With a diagonal covariance a density is a product over inputs, each raised to [`Shape::weight`].
//!
//! A fit holds the factors and, per class with points, the terms that do not depend on the input. Classes without points are all alike and
//! stored once. A predictive then costs one triangular solve (and one per class for model 2).

use super::DiscriminantFit;
use super::layout::{Covariance, Layout, Shape};
use super::nested::{K0, Parts, class_scatter_star, factor, ln_determinant_ratio, strength};
use crate::leaf::n_points;
use crate::num::cholesky::packed_ix;
use crate::num::special::ln_gamma;
use crate::num::{exp, ln};

/// The layout of a class in [`DiscriminantFit::classes`]. The first entry is that of all classes without points; it is unused if there are none.
struct Entry {
    p: usize,
    second_len: usize,
    len: usize,
}

impl Entry {
    const CLASS: usize = 0;
    /// The class index of the entry for classes without points.
    const NO_POINTS: f64 = -1.0;
    /// `ln (n_c + a0) - p/2 ln(1 + 1/k_c)`.
    const LN_WEIGHT: usize = 1;
    /// `k_c/(k_c + 1)`.
    const STRETCH: usize = 2;
    /// Model 2: added to the logarithm of the weight, and half the exponent of the density.
    const LN_OWN: usize = 3;
    const HALF_POWER: usize = 4;
    /// `m_c - m` multiplied by the inverse factor of `S_w*`; then, for model 2, `m_c - m` itself and the factor of `S_c*`.
    const CENTRE: usize = 5;

    fn new(layout: &Layout) -> Self {
        let (p, second_len) = (layout.n_inputs, layout.second_len());
        let own = if layout.covariance == Covariance::ByClass { p + second_len } else { 0 };
        Self { p, second_len, len: Self::CENTRE + p + own }
    }

    fn centre(&self) -> std::ops::Range<usize> {
        Self::CENTRE..Self::CENTRE + self.p
    }

    fn own_centre(&self) -> std::ops::Range<usize> {
        let start = Self::CENTRE + self.p;
        start..start + self.p
    }

    fn own_factor(&self) -> std::ops::Range<usize> {
        let start = Self::CENTRE + 2 * self.p;
        start..start + self.second_len
    }
}

/// Complete a fit whose `factor` is the working space as [`super::nested::bayes_factors`] left it for these statistics.
pub fn prepare(layout: &Layout, pseudo_count: f64, stats: &[f64], fit: &mut DiscriminantFit) {
    let Layout { n_classes, n_inputs: p, covariance, shape } = *layout;
    let entry = Entry::new(layout);
    let DiscriminantFit { factor: space, classes, df, .. } = fit;
    let (strength, weight) = (strength(shape.order(p)), shape.weight(p));
    *df = weight * (strength + n_points(stats).max(0.0) + 1.0);
    let Parts { mean, total, within, psi, distance, .. } = Parts::<1>::new(layout, space.as_chunks_mut().0);
    into_solver(shape, p, within.as_flattened_mut());

    classes.clear();
    let present = (0..n_classes).filter(|&class| stats[layout.count(class)] > 0.0).map(Some);
    let no_points = (present.clone().count() < n_classes).then_some(None);
    if no_points.is_none() {
        classes.resize(entry.len, 0.0);
        classes[Entry::CLASS] = Entry::NO_POINTS;
    }
    for class in no_points.into_iter().chain(present) {
        let count = class.map_or(0.0, |class| stats[layout.count(class)]);
        let k = K0 + count;
        let start = classes.len();
        classes.resize(start + entry.len, 0.0);
        let own = &mut classes[start..];
        own[Entry::CLASS] = class.map_or(Entry::NO_POINTS, |class| class as f64);
        own[Entry::LN_WEIGHT] = ln(count + pseudo_count) - weight * 0.5 * p as f64 * ln(1.0 + 1.0 / k);
        own[Entry::STRETCH] = k / (k + 1.0);
        if let Some(class) = class {
            for ((centre, first), mean) in own[entry.centre()].iter_mut().zip(&stats[layout.first(class)]).zip(mean.as_flattened()) {
                *centre = (first - count * mean) / k;
            }
        }
        if covariance == Covariance::ByClass {
            own.copy_within(entry.centre(), entry.own_centre().start);
            let scatter = own[entry.own_factor()].as_chunks_mut().0;
            match class {
                Some(class) => class_scatter_star::<1>(layout, class, &[count], stats.as_chunks().0, mean, psi, distance, scatter),
                None => scatter.copy_from_slice(psi),
            }
            factor::<1>(shape, scatter, distance, &mut [true]);
            let [ln_ratio] = ln_determinant_ratio::<1>(shape, p, total, scatter);
            into_solver(shape, p, scatter.as_flattened_mut());
            own[Entry::LN_OWN] = weight * (0.5 * ln_ratio + ln_gamma_step(shape, p, count));
            own[Entry::HALF_POWER] = weight * 0.5 * (strength + count + 1.0);
        }
        solve(shape, within.as_flattened(), &mut own[entry.centre()]);
    }
}

/// `lnG((nu0 + n + 1)/2) - lnG((nu0 + n + 1 - p)/2)`.
fn ln_gamma_step(shape: Shape, p: usize, n: f64) -> f64 {
    let order = shape.order(p);
    let top = 0.5 * (strength(order) + n + 1.0);
    (p / order) as f64 * (ln_gamma(top) - ln_gamma(top - 0.5 * order as f64))
}

/// Turn `L D L'` (pivots on the diagonal, `L D` below) into `L` with the inverse roots of the pivots on the diagonal.
fn into_solver(shape: Shape, p: usize, a: &mut [f64]) {
    for j in 0..p {
        let ix = shape.diagonal_ix(j);
        // A model that rounding has made impossible has weight 0; its values only need to be finite.
        let inverse = if a[ix] > 0.0 { 1.0 / a[ix] } else { 0.0 };
        if shape == Shape::Full {
            for i in j + 1..p {
                a[packed_ix(i, j)] *= inverse;
            }
        }
        a[ix] = inverse.sqrt();
    }
}

/// `D^(-1/2) L^-1 v` in place.
#[inline]
fn solve(shape: Shape, solver: &[f64], v: &mut [f64]) {
    if shape == Shape::Full {
        for i in 1..v.len() {
            let row = packed_ix(i, 0);
            let known: f64 = solver[row..row + i].iter().zip(&*v).map(|(l, v)| l * v).sum();
            v[i] -= known;
        }
    }
    for (i, v) in v.iter_mut().enumerate() {
        *v *= solver[shape.diagonal_ix(i)];
    }
}

/// `ln [1 + stretch |v - centre|^2]`; with a diagonal covariance, the sum of this over the inputs.
#[inline]
fn ln_distance(shape: Shape, v: &[f64], centre: impl Iterator<Item = f64>, stretch: f64) -> f64 {
    let squares = v.iter().zip(centre).map(|(v, c)| (v - c) * (v - c));
    match shape {
        Shape::Full => ln(1.0 + stretch * squares.sum::<f64>()),
        Shape::Diagonal => {
            let (mut product, mut sum) = (1.0, 0.0);
            for square in squares {
                product *= 1.0 + stretch * square;
                if product > 1e100 {
                    sum += ln(product);
                    product = 1.0;
                }
            }
            sum + ln(product)
        }
    }
}

/// Class probabilities at an input under models 1 and 2, by entry of a fit.
pub struct Posterior<'a> {
    entry: Entry,
    classes: &'a [f64],
    means: &'a [f64],
    covariances: &'a [f64],
}

/// Number of entries of working space for a fit.
pub fn space_len(layout: &Layout, fit: &DiscriminantFit) -> usize {
    2 * (layout.n_inputs + fit.classes.len() / Entry::new(layout).len)
}

impl<'a> Posterior<'a> {
    /// `x` is the input relative to the leaf's origin; `space` has [`space_len`] entries.
    pub fn new(layout: &Layout, fit: &'a DiscriminantFit, x: impl Iterator<Item = f64>, space: &'a mut [f64]) -> Self {
        let (p, shape) = (layout.n_inputs, layout.shape);
        let entry = Entry::new(layout);
        let n_entries = fit.classes.len() / entry.len;
        let n_empty = (layout.n_classes + 1 - n_entries) as f64;
        let (v, rest) = space.split_at_mut(p);
        let (own, rest) = rest.split_at_mut(p);
        // Skip the first entry if no class is without points.
        let n_skipped = usize::from(n_empty == 0.0);
        let entries = || fit.classes.chunks_exact(entry.len).skip(n_skipped);
        let (means, rest) = rest.split_at_mut(n_entries);
        let covariances = if layout.covariance == Covariance::ByClass { &mut rest[..n_entries] } else { &mut rest[..0] };
        for ((v, x), mean) in v.iter_mut().zip(x).zip(&fit.factor) {
            *v = x - mean;
        }
        if layout.covariance == Covariance::ByClass {
            for (value, class) in covariances[n_skipped..].iter_mut().zip(entries()) {
                for ((own, v), centre) in own.iter_mut().zip(&*v).zip(&class[entry.own_centre()]) {
                    *own = v - centre;
                }
                solve(shape, &class[entry.own_factor()], own);
                let distance = ln_distance(shape, own, std::iter::repeat(0.0), class[Entry::STRETCH]);
                *value = class[Entry::LN_WEIGHT] + class[Entry::LN_OWN] - class[Entry::HALF_POWER] * distance;
            }
            normalise(covariances, n_empty);
        }
        let within = p + entry.second_len;
        solve(shape, &fit.factor[within..within + entry.second_len], v);
        for (value, class) in means[n_skipped..].iter_mut().zip(entries()) {
            let distance = ln_distance(shape, v, class[entry.centre()].iter().copied(), class[Entry::STRETCH]);
            *value = class[Entry::LN_WEIGHT] - 0.5 * fit.df * distance;
        }
        normalise(means, n_empty);
        Self { entry, classes: &fit.classes, means, covariances }
    }

    /// Probabilities of a class under the two models.
    pub fn of(&self, class: usize) -> (f64, f64) {
        let is_own = |own: &[f64]| own[Entry::CLASS] == class as f64;
        // Classes that are not listed have no points and share the first entry.
        let at = self.classes.chunks_exact(self.entry.len).position(is_own).unwrap_or(0);
        self.at(at)
    }

    fn at(&self, entry: usize) -> (f64, f64) {
        (self.means[entry], self.covariances.get(entry).copied().unwrap_or(0.0))
    }

    /// The probabilities of all `n_classes` classes in turn.
    pub fn all(&self, n_classes: usize) -> impl Iterator<Item = (f64, f64)> {
        // Entries are in order of class.
        let mut next = 1;
        (0..n_classes).map(move |class| {
            if self.classes.get(next * self.entry.len) == Some(&(class as f64)) {
                next += 1;
                self.at(next - 1)
            } else {
                self.at(0)
            }
        })
    }
}

/// Turn `ln` weights into probabilities; the first entry stands for `n_empty` classes.
#[inline]
fn normalise(values: &mut [f64], n_empty: f64) {
    let values = if n_empty == 0.0 {
        // The unused entry must not affect the largest value.
        values[0] = 0.0;
        &mut values[1..]
    } else {
        values
    };
    // An input too far out to compute with is equally likely in every class.
    if values.iter().any(|value| value.is_nan() || *value == f64::INFINITY) {
        values.fill(0.0);
    }
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    values.iter_mut().for_each(|value| *value = if largest > f64::MIN { exp(*value - largest) } else { 1.0 });
    let sum = if n_empty == 0.0 { values.iter().sum() } else { n_empty * values[0] + values[1..].iter().sum::<f64>() };
    values.iter_mut().for_each(|value| *value /= sum);
}
