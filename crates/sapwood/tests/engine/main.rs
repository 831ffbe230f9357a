//! Tests of the engine through its public interface.

mod affine;
mod common;
mod determinism;
mod horizons;
mod hostile_data;
mod leaf_sums;
mod mixture;
mod rejuvenation;
mod retirement;
mod snapshots;
mod trivial;
