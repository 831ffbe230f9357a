//! Faults in the engine itself, and which of its tests notice them.
//!
//! The engine's sources know nothing of this. A scratch copy of the workspace is made below `target/`, in which every fault stands beside
//! the code that it replaces, `if switch::is(7) { wrong } else { right }`; it is built once, and an environment variable then selects the fault.
//!
//! - [`named`]: mistakes that an engineer could make, written by hand.
//! - [`mutants`]: small changes made by machine, of which a random sample is taken.
//! - [`site`]: where a fault stands, and the text of a source with its switches.
//! - [`scratch`]: the copy and its build.
//! - [`run`]: running the tests under each fault, and the list of what they noticed.
//! - [`table`]: the committed tables.

#![forbid(unsafe_code)]

pub mod mutants;
pub mod named;
pub mod run;
pub mod scratch;
pub mod site;
pub mod table;
