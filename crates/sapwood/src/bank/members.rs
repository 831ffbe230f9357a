//! The members of a bank, all of the same task.

use super::account::Horizon;
use super::member::{ClassificationMember, Forecaster, Member, MemberConfig, RegressionMember};
use crate::config::Task;
use crate::error::Result;
use crate::rng::{Purpose, Stream};

#[derive(Clone, Debug)]
pub(crate) enum Members {
    Regression(Vec<RegressionMember>),
    Classification(Vec<ClassificationMember>),
}

impl Members {
    pub fn new(task: Task, n_inputs: usize, n_classes: usize, configs: &[MemberConfig], seed: u64) -> Result<Self> {
        let seeds = seed_numbers(configs).into_iter().map(|number| Stream::new(seed, number, 0, Purpose::Member).seed());
        let seeded = configs.iter().zip(seeds);
        Ok(match task {
            Task::Regression => {
                Self::Regression(seeded.map(|(config, seed)| RegressionMember::new(config, n_inputs, seed)).collect::<Result<_>>()?)
            }
            Task::Classification => Self::Classification(
                seeded.map(|(config, seed)| ClassificationMember::new(config, n_inputs, n_classes, seed)).collect::<Result<_>>()?,
            ),
        })
    }

    pub fn task(&self) -> Task {
        match self {
            Self::Regression(_) => Task::Regression,
            Self::Classification(_) => Task::Classification,
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Regression(members) => members.len(),
            Self::Classification(members) => members.len(),
        }
    }

    pub fn get(&self, ix: usize) -> Option<&dyn Member> {
        match self {
            Self::Regression(members) => members.get(ix).map(Forecaster::member),
            Self::Classification(members) => members.get(ix).map(Forecaster::member),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &dyn Member> {
        (0..self.len()).filter_map(|ix| self.get(ix))
    }

    pub fn get_mut(&mut self, ix: usize) -> Option<&mut dyn Member> {
        match self {
            Self::Regression(members) => members.get_mut(ix).map(Forecaster::member_mut),
            Self::Classification(members) => members.get_mut(ix).map(Forecaster::member_mut),
        }
    }

    pub fn for_each_mut(&mut self, f: impl FnMut(&mut dyn Member)) {
        match self {
            Self::Regression(members) => members.iter_mut().map(Forecaster::member_mut).for_each(f),
            Self::Classification(members) => members.iter_mut().map(Forecaster::member_mut).for_each(f),
        }
    }

    /// The positions of the members that make forecasts of a horizon.
    pub fn for_horizon(&self, horizon: Horizon) -> Vec<usize> {
        self.iter().enumerate().filter(|(_, member)| member.forecasts(horizon)).map(|(ix, _)| ix).collect()
    }

    /// Whether forecasts of any row are made by other members than those of the next.
    pub fn has_account_of_any_row(&self) -> bool {
        let any_row = self.for_horizon(Horizon::AnyRow);
        !any_row.is_empty() && any_row != self.for_horizon(Horizon::NextRow)
    }

    /// How many of the latest targets the member with the most lags sees.
    pub fn max_lags(&self) -> usize {
        self.iter().map(|member| member.lags()).max().unwrap_or(0)
    }
}

/// The number of each member's seed: its position, so that replicas differ. A member for any row only takes the first number that no member
/// without lags has. So the members without lags are those of a bank of them alone, if that has them in this order.
fn seed_numbers(configs: &[MemberConfig]) -> Vec<u64> {
    let mut taken: Vec<u64> =
        configs.iter().zip(0..).filter(|(config, _)| config.lags() == 0 && !config.any_row_only()).map(|(_, ix)| ix).collect();
    let mut number_of = |(config, ix): (&MemberConfig, u64)| {
        if !config.any_row_only() {
            return ix;
        }
        let first = (0..).find(|number| !taken.contains(number)).expect("numbers do not run out");
        taken.push(first);
        first
    };
    configs.iter().zip(0..).map(&mut number_of).collect()
}
