//! Learning a batch of rows: the members go through it in chunks, and the ledger follows one chunk behind.

use std::collections::VecDeque;
use std::ops::Range;

use super::ledger::Ledger;
use super::member::Forecaster;
use super::member_forecast::MemberForecast;
use super::scores::Labelled;
use super::{Bank, Members, Rows, workers};
use crate::cloud::ForecastScratch;
use crate::error::Result;

/// Rows that members work through on their own before the ledger is updated. It bounds memory and changes no result.
const CHUNK: usize = 64;

/// Rows in chunks.
pub(super) fn chunks(n_rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n_rows).step_by(CHUNK).map(move |start| start..(start + CHUNK).min(n_rows))
}

impl Bank {
    /// Learn rows in order; returns `ln` of each row's predictive before it was learned. Rows of weight 0 are skipped, with a NaN.
    ///
    /// `go_on` is called between chunks; after it returns false, the rows so far have been learned and the rest have not.
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
        let width = self.width();
        let Self { members, ledger, effects, .. } = self;
        let labelled = Labelled { x, y, weight };
        let scored = effects.as_mut().map(|effects| labelled.extend_and_learn(effects, &x.slice(0..0), &mut Vec::new()));
        let batch = Batch { x: scored.as_ref().map_or(x, |scored| Rows::new(&scored.values, width)), y, weight };
        let ln_predictive = match members {
            Members::Regression(members) => batch.learn(members, ledger, n_threads, go_on),
            Members::Classification(members) => batch.learn(members, ledger, n_threads, go_on),
        };
        if let Some((effects, scored)) = effects.as_mut().zip(scored) {
            labelled.keep_first(ln_predictive.len(), effects, scored);
        }
        Ok(ln_predictive)
    }
}

struct Batch<'a> {
    x: Rows<'a>,
    y: &'a [f64],
    weight: Option<&'a [f64]>,
}

/// What learning a row gives: `ln` of the density that the member gave to it and, if there are other members, the forecast behind it.
struct Learned<F> {
    ln_density: f64,
    forecast: Option<F>,
}

impl Batch<'_> {
    fn weight_of(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |w| w[row])
    }

    fn learn<M: Forecaster>(&self, members: &mut [M], ledger: &mut Ledger, n_threads: usize, go_on: &mut dyn FnMut() -> bool) -> Vec<f64> {
        let averages = ledger.averages();
        let history = TargetHistory::new(&ledger.recent, self.y, self.weight);
        let learn_chunk = |member: &mut M, rows: &Range<usize>| self.learn_chunk(member, rows.clone(), &history, averages);
        let mut ln_predictive = Vec::with_capacity(self.x.len());
        let account = |rows: Range<usize>, by_member: Vec<_>| self.account(rows, &by_member, ledger, &mut ln_predictive);
        let cost = |member: &M| member.member().relative_cost();
        workers::through_chunks(members, n_threads, cost, chunks(self.x.len()), learn_chunk, account, go_on);
        ln_predictive
    }

    /// One member's part.
    fn learn_chunk<M: Forecaster>(
        &self,
        member: &mut M,
        rows: Range<usize>,
        history: &TargetHistory,
        averages: bool,
    ) -> Vec<Learned<M::Forecast>> {
        let lags = member.member().lags();
        let mut inputs = Vec::new();
        let mut scratch = ForecastScratch::default();
        let learned = |row| {
            let weight = self.weight_of(row);
            if weight == 0.0 {
                return Learned { ln_density: f64::NAN, forecast: None };
            }
            history.fill(&mut inputs, self.x.row(row), row, lags);
            let forecast = averages.then(|| member.forecast(&inputs, &mut scratch));
            Learned { ln_density: member.member_mut().observe(&inputs, self.y[row], weight), forecast }
        };
        rows.map(learned).collect()
    }

    /// The bank's part: update the ledger with rows that every member has learned.
    fn account<F: MemberForecast>(&self, rows: Range<usize>, by_member: &[Vec<Learned<F>>], ledger: &mut Ledger, out: &mut Vec<f64>) {
        for (at, row) in rows.enumerate() {
            let (y, weight) = (self.y[row], self.weight_of(row));
            if weight == 0.0 {
                out.push(f64::NAN);
                continue;
            }
            let ln_densities: Vec<f64> = by_member.iter().map(|own| own[at].ln_density).collect();
            out.push(ledger.learn(&ln_densities, |ix| by_member[ix][at].forecast.as_ref(), None, y, weight));
        }
    }
}

/// The targets known before each row of a batch, for members with lags.
pub(super) struct TargetHistory {
    /// In time order: the latest before the batch, then those of the batch. Empty if no member has lags.
    targets: Vec<f64>,
    /// Per row: how many of them are known before it.
    n_before: Vec<usize>,
}

impl TargetHistory {
    pub fn new(recent: &VecDeque<f64>, y: &[f64], weight: Option<&[f64]>) -> Self {
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

    /// Set `inputs` to what a member with that many lags sees just before `row` is learned.
    pub fn fill(&self, inputs: &mut Vec<f64>, x: &[f64], row: usize, lags: usize) {
        inputs.clear();
        inputs.extend_from_slice(x);
        let end = self.n_before.get(row).copied().unwrap_or(self.targets.len());
        inputs.extend(self.targets[end - lags..end].iter().rev());
    }
}
