//! A leaf: its statistics are possible, and those of its active points.

use super::require;
use crate::cloud::Cloud;
use crate::error::Result;
use crate::leaf::{ANY_TARGET, Extent, Fit, LeafModel, N_POINTS, Origin, SUMS_ROUND_TO};
use crate::tree::LeafNode;

/// What all leaves of a cloud are compared with.
pub struct LeafLimits {
    extent: Extent,
    /// The same for origins: that of the target only has to be a number, since the engine does not remember all targets.
    origins: Extent,
    n_box_sides: usize,
    n_particles: u32,
    uses_scores: bool,
    /// The limits of the statistics about the origin that most leaves have.
    origin: Origin,
    largest: Vec<f64>,
}

impl LeafLimits {
    pub fn new<M: LeafModel>(cloud: &Cloud<M>, extent: Extent) -> Self {
        let origin: Origin = cloud.model.origin().into();
        Self {
            largest: cloud.model.largest_stats(&origin, &extent),
            extent,
            origins: cloud.model.extent(&cloud.range, ANY_TARGET),
            origin,
            n_box_sides: if cloud.settings.config.discard.uses_boxes() { cloud.settings.n_inputs } else { 0 },
            n_particles: cloud.n_particles(),
            uses_scores: cloud.uses_scores(),
        }
    }
}

pub fn check_leaf<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode<M::Fit>, limits: &LeafLimits) -> Result<()> {
    require(limits.origins.holds(&leaf.origin), "the origin of a leaf is not among the data")?;
    let own_largest = (leaf.origin != limits.origin).then(|| cloud.model.largest_stats(&leaf.origin, &limits.extent));
    let largest = own_largest.as_deref().unwrap_or(&limits.largest);
    let mut total = Vec::new();
    leaf.total(&mut total);
    for stats in [&leaf.retired[..], &total[..]] {
        let possible = stats.is_empty() || cloud.model.are_possible(stats, largest);
        require(possible, "a leaf's statistics cannot have come from data")?;
    }
    check_sums(cloud, leaf, largest)?;
    check_scores(leaf, limits)
}

/// A leaf's active statistics are the sums over its points, to what rounding can have done.
fn check_sums<M: LeafModel>(cloud: &Cloud<M>, leaf: &LeafNode<M::Fit>, largest: &[f64]) -> Result<()> {
    let mut sums = vec![0.0; leaf.active.len()];
    let mut one = vec![0.0; leaf.active.len()];
    for &slot in leaf.points.slots() {
        one.fill(0.0);
        cloud.model.observe(&mut one, &leaf.origin, cloud.pool.point(slot), cloud.pool.weight(slot));
        sums.iter_mut().zip(&one).for_each(|(sum, value)| *sum += value);
    }
    // Points that have come and gone may have been much larger than those that are left.
    let counts = cloud.model.counted_classes().map(|_| 1e-6 * (1.0 + sums[N_POINTS]));
    let slack = |largest: &f64| counts.unwrap_or(SUMS_ROUND_TO * largest + f64::MIN_POSITIVE);
    let mut compared = leaf.active.iter().zip(&sums).zip(largest);
    let close = compared.all(|((active, sum), largest)| (active - sum).abs() <= slack(largest));
    require(close, "a leaf's statistics are not those of its points")
}

/// The box and the discard scores, which only some rules need.
fn check_scores<F: Fit>(leaf: &LeafNode<F>, limits: &LeafLimits) -> Result<()> {
    let (lower, upper, scores) = (&leaf.extras.lower, &leaf.extras.upper, &leaf.extras.scores);
    let has_sides = lower.len() == limits.n_box_sides && upper.len() == limits.n_box_sides;
    require(has_sides, "a leaf's box has the wrong number of sides")?;
    require(lower.iter().zip(upper).all(|(lower, upper)| lower <= upper), "a leaf's box is empty")?;
    let tallied = limits.uses_scores || (scores.is_empty() && leaf.n_tallied == 0 && !leaf.scored);
    require(tallied, "a leaf has scores that nobody asked for")?;
    require(leaf.n_tallied <= limits.n_particles, "a leaf is tallied more often than there are particles")?;
    let unscored = leaf.n_active() == 0 || (!leaf.scored && leaf.n_tallied == 0);
    let fits = if scores.is_empty() { unscored } else { scores.len() == leaf.n_active() };
    require(fits, "a leaf's scores do not fit its points")?;
    require(scores.iter().all(|score| score.is_finite()), "a discard score is not a number")
}
