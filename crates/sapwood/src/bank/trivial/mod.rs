//! Members without trees: forecasts that cost almost nothing and that a learner should never lose to.
//!
//! Each sees the inputs followed by one lag, the last known target (NaN before the first).

mod last_label;
mod last_value;
mod least_squares;
mod tracked;

pub use last_label::LastLabel;
pub use last_value::LastValue;
pub use least_squares::LeastSquares;
pub use tracked::Tracked;

use crate::config::{Named, Task};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrivialKind {
    /// The next target is the last one.
    LastValue,
    /// Recursive least squares on the inputs and the last target.
    LeastSquares,
    /// Recent transition frequencies from the last label.
    LastLabel,
}

impl Named for TrivialKind {
    const OPTION: &'static str = "member";
    const ALLOWED: &'static str = "last_value, least_squares, last_label";
    const NAMES: &'static [(&'static str, Self)] =
        &[("last_value", Self::LastValue), ("least_squares", Self::LeastSquares), ("last_label", Self::LastLabel)];
}

impl TrivialKind {
    /// Lags that such a member sees.
    pub const LAGS: usize = 1;

    pub fn task(self) -> Task {
        match self {
            Self::LastValue | Self::LeastSquares => Task::Regression,
            Self::LastLabel => Task::Classification,
        }
    }
}

/// The last target, which is the last of the inputs.
fn last_target(x: &[f64]) -> f64 {
    x[x.len() - 1]
}
