//! The scale of the inputs that a leaf's scatter is held up by.
//!
//! It is that of the whole stream, never of the leaf: by the measure of a tiny leaf every input is far out, and far out the class that the
//! leaf has not seen is the likeliest, for nothing is known of it.

use crate::leaf::Scale;

/// Pseudo-observations behind it. A whole one hides what a narrow leaf knows (log loss .200 instead of .181 on the full ELEC2); much less
/// begins to let tiny leaves claim too much.
const STRENGTH: f64 = 0.1;

#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// What is added to each input's sum of squares; 1 for an input that has been constant, whose scatter is exactly zero.
    pub(crate) squares: Vec<f64>,
    /// Where the statistics of new leaves are centred.
    pub(crate) centre: Vec<f64>,
    /// Whether it follows the stream; otherwise it was given once and for all.
    pub(crate) follows: bool,
}

impl Ridge {
    pub fn of_stream(scale: &Scale) -> Self {
        let square = |i: usize| if scale.variance(i) > 0.0 { STRENGTH * scale.variance(i) } else { 1.0 };
        let squares = (0..scale.dim()).map(square).collect();
        Self { squares, centre: (0..scale.dim()).map(|i| scale.mean(i)).collect(), follows: true }
    }

    pub fn fixed(squares: Vec<f64>) -> Self {
        Self { centre: vec![0.0; squares.len()], squares, follows: false }
    }

    /// Follow the stream's scale; true if the ridge changed.
    pub fn refresh(&mut self, scale: &Scale, n_before: f64, woke: bool) -> bool {
        let due = self.follows && scale.is_due(n_before, woke);
        if due {
            *self = Self::of_stream(scale);
        }
        due
    }
}
