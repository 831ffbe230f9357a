//! The tree prior: a node at depth `D` is split with probability `alpha (1 + D)^-beta`.

use crate::num::{exp, ln};

#[derive(Clone, Debug, PartialEq)]
pub struct TreePrior {
    /// By depth.
    table: Vec<AtDepth>,
    alpha: f64,
    beta: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct AtDepth {
    /// `ln` of the probabilities to split and not to split.
    ln_split: f64,
    ln_stop: f64,
    /// The odds of two leaves in place of one, and their logarithm.
    ln_odds_of_grow: f64,
    odds_of_grow: f64,
}

/// Number of precomputed depths; values for deeper nodes are computed on demand.
const TABLE_DEPTH: usize = 64;

impl TreePrior {
    pub fn new(alpha: f64, beta: f64) -> Self {
        let table = (0..TABLE_DEPTH).map(|depth| AtDepth::new(alpha, beta, depth)).collect();
        Self { table, alpha, beta }
    }

    #[inline(always)]
    fn at(&self, depth: usize, field: impl Fn(&AtDepth) -> f64) -> f64 {
        match self.table.get(depth) {
            Some(known) => field(known),
            None => field(&self.deep(depth)),
        }
    }

    #[cold]
    fn deep(&self, depth: usize) -> AtDepth {
        AtDepth::new(self.alpha, self.beta, depth)
    }

    #[inline]
    pub fn ln_split(&self, depth: usize) -> f64 {
        self.at(depth, |known| known.ln_split)
    }

    #[inline]
    pub fn ln_stop(&self, depth: usize) -> f64 {
        self.at(depth, |known| known.ln_stop)
    }

    /// `ln` of the prior odds of two leaves in place of one.
    #[inline]
    pub fn ln_odds_of_grow(&self, depth: usize) -> f64 {
        self.at(depth, |known| known.ln_odds_of_grow)
    }

    #[inline]
    pub fn odds_of_grow(&self, depth: usize) -> f64 {
        self.at(depth, |known| known.odds_of_grow)
    }
}

impl AtDepth {
    fn new(alpha: f64, beta: f64, depth: usize) -> Self {
        let (ln_split, ln_stop) = probabilities(alpha, beta, depth);
        let ln_odds_of_grow = ln_split + 2.0 * probabilities(alpha, beta, depth + 1).1 - ln_stop;
        Self { ln_split, ln_stop, ln_odds_of_grow, odds_of_grow: exp(ln_odds_of_grow) }
    }
}

fn probabilities(alpha: f64, beta: f64, depth: usize) -> (f64, f64) {
    let split = alpha * libm::pow((1 + depth) as f64, -beta);
    (ln(split), libm::log1p(-split))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_by_depth() {
        let prior = TreePrior::new(0.95, 2.0);
        for depth in [0, 1, 2, 63, 64, 100] {
            let split = 0.95 / ((1 + depth) as f64).powi(2);
            assert!((prior.ln_split(depth) - split.ln()).abs() < 1e-12);
            assert!((prior.ln_stop(depth) - (1.0 - split).ln()).abs() < 1e-12);
            let below = 0.95 / ((2 + depth) as f64).powi(2);
            let odds = split * (1.0 - below).powi(2) / (1.0 - split);
            assert!((prior.odds_of_grow(depth) / odds - 1.0).abs() < 1e-12);
            assert!((prior.ln_odds_of_grow(depth) - odds.ln()).abs() < 1e-12);
        }
        assert_eq!(TreePrior::new(0.0, 2.0).ln_split(0), f64::NEG_INFINITY);
    }
}
