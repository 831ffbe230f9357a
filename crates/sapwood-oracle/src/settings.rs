//! The settings of a filter, shared by the exact filter, the slow particle filter and the adapter of the engine.

use crate::leaf::{Datum, LeafModel};
use crate::tree::SplitPrior;

/// Which evidence the moves compare when a leaf holds retired points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// `Z(active + retired)`.
    Joint,
    /// `Z(active + retired) / Z(retired)`.
    Conditional,
}

/// Which point is retired when the pool is over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    Oldest,
    /// Uniform over the whole pool, the newest point included.
    Random,
}

/// The factor applied to the retired weights of a leaf when another point is retired into it.
#[derive(Clone, Debug, PartialEq)]
pub enum Forgetting {
    Fixed(f64),
    /// Every particle carries one of the values, which are evenly distributed at first. Copies inherit it; after the move and
    /// before points are retired it is redrawn from all values with probability `mutation`.
    Carried {
        values: Vec<f64>,
        mutation: f64,
    },
}

impl Forgetting {
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Fixed(value) => std::slice::from_ref(value),
            Self::Carried { values, .. } => values,
        }
    }

    pub fn mutation(&self) -> f64 {
        match self {
            Self::Fixed(_) => 0.0,
            Self::Carried { mutation, .. } => *mutation,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Settings {
    pub n_inputs: usize,
    pub leaf: LeafModel,
    pub split_prior: SplitPrior,
    /// Minimum number of active points on either side of a grow.
    pub min_leaf: usize,
    /// Split candidates drawn for a grow; each counts `1/n_candidates`.
    pub n_candidates: usize,
    /// Size of the active pool; `None` keeps every point.
    pub capacity: Option<usize>,
    pub discard: Discard,
    pub forgetting: Forgetting,
    pub evidence: Evidence,
    /// Added to a leaf's joint log evidence in proportion to the retired share of its mass.
    pub ln_retired_bonus: f64,
}

impl Settings {
    /// The paper's tree prior, one candidate, nothing retires, joint evidence.
    pub fn new(n_inputs: usize, leaf: LeafModel, min_leaf: usize) -> Self {
        Self {
            n_inputs,
            leaf,
            split_prior: SplitPrior { alpha: 0.95, beta: 2.0 },
            min_leaf,
            n_candidates: 1,
            capacity: None,
            discard: Discard::Oldest,
            forgetting: Forgetting::Fixed(1.0),
            evidence: Evidence::Joint,
            ln_retired_bonus: 0.0,
        }
    }

    /// The log evidence of a leaf that moves compare.
    ///
    /// # Panics
    ///
    /// If the prior is improper and the points do not determine the leaf, so that its evidence is undefined.
    pub fn ln_leaf_evidence(&self, active: &[Datum], retired: &[Datum]) -> f64 {
        let all: Vec<Datum> = active.iter().chain(retired).copied().collect();
        let joint = self.leaf.ln_evidence(&all).expect("evidence is undefined under this prior");
        let mass = |data: &[Datum]| data.iter().map(|datum| datum.weight).sum::<f64>();
        match self.evidence {
            Evidence::Joint if retired.is_empty() => joint,
            Evidence::Joint => joint + self.ln_retired_bonus * mass(retired) / mass(&all),
            // Without retired points too: a default prior is not normalised. Under an improper one nothing is divided out until it can be.
            Evidence::Conditional => joint - self.leaf.ln_evidence(retired).unwrap_or(0.0),
        }
    }
}
