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
pub use tracked::{PointForecast, Tracked};

use crate::config::{Named, Task, named};

named!(
    TrivialKind, "member",
    /// The next target is the last one.
    LastValue = "last_value" for Regression,
    /// Recursive least squares on the inputs and the last target.
    LeastSquares = "least_squares" for Regression,
    /// Recent transition frequencies from the last label.
    LastLabel = "last_label" for Classification,
);

impl TrivialKind {
    /// Lags that such a member sees.
    pub const LAGS: usize = 1;

    pub fn task(self) -> Task {
        self.only_for().expect("every trivial member is for one task")
    }
}

/// The last target, which is the last of the inputs.
fn last_target(x: &[f64]) -> f64 {
    x[x.len() - 1]
}
