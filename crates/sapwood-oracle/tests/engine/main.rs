//! The engine against the reference.

mod adapter;
mod checks;
mod leaves;
mod scores;
