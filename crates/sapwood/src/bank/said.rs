//! What a member, or all of them together, say about one row.

use super::Member;
use crate::config::Task;
use crate::num::ln;
use crate::predict::{Groups, Mixture};

#[derive(Clone, Debug)]
pub enum Said {
    Number(Mixture),
    /// Class probabilities.
    Class(Vec<f64>),
}

impl Said {
    /// What a member says of its inputs.
    pub fn by(member: &mut Member, inputs: &[f64], task: Task, n_classes: usize, groups: &mut Groups) -> Self {
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

    /// The weighted average of what several members say.
    pub fn pooled<'a>(parts: impl Iterator<Item = &'a Self>, weights: &[f64], task: Task, n_classes: usize) -> Self {
        let mut pooled = match task {
            Task::Regression => Self::Number(Mixture::default()),
            Task::Classification => Self::Class(vec![0.0; n_classes]),
        };
        for (part, weight) in parts.zip(weights) {
            match (&mut pooled, part) {
                (Self::Number(sum), Self::Number(part)) => sum.extend_scaled(part, *weight),
                (Self::Class(sum), Self::Class(part)) => sum.iter_mut().zip(part).for_each(|(sum, p)| *sum += weight * p),
                _ => unreachable!("members have the bank's task"),
            }
        }
        pooled
    }

    /// `ln` density or probability of what came.
    pub fn ln_density(&self, y: f64) -> f64 {
        match self {
            Self::Number(mixture) => mixture.ln_densities([y])[0],
            Self::Class(proba) => ln(proba[y as usize]),
        }
    }
}
