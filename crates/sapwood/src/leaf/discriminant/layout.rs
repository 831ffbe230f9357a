//! Where things stand in the statistics of a discriminant leaf.
//!
//! Pooled: `n`, the second moments of everything, then for each class its count and first moments. By class: `n`, then for each class its
//! count, first and second moments. Classes come last, so that a class that appears later is appended.

use crate::num::cholesky::{packed_ix, packed_len};

/// Whose second moments are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covariance {
    /// One covariance for every class: linear boundaries.
    Pooled,
    /// Also one for each class, as a further nested model: quadratic boundaries.
    ByClass,
}

/// Which entries of a covariance are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All of them, as a packed lower triangle.
    Full,
    /// The variances alone: inputs are independent given the class.
    Diagonal,
}

/// As many independent inputs the inputs of a diagonal covariance count for together, at most.
const INDEPENDENT: f64 = 4.0;

impl Shape {
    /// What one input counts for. Taking dependent inputs for independent ones adds up the same evidence again and again, and predicts
    /// with a confidence that nothing supports: with 57 inputs (spambase) log loss was .58 at full count, .32 with class counts alone
    /// and .30 at this.
    pub fn weight(self, n_inputs: usize) -> f64 {
        match self {
            Self::Full => 1.0,
            Self::Diagonal => (INDEPENDENT / n_inputs as f64).min(1.0),
        }
    }

    /// Inputs of a matrix that a factorisation takes together; a diagonal is made of matrices of order one.
    pub fn order(self, n_inputs: usize) -> usize {
        match self {
            Self::Full => n_inputs,
            Self::Diagonal => 1,
        }
    }

    pub fn len(self, n_inputs: usize) -> usize {
        match self {
            Self::Full => packed_len(n_inputs),
            Self::Diagonal => n_inputs,
        }
    }

    #[inline(always)]
    pub fn diagonal_ix(self, i: usize) -> usize {
        match self {
            Self::Full => packed_ix(i, i),
            Self::Diagonal => i,
        }
    }

    /// Visit the entries that are kept: position, row, column.
    #[inline(always)]
    pub fn for_each_entry(self, n_inputs: usize, mut visit: impl FnMut(usize, usize, usize)) {
        match self {
            Self::Full => {
                for i in 0..n_inputs {
                    let row = packed_ix(i, 0);
                    for j in 0..=i {
                        visit(row + j, i, j);
                    }
                }
            }
            Self::Diagonal => {
                for i in 0..n_inputs {
                    visit(i, i, i);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub n_classes: usize,
    pub n_inputs: usize,
    pub covariance: Covariance,
    pub shape: Shape,
}

impl Layout {
    /// Entries of one matrix of second moments.
    pub fn second_len(&self) -> usize {
        self.shape.len(self.n_inputs)
    }

    fn block_len(&self) -> usize {
        1 + self.n_inputs + if self.covariance == Covariance::ByClass { self.second_len() } else { 0 }
    }

    pub fn stat_len(&self) -> usize {
        self.count(self.n_classes)
    }

    /// Where the count of a class stands; its first moments follow.
    #[inline]
    pub fn count(&self, class: usize) -> usize {
        let before = if self.covariance == Covariance::Pooled { 1 + self.second_len() } else { 1 };
        before + class * self.block_len()
    }

    #[inline]
    pub fn first(&self, class: usize) -> std::ops::Range<usize> {
        let start = self.count(class) + 1;
        start..start + self.n_inputs
    }

    /// Where the second moments that a point of a class adds to stand.
    #[inline]
    pub fn second(&self, class: usize) -> std::ops::Range<usize> {
        let start = match self.covariance {
            Covariance::Pooled => 1,
            Covariance::ByClass => self.count(class) + 1 + self.n_inputs,
        };
        start..start + self.second_len()
    }

    /// Second moments are the sum of this many blocks.
    pub fn n_seconds(&self) -> usize {
        match self.covariance {
            Covariance::Pooled => 1,
            Covariance::ByClass => self.n_classes,
        }
    }
}
