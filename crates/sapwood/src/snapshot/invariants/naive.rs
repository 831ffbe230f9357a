//! Members without trees.

use super::require;
use crate::bank::trivial::{LastLabel, LeastSquares, Tracked};
use crate::error::{MAX_WEIGHT, Result};
use crate::leaf::{MAX_MEAN, MAX_TOTAL_WEIGHT, are_possible_cross_products};
use crate::predict::FARTHEST;

/// Decaying sums of weights: they lose at least a thousandth a row.
const MAX_DECAYING: f64 = 1001.0 * MAX_WEIGHT;

pub fn check_tracked<P>(member: &Tracked<P>) -> Result<()> {
    let Tracked { scale, n_errors, sum_errors, .. } = member;
    require(scale.is_possible(), "the running scale could not come from any stream")?;
    let errors_ok = (0.0..=MAX_DECAYING).contains(n_errors) && (0.0..=MAX_DECAYING * 2.0 * FARTHEST).contains(sum_errors);
    require(errors_ok, "a member's record of its errors is out of range")
}

pub fn check_least_squares(member: &LeastSquares) -> Result<()> {
    const WHAT: &str = "a least squares member could not come from any stream";
    let LeastSquares { n, mean, cross, slopes, n_since_fit } = member;
    require(*n_since_fit as usize <= slopes.len(), WHAT)?;
    require((0.0..=MAX_DECAYING).contains(n) && mean.iter().all(|mean| mean.abs() <= MAX_MEAN), WHAT)?;
    require(slopes.iter().all(|slope| slope.is_finite()), WHAT)?;
    require(are_possible_cross_products(cross, mean.len()), WHAT)
}

pub fn check_last_label(member: &LastLabel) -> Result<()> {
    let LastLabel { counts, followers } = member;
    let is_count = |count: &f64| (0.0..=MAX_TOTAL_WEIGHT).contains(count);
    require(counts.iter().all(is_count), "a count of labels is out of range")?;
    for row in followers {
        let in_order =
            row.windows(2).all(|pair| pair[0].0 < pair[1].0) && row.last().is_none_or(|(last, _)| (*last as usize) < counts.len());
        require(in_order, "a table of labels that follow one another is out of order")?;
        require(row.iter().all(|(_, count)| is_count(count)), "a count of labels is out of range")?;
    }
    Ok(())
}
