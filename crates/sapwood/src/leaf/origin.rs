//! The point that a leaf's statistics are centred on.

use std::ops::Deref;
use std::sync::Arc;

/// Reference counted, so that leaves about the same origin usually compare equal by pointer.
#[derive(Debug, Default)]
pub struct Origin(Arc<[f64]>);

impl Clone for Origin {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// Checking for equality is cheaper than updating two reference counts.
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
