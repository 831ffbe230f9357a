//! Rows with the scores of their levels appended, as the members see them.

use super::{Bank, Rows};
use crate::effects::Effects;

/// Learned rows, extended one by one before each was learned.
pub(super) struct Scored {
    pub values: Vec<f64>,
    /// What was known before, to start from if the members do not come to the end.
    before: Effects,
}

impl Bank {
    /// Number of values in a row as the members see it.
    pub(crate) fn width(&self) -> usize {
        self.n_inputs + self.effects.as_ref().map_or(0, Effects::n_scores)
    }

    /// Rows with the scores that they have now.
    pub(super) fn with_scores(&self, x: &Rows) -> Vec<f64> {
        let Some(effects) = &self.effects else { return x.values.to_vec() };
        let mut values = Vec::with_capacity(x.len() * self.width());
        (0..x.len()).for_each(|row| effects.extend(x.row(row), &mut values));
        values
    }
}

/// A row to learn: its inputs, its target and its weight.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub x: Rows<'a>,
    pub y: &'a [f64],
    pub weight: Option<&'a [f64]>,
}

impl Labelled<'_> {
    fn learn(&self, effects: &mut Effects, row: usize) {
        let weight = self.weight.map_or(1.0, |w| w[row]);
        if weight != 0.0 {
            effects.learn(self.x.row(row), self.y[row], weight);
        }
    }

    /// Extend each row, then learn it. Before row `i` is learned, row `i + delay` of `x_test` is extended into `test`.
    pub fn extend_and_learn(&self, effects: &mut Effects, x_test: &Rows, test: &mut Vec<f64>) -> Scored {
        let mut scored = Scored { values: Vec::new(), before: effects.clone() };
        let delay = x_test.len().saturating_sub(self.x.len());
        for row in 0..x_test.len().max(self.x.len()) {
            if row < x_test.len() {
                effects.extend(x_test.row(row), test);
            }
            if let Some(at) = row.checked_sub(delay) {
                effects.extend(self.x.row(at), &mut scored.values);
                self.learn(effects, at);
            }
        }
        scored
    }

    /// Undo the rows that the members have not learned.
    pub fn keep_first(&self, n_learned: usize, effects: &mut Effects, scored: Scored) {
        if n_learned < self.x.len() {
            *effects = scored.before;
            (0..n_learned).for_each(|row| self.learn(effects, row));
        }
    }
}
