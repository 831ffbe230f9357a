//! The tree prior: a node at depth `D` is split with probability `alpha (1 + D)^-beta`.

use crate::num::ln;

#[derive(Clone, Debug, PartialEq)]
pub struct TreePrior {
    /// `ln` of the probabilities to split and not to split, by depth.
    table: Vec<(f64, f64)>,
    alpha: f64,
    beta: f64,
}

/// Depths kept ready; deeper nodes are computed when asked for.
const TABLE_DEPTH: usize = 64;

impl TreePrior {
    pub fn new(alpha: f64, beta: f64) -> Self {
        let table = (0..TABLE_DEPTH).map(|depth| probabilities(alpha, beta, depth)).collect();
        Self { table, alpha, beta }
    }

    fn at(&self, depth: usize) -> (f64, f64) {
        self.table.get(depth).copied().unwrap_or_else(|| probabilities(self.alpha, self.beta, depth))
    }

    pub fn ln_split(&self, depth: usize) -> f64 {
        self.at(depth).0
    }

    pub fn ln_stop(&self, depth: usize) -> f64 {
        self.at(depth).1
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
        }
        assert_eq!(TreePrior::new(0.0, 2.0).ln_split(0), f64::NEG_INFINITY);
    }
}
