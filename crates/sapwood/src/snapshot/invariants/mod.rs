//! What holds of every bank. A file that describes anything else is refused, and nothing else is written: both go through [`check_bank`].
//!
//! Reading checks what it needs to build a bank at all (lengths, and references between the parts of a file). What remains are relations
//! between numbers, which are here. They are what the engine guarantees, up to rounding, for any rows that it accepts.

mod cloud;
mod leaf;
mod naive;

pub use cloud::check_pool;

use self::cloud::check_cloud;
use self::naive::{check_last_label, check_least_squares, check_tracked};
use crate::bank::{
    Bank, Calibration, ClassificationMember, Ledger, Member, MemberConfig, Members, Mixing, RegressionMember, TRACE_LEN, limits,
};
use crate::config::Task;
use crate::error::{Error, MAX_MAGNITUDE, MAX_ROWS, MAX_WEIGHT, Result};
use crate::num::ln;

pub fn require(holds: bool, otherwise: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Inconsistent { what: otherwise }) }
}

fn is_within(value: f64, largest: f64) -> bool {
    value.abs() <= largest
}

pub fn check_bank(bank: &Bank) -> Result<()> {
    let Bank { n_inputs, n_classes, members, ledger, .. } = bank;
    let classes_ok = match ledger.task {
        Task::Regression => *n_classes == 0,
        Task::Classification => *n_classes > 0,
    };
    require(*n_inputs > 0 && classes_ok, "the number of inputs or classes is out of range")?;
    require(ledger.n_seen <= MAX_ROWS, "it has seen more rows than a stream can have")?;
    let configs: Vec<MemberConfig> = members.iter().map(Member::config).collect();
    require(limits::check_proposals(&configs, bank.width()).is_ok(), "its members have more particles than a bank can have")?;
    check_ledger(ledger, members, *n_classes)?;
    let targets = (ledger.next_row.calibration.lowest, ledger.next_row.calibration.highest);
    match members {
        Members::Regression(members) => members.iter().try_for_each(|member| match member {
            RegressionMember::Gaussian(cloud) => check_cloud(cloud, targets),
            RegressionMember::LastValue(member) => check_tracked(member),
            RegressionMember::LeastSquares(member) => check_tracked(member).and_then(|()| check_least_squares(&member.point)),
        }),
        Members::Classification(members) => members.iter().try_for_each(|member| match member {
            ClassificationMember::Multinomial(cloud) => check_cloud(cloud, targets),
            ClassificationMember::Discriminant(cloud) => check_cloud(cloud, targets),
            ClassificationMember::LastLabel(member) => check_last_label(member),
        }),
    }
}

fn check_ledger(ledger: &Ledger, members: &Members, n_classes: usize) -> Result<()> {
    // Minus infinity: no member gave the target any density.
    let is_ln_density = |value: &f64| !value.is_nan() && *value < f64::INFINITY;
    require(is_ln_density(&ledger.ln_evidence), "the evidence is not a logarithm")?;
    require(ledger.trace.len() <= TRACE_LEN && ledger.trace.iter().all(is_ln_density), "the trace of the evidence is not one")?;
    require(ledger.recent.len() == members.max_lags(), "the latest targets are not as many as the lags")?;
    let is_target = |y: &f64| match ledger.task {
        Task::Regression => is_within(*y, MAX_MAGNITUDE),
        Task::Classification => *y >= 0.0 && y.fract() == 0.0 && *y < n_classes as f64,
    };
    require(ledger.recent.iter().all(|y| y.is_nan() || is_target(y)), "one of the latest targets could not have been learned")?;
    [Some(&ledger.next_row), ledger.any_row.as_ref()].into_iter().flatten().try_for_each(|account| {
        check_mixing(&account.mixing, account.members.len())?;
        check_calibration(&account.calibration)
    })
}

fn check_mixing(mixing: &Mixing, n_members: usize) -> Result<()> {
    /// For the rounding of logarithms that are normalised.
    const SLACK: f64 = 1e-6;
    let Mixing { rates, top_rate, n_members: n_weighted, ln_weights, ln_top } = mixing;
    let rate_ok = |rate: &f64| *rate > 0.0 && *rate <= 1.0;
    require(!rates.is_empty() && rates.iter().all(rate_ok) && rate_ok(top_rate), "a rate of the bank's weights is out of range")?;
    let fits = n_members > 0 && *n_weighted == n_members && ln_weights.len() == rates.len() * n_members && ln_top.len() == rates.len();
    require(fits, "the bank's weights do not fit its members")?;
    // The largest of normalised weights is at least their average.
    let normalised = |row: &[f64]| {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.iter().all(|weight| weight.is_finite() && *weight <= SLACK) && largest >= -ln(row.len() as f64) - SLACK
    };
    let all_normalised = ln_weights.chunks(n_members).chain([&ln_top[..]]).all(normalised);
    require(all_normalised, "the bank's weights are not normalised")
}

fn check_calibration(calibration: &Calibration) -> Result<()> {
    const WHAT: &str = "the calibration is not made of numbers it could have";
    let Calibration { ln_weights, errors, lowest, highest } = calibration;
    // Relative to the best of them.
    let largest = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    require(ln_weights.iter().all(|weight| weight.is_finite()) && largest == 0.0, WHAT)?;
    // The sums fade by 2 % a row, and errors are clipped at 4.
    let in_range = (0.0..=51.0 * MAX_WEIGHT).contains(&errors.n) && errors.squares >= 0.0 && errors.squares <= 16.0001 * errors.n;
    require(in_range && errors.sum * errors.sum <= 1.0001 * errors.n * errors.squares + f64::MIN_POSITIVE, WHAT)?;
    let known = lowest <= highest && is_within(*lowest, MAX_MAGNITUDE) && is_within(*highest, MAX_MAGNITUDE);
    let nothing_seen = *lowest == f64::INFINITY && *highest == f64::NEG_INFINITY;
    let never_recorded = *lowest == f64::NEG_INFINITY && *highest == f64::INFINITY;
    require(known || nothing_seen || never_recorded, WHAT)
}
