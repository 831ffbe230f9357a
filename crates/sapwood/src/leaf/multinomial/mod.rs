//! Class counts under a symmetric Dirichlet prior.
//!
//! With counts `a_k`, `n = sum a_k`, `K` classes and `a0` pseudo-counts per class:
//! `ln Z = lnG(K a0) - lnG(K a0 + n) + sum_k [lnG(a0 + a_k) - lnG(a0)]`, predictive `(a_k + a0) / (n + K a0)`.

#[cfg(test)]
mod tests;

use pulp::{Arch, WithSimd};

use super::{Batch, Bounds, ClassificationLeaf, EncodedPoints, Extent, LeafModel, MAX_TOTAL_WEIGHT, N_POINTS, SWAMPED, n_points};
use crate::config::Division;
use crate::num::lanes::{Lane, ln_gamma_parts_lanes, ln_lanes};
use crate::num::ln;
use crate::num::special::ln_gamma;
use crate::split::Split;

#[derive(Clone, Debug, PartialEq)]
pub struct Multinomial {
    n_classes: usize,
    /// Pseudo-counts per class as configured; `None` means `1/K`.
    dirichlet: Option<f64>,
    /// `a0`, `K a0`, and the log gammas of both.
    pseudo_count: f64,
    pseudo_total: f64,
    ln_gamma_count: f64,
    ln_gamma_total: f64,
}

impl Multinomial {
    pub fn new(n_classes: usize, dirichlet: Option<f64>) -> Self {
        let pseudo_count = dirichlet.unwrap_or(1.0 / n_classes.max(1) as f64);
        let pseudo_total = pseudo_count * n_classes.max(1) as f64;
        Self {
            n_classes,
            dirichlet,
            pseudo_count,
            pseudo_total,
            ln_gamma_count: ln_gamma(pseudo_count),
            ln_gamma_total: ln_gamma(pseudo_total),
        }
    }

    /// `a0`.
    pub(super) fn pseudo_count(&self) -> f64 {
        self.pseudo_count
    }

    /// `ln Z` of `L` leaves with `n` points. `counts` iterates over the classes; no count is negative.
    #[inline(always)]
    pub(super) fn ln_z_lanes<const L: usize>(&self, n: [f64; L], counts: impl Iterator<Item = [f64; L]>) -> [f64; L] {
        /// Classes whose products share a logarithm; each product is between 1e-12 and 1e10.
        const AT_A_TIME: usize = 16;
        let (ln_gamma_n, mut product) = ln_gamma_parts_lanes(n.map(|n| self.pseudo_total + n));
        let mut ln_z = ln_gamma_n.map(|ln_gamma_n| self.ln_gamma_total - ln_gamma_n);
        let mut divisor = [1.0; L];
        for (class, counts) in counts.enumerate() {
            let (ln_gamma_k, product_k) = ln_gamma_parts_lanes(counts.map(|count| self.pseudo_count + count));
            for lane in 0..L {
                // A class without counts contributes lnG(a0) - lnG(a0) = 0. Factors of 0 and 1, which are exact, instead of a select: the
                // compiler would turn that into scalar branches.
                let seen = if counts[lane] > 0.0 { 1.0 } else { 0.0 };
                ln_z[lane] += (ln_gamma_k[lane] - self.ln_gamma_count) * seen;
                divisor[lane] *= product_k[lane] * seen + (1.0 - seen);
            }
            if class % AT_A_TIME == AT_A_TIME - 1 {
                ln_z = add_ln_ratio(ln_z, product, divisor);
                (product, divisor) = ([1.0; L], [1.0; L]);
            }
        }
        add_ln_ratio(ln_z, product, divisor)
    }

    /// Summed from the counts, so that probabilities add up to 1 whatever the rounding error of the total.
    fn denominator(&self, counts: impl Iterator<Item = f64>) -> f64 {
        counts.map(|count| count.max(0.0)).sum::<f64>() + self.pseudo_total
    }

    fn numerator(&self, count: f64) -> f64 {
        count.max(0.0) + self.pseudo_count
    }

    /// Numerator and denominator of a class's probability.
    fn fraction(&self, mut counts: impl Iterator<Item = f64> + Clone, class: usize) -> (f64, f64) {
        let n = self.denominator(counts.clone());
        (self.numerator(counts.nth(class).expect("a known class")), n)
    }

    pub(super) fn probability(&self, counts: impl Iterator<Item = f64> + Clone, class: usize) -> f64 {
        let (a, n) = self.fraction(counts, class);
        a / n
    }

    /// `ln Z` of `L` leaves; `counts` iterates over the classes.
    #[inline(always)]
    fn ln_z_of_counts<const L: usize>(&self, counts: impl Iterator<Item = [f64; L]> + Clone) -> [f64; L] {
        // Rounding may have left a count slightly negative.
        let counts = counts.map(|counts| counts.map(|count| if count > 0.0 { count } else { 0.0 }));
        // Summed from the counts, as for the predictive.
        let n = counts.clone().fold([0.0; L], |mut n, counts| {
            (0..L).for_each(|lane| n[lane] += counts[lane]);
            n
        });
        self.ln_z_lanes(n, counts)
    }

    /// `ln` probability of seeing a class `weight` times.
    pub(super) fn ln_repeated(&self, counts: impl Iterator<Item = f64> + Clone, class: usize, weight: f64) -> f64 {
        let (a, n) = self.fraction(counts, class);
        if weight == 1.0 {
            return ln(a / n);
        }
        ln_gamma(a + weight) - ln_gamma(a) - ln_gamma(n + weight) + ln_gamma(n)
    }

    pub(super) fn add_probabilities(&self, counts: impl Iterator<Item = f64> + Clone, weight: f64, out: &mut [f64]) {
        let scale = weight / self.denominator(counts.clone());
        for (p, count) in out.iter_mut().zip(counts) {
            *p += scale * self.numerator(count);
        }
    }

    pub(super) fn entropy_of(&self, counts: impl Iterator<Item = f64> + Clone) -> f64 {
        let n = self.denominator(counts.clone());
        counts.map(|count| self.numerator(count) / n).map(|p| if p > 0.0 { -p * ln(p) } else { 0.0 }).sum()
    }
}

#[inline(always)]
fn add_ln_ratio<const L: usize>(mut sum: [f64; L], mut numerator: [f64; L], denominator: [f64; L]) -> [f64; L] {
    for lane in 0..L {
        numerator[lane] /= denominator[lane];
    }
    let ln_ratio = ln_lanes(numerator);
    for lane in 0..L {
        sum[lane] += ln_ratio[lane];
    }
    sum
}

/// The class counts in a vector of statistics, or in lanes of them.
#[inline(always)]
fn counts_in<T: Copy>(stats: &[T]) -> impl Iterator<Item = T> + Clone {
    stats[class_count_ix(0)..].iter().copied()
}

/// Where a vector of statistics that are nothing but class counts holds the count of a class.
#[inline(always)]
pub const fn class_count_ix(class: usize) -> usize {
    1 + class
}

/// Where an encoded point holds its class.
pub(super) const CLASS: usize = 0;

#[inline(always)]
pub(super) fn class_of(point: &[f64]) -> usize {
    point[CLASS] as usize
}

impl LeafModel for Multinomial {
    /// Predictions come from the counts.
    type Fit = ();

    fn point_len(&self) -> usize {
        1
    }

    fn stat_len(&self) -> usize {
        class_count_ix(self.n_classes)
    }

    fn counted_classes(&self) -> Option<usize> {
        Some(self.n_classes)
    }

    fn track(&mut self, _x: &[f64], _y: f64, _weight: f64) -> bool {
        false
    }

    fn encode(&self, _x: &[f64], y: f64, point: &mut [f64]) {
        point[CLASS] = y;
    }

    fn could_encode(&self, point: &[f64], y: f64) -> bool {
        is_class(point[CLASS], self.n_classes) && point[CLASS] == y
    }

    fn origin(&self) -> Vec<f64> {
        Vec::new()
    }

    #[inline]
    fn observe(&self, stats: &mut [f64], _origin: &[f64], point: &[f64], weight: f64) {
        stats[N_POINTS] += weight;
        stats[class_count_ix(class_of(point))] += weight;
    }

    fn is_swamped(&self, left: &[f64], _origin: &[f64], _point: &[f64], weight: f64) -> bool {
        weight > SWAMPED * n_points(left)
    }

    /// Sums of counts are exact, or their rounding error is negligible beside the pseudo-counts.
    fn either_is_lost(&self, one: &[f64], other: &[f64]) -> bool {
        let (one, other) = (n_points(one), n_points(other));
        one > SWAMPED * other || other > SWAMPED * one
    }

    fn shift(&self, _stats: &mut [f64], _from: &[f64], _to: &[f64]) {}

    fn better_origin(&self, _total: &[f64], _origin: &[f64]) -> Option<Vec<f64>> {
        None
    }

    fn divides_by_cut(&self, _division: Division) -> bool {
        false
    }

    fn divide(&self, _division: Division, retired: &[f64], _origin: &[f64], _split: &Split, share: f64, left: &mut [f64]) {
        for (l, r) in left.iter_mut().zip(retired) {
            *l = share * r;
        }
    }

    fn is_possible(&self, _extent: &Extent) -> bool {
        true
    }

    fn extent(&self, _inputs: &[(f64, f64)], _targets: (f64, f64)) -> Extent {
        Extent::new(MAX_TOTAL_WEIGHT, std::iter::empty())
    }

    fn largest_stats(&self, _origin: &[f64], extent: &Extent) -> Vec<f64> {
        vec![extent.weight; self.stat_len()]
    }

    fn are_possible(&self, stats: &[f64], largest: &[f64]) -> bool {
        /// Removing a point leaves a count that is off by at most this much, relative to the number of points: one that is off by more is
        /// recomputed.
        const OFF_BY: f64 = 1e-6;
        let n: f64 = counts_in(stats).sum();
        let slack = OFF_BY * (1.0 + n.abs());
        counts_in(stats).all(|count| count >= -slack) && (n_points(stats) - n).abs() <= slack && n <= largest[N_POINTS]
    }

    fn ln_z_batch(&self, batch: &mut Batch, _scratch: &mut Vec<Lane>, out: &mut Vec<f64>) {
        Arch::new().dispatch(Kernel(self, batch, out));
    }

    fn fit(&self, _total: &[f64], _origin: &[f64], _fit: &mut ()) -> bool {
        true
    }

    fn evidence_predicts(&self) -> bool {
        true
    }

    fn predicts_from_fit(&self) -> bool {
        false
    }

    fn ln_predictive(&self, _fit: &(), total: &[f64], _origin: &[f64], point: &[f64], weight: f64) -> f64 {
        self.ln_repeated(counts_in(total), class_of(point), weight)
    }

    fn value_at_centre(&self, _fit: &(), total: &[f64], _origin: &[f64]) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.n_classes];
        self.add_probabilities(counts_in(total), 1.0, &mut probabilities);
        probabilities
    }

    /// The entropy of the class probabilities, which is the same for all points of the leaf.
    fn discard_scores(&self, _fit: &(), total: &[f64], _origin: &[f64], _bounds: &Bounds, points: EncodedPoints, out: &mut Vec<f64>) {
        out.extend(std::iter::repeat_n(self.entropy_of(counts_in(total)), points.len()));
    }
}

impl ClassificationLeaf for Multinomial {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn set_n_classes(&mut self, n_classes: usize) {
        *self = Self::new(n_classes, self.dirichlet);
    }

    fn add_class_probabilities(&self, _fit: &(), total: &[f64], _origin: &[f64], _point: &[f64], weight: f64, out: &mut [f64]) {
        self.add_probabilities(counts_in(total), weight, out);
    }
}

/// Whether a number read from a file is the index of a known class.
pub(super) fn is_class(value: f64, n_classes: usize) -> bool {
    value >= 0.0 && value.fract() == 0.0 && value < n_classes as f64
}

/// `ln Z` of many leaves, in SIMD lanes.
struct Kernel<'a>(&'a Multinomial, &'a mut Batch, &'a mut Vec<f64>);

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self(model, batch, out) = self;
        for (_, stats, n_leaves) in batch.blocks() {
            out.extend_from_slice(&model.ln_z_of_counts(counts_in(stats))[..n_leaves]);
        }
    }
}
