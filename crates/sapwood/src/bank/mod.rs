//! A bank: several members that see the same stream, mixed by how well they have predicted lately. One cloud is the special case.

mod calibration;
mod forecast;
mod ledger;
mod member;
mod mixing;
mod predictive;
mod said;
mod trivial;
mod workers;

pub(crate) use calibration::{Calibration, Errors};
pub use forecast::{Forecast, Run, Wanted, check_levels};
pub(crate) use ledger::Ledger;
pub use ledger::TRACE_LEN;
pub(crate) use member::AnyMember;
pub use member::{Member, MemberConfig};
pub use mixing::{DEFAULT_RATES, DEFAULT_TOP_RATE, Mixing, TwoLevel};
pub use predictive::Predictive;
pub use trivial::TrivialKind;
pub(crate) use trivial::{LastLabel, LeastSquares, Tracked, Trivial};

use std::collections::VecDeque;
use std::ops::Range;

use self::said::Said;
use crate::cloud::{ForecastScratch, RowWalk};
use crate::config::Task;
use crate::error::{Error, MAX_MAGNITUDE, Result};
use crate::predict::Mixture;
use crate::rng::{Purpose, Stream};

/// Weights beyond these could not be added to each other without losing one of them.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
/// Rows that members work through on their own while the bank's weights catch up; it bounds memory, never a result.
const CHUNK: usize = 64;

/// Rows of a table: values one row after another.
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
    pub(crate) members: Vec<Member>,
    pub(crate) ledger: Ledger,
}

impl Bank {
    pub fn new<C: Into<MemberConfig> + Clone>(task: Task, n_inputs: usize, n_classes: usize, members: &[C], seed: u64) -> Result<Self> {
        if members.is_empty() {
            return Err(Error::NoMembers);
        }
        if n_inputs == 0 {
            return Err(Error::OutOfRange { name: "n_inputs", given: 0.0, allowed: "at least 1" });
        }
        // Every member draws from a seed of its own, so that replicas differ.
        let member = |(ix, config): (usize, &C)| {
            let own_seed = Stream::new(seed, ix as u64, 0, Purpose::Member).seed();
            Member::new(&config.clone().into(), task, n_inputs, n_classes, own_seed)
        };
        let members = members.iter().enumerate().map(member).collect::<Result<Vec<_>>>()?;
        let n_lags = members.iter().map(|m| m.lags()).max().unwrap_or(0);
        let mixing = TwoLevel::new(&DEFAULT_RATES, DEFAULT_TOP_RATE, members.len());
        Ok(Self { n_inputs, n_classes, members, ledger: Ledger::new(task, mixing, n_lags) })
    }

    /// Choose the forgetting rates of the bank's weights. Only before anything has been learned.
    pub fn with_mixing(mut self, rates: &[f64], top_rate: f64) -> Result<Self> {
        let bad = |rate: &&f64| !(**rate > 0.0 && **rate <= 1.0);
        if let Some(rate) = rates.iter().chain([&top_rate]).find(bad) {
            return Err(Error::OutOfRange { name: "mixing rate", given: *rate, allowed: "above 0 and at most 1" });
        }
        if rates.is_empty() {
            return Err(Error::OutOfRange { name: "number of mixing rates", given: 0.0, allowed: "at least 1" });
        }
        self.ledger.mixing = TwoLevel::new(rates, top_rate, self.members.len());
        Ok(self)
    }

    pub fn task(&self) -> Task {
        self.ledger.task
    }

    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    pub fn n_seen(&self) -> u64 {
        self.ledger.n_seen
    }

    pub fn ln_evidence(&self) -> f64 {
        self.ledger.ln_evidence
    }

    /// The last terms of the log evidence, oldest first.
    pub fn trace(&self) -> &VecDeque<f64> {
        &self.ledger.trace
    }

    pub fn n_members(&self) -> usize {
        self.members.len()
    }

    pub fn member(&self, member: usize) -> Result<&Member> {
        self.members.get(member).ok_or(Error::NoMember { member, n_members: self.members.len() })
    }

    /// By how much the average of the members is sharpened in the next prediction.
    pub fn sharpness(&self) -> f64 {
        self.ledger.calibration.factor()
    }

    /// Weights of the members in the next prediction.
    pub fn weights(&self) -> Vec<f64> {
        self.ledger.weights()
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

    /// Check targets; where `may_miss`, NaN stands for one that is not known.
    pub fn check_targets(&self, y: &[f64], n_rows: usize, may_miss: bool) -> Result<()> {
        if y.len() != n_rows {
            return Err(Error::WrongLength { what: "y", given: y.len(), expected: n_rows });
        }
        for (row, &value) in y.iter().enumerate() {
            if value.is_nan() && may_miss {
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
        match weight.iter().position(|w| *w != 0.0 && !WEIGHTS.contains(w)) {
            Some(row) => Err(Error::BadWeight { row, value: weight[row] }),
            None => Ok(()),
        }
    }

    /// Learn rows in order; returns `ln` of each row's predictive before it was learned. Rows of weight 0 are passed over, with a NaN.
    ///
    /// `go_on` is asked between chunks; when it says no, the rows so far have been learned and the rest have not.
    pub fn learn(
        &mut self,
        x: Rows,
        y: &[f64],
        weight: Option<&[f64]>,
        n_threads: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<f64>> {
        self.check_inputs(&x)?;
        self.check_targets(y, x.len(), false)?;
        self.check_weights(weight, x.len())?;
        let Self { members, ledger, n_classes, .. } = self;
        let (task, pools, n_classes) = (ledger.task, ledger.pools(), *n_classes);
        let weight_of = |row: usize| weight.map_or(1.0, |w| w[row]);
        let history = History::new(&ledger.recent, y, weight);
        let learn = |member: &mut Member, rows: &Range<usize>| {
            let mut inputs = Vec::new();
            let mut groups = ForecastScratch::default();
            let learned = |row| {
                if weight_of(row) == 0.0 {
                    return Learned { ln_density: f64::NAN, said: None };
                }
                history.fill(&mut inputs, x.row(row), row, member.lags());
                let said = pools.then(|| Said::by(member, &inputs, task, n_classes, &mut groups));
                Learned { ln_density: member.observe(&inputs, y[row], weight_of(row)), said }
            };
            rows.clone().map(learned).collect()
        };
        let mut ln_predictive = Vec::with_capacity(x.len());
        let account = |rows: Range<usize>, by_member: Vec<Vec<Learned>>| {
            for (at, row) in rows.enumerate() {
                if weight_of(row) == 0.0 {
                    ln_predictive.push(f64::NAN);
                    continue;
                }
                let ln_densities: Vec<f64> = by_member.iter().map(|own| own[at].ln_density).collect();
                let weights = ledger.weights();
                let pooled = Said::pooled(by_member.iter().filter_map(|own| own[at].said.as_ref()), &weights);
                let judged = pooled.and_then(|mut said| ledger.judge(&mut said, y[row]));
                ln_predictive.push(ledger.mix_in(&weights, &ln_densities, judged.as_ref(), y[row], weight_of(row)));
            }
        };
        workers::through_chunks(members, n_threads, Member::effort, chunks(x.len()), learn, account, go_on);
        Ok(ln_predictive)
    }

    /// Append the inputs that a member sees at the end of the stream so far.
    fn extend_inputs(&self, member: &Member, x: &[f64], inputs: &mut Vec<f64>) {
        inputs.extend_from_slice(x);
        inputs.extend(self.ledger.recent.iter().take(member.lags()));
    }

    /// The predictive mixtures of some rows (regression).
    pub fn mixtures(&self, x: Rows, weights: &[f64], walk: &mut RowWalk, mixtures: &mut [Mixture]) {
        mixtures.iter_mut().for_each(Mixture::clear);
        let mut inputs = Vec::new();
        for (member, weight) in self.members.iter().zip(weights) {
            inputs.clear();
            for row in 0..x.len() {
                self.extend_inputs(member, x.row(row), &mut inputs);
            }
            member.add_components_of_rows(&inputs, *weight, walk, mixtures);
        }
        let Ledger { calibration, n_seen, .. } = &self.ledger;
        if self.ledger.pools() {
            mixtures.iter_mut().for_each(|mixture| calibration.apply_to_mixture(mixture, *n_seen));
        }
    }

    /// Class probabilities at one row (classification).
    pub fn class_probabilities(&self, x: &[f64], weights: &[f64], groups: &mut ForecastScratch, out: &mut [f64]) {
        out.fill(0.0);
        let mut inputs = Vec::new();
        for (member, weight) in self.members.iter().zip(weights) {
            inputs.clear();
            self.extend_inputs(member, x, &mut inputs);
            member.add_class_probabilities(&inputs, *weight, groups, out);
        }
        if self.ledger.pools() {
            self.ledger.calibration.apply_to_classes(out);
        }
    }

    /// Bring every member's posteriors up to date, so that many predictions need not.
    pub fn settle(&mut self) {
        self.members.iter_mut().for_each(Member::settle);
    }

    /// Let labels up to `n_classes - 1` appear from now on.
    pub fn add_classes(&mut self, n_classes: usize) -> Result<()> {
        if self.task() != Task::Classification {
            return Err(Error::WrongTask { what: "a class", needs: "classification", task: self.task().name() });
        }
        if n_classes < self.n_classes {
            return Err(Error::FewerClasses { given: n_classes, current: self.n_classes });
        }
        self.n_classes = n_classes;
        self.members.iter_mut().for_each(|member| member.add_classes(n_classes));
        Ok(())
    }

    /// Retire points, given by their positions in the member's pool.
    pub fn retire(&mut self, member: usize, positions: &[usize]) -> Result<()> {
        let n_active = self.member(member)?.n_active();
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        if let Some(&ix) = sorted.last().filter(|ix| **ix >= n_active) {
            return Err(Error::BadIndex { ix, n_active });
        }
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedIndex { ix: pair[0] });
        }
        // Oldest first, as the stream would; every removal moves the later ones down by one.
        for (n_removed, position) in sorted.into_iter().enumerate() {
            self.members[member].retire_at(position - n_removed);
        }
        Ok(())
    }

    pub fn rejuvenate(&mut self) {
        self.members.iter_mut().for_each(Member::rejuvenate);
    }
}

/// What a member has said of a row, if there are others, and `ln` of the density that it gave to what then came.
struct Learned {
    ln_density: f64,
    said: Option<Said>,
}

/// Rows in chunks.
fn chunks(n_rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n_rows).step_by(CHUNK).map(move |start| start..(start + CHUNK).min(n_rows))
}

/// The targets before each row that is to be learned, for members that see lags.
struct History {
    /// Targets in time order: the recent ones, then those that are learned. None where nobody sees lags.
    targets: Vec<f64>,
    /// By row, how many of them come before it.
    n_before: Vec<usize>,
}

impl History {
    fn new(recent: &VecDeque<f64>, y: &[f64], weight: Option<&[f64]>) -> Self {
        if recent.is_empty() {
            return Self { targets: Vec::new(), n_before: Vec::new() };
        }
        let mut targets: Vec<f64> = recent.iter().rev().copied().collect();
        let mut n_before = Vec::with_capacity(y.len());
        for (row, target) in y.iter().enumerate() {
            n_before.push(targets.len());
            if weight.is_none_or(|w| w[row] != 0.0) {
                targets.push(*target);
            }
        }
        Self { targets, n_before }
    }

    /// The inputs of a member at the moment when `row` is about to be learned.
    fn fill(&self, inputs: &mut Vec<f64>, x: &[f64], row: usize, lags: usize) {
        inputs.clear();
        inputs.extend_from_slice(x);
        let end = self.n_before.get(row).copied().unwrap_or(self.targets.len());
        inputs.extend(self.targets[end - lags..end].iter().rev());
    }
}
