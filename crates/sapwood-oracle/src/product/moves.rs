//! Whether moves come as often as they should.
//!
//! Given everything before it, a move has a known probability `p`. So the sum over steps of `f (made - p)`, for any feature `f` of the past, has
//! mean zero and variance `sum f^2 p (1 - p)`; in units of its standard deviation it is normal, however the steps depend on each other.

use super::twin::{Made, Moves};

/// Sums for one kind of event and one feature.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub name: &'static str,
    excess: f64,
    variance: f64,
    pub n_events: f64,
}

impl Sum {
    fn add(&mut self, feature: f64, made: bool, p: f64) {
        let made = if made { 1.0 } else { 0.0 };
        self.excess += feature * (made - p);
        self.variance += feature * feature * p * (1.0 - p);
        self.n_events += feature * made;
    }

    /// In standard deviations.
    pub fn deviation(&self) -> f64 {
        if self.variance > 0.0 { self.excess / self.variance.sqrt() } else { 0.0 }
    }
}

/// The sums that are kept, by event and feature.
const NAMES: [&str; 11] = [
    "prunes",
    "prunes of a subtree",
    "prunes by depth",
    "prunes onto retired points",
    "grows",
    "grows by depth",
    "grows of retired points",
    "missing values to the left",
    "cuts in the upper half of their interval",
    "cuts in the upper half of what is allowed",
    "grows on the first input",
];

#[derive(Clone, Debug)]
pub struct Tally {
    pub sums: Vec<Sum>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { sums: NAMES.iter().map(|name| Sum { name, ..Sum::default() }).collect() }
    }
}

impl Tally {
    /// # Panics
    ///
    /// If the engine made a grow that it may not make.
    pub fn add(&mut self, moves: &Moves, made: Made) {
        let is = |condition: bool| if condition { 1.0 } else { 0.0 };
        let (pruned, grown) = (made == Made::Prune, matches!(made, Made::Grow(_)));
        let p_grow: f64 = moves.grows.iter().map(|grow| grow.p).sum();
        let depth = moves.depth as f64;
        self.sums[0].add(1.0, pruned, moves.prune);
        self.sums[1].add(is(moves.sibling_is_subtree), pruned, moves.prune);
        self.sums[2].add(depth, pruned, moves.prune);
        self.sums[3].add(is(moves.sibling_has_retired), pruned, moves.prune);
        self.sums[4].add(1.0, grown, p_grow);
        self.sums[5].add(depth, grown, p_grow);
        self.sums[6].add(is(moves.has_retired), grown, p_grow);
        let Made::Grow(split) = made else { return };
        let of_interval = |low: f64, high: f64| split.cut > low && split.cut <= high;
        let found = moves.grows.iter().find(|g| g.dim == split.dim && g.nan_left == split.nan_left && of_interval(g.low, g.high));
        let found = found.unwrap_or_else(|| panic!("no such grow is allowed: {split:?} among {:?}", moves.grows));
        // Given that it grew, and how.
        if found.by_coin {
            let both = moves.grows.iter().filter(|g| g.dim == found.dim && g.low == found.low);
            let p: f64 = both.clone().map(|g| g.p).sum();
            self.sums[7].add(1.0, split.nan_left, both.filter(|g| g.nan_left).map(|g| g.p).sum::<f64>() / p);
        }
        self.sums[8].add(1.0, split.cut > 0.5 * (found.low + found.high), 0.5);
        let p_dim: f64 = moves.grows.iter().filter(|g| g.dim == split.dim).map(|g| g.p).sum();
        let cuts: Vec<f64> = moves.grows.iter().filter(|g| g.dim == split.dim).map(|g| g.low).collect();
        let middle = 0.5 * (cuts.iter().copied().fold(f64::INFINITY, f64::min) + cuts.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let p_upper = moves.grows.iter().filter(|g| g.dim == split.dim && g.low > middle).map(|g| g.p).sum::<f64>() / p_dim;
        self.sums[9].add(1.0, found.low > middle, p_upper);
        self.sums[10].add(1.0, split.dim == 0, moves.grows.iter().filter(|g| g.dim == 0).map(|g| g.p).sum::<f64>() / p_grow);
    }
}
