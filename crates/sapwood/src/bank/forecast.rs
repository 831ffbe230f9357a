//! One-step-ahead forecasts along a stream: predict a row, then learn one.

use super::said::Said;
use super::{Bank, CHUNK, History, Member, Rows, workers};
use crate::error::{Error, Result};
use crate::num::same_bits;
use crate::predict::{Groups, Solver};

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

impl Run<'_> {
    /// Rows that are forecast before the first is learned.
    fn delay(&self) -> usize {
        self.x_test.len() - self.x.len()
    }

    fn slice(&self, start: usize, end: usize) -> (Run<'_>, usize) {
        let delay = self.delay();
        let (from, to) = (start.saturating_sub(delay), end.saturating_sub(delay));
        let chunk = Run {
            x_test: self.x_test.slice(start..end),
            y_test: &self.y_test[start..end],
            x: self.x.slice(from..to),
            y: &self.y[from..to],
            weight: self.weight.map(|w| &w[from..to]),
        };
        (chunk, (end - start) - (to - from))
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
        let mut forecast = Forecast::default();
        let mut start = 0;
        while start < run.x_test.len() {
            let end = (start + CHUNK).min(run.x_test.len());
            let (chunk, delay) = run.slice(start, end);
            self.forecast_chunk(chunk, delay, wanted, n_threads, &mut forecast);
            start = end;
            if !go_on() {
                break;
            }
        }
        Ok(forecast)
    }

    fn forecast_chunk(&mut self, run: Run, delay: usize, wanted: &Wanted, n_threads: usize, forecast: &mut Forecast) {
        let weight_of = |row: usize| run.weight.map_or(1.0, |w| w[row]);
        let history = History::new(&self.recent, run.y, run.weight);
        let (task, n_classes, pools) = (self.task, self.n_classes, self.pools());
        // A row that is learned as soon as it has been forecast is weighed on the way: its density need not be computed twice.
        let in_step = |at: usize| delay == 0 && same_bits(run.x_test.row(at), run.x.row(at));
        let own_row = |at: usize| in_step(at) && run.y_test[at] == run.y[at] && weight_of(at) == 1.0;
        let parts = workers::for_each(&mut self.members, n_threads, Member::effort, |member| {
            let mut inputs = Vec::new();
            let mut groups = Groups::default();
            (0..run.x_test.len())
                .map(|row| {
                    // The forecast sees the targets learned before this row's turn.
                    let learned = row.checked_sub(delay);
                    history.fill(&mut inputs, run.x_test.row(row), learned.unwrap_or(0), member.lags());
                    let said = Said::by(member, &inputs, task, n_classes, &mut groups);
                    let asked = !pools && !run.y_test[row].is_nan() && !learned.is_some_and(own_row);
                    let ln_density = if asked { said.ln_density(run.y_test[row]) } else { f64::NAN };
                    let mut part = Part { said, ln_density, ln_learned: f64::NAN, said_of_learned: None };
                    if let Some(at) = learned.filter(|&at| weight_of(at) != 0.0) {
                        history.fill(&mut inputs, run.x.row(at), at, member.lags());
                        if pools && !in_step(at) {
                            part.said_of_learned = Some(Said::by(member, &inputs, task, n_classes, &mut groups));
                        }
                        part.ln_learned = member.observe(&inputs, run.y[at], weight_of(at));
                        if own_row(at) {
                            part.ln_density = part.ln_learned;
                        }
                    }
                    part
                })
                .collect::<Vec<Part>>()
        });
        for row in 0..run.x_test.len() {
            let own: Vec<&Part> = parts.iter().map(|member| &member[row]).collect();
            let weights = self.weights();
            let mut said = self.pooled(own.iter().map(|part| &part.said), &weights);
            let learned = row.checked_sub(delay).filter(|&at| weight_of(at) != 0.0);
            let judged = learned.filter(|_| pools).and_then(|at| {
                if in_step(at) {
                    return self.judge(&mut said, run.y[at]);
                }
                let mut of_learned = self.pooled(own.iter().filter_map(|part| part.said_of_learned.as_ref()), &weights);
                self.judge(&mut of_learned, run.y[at])
            });
            let y = run.y_test[row];
            let ln_density = match own[..] {
                _ if y.is_nan() => f64::NAN,
                [alone] => alone.ln_density,
                _ => judged.filter(|_| in_step(row) && run.y[row] == y).map_or(f64::NAN, |judged| judged.ln_density),
            };
            forecast.weights.extend_from_slice(&weights);
            self.report(said, y, ln_density, wanted, forecast);
            if let Some(at) = learned {
                let ln_densities: Vec<f64> = own.iter().map(|part| part.ln_learned).collect();
                self.mix_in(&weights, &ln_densities, judged.as_ref(), run.y[at], weight_of(at));
            }
        }
    }

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
