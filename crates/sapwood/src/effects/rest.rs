//! Levels beyond those that are fitted together: a shrunken mean of the residuals of each.

use super::Link;

/// Prior strengths, in rows, among which the errors so far choose.
const STRENGTHS: [f64; N_STRENGTHS] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];
pub const N_STRENGTHS: usize = 7;

#[derive(Clone, Debug)]
pub struct RestOfLevels {
    pub(crate) n_outputs: usize,
    /// Of each level: how many rows it had, or on the logit scale the sum of their curvatures.
    pub(crate) counts: Vec<f64>,
    /// (levels, outputs): sums of residuals, or on the logit scale the effects.
    pub(crate) sums: Vec<f64>,
    /// How well each strength would have predicted the residuals.
    pub(crate) losses: [f64; N_STRENGTHS],
}

impl RestOfLevels {
    pub fn new(n_outputs: usize) -> Self {
        Self { n_outputs, counts: Vec::new(), sums: Vec::new(), losses: [0.0; N_STRENGTHS] }
    }

    fn strength(&self) -> f64 {
        let best = (1..N_STRENGTHS).fold(0, |best, ix| if self.losses[ix] < self.losses[best] { ix } else { best });
        STRENGTHS[best]
    }

    pub fn effect(&self, link: Link, level: usize, output: usize) -> f64 {
        let Some(count) = self.counts.get(level) else { return 0.0 };
        let sum = self.sums[level * self.n_outputs + output];
        match link {
            Link::Identity => sum / (count + self.strength()),
            Link::Logit => sum,
        }
    }

    /// On the logit scale, the variance of a level's effect.
    pub fn variance(&self, level: usize) -> f64 {
        1.0 / (1.0 + self.counts.get(level).copied().unwrap_or(0.0))
    }

    fn make_room(&mut self, level: usize) {
        if level >= self.counts.len() {
            self.counts.resize(level + 1, 0.0);
            self.sums.resize((level + 1) * self.n_outputs, 0.0);
        }
    }

    /// Learn that the predictors of a row with this level were off by `errors`.
    pub fn learn_residuals(&mut self, level: usize, errors: &[f64], weight: f64) {
        self.make_room(level);
        let (count, strength) = (self.counts[level], self.strength());
        for (sum, error) in self.sums[level * self.n_outputs..].iter_mut().zip(errors) {
            let residual = error + *sum / (count + strength);
            for (loss, candidate) in self.losses.iter_mut().zip(STRENGTHS) {
                let missed = residual - *sum / (count + candidate);
                *loss += weight * missed * missed;
            }
            *sum += weight * residual;
        }
        self.counts[level] += weight;
    }

    /// Learn the error of a probability, and the curvature there.
    pub fn learn_gradient(&mut self, level: usize, error: f64, curvature: f64, weight: f64) {
        self.make_room(level);
        self.counts[level] += weight * curvature;
        self.sums[level] += self.variance(level) * weight * error;
    }
}
