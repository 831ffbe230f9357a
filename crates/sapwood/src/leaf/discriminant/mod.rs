//! Discriminant analysis in a leaf: class counts, class means and a covariance, nested with the multinomial leaf.
//!
//! The evidence is that of the classes given the inputs: the evidence of the multinomial leaf times the mean over the nested models of the
//! density of the inputs relative to a single Gaussian (see [`nested`]). Where the inputs say nothing about the class, this is half the
//! evidence of a multinomial leaf, so the two are comparable. Predictions (see [`predict`]) are averaged over the same models: they need no
//! clipping and fall back to the class frequencies where the inputs do not help.

mod divide;
mod lanes;
mod layout;
mod nested;
mod predict;
mod ridge;

pub use layout::{Covariance, Shape};
pub use ridge::Ridge;

use super::gaussian::with_scratch;
use super::multinomial::{CLASS, class_of, is_class};
use super::{
    Batch, Bounds, ClassificationLeaf, EncodedPoints, Extent, LeafModel, Multinomial, N_POINTS, SUMS_ROUND_TO, SWAMPED, Scale, n_points,
};
use crate::config::Division;
use crate::num::cholesky::{factor_leading, packed_ix, packed_len};
use crate::num::lanes::Lane;
use crate::num::ln;
use crate::split::Split;
use layout::Layout;
use nested::{bayes_factors, space_len};
use predict::Posterior;

/// With more inputs than this, covariances are diagonal.
pub const MAX_FULL_INPUTS: usize = 20;

/// The posterior of a discriminant leaf.
#[derive(Debug, Default)]
pub struct DiscriminantFit {
    /// Twice the exponent of the density of an input.
    df: f64,
    /// Mean and factors of the scatter matrices.
    factor: Vec<f64>,
    /// Posterior probabilities of the nested models.
    model_weights: [f64; 3],
    /// Per class, the part of the density of an input that does not depend on the input.
    classes: Vec<f64>,
}

impl Clone for DiscriminantFit {
    fn clone(&self) -> Self {
        Self { factor: self.factor.clone(), classes: self.classes.clone(), ..*self }
    }

    /// Reuses the existing allocations.
    fn clone_from(&mut self, source: &Self) {
        let Self { df, factor, model_weights, classes } = source;
        (self.df, self.model_weights) = (*df, *model_weights);
        self.factor.clone_from(factor);
        self.classes.clone_from(classes);
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Discriminant {
    layout: Layout,
    counts: Multinomial,
    pub(crate) ridge: Ridge,
    pub(crate) scale: Scale,
}

impl Discriminant {
    pub fn new(n_inputs: usize, n_classes: usize, covariance: Covariance, dirichlet: Option<f64>) -> Self {
        let scale = Scale::new(n_inputs);
        let shape = if n_inputs > MAX_FULL_INPUTS { Shape::Diagonal } else { Shape::Full };
        Self {
            layout: Layout { n_classes, n_inputs, covariance, shape },
            counts: Multinomial::new(n_classes, dirichlet),
            ridge: Ridge::of_stream(&scale),
            scale,
        }
    }

    /// Use a ridge that does not follow the stream.
    pub fn with_ridge(self, squares: Vec<f64>) -> Self {
        assert!(
            squares.len() == self.layout.n_inputs && squares.iter().all(|square| *square > 0.0),
            "the ridge must have one positive entry per input"
        );
        Self { ridge: Ridge::fixed(squares), ..self }
    }

    pub fn with_shape(self, shape: Shape) -> Self {
        Self { layout: Layout { shape, ..self.layout }, ..self }
    }

    fn counts_in<'a>(&self, stats: &'a [f64]) -> impl Iterator<Item = f64> + Clone + use<'a> {
        let layout = self.layout;
        (0..layout.n_classes).map(move |class| stats[layout.count(class)])
    }

    /// Posterior probabilities of the nested models, with their factors left in `space`.
    fn model_weights(&self, stats: &[f64], space: &mut Vec<f64>) -> [f64; 3] {
        space.resize(space_len(&self.layout), 0.0);
        let factors = bayes_factors::<1>(&self.layout, &self.ridge.squares, stats.as_chunks().0, space.as_chunks_mut().0);
        factors.average(self.layout.covariance).0.map(|[weight]| weight)
    }

    fn posterior<T>(&self, fit: &DiscriminantFit, origin: &[f64], point: &[f64], f: impl FnOnce(Posterior) -> T) -> T {
        with_scratch(predict::space_len(&self.layout, fit), |space| {
            let x = inputs_of(point).iter().zip(origin).map(|(x, o)| x - o);
            f(Posterior::new(&self.layout, fit, x, space))
        })
    }

    /// The mean of the inputs behind these statistics, as an encoded point of class 0.
    fn centre_of(&self, total: &[f64], origin: &[f64]) -> Vec<f64> {
        let offset = |i: usize| if n_points(total) > 0.0 { self.sum_of(total, i) / n_points(total) } else { 0.0 };
        std::iter::once(0.0).chain((0..origin.len()).map(|i| origin[i] + offset(i))).collect()
    }

    /// Whether each block of second moments, with the counts and first moments of the classes in it, can be that of points.
    fn scatters_are_possible(&self, stats: &[f64], largest: &[f64]) -> bool {
        let Layout { n_classes, n_inputs: p, covariance, shape, .. } = self.layout;
        let blocks = match covariance {
            Covariance::Pooled => 1,
            Covariance::ByClass => n_classes,
        };
        (0..blocks).all(|block| {
            let classes = if covariance == Covariance::Pooled { 0..n_classes } else { block..block + 1 };
            let count = |of: &[f64]| classes.clone().map(|class| of[self.layout.count(class)]).sum::<f64>();
            let first = |of: &[f64], i: usize| classes.clone().map(|class| of[self.layout.first(class).start + i]).sum::<f64>();
            let second = self.layout.second(block);
            // The moments of `[1, x]`. What is not stored does not matter: zero is possible beside any variances.
            let mut raised = vec![0.0; packed_len(p + 1)];
            let raise = |value: f64, largest: f64| value + 2.0 * (p + 1) as f64 * SUMS_ROUND_TO * largest + 1e-290;
            raised[0] = raise(count(stats), count(largest));
            if shape == Shape::Diagonal {
                let root = |value: f64| value.max(0.0).sqrt();
                return (0..p).all(|i| {
                    let ix = second.start + shape.diagonal_ix(i);
                    let square = raise(stats[ix], largest[ix]);
                    let slack = SUMS_ROUND_TO * first(largest, i) + f64::MIN_POSITIVE;
                    square >= 0.0 && first(stats, i).abs() <= (1.0 + 1e-6) * root(square) * root(raised[0]) + slack
                });
            }
            (0..p).for_each(|i| raised[packed_ix(i + 1, 0)] = first(stats, i));
            shape.for_each_entry(p, |k, i, j| {
                let ix = second.start + k;
                raised[packed_ix(i + 1, j + 1)] = if i == j { raise(stats[ix], largest[ix]) } else { stats[ix] };
            });
            factor_leading(&mut raised, p + 1, p + 1)
        })
    }

    /// Sum over classes of an input's first moments.
    fn sum_of(&self, stats: &[f64], i: usize) -> f64 {
        (0..self.layout.n_classes).map(|class| stats[self.layout.first(class).start + i]).sum()
    }

    /// Sum over the blocks of second moments of an input's diagonal entry.
    fn square_of(&self, stats: &[f64], i: usize) -> f64 {
        let ix = self.layout.shape.diagonal_ix(i);
        (0..self.layout.n_seconds()).map(|block| stats[self.layout.second(block)][ix]).sum()
    }
}

/// The inputs of an encoded point; its class comes before them.
#[inline(always)]
fn inputs_of(point: &[f64]) -> &[f64] {
    &point[CLASS + 1..]
}

impl LeafModel for Discriminant {
    type Fit = DiscriminantFit;

    /// The class, then the inputs.
    fn point_len(&self) -> usize {
        1 + self.layout.n_inputs
    }

    fn stat_len(&self) -> usize {
        self.layout.stat_len()
    }

    fn track(&mut self, x: &[f64], _y: f64, weight: f64) -> bool {
        let before = self.scale.n;
        let woke = self.scale.observe(x.iter().copied(), weight);
        self.ridge.refresh(&self.scale, before, woke)
    }

    fn encode(&self, x: &[f64], y: f64, point: &mut [f64]) {
        point[CLASS] = y;
        for (i, (value, out)) in x.iter().zip(&mut point[CLASS + 1..]).enumerate() {
            // An input that has been constant has no scale yet, so the first different value cannot be judged.
            let has_scale = !self.ridge.follows || self.scale.n == 0.0 || self.scale.variance(i) > 0.0;
            *out = if has_scale { self.scale.impute_and_clip(i, *value) } else { self.scale.mean(i) };
        }
    }

    fn could_encode(&self, point: &[f64], y: f64) -> bool {
        is_class(point[CLASS], self.layout.n_classes) && point[CLASS] == y
    }

    fn origin(&self) -> Vec<f64> {
        self.ridge.centre.clone()
    }

    fn observe(&self, stats: &mut [f64], origin: &[f64], point: &[f64], weight: f64) {
        let class = class_of(point);
        let x = inputs_of(point);
        stats[N_POINTS] += weight;
        stats[self.layout.count(class)] += weight;
        for (sum, (x, o)) in stats[self.layout.first(class)].iter_mut().zip(x.iter().zip(origin)) {
            *sum += weight * (x - o);
        }
        let second = &mut stats[self.layout.second(class)];
        match self.layout.shape {
            Shape::Full => {
                let mut row = 0;
                for i in 0..x.len() {
                    let scaled = weight * (x[i] - origin[i]);
                    for (s, (x, o)) in second[row..=row + i].iter_mut().zip(x.iter().zip(origin)) {
                        *s += scaled * (x - o);
                    }
                    row += i + 1;
                }
            }
            Shape::Diagonal => {
                for (s, (x, o)) in second.iter_mut().zip(x.iter().zip(origin)) {
                    *s += weight * (x - o) * (x - o);
                }
            }
        }
    }

    fn caches_point_stats(&self) -> bool {
        // A point changes the second moments and one class; with many classes, adding whole rows would cost more than that.
        const MAX_LEN: usize = 256;
        self.stat_len() <= MAX_LEN && self.layout.n_classes <= 4
    }

    fn is_swamped(&self, left: &[f64], origin: &[f64], point: &[f64], weight: f64) -> bool {
        weight > SWAMPED * n_points(left)
            || (0..origin.len()).any(|i| {
                let distance = inputs_of(point)[i] - origin[i];
                weight * distance * distance > SWAMPED * (self.square_of(left, i) + self.ridge.squares[i])
            })
    }

    fn either_is_lost(&self, one: &[f64], other: &[f64]) -> bool {
        let is_lost = |found: &[f64], given: &[f64]| {
            n_points(given) > SWAMPED * n_points(found)
                || (0..self.layout.n_inputs)
                    .any(|i| self.square_of(given, i) > SWAMPED * (self.square_of(found, i).max(0.0) + self.ridge.squares[i]))
        };
        is_lost(one, other) || is_lost(other, one)
    }

    fn shift(&self, stats: &mut [f64], from: &[f64], to: &[f64]) {
        let Layout { n_classes, n_inputs: p, shape, .. } = self.layout;
        for class in 0..n_classes {
            let n = stats[self.layout.count(class)];
            let (first, second) = (self.layout.first(class), self.layout.second(class));
            shape.for_each_entry(p, |k, i, j| {
                let (delta_i, delta_j) = (from[i] - to[i], from[j] - to[j]);
                stats[second.start + k] += delta_i * stats[first.start + j] + delta_j * stats[first.start + i] + delta_i * delta_j * n;
            });
            for i in 0..p {
                stats[first.start + i] += (from[i] - to[i]) * n;
            }
        }
    }

    fn better_origin(&self, total: &[f64], origin: &[f64]) -> Option<Vec<f64>> {
        // A mean 1000 standard deviations from the origin costs six of sixteen digits. The spread includes the ridge, so that leaves
        // that are narrow on the scale of the stream keep the origin for which point statistics are cached.
        const FAR: f64 = 1e6;
        let n = n_points(total);
        if n <= 0.0 {
            return None;
        }
        let far = (0..origin.len()).any(|i| {
            let mean = self.sum_of(total, i) / n;
            let variance = self.square_of(total, i) / n - mean * mean;
            mean * mean > FAR * (variance + self.ridge.squares[i]) && mean.abs() > 1e-9 * origin[i].abs()
        });
        far.then(|| self.centre_of(total, origin)[CLASS + 1..].to_vec())
    }

    fn divides_by_cut(&self, division: Division) -> bool {
        division == Division::Gaussian
    }

    fn divide(&self, division: Division, retired: &[f64], origin: &[f64], split: &Split, share: f64, left: &mut [f64]) {
        if division == Division::Proportional || n_points(retired) <= 0.0 {
            for (l, r) in left.iter_mut().zip(retired) {
                *l = share * r;
            }
            return;
        }
        let dim = split.dim as usize;
        with_scratch(divide::scratch_len(&self.layout), |scratch| {
            divide::divide(&self.layout, retired, dim, split.cut - origin[dim], left, scratch);
        });
    }

    fn is_possible(&self, extent: &Extent) -> bool {
        let centred = extent.holds(&self.scale.mean) && extent.holds(&self.ridge.centre);
        centred && self.scale.is_possible() && self.ridge.is_possible()
    }

    fn extent(&self, inputs: &[(f64, f64)], _targets: (f64, f64)) -> Extent {
        Extent::new(self.scale.n, inputs.iter().copied())
    }

    fn largest_stats(&self, origin: &[f64], extent: &Extent) -> Vec<f64> {
        let mut farthest = vec![0.0; self.point_len()];
        (0..origin.len()).for_each(|i| farthest[CLASS + 1 + i] = extent.reach(i, origin[i]));
        let mut stats = vec![0.0; self.stat_len()];
        for class in 0..self.layout.n_classes {
            farthest[CLASS] = class as f64;
            self.observe(&mut stats, &vec![0.0; origin.len()], &farthest, extent.weight);
        }
        stats
    }

    fn are_possible(&self, stats: &[f64], largest: &[f64]) -> bool {
        let slack = |ix: usize| SUMS_ROUND_TO * largest[ix] + f64::MIN_POSITIVE;
        let n = n_points(stats);
        let counted: f64 = self.counts_in(stats).sum();
        let counts_ok = (0..self.layout.n_classes).all(|class| stats[self.layout.count(class)] >= -slack(self.layout.count(class)));
        let bounded = stats.iter().zip(largest).all(|(value, largest)| value.abs() <= (1.0 + 1e-6) * largest + f64::MIN_POSITIVE);
        counts_ok && bounded && (n - counted).abs() <= slack(N_POINTS) && self.scatters_are_possible(stats, largest)
    }

    fn ln_z_batch(&self, batch: &mut Batch, scratch: &mut Vec<Lane>, out: &mut Vec<f64>) {
        lanes::ln_z_batch(self, batch, scratch, out);
    }

    fn fit(&self, total: &[f64], _origin: &[f64], fit: &mut DiscriminantFit) -> bool {
        fit.model_weights = self.model_weights(total, &mut fit.factor);
        predict::prepare(&self.layout, self.counts.pseudo_count(), total, fit);
        true
    }

    fn fit_rows(&self, totals: &[f64], _origins: &[f64], scratch: &mut Vec<Lane>, fits: &mut [DiscriminantFit], supported: &mut [bool]) {
        lanes::fit_rows(self, totals, scratch, fits);
        supported.fill(true);
    }

    /// The evidence is relative to one Gaussian density of the inputs; the predictive is that of the class alone.
    fn evidence_predicts(&self) -> bool {
        false
    }

    /// For weight 1 the `ln` of the class probability; other weights scale the contribution of the inputs to that of the multinomial leaf.
    fn ln_predictive(&self, fit: &DiscriminantFit, total: &[f64], origin: &[f64], point: &[f64], weight: f64) -> f64 {
        let class = class_of(point);
        let alone = self.counts.probability(self.counts_in(total), class);
        let (by_means, by_covariances) = self.posterior(fit, origin, point, |posterior| posterior.of(class));
        let [w0, w1, w2] = fit.model_weights;
        let ln_probability = ln(w0 * alone + w1 * by_means + w2 * by_covariances);
        if weight == 1.0 {
            return ln_probability;
        }
        self.counts.ln_repeated(self.counts_in(total), class, weight) + weight * (ln_probability - ln(alone))
    }

    fn value_at_centre(&self, fit: &DiscriminantFit, total: &[f64], origin: &[f64]) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.layout.n_classes];
        self.add_class_probabilities(fit, total, origin, &self.centre_of(total, origin), 1.0, &mut probabilities);
        probabilities
    }

    /// The entropy of the class frequencies, the same for all points: the rule ranks leaves, so the inputs of a point are ignored.
    fn discard_scores(
        &self,
        _fit: &DiscriminantFit,
        total: &[f64],
        _origin: &[f64],
        _bounds: &Bounds,
        points: EncodedPoints,
        out: &mut Vec<f64>,
    ) {
        out.extend(std::iter::repeat_n(self.counts.entropy_of(self.counts_in(total)), points.len()));
    }
}

impl ClassificationLeaf for Discriminant {
    fn n_classes(&self) -> usize {
        self.layout.n_classes
    }

    fn set_n_classes(&mut self, n_classes: usize) {
        self.layout.n_classes = n_classes;
        self.counts.set_n_classes(n_classes);
    }

    fn add_class_probabilities(&self, fit: &DiscriminantFit, total: &[f64], origin: &[f64], point: &[f64], weight: f64, out: &mut [f64]) {
        let [w0, w1, w2] = fit.model_weights;
        self.counts.add_probabilities(self.counts_in(total), weight * w0, out);
        self.posterior(fit, origin, point, |posterior| {
            for (p, (by_means, by_covariances)) in out.iter_mut().zip(posterior.all(self.layout.n_classes)) {
                *p += weight * (w1 * by_means + w2 * by_covariances);
            }
        });
    }
}

#[cfg(test)]
mod tests;
