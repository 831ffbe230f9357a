//! Leaf models: conjugate, each with one additive vector of sufficient statistics.
//!
//! A leaf holds two such vectors, one for its active and one for its retired points. Because they are additive, every operation of the
//! theory is a sum: observe and forget a point, merge two leaves at a prune, scale by a forgetting factor, divide at a grow. The first entry
//! is always the effective number of points; see [`n_points`].
//!
//! Statistics are centred on the leaf's own [`Origin`], a point near its data, so that no result comes from subtracting large numbers.
//! Origins may differ between leaves; [`LeafModel::shift`] changes them exactly.
//!
//! The contract comes in three parts: [`LeafModel`] is all that learning needs, [`RegressionLeaf`] and [`ClassificationLeaf`] add the
//! predictive of their task.

mod batch;
mod discriminant;
mod extent;
mod gaussian;
mod multinomial;
mod origin;
mod scale;

pub use batch::Batch;
pub use discriminant::{Covariance, Discriminant, DiscriminantFit, MAX_FULL_INPUTS, Ridge, Shape};
use extent::is_possible_product;
pub use extent::{ANY_TARGET, Extent, MAX_MEAN, MAX_SQUARE, MAX_TOTAL_WEIGHT, SUMS_ROUND_TO};
pub use gaussian::{FixedPrior, Gaussian, GaussianFit, GaussianPrior, Pseudo};
pub use multinomial::{Multinomial, class_count_ix};
pub use origin::Origin;
pub use scale::{Scale, are_possible_cross_products};

use crate::config::Division;
use crate::num::lanes::Lane;
use crate::predict::StudentT;
use crate::split::Split;

/// Where a sum loses a term this many times as large as the remainder, half of the sixteen digits are gone, and it is recomputed from the points.
pub const SWAMPED: f64 = 1e8;

/// Where every vector of statistics holds the effective number of points.
pub const N_POINTS: usize = 0;

/// The effective number of points behind a vector of statistics.
#[inline(always)]
pub fn n_points(stats: &[f64]) -> f64 {
    stats[N_POINTS]
}

/// A leaf's box clipped to the range of the inputs, and its volume relative to that range.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub volume: f64,
}

/// The encoded points of a leaf, as [`LeafModel::encode`] writes them.
#[derive(Clone, Copy, Debug)]
pub struct EncodedPoints<'a> {
    values: &'a [f64],
    point_len: usize,
    slots: &'a [u32],
}

impl<'a> EncodedPoints<'a> {
    /// `values` holds the points of all slots, `point_len` entries each.
    pub fn new(values: &'a [f64], point_len: usize, slots: &'a [u32]) -> Self {
        Self { values, point_len, slots }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The points in chunks of up to `n`.
    #[inline(always)]
    pub fn chunks(self, n: usize) -> impl Iterator<Item = impl ExactSizeIterator<Item = &'a [f64]>> {
        let Self { values, point_len, slots } = self;
        slots.chunks(n).map(move |slots| slots.iter().map(move |slot| &values[*slot as usize * point_len..][..point_len]))
    }
}

/// The posterior of a leaf; [`Clone::clone_from`] should reuse its allocations.
pub trait Fit: Clone + Default + std::fmt::Debug + Send + Sync {}

impl<T: Clone + Default + std::fmt::Debug + Send + Sync> Fit for T {}

/// What learning needs of a leaf model. A `point` is what [`LeafModel::encode`] makes of an observation.
pub trait LeafModel: Clone + Send + Sync {
    /// The posterior of a leaf, computed from its statistics and cached until they change.
    type Fit: Fit;

    /// Number of values stored per active point.
    fn point_len(&self) -> usize;
    /// Number of entries of a vector of statistics.
    fn stat_len(&self) -> usize;

    /// The number of classes if the statistics are nothing but class counts (see [`class_count_ix`]), so that counting labels can replace
    /// summing statistics.
    fn counted_classes(&self) -> Option<usize> {
        None
    }

    /// Update the running scale of the stream. True if the prior changed with it, which makes every cached fit stale.
    fn track(&mut self, x: &[f64], y: f64, weight: f64) -> bool;
    /// The values of an observation that the leaf uses; missing inputs are imputed and extreme ones clipped here.
    fn encode(&self, x: &[f64], y: f64, point: &mut [f64]);
    /// Whether an encoded point read from a file could have come from an observation with target `y`.
    fn could_encode(&self, point: &[f64], y: f64) -> bool;
    /// An origin for the first leaf.
    fn origin(&self) -> Vec<f64>;

    /// Add a point `weight` times; a negative weight removes it.
    fn observe(&self, stats: &mut [f64], origin: &[f64], point: &[f64], weight: f64);
    /// Whether adding a point is expensive enough that its statistics are worth caching.
    fn caches_point_stats(&self) -> bool {
        false
    }
    /// Whether a point that has just been removed was so large that its rounding error may dominate what is left.
    fn is_swamped(&self, left: &[f64], origin: &[f64], point: &[f64], weight: f64) -> bool;
    /// Whether either of two parts of a sum, found by subtracting the other from the whole, may be mostly rounding error.
    fn either_is_lost(&self, one: &[f64], other: &[f64]) -> bool {
        // Without an early exit, so that the loop vectorises.
        one.iter().zip(other).fold(false, |lost, (a, b)| {
            let (a, b) = (a.abs(), b.abs());
            lost | (a > SWAMPED * b) | (b > SWAMPED * a)
        })
    }
    /// Re-centre statistics on another origin.
    fn shift(&self, stats: &mut [f64], from: &[f64], to: &[f64]);
    /// An origin nearer to the data, where the present one is too far away for the precision of the statistics.
    fn better_origin(&self, total: &[f64], origin: &[f64]) -> Option<Vec<f64>>;
    /// Whether the division of retired statistics at a grow depends on where the cut lies, and not only on which points go where.
    fn divides_by_cut(&self, division: Division) -> bool;
    /// The left child's part of the retired statistics at a grow; `share` is its share of the parent's active points. The right child gets
    /// the rest.
    fn divide(&self, division: Division, retired: &[f64], origin: &[f64], split: &Split, share: f64, left: &mut [f64]);

    /// Whether the running scale, and what follows it, could have come from such data.
    fn is_possible(&self, extent: &Extent) -> bool;
    /// What all observations so far were, given the range of each input and of the target.
    fn extent(&self, inputs: &[(f64, f64)], targets: (f64, f64)) -> Extent;
    /// The statistics of as many observations as there have been, all of them as far from the origin as any.
    fn largest_stats(&self, origin: &[f64], extent: &Extent) -> Vec<f64>;
    /// Whether statistics could have come from data, given the largest that these data can have. Allows for the rounding of sums.
    fn are_possible(&self, stats: &[f64], largest: &[f64]) -> bool;

    /// The statistics of the pseudo-data that the prior stands for, centred on `origin`. A [`Batch`] takes them with those of a leaf.
    fn prior_stats(&self, _origin: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    /// `ln Z` of many leaves at once, appended to `out`; minus infinity where the (improper) prior cannot support a leaf. A leaf's value does
    /// not depend on the rest of the batch. Consumes the content of the batch; `scratch` may hold anything.
    fn ln_z_batch(&self, batch: &mut Batch, scratch: &mut Vec<Lane>, out: &mut Vec<f64>);
    /// Added to the joint evidence in proportion to the share of a leaf's points that are retired.
    fn retired_bonus(&self) -> f64 {
        0.0
    }
    /// The posterior of a leaf with these statistics. False if the prior does not support the leaf, in which case a proper fallback prior was used.
    fn fit(&self, total: &[f64], origin: &[f64], fit: &mut Self::Fit) -> bool;
    /// The posteriors of many leaves at once. `totals` and `origins` are concatenated; `supported` receives what [`LeafModel::fit`] returns
    /// for each. `scratch` may hold anything.
    fn fit_rows(&self, totals: &[f64], origins: &[f64], _scratch: &mut Vec<Lane>, fits: &mut [Self::Fit], supported: &mut [bool]) {
        let (stat_len, origin_len) = (self.stat_len(), origins.len() / fits.len().max(1));
        for (ix, (fit, supported)) in fits.iter_mut().zip(supported).enumerate() {
            let (total, origin) = (&totals[ix * stat_len..(ix + 1) * stat_len], &origins[ix * origin_len..(ix + 1) * origin_len]);
            *supported = self.fit(total, origin, fit);
        }
    }
    /// Whether predictions read the fit. Where they do not, a stale one need not be recomputed for them.
    fn predicts_from_fit(&self) -> bool {
        true
    }
    /// Whether the predictive of a point is `Z(with it) / Z(without it)`, which is then the cheaper way to compute it.
    fn evidence_predicts(&self) -> bool;
    /// `ln` of the predictive density (or probability) of a point that counts `weight` times.
    fn ln_predictive(&self, fit: &Self::Fit, total: &[f64], origin: &[f64], point: &[f64], weight: f64) -> f64;
    /// The prediction that stands for a leaf in a printed tree: the mean or the class probabilities, at the mean of its inputs.
    fn value_at_centre(&self, fit: &Self::Fit, total: &[f64], origin: &[f64]) -> Vec<f64>;
    /// The score of each point by which active discarding ranks them, appended to `out`: ALC over `bounds` for regression, class entropy for
    /// classification.
    fn discard_scores(&self, fit: &Self::Fit, total: &[f64], origin: &[f64], bounds: &Bounds, points: EncodedPoints, out: &mut Vec<f64>);
}

/// A leaf model that predicts a number.
pub trait RegressionLeaf: LeafModel {
    /// The predictive distribution at an encoded point, whose target is ignored.
    fn student_t(&self, fit: &Self::Fit, origin: &[f64], point: &[f64]) -> StudentT;
}

/// A leaf model that predicts a class.
pub trait ClassificationLeaf: LeafModel {
    fn n_classes(&self) -> usize;
    /// Extend the statistics to `n_classes` classes; entries are appended.
    fn set_n_classes(&mut self, n_classes: usize);
    /// Add `weight` times the class probabilities at an encoded point, whose class is ignored, to `out`.
    fn add_class_probabilities(&self, fit: &Self::Fit, total: &[f64], origin: &[f64], point: &[f64], weight: f64, out: &mut [f64]);
}
