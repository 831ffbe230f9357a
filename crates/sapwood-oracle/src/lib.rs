//! A slow and simple reference implementation, against which the engine is checked.
//!
//! Everything here is written from the paper and shares no code with the engine. A leaf is a list of weighted points,
//! not a sufficient statistic; a retired point is a point with a reduced weight. Trees are plain recursive enums.
//!
//! - [`leaf`]: evidence and predictive of the leaf models by dense linear algebra, and again by quadrature.
//! - [`tree`]: trees, their prior, and the enumerator of all trees on a line of integers.
//! - [`filter`]: the exact recursion of the filter (infinitely many particles) on small problems.
//! - [`smc`]: a slow particle filter into which faults can be injected.
//! - [`product`]: default priors, discarding by scores, banks: what the filter itself leaves open.
//! - [`check`]: statistical tests over any filter, run on the faulty one, the clean one and the engine.

#![forbid(unsafe_code)]

pub mod check;
pub mod filter;
pub mod leaf;
pub mod linalg;
pub mod product;
pub mod rng;
pub mod settings;
pub mod smc;
pub mod special;
pub mod tree;
