//! Properties of the engine that hold whatever the input, and generators of input that tries to break them.
//!
//! Everything random is decided by bytes ([`Choices`]): those of a fuzzer (`fuzz/`), or those that a seed stands for (the tests here, and
//! `benchmarks.reliability`). A property returns what is wrong, or panics where the engine does.

mod choices;
mod files;
mod health;
mod models;
mod rows;

pub use choices::{Choices, bytes_of_seed};
pub use files::{mutated, resealed_file_is_refused_or_works};
pub use models::seed_files;
pub use rows::accepted_rows_keep_the_model_working;

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The input was refused, and nothing had changed.
    Refused,
    /// The input was accepted, and the model works.
    Accepted,
}

/// The outcome of a case, or what is wrong.
pub type Verdict = Result<Outcome, String>;

/// A property of the case that the choices decide.
pub type Property = fn(&mut Choices) -> Verdict;

/// The properties by name.
pub const TARGETS: [(&str, Property); 2] = [("resealed_file", files::case_of), ("accepted_rows", accepted_rows_keep_the_model_working)];
