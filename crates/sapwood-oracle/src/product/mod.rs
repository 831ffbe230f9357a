//! The parts of the product that the recursion of the filter leaves open, written from `docs/model.md`: the running scale of the
//! stream, the default priors and discarding by scores.
//!
//! - [`scale`]: what is known of the units of the stream.
//! - [`twin`]: a cloud of one particle with its default settings, step by step: every number that the engine must give, and the probability of
//!   every move that it may make.
//! - [`moves`]: the test that moves come as often as they should.

pub mod moves;
pub mod scale;
pub mod twin;
