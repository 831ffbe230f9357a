//! Leaf models: conjugate, with one additive vector of sufficient statistics each.
//!
//! A leaf holds two such vectors, of its active and of its retired points. Because they are additive, every operation of the theory is a
//! sum: `observe` and `forget` a point, `merge` two leaves at a prune, `scale` by a forgetting factor, divide at a grow. `stats[0]` is
//! always the effective number of points.
//!
//! Statistics are moments about the leaf's own *origin*, a point near its data, so that nothing is ever found by subtracting large
//! numbers. Origins may differ between leaves and are changed exactly by [`LeafModel::shift`].

mod batch;
mod discriminant;
mod gaussian;
mod multinomial;
mod scale;

pub use batch::Batch;
pub use discriminant::{Covariance, Discriminant, Ridge, Shape};
pub use gaussian::{FixedPrior, Gaussian, GaussianPrior, Pseudo};
pub use multinomial::Multinomial;
pub use scale::Scale;

use crate::config::Division;
use crate::num::lanes::Lane;
use crate::pool::Pool;
use crate::predict::StudentT;
use crate::tree::Split;

/// What the posterior of a leaf looks like, computed from its statistics and kept until they change.
#[derive(Debug, Default)]
pub struct Fit {
    /// Degrees of freedom of the predictive (Gaussian leaves); twice the power of the density of an input (discriminant leaves).
    pub df: f64,
    /// Posterior sum of squares `S` (Gaussian leaves).
    pub sum_of_squares: f64,
    /// Packed factor of the posterior augmented moments (Gaussian leaves); mean and factors of the scatter (discriminant leaves).
    pub factor: Vec<f64>,
    /// Posterior probabilities of the nested models (discriminant leaves).
    pub model_weights: [f64; 3],
    /// What does not depend on the input in the density that each class gives it (discriminant leaves).
    pub classes: Vec<f64>,
}

impl Clone for Fit {
    fn clone(&self) -> Self {
        let mut copy = Self::NONE;
        copy.clone_from(self);
        copy
    }

    /// Copies into the allocations that are there.
    fn clone_from(&mut self, source: &Self) {
        let Self { df, sum_of_squares, factor, model_weights, classes } = source;
        (self.df, self.sum_of_squares, self.model_weights) = (*df, *sum_of_squares, *model_weights);
        self.factor.clone_from(factor);
        self.classes.clone_from(classes);
    }
}

impl Fit {
    /// Of a leaf that has none.
    pub const NONE: Self = Self { df: 0.0, sum_of_squares: 0.0, factor: Vec::new(), model_weights: [0.0; 3], classes: Vec::new() };
}

/// Taking away this many times what is left costs half of the sixteen digits: such sums are made afresh.
pub const SWAMPED: f64 = 1e8;

/// A leaf's box within the range of the inputs, and its volume relative to that range.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    pub volume: f64,
}

/// Some encoded points of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PointsOf<'a> {
    pub pool: &'a Pool,
    pub slots: &'a [u32],
}

/// The contract of a leaf model. `point` is what [`LeafModel::encode`] made of an observation.
pub trait LeafModel: Clone + Send + Sync {
    /// Number of values kept for every active point.
    fn point_len(&self) -> usize;
    /// Number of entries of a statistic vector.
    fn stat_len(&self) -> usize;

    /// Number of classes; none for a regression leaf.
    fn n_classes(&self) -> usize {
        0
    }
    /// Make room for classes up to `n_classes`, at the end of the statistics (classification).
    fn set_n_classes(&mut self, _n_classes: usize) {
        unreachable!("not a classification leaf")
    }

    /// The number of classes if the statistics are nothing but class counts, so that counting labels replaces summing statistics.
    fn counted_classes(&self) -> Option<usize> {
        None
    }

    /// Take one observation into account in what the prior is scaled by. True if the prior changed, so that every fit is out of date.
    fn track(&mut self, x: &[f64], y: f64, weight: f64) -> bool;
    /// The values of an observation that the leaf uses; missing and absurd inputs are replaced here.
    fn encode(&self, x: &[f64], y: f64, point: &mut [f64]);
    /// An origin for the first leaf.
    fn origin(&self) -> Vec<f64>;

    /// Add a point `weight` times; a negative weight forgets it.
    fn observe(&self, stats: &mut [f64], origin: &[f64], point: &[f64], weight: f64);
    /// Whether adding a point is enough work that its statistics are worth keeping.
    fn keeps_point_stats(&self) -> bool {
        false
    }
    /// Whether a point that has just been forgotten was so large that its rounding may outweigh what is left.
    fn is_swamped(&self, left: &[f64], origin: &[f64], point: &[f64], weight: f64) -> bool;
    /// Whether one of two parts of a sum, found by taking the other from the whole, may be mostly the rounding of what was taken.
    fn either_is_lost(&self, one: &[f64], other: &[f64]) -> bool {
        // All are looked at, so that many are at once.
        one.iter().zip(other).fold(false, |lost, (a, b)| {
            let (a, b) = (a.abs(), b.abs());
            lost | (a > SWAMPED * b) | (b > SWAMPED * a)
        })
    }
    /// Express statistics about another origin.
    fn shift(&self, stats: &mut [f64], from: &[f64], to: &[f64]);
    /// An origin nearer to the data, where the present one is too far away for the precision of the statistics.
    fn better_origin(&self, total: &[f64], origin: &[f64]) -> Option<Vec<f64>>;
    /// Whether a grow's division of retired statistics depends on where the cut lies, and not only on which points go where.
    fn divides_by_cut(&self, division: Division) -> bool;
    /// The left child's part of retired statistics at a grow; `share` is its share of the parent's active points. What is not given to
    /// the left is the right child's.
    fn divide(&self, division: Division, retired: &[f64], origin: &[f64], split: &Split, share: f64, left: &mut [f64]);

    /// Whether statistics read from a file could have come from data.
    fn are_possible(&self, stats: &[f64], origin: &[f64]) -> bool;

    /// The statistics that the prior stands for: what a [`Batch`] wants with those of a leaf about `origin`.
    fn prior_stats(&self, _origin: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }
    /// `ln Z` of many leaves at once, appended to `out`. Minus infinity where the (improper) prior cannot support a leaf. A leaf's value does
    /// not depend on the company it is asked in. The batch is used up; `scratch` is working space of any content.
    fn ln_z_batch(&self, batch: &mut Batch, scratch: &mut Vec<Lane>, out: &mut Vec<f64>);
    /// What the joint evidence adds for the share of a leaf's points that are retired.
    fn retired_bonus(&self) -> f64 {
        0.0
    }
    /// The posterior of a leaf with these statistics. False if the prior does not support the leaf and a stand-in had to be used.
    fn fit(&self, total: &[f64], origin: &[f64], fit: &mut Fit) -> bool;
    /// The posteriors of many leaves at once: `totals` and `origins` stand one after another. `supported` says of each what
    /// [`LeafModel::fit`] returns. `scratch` is working space of any content.
    fn fit_rows(&self, totals: &[f64], origins: &[f64], _scratch: &mut Vec<Lane>, fits: &mut [Fit], supported: &mut [bool]) {
        let (stat_len, origin_len) = (self.stat_len(), origins.len() / fits.len().max(1));
        for (ix, (fit, supported)) in fits.iter_mut().zip(supported).enumerate() {
            let (total, origin) = (&totals[ix * stat_len..(ix + 1) * stat_len], &origins[ix * origin_len..(ix + 1) * origin_len]);
            *supported = self.fit(total, origin, fit);
        }
    }
    /// Whether the predictive of a point is `Z(with it) / Z(without it)`, which is then the cheaper way to it.
    fn evidence_predicts(&self) -> bool;
    /// `ln` of the predictive density (or probability) of a point that counts `weight` times.
    fn ln_predictive(&self, fit: &Fit, total: &[f64], origin: &[f64], point: &[f64], weight: f64) -> f64;

    /// The predictive distribution of a regression leaf.
    fn student_t(&self, _fit: &Fit, _origin: &[f64], _point: &[f64]) -> StudentT {
        unreachable!("not a regression leaf")
    }
    /// Whether predictions read the fit; where they do not, one that is out of date need not be computed for them.
    fn predicts_from_fit(&self) -> bool {
        true
    }
    /// The class probabilities of a classification leaf, added to `out` with the given weight.
    fn add_class_probabilities(&self, _fit: &Fit, _total: &[f64], _origin: &[f64], _point: &[f64], _weight: f64, _out: &mut [f64]) {
        unreachable!("not a classification leaf")
    }
    /// How much each of a leaf's points teaches about its box (ALC), appended to `out`.
    fn alc(&self, _fit: &Fit, _origin: &[f64], _bounds: &Bounds, _points: PointsOf, _out: &mut Vec<f64>) {
        unreachable!("not a regression leaf")
    }
    /// Entropy of the leaf's class probabilities.
    fn entropy(&self, _total: &[f64]) -> f64 {
        unreachable!("not a classification leaf")
    }
}
