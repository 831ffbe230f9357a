//! The state of a bank beside its members: the accounts of their forecasts, and what has been seen.

use std::collections::VecDeque;

use super::account::{Account, Horizon, Outcome};
use super::member_forecast::MemberForecast;
use super::members::Members;
use crate::config::Task;
use crate::error::{Error, Result};

/// How many terms of the log evidence are kept.
pub const TRACE_LEN: usize = 4096;

/// Updated row by row from the members' forecasts alone, so that the members may be ahead of it.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub task: Task,
    pub next_row: Account,
    /// None if the members that can forecast any row are those that forecast the next one, or if there are none.
    pub any_row: Option<Account>,
    /// The latest targets, newest first: as many as the longest lag.
    pub recent: VecDeque<f64>,
    pub n_seen: u64,
    pub ln_evidence: f64,
    /// The latest terms of the log evidence, oldest first.
    pub trace: VecDeque<f64>,
}

impl Ledger {
    pub fn new(members: &Members, rates: &[f64], top_rate: f64) -> Self {
        let account = |horizon| Account::new(members.for_horizon(horizon), rates, top_rate);
        Self {
            task: members.task(),
            next_row: account(Horizon::NextRow),
            any_row: members.has_account_of_any_row().then(|| account(Horizon::AnyRow)),
            recent: VecDeque::from(vec![f64::NAN; members.max_lags()]),
            n_seen: 0,
            ln_evidence: 0.0,
            trace: VecDeque::new(),
        }
    }

    /// The account of the forecasts of a horizon; an error if every member needs the last target.
    pub fn account(&self, horizon: Horizon) -> Result<&Account> {
        match (horizon, &self.any_row) {
            (Horizon::NextRow, _) => Ok(&self.next_row),
            (Horizon::AnyRow, Some(account)) => Ok(account),
            (Horizon::AnyRow, None) if self.recent.is_empty() => Ok(&self.next_row),
            (Horizon::AnyRow, None) => Err(Error::NeedsLastTarget),
        }
    }

    /// Whether any account averages forecasts, and so learns from them and not from densities alone.
    pub fn averages(&self) -> bool {
        self.next_row.averages() || self.any_row.as_ref().is_some_and(Account::averages)
    }

    /// Update accounts, evidence and lags with a row that every member has learned and that counts `weight` times. `next_row` is its outcome
    /// in the account of the next row, where the caller has it already. Returns the bank's `ln` predictive of the row.
    pub fn learn<'a, F: MemberForecast + 'a>(
        &mut self,
        ln_densities: &[f64],
        forecast_of: impl Fn(usize) -> Option<&'a F>,
        next_row: Option<Outcome>,
        y: f64,
        weight: f64,
    ) -> f64 {
        let outcome = next_row.unwrap_or_else(|| self.next_row.outcome(&forecast_of, y, self.n_seen));
        let value = self.next_row.learn(self.task, &outcome, ln_densities, y, weight);
        if let Some(account) = &mut self.any_row {
            let outcome = account.outcome(&forecast_of, y, self.n_seen);
            account.learn(self.task, &outcome, ln_densities, y, weight);
        }
        self.n_seen += 1;
        self.ln_evidence += value;
        if self.trace.len() == TRACE_LEN {
            self.trace.pop_front();
        }
        self.trace.push_back(value);
        if !self.recent.is_empty() {
            self.recent.pop_back();
            self.recent.push_front(y);
        }
        value
    }
}
