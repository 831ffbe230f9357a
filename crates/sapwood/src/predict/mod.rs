//! Predictive distributions: the exact mixture of the particles' leaf predictives.

mod coarse;
mod crps;
mod lanes;
mod mixture;
mod moments;
mod quantile;
mod solver;
mod student_t;

pub use mixture::{Component, Mixture, ln_mix};
pub use moments::Moments;
pub use solver::Solver;
pub use student_t::{FARTHEST, StudentT};
