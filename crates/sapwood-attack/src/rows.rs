//! Rows that the engine accepts, however extreme, in every configuration.

use sapwood::bank::{Bank, Rows};
use sapwood::config::Task;
use sapwood::snapshot;

use crate::choices::Choices;
use crate::health::check;
use crate::models::{Table, bank};
use crate::{Outcome, Verdict};

/// Accepted rows keep a model whose answers are finite and which can be saved and loaded; refused rows change nothing.
pub fn accepted_rows_keep_the_model_working(choices: &mut Choices) -> Verdict {
    let mut bank = bank(choices);
    let wildness = choices.below(3);
    let ask = Table::new(choices, &bank, 3, wildness);
    check(&bank, &ask.x).map_err(|wrong| format!("before any row: {wrong}"))?;
    let n_batches = 1 + choices.below(4);
    for batch in 0..n_batches {
        let n_rows = choices.pick(&[9, 1, 2, 4, 25]);
        let table = Table::new(choices, &bank, n_rows, wildness);
        table.teach(&mut bank)?;
        match choices.below(8) {
            0 => bank.rejuvenate(),
            1 => retire_some(&mut bank, choices)?,
            2 => add_a_class(&mut bank)?,
            3 => refused_rows_change_nothing(&mut bank, &table, choices)?,
            _ => {}
        }
        check(&bank, &ask.x).map_err(|wrong| format!("after batch {batch}: {wrong}"))?;
        check(&bank, &table.x[..table.n_inputs]).map_err(|wrong| format!("at a row of batch {batch}: {wrong}"))?;
    }
    Ok(Outcome::Accepted)
}

fn retire_some(bank: &mut Bank, choices: &mut Choices) -> Result<(), String> {
    let member = choices.below(bank.n_members());
    let n_active = bank.member(member).map_err(|error| error.to_string())?.n_active();
    let n = choices.below(n_active + 1);
    let positions: Vec<usize> = (0..n).collect();
    bank.retire(member, &positions).map_err(|error| error.to_string())
}

fn add_a_class(bank: &mut Bank) -> Result<(), String> {
    match bank.task() {
        Task::Regression => Ok(()),
        Task::Classification => bank.add_classes(bank.n_classes() + 1).map_err(|error| error.to_string()),
    }
}

fn refused_rows_change_nothing(bank: &mut Bank, table: &Table, choices: &mut Choices) -> Result<(), String> {
    let before = snapshot::save(bank, b"").map_err(|error| error.to_string())?;
    let mut bad = table.clone();
    let n_rows = bad.y.len();
    let row = choices.below(n_rows);
    match choices.below(5) {
        0 => bad.x[row] = f64::INFINITY,
        1 => bad.x[row] = 1.1e100,
        2 => bad.y[row] = f64::NAN,
        3 => bad.y[row] = f64::NEG_INFINITY,
        _ => bad.weight = Some(vec![-1.0; n_rows]),
    }
    let result = bank.learn(Rows::new(&bad.x, bad.n_inputs), &bad.y, bad.weight.as_deref(), 1, &mut || true);
    if result.is_ok() {
        return Err("rows that must be refused were learned".into());
    }
    let after = snapshot::save(bank, b"").map_err(|error| error.to_string())?;
    if before == after { Ok(()) } else { Err("a refused batch changed the model".into()) }
}
