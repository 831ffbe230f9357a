//! Dynamic trees for data streams: regression and classification with full predictive distributions, in constant memory.
//!
//! The model is the dynamic tree of Taddy, Gramacy & Polson (2011) made online by Anagnostopoulos & Gramacy: a [`cloud`] of particles, each
//! a Bayesian [`tree`] with conjugate [`leaf`] models, updated by sequential Monte Carlo. Old points are retired from the active [`pool`]
//! into their leaf's prior. A [`bank`] mixes several clouds according to how well they have predicted recently.
//!
//! The crate knows nothing of Python, files or printing. Invalid input gives [`error::Error`] values; bugs in the engine are panics.

#![forbid(unsafe_code)]

pub mod bank;
pub mod cloud;
pub mod config;
pub mod effects;
pub mod error;
pub mod leaf;
pub mod num;
pub mod pool;
pub mod predict;
pub mod rng;
pub mod snapshot;
pub mod split;
pub mod tree;
