//! The parts of the product that the recursion of the filter leaves open, written from `docs/model.md`.
//!
//! - [`scale`]: what is known of the units of the stream, and the default priors.
//! - [`twin`]: a cloud of one particle with its default settings, step by step: every number that the engine must give, and the probability of
//!   every move that it may make.
//! - [`moves`]: whether moves come as often as they should.
//! - [`members`]: the members of a bank that have no trees.
//! - [`bank`]: mixing and calibration.

pub mod bank;
pub mod members;
pub mod moves;
pub mod scale;
pub mod twin;
