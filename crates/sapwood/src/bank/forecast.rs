//! One-step-ahead forecasts along a stream: predict a row, then learn one.

use std::ops::Range;

use super::account::{Account, Horizon, Outcome};
use super::learn::{TargetHistory, chunks};
use super::ledger::Ledger;
use super::member::Forecaster;
use super::member_forecast::MemberForecast;
use super::scores::Labelled;
use super::{Bank, Members, Rows, workers};
use crate::cloud::ForecastScratch;
use crate::error::{Error, Result};
use crate::num::same_bits;

/// The optional parts of a [`Forecast`].
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Quantile levels in (0, 1).
    pub levels: Vec<f64>,
    /// The distribution function at the target.
    pub pit: bool,
    pub crps: bool,
}

impl Wanted {
    /// Whether more than the moments is needed.
    pub(super) fn beyond_moments(&self) -> bool {
        !self.levels.is_empty() || self.pit || self.crps
    }

    pub fn check(&self) -> Result<()> {
        check_levels(&self.levels)
    }
}

pub fn check_levels(levels: &[f64]) -> Result<()> {
    match levels.iter().find(|level| !(**level > 0.0 && **level < 1.0)) {
        Some(&value) => Err(Error::BadLevel { value }),
        None => Ok(()),
    }
}

/// Forecasts, one entry (or block of entries) per row. Parts that do not belong to the task, or were not wanted, are empty.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    pub mean: Vec<f64>,
    pub variance: Vec<f64>,
    pub epistemic: Vec<f64>,
    /// (rows, levels)
    pub quantiles: Vec<f64>,
    pub pit: Vec<f64>,
    pub crps: Vec<f64>,
    /// (rows, classes)
    pub proba: Vec<f64>,
    /// `ln` predictive at the target; NaN where the target is unknown.
    pub ln_density: Vec<f64>,
    /// (rows, members)
    pub weights: Vec<f64>,
}

/// One member's forecast of a row, and how it predicted the row learned after that.
struct RowForecast<F> {
    /// None if the member takes no part in forecasts of the run's horizon.
    forecast: Option<F>,
    /// `ln` density at the row's own target, where no extra work is needed for it.
    ln_density: f64,
    /// `ln` density of the row learned afterwards, if any.
    ln_learned: f64,
    /// The forecast of that row, where `forecast` is not it and the bank averages forecasts.
    learned_forecast: Option<F>,
}

impl<F> RowForecast<F> {
    /// The forecast of the row that was learned; `in_step` says whether it is the row that was forecast.
    fn of_learned(&self, in_step: bool) -> Option<&F> {
        self.learned_forecast.as_ref().or(if in_step { self.forecast.as_ref() } else { None })
    }
}

/// A run of rows to forecast and the rows learned after each of them.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub x_test: Rows<'a>,
    pub y_test: &'a [f64],
    pub x: Rows<'a>,
    pub y: &'a [f64],
    pub weight: Option<&'a [f64]>,
    /// What the forecasts may use: [`Horizon::NextRow`] takes the target before each row as known.
    pub horizon: Horizon,
}

impl<'a> Run<'a> {
    /// Rows that are forecast before the first is learned.
    fn delay(&self) -> usize {
        self.x_test.len() - self.x.len()
    }

    /// Some of the rows to forecast, with those learned after them.
    fn slice(&self, rows: Range<usize>) -> Chunk<'a> {
        let delay = self.delay();
        let (from, to) = (rows.start.saturating_sub(delay), rows.end.saturating_sub(delay));
        let delay = rows.len() - (to - from);
        let run = Run {
            x_test: self.x_test.slice(rows.clone()),
            y_test: &self.y_test[rows],
            x: self.x.slice(from..to),
            y: &self.y[from..to],
            weight: self.weight.map(|w| &w[from..to]),
            horizon: self.horizon,
        };
        Chunk { run, delay, n_before: from }
    }
}

impl Bank {
    /// For every row `i`: forecast `x_test[i]`, then learn row `i - delay` of `x`, where the delay is by how many rows `x` is shorter.
    ///
    /// `go_on` is called between chunks; after it returns false, the result covers the rows so far.
    pub fn forecast_then_learn(
        &mut self,
        run: Run,
        wanted: &Wanted,
        n_threads: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Forecast> {
        wanted.check()?;
        self.check_inputs(&run.x_test)?;
        self.check_targets(run.y_test, run.x_test.len(), true)?;
        self.check_inputs(&run.x)?;
        self.check_targets(run.y, run.x.len(), false)?;
        self.check_weights(run.weight, run.x.len())?;
        if run.x.len() > run.x_test.len() {
            return Err(Error::MoreLearnedThanForecast { given: run.x.len(), n_test: run.x_test.len() });
        }
        self.ledger.account(run.horizon)?;
        let (width, delay) = (self.width(), run.delay());
        let Self { members, ledger, effects, .. } = self;
        let labelled = Labelled { x: run.x, y: run.y, weight: run.weight };
        let mut test = Vec::new();
        let scored = effects.as_mut().map(|effects| labelled.extend_and_learn(effects, &run.x_test, &mut test));
        let seen =
            scored.as_ref().map_or(run, |scored| Run { x_test: Rows::new(&test, width), x: Rows::new(&scored.values, width), ..run });
        let forecast = match members {
            Members::Regression(members) => seen.forecast_then_learn(members, ledger, wanted, n_threads, go_on),
            Members::Classification(members) => seen.forecast_then_learn(members, ledger, wanted, n_threads, go_on),
        };
        if let Some((effects, scored)) = effects.as_mut().zip(scored) {
            labelled.keep_first(forecast.ln_density.len().saturating_sub(delay), effects, scored);
        }
        Ok(forecast)
    }
}

impl Run<'_> {
    fn forecast_then_learn<M: Forecaster>(
        &self,
        members: &mut [M],
        ledger: &mut Ledger,
        wanted: &Wanted,
        n_threads: usize,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Forecast {
        let averages = ledger.averages();
        let history = TargetHistory::new(&ledger.recent, self.y, self.weight);
        let forecast_chunk = |member: &mut M, chunk: &Chunk| chunk.forecast_then_learn(member, &history, averages);
        let mut forecast = Forecast::default();
        let account =
            |chunk: Chunk, by_member: Vec<Vec<RowForecast<M::Forecast>>>| chunk.account(&by_member, ledger, wanted, &mut forecast);
        let slices = chunks(self.x_test.len()).map(|rows| self.slice(rows));
        workers::through_chunks(members, n_threads, |member| member.member().relative_cost(), slices, forecast_chunk, account, go_on);
        forecast
    }
}

/// Some rows of a run, of which the first `delay` are forecast before any of them is learned.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    run: Run<'a>,
    delay: usize,
    /// Rows of the run that are learned before this chunk.
    n_before: usize,
}

impl Chunk<'_> {
    fn weight_of(&self, learned: usize) -> f64 {
        self.run.weight.map_or(1.0, |w| w[learned])
    }

    /// The row that is learned after `row` has been forecast, if any.
    fn learned_after(&self, row: usize) -> Option<usize> {
        row.checked_sub(self.delay).filter(|&at| self.weight_of(at) != 0.0)
    }

    /// Whether a row is learned right after it has been forecast, so that its density is computed only once.
    fn in_step(&self, learned: usize) -> bool {
        self.delay == 0 && same_bits(self.run.x_test.row(learned), self.run.x.row(learned))
    }

    /// Like [`Self::in_step`], and with the target that it was forecast for.
    fn own_row(&self, learned: usize) -> bool {
        self.in_step(learned) && self.run.y_test[learned] == self.run.y[learned] && self.weight_of(learned) == 1.0
    }

    /// One member's part: its forecast of each row, and its density at each row that it then learns.
    fn forecast_then_learn<M: Forecaster>(&self, member: &mut M, history: &TargetHistory, averages: bool) -> Vec<RowForecast<M::Forecast>> {
        let run = &self.run;
        let lags = member.member().lags();
        let takes_part = member.member().forecasts(run.horizon);
        let mut inputs = Vec::new();
        let mut scratch = ForecastScratch::default();
        (0..run.x_test.len())
            .map(|row| {
                // The forecast sees the targets learned before this row's turn.
                let turn = row.checked_sub(self.delay);
                history.fill(&mut inputs, run.x_test.row(row), self.n_before + turn.unwrap_or(0), lags);
                let forecast = takes_part.then(|| member.forecast(&inputs, &mut scratch));
                let needs_density = !averages && !run.y_test[row].is_nan() && !turn.is_some_and(|at| self.own_row(at));
                let ln_density = forecast.as_ref().filter(|_| needs_density).map_or(f64::NAN, |own| own.ln_predictive(run.y_test[row]));
                let mut result = RowForecast { forecast, ln_density, ln_learned: f64::NAN, learned_forecast: None };
                if let Some(at) = self.learned_after(row) {
                    history.fill(&mut inputs, run.x.row(at), self.n_before + at, lags);
                    if averages && !(takes_part && self.in_step(at)) {
                        result.learned_forecast = Some(member.forecast(&inputs, &mut scratch));
                    }
                    result.ln_learned = member.member_mut().observe(&inputs, run.y[at], self.weight_of(at));
                    if self.own_row(at) {
                        result.ln_density = result.ln_learned;
                    }
                }
                result
            })
            .collect()
    }

    /// The bank's part: average the members' forecasts, write the result, and update the ledger with the rows that were learned.
    fn account<F: MemberForecast>(&self, by_member: &[Vec<RowForecast<F>>], ledger: &mut Ledger, wanted: &Wanted, out: &mut Forecast) {
        let run = &self.run;
        for row in 0..run.x_test.len() {
            let own: Vec<&RowForecast<F>> = by_member.iter().map(|member| &member[row]).collect();
            let account = ledger.account(run.horizon).expect("checked before the run");
            let weights = account.weights();
            let mut average = account.average(&weights, |ix| own[ix].forecast.as_ref()).expect("an account has members");
            let mut bank_weights = vec![0.0; own.len()];
            account.members.iter().zip(&weights).for_each(|(&ix, weight)| bank_weights[ix] = *weight);
            out.weights.extend(bank_weights);
            let y = run.y_test[row];
            let mut ln_density = match account.members[..] {
                [alone] if !y.is_nan() => own[alone].ln_density,
                _ => f64::NAN,
            };
            let learned = self.learned_after(row);
            let in_step = learned.is_some_and(|at| self.in_step(at));
            // In step, the forecast of the row is also that of the row that was learned, and what it tells the calibration has its density.
            let outcome = (in_step && run.horizon == Horizon::NextRow).then(|| {
                let terms =
                    if account.averages() { average.calibration_terms(&account.calibration, run.y[row], ledger.n_seen) } else { None };
                if let Some(terms) = terms.as_ref().filter(|_| run.y[row] == y) {
                    ln_density = terms.ln_density;
                }
                Outcome { weights, terms }
            });
            write_row(average, account, ledger.n_seen, y, ln_density, wanted, out);
            if let Some(at) = learned {
                let ln_densities: Vec<f64> = own.iter().map(|part| part.ln_learned).collect();
                let forecast_of = |ix: usize| own[ix].of_learned(in_step);
                ledger.learn(&ln_densities, forecast_of, outcome, run.y[at], self.weight_of(at));
            }
        }
    }
}

/// Calibrate an account's average forecast of a row and append it to `out`. `ln_density` is that of `y`, or NaN if it is still to be computed.
fn write_row<F: MemberForecast>(
    mut average: F,
    account: &Account,
    n_seen: u64,
    y: f64,
    ln_density: f64,
    wanted: &Wanted,
    out: &mut Forecast,
) {
    if account.averages() {
        average.calibrate(&account.calibration, n_seen);
    }
    let missing = !y.is_nan() && ln_density.is_nan();
    out.ln_density.push(if missing { average.ln_predictive(y) } else { ln_density });
    average.write(y, wanted, out);
}
