//! The rule of an inner node.

/// Inputs with `x[dim] < cut` go left; a missing value goes left if `nan_left` is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    pub dim: u32,
    pub nan_left: bool,
    pub cut: f64,
}

impl Split {
    #[inline]
    pub fn goes_left(&self, x: &[f64]) -> bool {
        self.sends_left(x[self.dim as usize])
    }

    /// Whether a value of the split's own dimension goes left.
    #[inline]
    pub fn sends_left(&self, value: f64) -> bool {
        value < self.cut || (self.nan_left && value.is_nan())
    }
}
