//! What a member, or all of them together, say about one row.

use super::Member;
use crate::cloud::ForecastScratch;
use crate::config::Task;
use crate::num::ln;
use crate::predict::Mixture;

#[derive(Clone, Debug)]
pub enum Said {
    Number(Mixture),
    /// Class probabilities.
    Class(Vec<f64>),
}

impl Said {
    /// What a member says of its inputs.
    pub fn by(member: &mut Member, inputs: &[f64], task: Task, n_classes: usize, groups: &mut ForecastScratch) -> Self {
        member.settle_at(inputs);
        match task {
            Task::Regression => {
                let mut mixture = Mixture::default();
                member.add_components(inputs, 1.0, groups, &mut mixture);
                Self::Number(mixture)
            }
            Task::Classification => {
                let mut proba = vec![0.0; n_classes];
                member.add_class_probabilities(inputs, 1.0, groups, &mut proba);
                Self::Class(proba)
            }
        }
    }

    /// The weighted average of what several members say; nothing if none says anything.
    pub fn pooled<'a>(parts: impl Iterator<Item = &'a Self>, weights: &[f64]) -> Option<Self> {
        let mut parts = parts.zip(weights).peekable();
        let mut pooled = match parts.peek()?.0 {
            Self::Number(_) => Self::Number(Mixture::default()),
            Self::Class(proba) => Self::Class(vec![0.0; proba.len()]),
        };
        for (part, weight) in parts {
            match (&mut pooled, part) {
                (Self::Number(sum), Self::Number(part)) => sum.extend_scaled(part, *weight),
                (Self::Class(sum), Self::Class(part)) => sum.iter_mut().zip(part).for_each(|(sum, p)| *sum += weight * p),
                _ => unreachable!("members have the bank's task"),
            }
        }
        Some(pooled)
    }

    /// `ln` density or probability of what came.
    pub fn ln_density(&self, y: f64) -> f64 {
        match self {
            Self::Number(mixture) => mixture.ln_densities([y])[0],
            Self::Class(proba) => ln(proba[y as usize]),
        }
    }
}
