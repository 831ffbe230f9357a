//! Members that are not clouds: forecasts that cost almost nothing and that a learner should never lose to.
//!
//! Each sees the inputs and, last of them, the last target that is known (NaN where none is).

mod last_label;
mod last_value;
mod least_squares;
mod tracked;

pub(crate) use last_label::LastLabel;
pub(crate) use last_value::LastValue;
pub(crate) use least_squares::LeastSquares;
pub(crate) use tracked::Tracked;

use crate::config::{Named, Task};
use crate::predict::Mixture;

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrivialKind {
    /// The next target is the last one.
    LastValue,
    /// A straight line through the inputs and the last target, refitted at every row.
    LeastSquares,
    /// The next label follows the last one as it has lately.
    LastLabel,
}

impl Named for TrivialKind {
    const OPTION: &'static str = "member";
    const ALLOWED: &'static str = "last_value, least_squares, last_label";
    const NAMES: &'static [(&'static str, Self)] =
        &[("last_value", Self::LastValue), ("least_squares", Self::LeastSquares), ("last_label", Self::LastLabel)];
}

impl TrivialKind {
    pub fn task(self) -> Task {
        match self {
            Self::LastValue | Self::LeastSquares => Task::Regression,
            Self::LastLabel => Task::Classification,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Trivial {
    LastValue(Tracked<LastValue>),
    LeastSquares(Tracked<LeastSquares>),
    LastLabel(LastLabel),
}

impl Trivial {
    /// `n_inputs` does not count the last target.
    pub fn new(kind: TrivialKind, n_inputs: usize, n_classes: usize) -> Self {
        match kind {
            TrivialKind::LastValue => Self::LastValue(Tracked::new(LastValue)),
            TrivialKind::LeastSquares => Self::LeastSquares(Tracked::new(LeastSquares::new(n_inputs + 1))),
            TrivialKind::LastLabel => Self::LastLabel(LastLabel::new(n_classes)),
        }
    }

    pub fn kind(&self) -> TrivialKind {
        match self {
            Self::LastValue(_) => TrivialKind::LastValue,
            Self::LeastSquares(_) => TrivialKind::LeastSquares,
            Self::LastLabel(_) => TrivialKind::LastLabel,
        }
    }

    /// Take in one observation; returns `ln` of its predictive density (or probability) before it was learned, `weight` times.
    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        match self {
            Self::LastValue(member) => member.observe(x, y, weight),
            Self::LeastSquares(member) => member.observe(x, y, weight),
            Self::LastLabel(member) => member.observe(x, y, weight),
        }
    }

    pub fn add_components(&self, x: &[f64], weight: f64, mixture: &mut Mixture) {
        match self {
            Self::LastValue(member) => mixture.push(weight, member.student_t(x)),
            Self::LeastSquares(member) => mixture.push(weight, member.student_t(x)),
            Self::LastLabel(_) => unreachable!("a regression bank holds regression members"),
        }
    }

    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, out: &mut [f64]) {
        match self {
            Self::LastLabel(member) => member.add_class_probabilities(x, weight, out),
            Self::LastValue(_) | Self::LeastSquares(_) => unreachable!("a classification bank holds classification members"),
        }
    }

    pub fn add_classes(&mut self, n_classes: usize) {
        if let Self::LastLabel(member) = self {
            member.add_classes(n_classes);
        }
    }
}

/// The last target, as inputs end with it.
fn last_target(x: &[f64]) -> f64 {
    x[x.len() - 1]
}
