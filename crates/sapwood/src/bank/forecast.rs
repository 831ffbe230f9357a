//! One-step-ahead forecasts along a stream: predict a row, then learn one.

use std::ops::Range;

use super::ledger::Ledger;
use super::said::Said;
use super::{Bank, History, Member, Rows, chunks, workers};
use crate::cloud::ForecastScratch;
use crate::config::Task;
use crate::error::{Error, Result};
use crate::num::same_bits;
use crate::predict::Solver;

/// What a forecast should hold beyond the cheap parts.
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
    fn whole(&self) -> bool {
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

/// Forecasts, one entry (or block of entries) a row. Parts that do not belong to the task, or were not wanted, are empty.
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
    /// `ln` predictive at the target; NaN where it is not known.
    pub ln_density: Vec<f64>,
    /// (rows, members)
    pub weights: Vec<f64>,
}

/// What one member says about one row, and about the row learned after it.
struct Part {
    said: Said,
    /// `ln` density at the row's own target, where it is known on the way.
    ln_density: f64,
    /// `ln` density of the row learned after it, if one was.
    ln_learned: f64,
    /// What it says about that row, where it is not the one that was forecast and others say something too.
    said_of_learned: Option<Said>,
}

/// A run of rows to forecast and the rows learned after each of them.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub x_test: Rows<'a>,
    pub y_test: &'a [f64],
    pub x: Rows<'a>,
    pub y: &'a [f64],
    pub weight: Option<&'a [f64]>,
}

impl<'a> Run<'a> {
    /// Rows that are forecast before the first is learned.
    fn delay(&self) -> usize {
        self.x_test.len() - self.x.len()
    }

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
        };
        Chunk { run, delay, n_before: from }
    }
}

impl Bank {
    /// For every row `i`: forecast `x_test[i]`, then learn row `i - delay` of `x`, where the delay is by how many rows `x` is shorter.
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
        let Self { members, ledger, n_classes, .. } = self;
        let (task, n_classes, pools) = (ledger.task, *n_classes, ledger.pools());
        let history = History::new(&ledger.recent, run.y, run.weight);
        let ask = |member: &mut Member, chunk: &Chunk| chunk.ask(member, &history, task, n_classes, pools);
        let mut forecast = Forecast::default();
        let account = |chunk: Chunk, by_member: Vec<Vec<Part>>| chunk.account(&by_member, ledger, wanted, &mut forecast);
        let slices = chunks(run.x_test.len()).map(|rows| run.slice(rows));
        workers::through_chunks(members, n_threads, Member::effort, slices, ask, account, go_on);
        Ok(forecast)
    }
}

/// Some rows of a run, of which the first `delay` are forecast before any of them is learned.
#[derive(Clone, Copy)]
struct Chunk<'a> {
    run: Run<'a>,
    delay: usize,
    /// Rows of the run that are learned before these.
    n_before: usize,
}

impl Chunk<'_> {
    fn weight_of(&self, learned: usize) -> f64 {
        self.run.weight.map_or(1.0, |w| w[learned])
    }

    /// The row that is learned after another has been forecast, if one is.
    fn learned_after(&self, row: usize) -> Option<usize> {
        row.checked_sub(self.delay).filter(|&at| self.weight_of(at) != 0.0)
    }

    /// Whether a row is learned as soon as it has been forecast. It is then weighed on the way: its density need not be computed twice.
    fn in_step(&self, learned: usize) -> bool {
        self.delay == 0 && same_bits(self.run.x_test.row(learned), self.run.x.row(learned))
    }

    /// The same, with the target that it was forecast for.
    fn own_row(&self, learned: usize) -> bool {
        self.in_step(learned) && self.run.y_test[learned] == self.run.y[learned] && self.weight_of(learned) == 1.0
    }

    /// What a member says of each row, and how well it has said those that it then learns.
    fn ask(&self, member: &mut Member, history: &History, task: Task, n_classes: usize, pools: bool) -> Vec<Part> {
        let run = &self.run;
        let mut inputs = Vec::new();
        let mut groups = ForecastScratch::default();
        (0..run.x_test.len())
            .map(|row| {
                // The forecast sees the targets learned before this row's turn.
                let turn = row.checked_sub(self.delay);
                history.fill(&mut inputs, run.x_test.row(row), self.n_before + turn.unwrap_or(0), member.lags());
                let said = Said::by(member, &inputs, task, n_classes, &mut groups);
                let asked = !pools && !run.y_test[row].is_nan() && !turn.is_some_and(|at| self.own_row(at));
                let ln_density = if asked { said.ln_density(run.y_test[row]) } else { f64::NAN };
                let mut part = Part { said, ln_density, ln_learned: f64::NAN, said_of_learned: None };
                if let Some(at) = self.learned_after(row) {
                    history.fill(&mut inputs, run.x.row(at), self.n_before + at, member.lags());
                    if pools && !self.in_step(at) {
                        part.said_of_learned = Some(Said::by(member, &inputs, task, n_classes, &mut groups));
                    }
                    part.ln_learned = member.observe(&inputs, run.y[at], self.weight_of(at));
                    if self.own_row(at) {
                        part.ln_density = part.ln_learned;
                    }
                }
                part
            })
            .collect()
    }

    /// Write down what the members say together, and account for the rows that they have learned.
    fn account(&self, by_member: &[Vec<Part>], ledger: &mut Ledger, wanted: &Wanted, forecast: &mut Forecast) {
        let run = &self.run;
        let pools = ledger.pools();
        for row in 0..run.x_test.len() {
            let own: Vec<&Part> = by_member.iter().map(|member| &member[row]).collect();
            let weights = ledger.weights();
            let mut said = Said::pooled(own.iter().map(|part| &part.said), &weights).expect("a bank has members");
            let learned = self.learned_after(row);
            let judged = learned.filter(|_| pools).and_then(|at| {
                if self.in_step(at) {
                    return ledger.judge(&mut said, run.y[at]);
                }
                let of_learned = Said::pooled(own.iter().filter_map(|part| part.said_of_learned.as_ref()), &weights);
                of_learned.and_then(|mut said| ledger.judge(&mut said, run.y[at]))
            });
            let y = run.y_test[row];
            let ln_density = match own[..] {
                _ if y.is_nan() => f64::NAN,
                [alone] => alone.ln_density,
                _ => judged.filter(|_| self.in_step(row) && run.y[row] == y).map_or(f64::NAN, |judged| judged.ln_density),
            };
            forecast.weights.extend_from_slice(&weights);
            ledger.report(said, y, ln_density, wanted, forecast);
            if let Some(at) = learned {
                let ln_densities: Vec<f64> = own.iter().map(|part| part.ln_learned).collect();
                ledger.mix_in(&weights, &ln_densities, judged.as_ref(), run.y[at], self.weight_of(at));
            }
        }
    }
}

impl Ledger {
    /// Calibrate what the members say on average about a row and write it down. `ln_density` is that of `y`; NaN if it is yet to be found.
    fn report(&self, mut said: Said, y: f64, ln_density: f64, wanted: &Wanted, forecast: &mut Forecast) {
        if self.pools() {
            self.calibration.apply(&mut said, self.n_seen);
        }
        let known = !y.is_nan();
        forecast.ln_density.push(if known && ln_density.is_nan() { said.ln_density(y) } else { ln_density });
        match said {
            Said::Class(proba) => forecast.proba.extend_from_slice(&proba),
            Said::Number(mixture) => {
                let moments = mixture.moments();
                forecast.mean.push(moments.mean);
                forecast.variance.push(moments.variance());
                forecast.epistemic.push(moments.epistemic());
                if wanted.whole() {
                    let solver = Solver::new(&mixture);
                    forecast.quantiles.extend(wanted.levels.iter().map(|level| solver.quantile(*level)));
                    if wanted.pit {
                        forecast.pit.push(if known { mixture.cdf(y) } else { f64::NAN });
                    }
                    if wanted.crps {
                        forecast.crps.push(if known { solver.crps(y) } else { f64::NAN });
                    }
                }
            }
        }
    }
}
