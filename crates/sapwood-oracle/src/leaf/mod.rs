//! Leaf models, computed directly from lists of weighted points.
//!
//! A point of weight `w` enters the likelihood to the power `w`. Retirement with forgetting is nothing else, so no
//! sufficient statistics are needed.

pub mod discriminant;
pub mod gaussian;
pub mod multinomial;
pub mod quadrature;

pub use discriminant::{Discriminant, Mistake};
pub use gaussian::{GaussianPrior, Nig};

/// One observation with its weight.
#[derive(Clone, Copy, Debug)]
pub struct Datum<'a> {
    pub x: &'a [f64],
    pub y: f64,
    pub weight: f64,
}

/// The conjugate model of one leaf.
#[derive(Clone, Debug)]
pub enum LeafModel {
    /// Gaussian with the design `z = [1]`.
    Constant(GaussianPrior),
    /// Gaussian with the design `z = [1, x]`.
    Linear(GaussianPrior),
    /// Classes `0..n_classes` under a Dirichlet prior with `baseline` per class.
    Multinomial { n_classes: usize, baseline: f64 },
    /// Gaussian classes, nested with the multinomial model.
    Discriminant(Discriminant),
}

impl LeafModel {
    /// Log evidence of the points, or `None` where the (improper) prior leaves it undefined.
    pub fn ln_evidence(&self, data: &[Datum]) -> Option<f64> {
        match self {
            Self::Constant(prior) => gaussian::ln_evidence(prior, &constant_design(data)),
            Self::Linear(prior) => gaussian::ln_evidence(prior, &linear_design(data)),
            Self::Multinomial { n_classes, baseline } => Some(multinomial::ln_evidence(&multinomial::counts(*n_classes, data), *baseline)),
            Self::Discriminant(model) => Some(model.ln_evidence(data)),
        }
    }

    /// Log predictive density (or class probability) of `y` at `x` given the points.
    pub fn ln_predictive(&self, data: &[Datum], x: &[f64], y: f64) -> Option<f64> {
        match self {
            Self::Constant(prior) => gaussian::ln_predictive(prior, &constant_design(data), &[1.0], y),
            Self::Linear(prior) => gaussian::ln_predictive(prior, &linear_design(data), &linear_row(x), y),
            Self::Multinomial { n_classes, baseline } => {
                Some(multinomial::ln_predictive(&multinomial::counts(*n_classes, data), *baseline, y as usize))
            }
            Self::Discriminant(model) => Some(model.ln_predictive(data, x, y)),
        }
    }
}

fn linear_row(x: &[f64]) -> Vec<f64> {
    std::iter::once(1.0).chain(x.iter().copied()).collect()
}

fn constant_design(data: &[Datum]) -> Vec<gaussian::Row> {
    data.iter().map(|d| gaussian::Row { z: vec![1.0], y: d.y, weight: d.weight }).collect()
}

fn linear_design(data: &[Datum]) -> Vec<gaussian::Row> {
    data.iter().map(|d| gaussian::Row { z: linear_row(d.x), y: d.y, weight: d.weight }).collect()
}
