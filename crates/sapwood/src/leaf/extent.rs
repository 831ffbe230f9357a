//! What the statistics of a leaf can be at most, given what the whole stream was.

use crate::error::{MAX_MAGNITUDE, MAX_ROWS, MAX_WEIGHT};

/// Means of values that are at most `MAX_MAGNITUDE`, with room for rounding.
pub const MAX_MEAN: f64 = 2.0 * MAX_MAGNITUDE;
/// Sums of squares of such values over all rows.
pub const MAX_SQUARE: f64 = 1e240;
/// The weight of all rows that a stream can have.
pub const MAX_TOTAL_WEIGHT: f64 = MAX_WEIGHT * MAX_ROWS as f64;

/// Sums lose at most this share of the largest value they have had to rounding: some ten thousand additions, each to the last of 53 bits.
pub const SUMS_ROUND_TO: f64 = 1e-9;

/// The range of targets of which nothing is known.
pub const ANY_TARGET: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The total weight of all observations, and the range of every value that enters the statistics of a leaf.
#[derive(Clone, Debug)]
pub struct Extent {
    pub weight: f64,
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

impl Extent {
    /// The range of each value. It is widened by zero, where running means start: they stand for missing values. Ranges may be infinite.
    pub fn new(weight: f64, ranges: impl Iterator<Item = (f64, f64)>) -> Self {
        let widened = ranges.map(|(low, high)| (low.clamp(-MAX_MEAN, 0.0), high.clamp(0.0, MAX_MEAN)));
        let (low, high) = widened.unzip();
        Self { weight, low, high }
    }

    /// Whether values, such as means, lie within their ranges up to rounding.
    pub fn holds(&self, values: &[f64]) -> bool {
        let slack = |i: usize| SUMS_ROUND_TO * self.low[i].abs().max(self.high[i].abs());
        values.iter().enumerate().all(|(i, value)| (self.low[i] - slack(i)..=self.high[i] + slack(i)).contains(value))
    }

    /// The largest distance of a value from an origin.
    pub fn reach(&self, i: usize, origin: f64) -> f64 {
        (self.high[i] - origin).abs().max((origin - self.low[i]).abs())
    }
}

/// Whether a sum of products can come from data whose sums of squares are these, given how much each may be off.
pub fn is_possible_product(product: f64, squares: [f64; 2], slacks: [f64; 2], own_slack: f64) -> bool {
    /// Squares below this have lost digits.
    const UNDERFLOW: f64 = 1e-290;
    let root = |square: f64, slack: f64| (square + slack + UNDERFLOW).max(0.0).sqrt();
    product.abs() <= (1.0 + 1e-6) * root(squares[0], slacks[0]) * root(squares[1], slacks[1]) + own_slack
}
