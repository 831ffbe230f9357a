//! The point that a leaf's moments are about.

use std::ops::Deref;
use std::sync::Arc;

/// Shared by all leaves that have the same, so that most are found equal without being looked at.
#[derive(Debug, Default)]
pub struct Origin(Arc<[f64]>);

impl Clone for Origin {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Counting costs more than looking whether there is anything to count.
    #[inline]
    fn clone_from(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.0, &source.0) {
            self.0 = Arc::clone(&source.0);
        }
    }
}

impl From<Vec<f64>> for Origin {
    fn from(origin: Vec<f64>) -> Self {
        Self(origin.into())
    }
}

impl Deref for Origin {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

impl PartialEq for Origin {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}
