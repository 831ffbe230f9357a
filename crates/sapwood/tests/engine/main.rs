//! Tests of the engine through its public face.

mod common;
mod determinism;
mod hostile_data;
mod mixture;
mod snapshots;
