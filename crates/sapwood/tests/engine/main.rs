//! Tests of the engine through its public face.

mod common;
mod determinism;
