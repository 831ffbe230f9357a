//! What each level of a categorical input adds to the target, given the other inputs: learned row by row at bounded memory.
//!
//! A linear model of the target runs beside the trees. The numbers, standardised, and an indicator of each of the first levels are fitted
//! together, by recursive least squares; every further level has a shrunken mean of the residuals. Two classes are modelled on the logit
//! scale. The linear predictor, called the score, is appended to the inputs, where a linear leaf needs it once in place of an indicator per
//! level, and a tree can split on the order that it gives.
//!
//! A row's score is computed before its target is learned, so that no target reaches its own forecast.

mod design;
mod least_squares;
mod rest;

pub(crate) use design::Design;
pub(crate) use least_squares::LeastSquares;
pub(crate) use rest::{N_STRENGTHS, RestOfLevels};

use crate::config::Task;
use crate::num::exp;

/// Levels from here on are not told apart, whatever the caller passes. It bounds memory.
pub const MAX_LEVELS: usize = 1 << 14;
/// More classes than this have no score.
pub const MAX_SCORES: usize = 10;
/// Scores, like inputs, stay far from overflow.
const MAX_SCORE: f64 = 1e90;
/// The logistic distribution is close to a Gaussian cdf whose argument is scaled by the square root of this.
const LOGISTIC_TO_PROBIT: f64 = std::f64::consts::PI / 8.0;
/// The least curvature of a row on the logit scale; without it, rows that are all but certain would count as nothing.
const MIN_CURVATURE: f64 = 1e-4;

/// What the scores predict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Link {
    /// The target itself, or the indicators of three and more classes.
    Identity,
    /// The log odds of any class but the first.
    Logit,
}

/// How many scores a row has: one, or one for each of three and more classes.
pub fn n_scores(task: Task, n_classes: usize) -> usize {
    match task {
        Task::Classification if n_classes > 2 => n_classes.min(MAX_SCORES),
        _ => 1,
    }
}

#[derive(Clone, Debug)]
pub struct Effects {
    pub(crate) link: Link,
    pub(crate) design: Design,
    pub(crate) fit: LeastSquares,
    /// One per categorical input.
    pub(crate) rest: Vec<RestOfLevels>,
    /// The first target, subtracted from all, so that the prior of the intercept does not depend on where zero is.
    pub(crate) origin: Option<f64>,
}

impl Effects {
    /// `columns` are the inputs that hold levels, numbered from 0; the rest are numbers.
    pub fn new(task: Task, n_inputs: usize, n_classes: usize, columns: &[usize]) -> Self {
        let link = if task == Task::Classification && n_classes <= 2 { Link::Logit } else { Link::Identity };
        let n_scores = n_scores(task, n_classes);
        let design = Design::new(n_inputs, columns);
        let fit = LeastSquares::new(design.n_fixed(), n_scores);
        let rest = vec![RestOfLevels::new(n_scores); columns.len()];
        Self { link, design, fit, rest, origin: None }
    }

    pub fn n_inputs(&self) -> usize {
        self.design.n_inputs
    }

    /// The inputs that hold levels.
    pub fn columns(&self) -> &[usize] {
        &self.design.columns
    }

    pub fn n_scores(&self) -> usize {
        self.fit.n_outputs
    }

    /// Append the inputs of a row and its scores.
    pub fn extend(&self, x: &[f64], out: &mut Vec<f64>) {
        out.extend_from_slice(x);
        let terms = self.design.terms(x);
        out.extend((0..self.n_scores()).map(|output| self.score(&terms, output).clamp(-MAX_SCORE, MAX_SCORE)));
    }

    fn score(&self, terms: &design::Terms, output: usize) -> f64 {
        let rest: f64 = terms.rest.iter().map(|&(column, level)| self.rest[column].effect(self.link, level, output)).sum();
        self.fit.predictor(&terms.known, output) + rest
    }

    /// Learn a row `weight` times. `y` is a number or the code of a class.
    pub fn learn(&mut self, x: &[f64], y: f64, weight: f64) {
        let n_new = self.design.admit(x);
        self.fit.widen(n_new);
        let terms = self.design.terms(x);
        match self.link {
            Link::Identity => self.learn_identity(&terms, y, weight),
            Link::Logit => self.learn_logit(&terms, f64::from(y >= 1.0), weight),
        }
        self.design.observe(x);
    }

    fn learn_identity(&mut self, terms: &design::Terms, y: f64, weight: f64) {
        let n_scores = self.n_scores();
        let origin = *self.origin.get_or_insert(if n_scores == 1 { y } else { 0.0 });
        let target = |output: usize| if n_scores == 1 { y - origin } else { f64::from(y == output as f64) };
        let errors: Vec<f64> = (0..n_scores).map(|output| target(output) - self.score(terms, output)).collect();
        self.fit.learn(&terms.known, &errors, 1.0, weight);
        for &(column, level) in &terms.rest {
            self.rest[column].learn_residuals(level, &errors, weight);
        }
    }

    fn learn_logit(&mut self, terms: &design::Terms, y: f64, weight: f64) {
        let score = self.score(terms, 0);
        let rest: f64 = terms.rest.iter().map(|&(column, level)| self.rest[column].variance(level)).sum();
        let variance = self.fit.variance(&terms.known) + rest;
        let probability = 1.0 / (1.0 + exp(-score / (1.0 + LOGISTIC_TO_PROBIT * variance).sqrt()));
        let curvature = (probability * (1.0 - probability)).max(MIN_CURVATURE);
        let error = y - probability;
        self.fit.learn(&terms.known, &[error / curvature], curvature, weight);
        for &(column, level) in &terms.rest {
            self.rest[column].learn_gradient(level, error, curvature, weight);
        }
    }
}

#[cfg(test)]
mod tests;
