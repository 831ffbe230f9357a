//! A bank: members that learn the same stream, mixed by their recent predictive likelihood. A single cloud is a bank of one.

mod account;
mod calibration;
mod forecast;
mod learn;
mod ledger;
pub(crate) mod limits;
mod member;
mod member_forecast;
mod members;
mod mixing;
mod predictive;
mod scores;
pub mod trivial;
mod workers;

pub(crate) use account::Account;
pub use account::Horizon;
pub(crate) use calibration::{Calibration, Errors};
pub use forecast::{Forecast, Run, Wanted, check_levels};
pub(crate) use ledger::Ledger;
pub use ledger::TRACE_LEN;
pub(crate) use member::Forecaster;
pub use member::{ClassificationMember, Member, MemberConfig, RegressionMember};
pub(crate) use members::Members;
pub(crate) use mixing::Mixing;
pub use mixing::{DEFAULT_RATES, DEFAULT_TOP_RATE};
pub use predictive::Predictive;
pub use trivial::TrivialKind;

use std::collections::VecDeque;
use std::ops::Range;

use crate::config::{Named, Task};
use crate::effects::Effects;
use crate::error::{Error, MAX_MAGNITUDE, MAX_WEIGHT, MIN_WEIGHT, Result};

/// A table of rows, stored row by row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    values: &'a [f64],
    n_columns: usize,
}

impl<'a> Rows<'a> {
    pub fn new(values: &'a [f64], n_columns: usize) -> Self {
        assert!(n_columns > 0 && values.len().is_multiple_of(n_columns), "whole rows");
        Self { values, n_columns }
    }

    pub fn len(&self) -> usize {
        self.values.len() / self.n_columns
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn row(&self, ix: usize) -> &'a [f64] {
        &self.values[ix * self.n_columns..(ix + 1) * self.n_columns]
    }

    pub fn slice(&self, range: Range<usize>) -> Self {
        Self { values: &self.values[range.start * self.n_columns..range.end * self.n_columns], ..*self }
    }
}

#[derive(Clone, Debug)]
pub struct Bank {
    pub(crate) n_inputs: usize,
    pub(crate) n_classes: usize,
    pub(crate) members: Members,
    pub(crate) ledger: Ledger,
    /// Scores of the inputs that hold levels, if any do; the members see them after the inputs.
    pub(crate) effects: Option<Effects>,
}

impl Bank {
    pub fn new<C: Into<MemberConfig> + Clone>(task: Task, n_inputs: usize, n_classes: usize, members: &[C], seed: u64) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::NoMembers);
        }
        if n_inputs == 0 {
            return Err(Error::OutOfRange { name: "n_inputs", given: 0.0, allowed: "at least 1" });
        }
        let classes_ok = if task == Task::Classification { n_classes > 0 } else { n_classes == 0 };
        if !classes_ok {
            let allowed = "at least 1 for classification, and 0 for regression";
            return Err(Error::OutOfRange { name: "n_classes", given: n_classes as f64, allowed });
        }
        let configs: Vec<MemberConfig> = members.iter().cloned().map(Into::into).collect();
        limits::check_proposals(&configs, n_inputs)?;
        limits::check_classes(&configs, n_inputs, n_classes)?;
        let members = Members::new(task, n_inputs, n_classes, &configs, seed)?;
        if members.for_horizon(Horizon::NextRow).is_empty() {
            return Err(Error::NoMembers);
        }
        let ledger = Ledger::new(&members, &DEFAULT_RATES, DEFAULT_TOP_RATE);
        Ok(Self { n_inputs, n_classes, members, ledger, effects: None })
    }

    /// A bank some of whose inputs, `levels`, hold the numbers of levels rather than quantities. Rows get scores for them: one for each of
    /// `n_in_sight` classes, if these are more than two.
    pub fn with_levels<C: Into<MemberConfig> + Clone>(
        task: Task,
        n_inputs: usize,
        n_classes: usize,
        n_in_sight: usize,
        levels: &[usize],
        members: &[C],
        seed: u64,
    ) -> Result<Self> {
        if levels.is_empty() {
            return Self::new(task, n_inputs, n_classes, members, seed);
        }
        if let Some(&ix) = levels.iter().find(|ix| **ix >= n_inputs) {
            return Err(Error::OutOfRange { name: "an input with levels", given: ix as f64, allowed: "below n_inputs" });
        }
        if let Some(pair) = levels.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Error::OutOfRange { name: "an input with levels", given: pair[1] as f64, allowed: "above the one before it" });
        }
        let effects = Effects::new(task, n_inputs, n_in_sight.max(n_classes), levels);
        let bank = Self::new(task, n_inputs + effects.n_scores(), n_classes, members, seed)?;
        Ok(Self { n_inputs, effects: Some(effects), ..bank })
    }

    /// Set the forgetting rates of the bank's weights. Only before anything has been learned: the weights are reset.
    pub fn with_mixing(mut self, rates: &[f64], top_rate: f64) -> Result<Self> {
        let bad = |rate: &&f64| !(**rate > 0.0 && **rate <= 1.0);
        if let Some(rate) = rates.iter().chain([&top_rate]).find(bad) {
            return Err(Error::OutOfRange { name: "mixing rate", given: *rate, allowed: "above 0 and at most 1" });
        }
        if rates.is_empty() {
            return Err(Error::OutOfRange { name: "number of mixing rates", given: 0.0, allowed: "at least 1" });
        }
        self.ledger = Ledger::new(&self.members, rates, top_rate);
        Ok(self)
    }

    pub fn task(&self) -> Task {
        self.members.task()
    }

    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// How many scores the members see after the inputs.
    pub fn n_scores(&self) -> usize {
        self.width() - self.n_inputs
    }

    /// The largest number of classes that the memory of such a bank allows.
    pub fn max_classes(&self) -> usize {
        let configs: Vec<MemberConfig> = self.members.iter().map(Member::config).collect();
        limits::max_classes(&configs, self.width())
    }

    pub fn n_seen(&self) -> u64 {
        self.ledger.n_seen
    }

    pub fn ln_evidence(&self) -> f64 {
        self.ledger.ln_evidence
    }

    /// The latest terms of the log evidence, oldest first.
    pub fn trace(&self) -> &VecDeque<f64> {
        &self.ledger.trace
    }

    pub fn n_members(&self) -> usize {
        self.members.len()
    }

    pub fn member(&self, member: usize) -> Result<&dyn Member> {
        self.members.get(member).ok_or(Error::NoMember { member, n_members: self.members.len() })
    }

    /// The factor by which the members' average is sharpened in a forecast of this horizon.
    pub fn sharpness(&self, horizon: Horizon) -> Result<f64> {
        Ok(self.ledger.account(horizon)?.calibration.factor())
    }

    /// Weights of the members in a forecast of this horizon; zero for those that take no part.
    pub fn weights(&self, horizon: Horizon) -> Result<Vec<f64>> {
        let account = self.ledger.account(horizon)?;
        let mut weights = vec![0.0; self.members.len()];
        account.members.iter().zip(account.weights()).for_each(|(&ix, weight)| weights[ix] = weight);
        Ok(weights)
    }

    /// Check a table of inputs.
    pub fn check_inputs(&self, x: &Rows) -> Result<()> {
        if x.n_columns != self.n_inputs {
            return Err(Error::WrongColumns { given: x.n_columns, expected: self.n_inputs });
        }
        for (ix, &value) in x.values.iter().enumerate() {
            if value.abs() > MAX_MAGNITUDE {
                let (row, column) = (ix / self.n_inputs, ix % self.n_inputs);
                return Err(if value.is_infinite() {
                    Error::InfiniteInput { row, column, value }
                } else {
                    Error::HugeInput { row, column, value }
                });
            }
        }
        Ok(())
    }

    /// Check targets; NaN is allowed for unknown ones if `allow_missing`.
    pub fn check_targets(&self, y: &[f64], n_rows: usize, allow_missing: bool) -> Result<()> {
        if y.len() != n_rows {
            return Err(Error::WrongLength { what: "y", given: y.len(), expected: n_rows });
        }
        for (row, &value) in y.iter().enumerate() {
            if value.is_nan() && allow_missing {
                continue;
            }
            if !value.is_finite() {
                return Err(Error::BadTarget { row, value });
            }
            match self.task() {
                Task::Regression if value.abs() > MAX_MAGNITUDE => return Err(Error::HugeTarget { row, value }),
                Task::Classification if value < 0.0 || value.fract() != 0.0 || value >= self.n_classes as f64 => {
                    return Err(Error::BadClass { row, value, last: self.n_classes as i64 - 1 });
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub fn check_weights(&self, weight: Option<&[f64]>, n_rows: usize) -> Result<()> {
        let Some(weight) = weight else { return Ok(()) };
        if weight.len() != n_rows {
            return Err(Error::WrongLength { what: "sample_weight", given: weight.len(), expected: n_rows });
        }
        match weight.iter().position(|w| *w != 0.0 && !(MIN_WEIGHT..=MAX_WEIGHT).contains(w)) {
            Some(row) => Err(Error::BadWeight { row, value: weight[row] }),
            None => Ok(()),
        }
    }

    /// Bring every member's posteriors up to date, so that many predictions need not.
    pub fn refresh_fits(&mut self) {
        self.members.for_each_mut(|member| member.refresh_fits());
    }

    /// Allow labels up to `n_classes - 1` from now on.
    pub fn add_classes(&mut self, n_classes: usize) -> Result<()> {
        let width = self.width();
        let Members::Classification(members) = &mut self.members else {
            return Err(Error::WrongTask { what: "a class", needs: "classification", task: self.task().name() });
        };
        if n_classes < self.n_classes {
            return Err(Error::FewerClasses { given: n_classes, current: self.n_classes });
        }
        if n_classes > self.n_classes {
            let configs: Vec<MemberConfig> = members.iter().map(|member| member.member().config()).collect();
            limits::check_classes(&configs, width, n_classes)?;
        }
        self.n_classes = n_classes;
        members.iter_mut().for_each(|member| member.add_classes(n_classes));
        Ok(())
    }

    /// Retire points, given by their positions in the member's pool.
    pub fn retire(&mut self, member: usize, positions: &[usize]) -> Result<()> {
        let n_members = self.members.len();
        let member = self.members.get_mut(member).ok_or(Error::NoMember { member, n_members })?;
        let n_active = member.n_active();
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        if let Some(&ix) = sorted.last().filter(|ix| **ix >= n_active) {
            return Err(Error::BadIndex { ix, n_active });
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedIndex { ix: pair[0] });
        }
        // Oldest first, as a stream retires them; every removal moves the later ones down by one.
        for (n_removed, position) in sorted.into_iter().enumerate() {
            member.retire_at(position - n_removed);
        }
        Ok(())
    }

    pub fn rejuvenate(&mut self) {
        self.members.for_each_mut(|member| member.rejuvenate());
    }
}
