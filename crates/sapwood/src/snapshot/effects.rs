//! The effects of levels.

use super::bytes::{Reader, Writer};
use super::parts::inconsistent;
use crate::config::Task;
use crate::effects::{Design, Effects, Link, MAX_LEVELS, MAX_SCORES, N_STRENGTHS, RestOfLevels};
use crate::error::Result;
use crate::num::cholesky::packed_len;

pub fn write_effects(w: &mut Writer, effects: Option<&Effects>) {
    let columns: &[usize] = effects.map_or(&[], Effects::columns);
    w.u32s(columns.iter().map(|column| *column as u32));
    let Some(Effects { link, design, fit, rest, origin }) = effects else { return };
    w.bool(*link == Link::Logit);
    w.u32s([fit.n_outputs as u32].into_iter());
    let Design { order, moments, n_rows, .. } = design;
    w.u32s(order.iter().map(|(column, _)| *column as u32));
    w.u32s(order.iter().map(|(_, level)| *level as u32));
    w.f64(*n_rows);
    moments.iter().flatten().for_each(|value| w.f64(*value));
    w.f64s(fit.covariance.iter().copied());
    w.f64s(fit.coefficients.iter().copied());
    for RestOfLevels { counts, sums, losses, .. } in rest {
        w.f64s(counts.iter().copied());
        w.f64s(sums.iter().copied());
        losses.iter().for_each(|loss| w.f64(*loss));
    }
    w.option_f64(*origin);
}

pub fn read_effects(r: &mut Reader, task: Task, n_inputs: usize) -> Result<Option<Effects>> {
    let columns: Vec<usize> = r.u32s()?.into_iter().map(|column| column as usize).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    if columns.windows(2).any(|pair| pair[0] >= pair[1]) || columns.iter().any(|column| *column >= n_inputs) {
        return inconsistent("the inputs with levels are not inputs in increasing order");
    }
    let is_logit = r.bool()?;
    let n_outputs = r.u32s()?;
    // How many classes were in sight at the start is what the scores show; others may have been added since.
    let n_in_sight = match n_outputs[..] {
        [1] if task == Task::Regression || is_logit => 0,
        [n] if (3..=MAX_SCORES as u32).contains(&n) => n as usize,
        _ => return inconsistent("the number of scores does not fit the task"),
    };
    let mut effects = Effects::new(task, n_inputs, n_in_sight, &columns);
    if effects.n_scores() != n_outputs[0] as usize || (effects.link == Link::Logit) != is_logit {
        return inconsistent("the number of scores does not fit the task");
    }
    read_design(r, &mut effects.design)?;
    effects.fit.widen(effects.design.order.len());
    let (n_terms, n_scores) = (effects.fit.n_terms, effects.n_scores());
    effects.fit.covariance = r.finite_f64s(packed_len(n_terms))?;
    effects.fit.coefficients = r.finite_f64s(n_terms * n_scores)?;
    for rest in &mut effects.rest {
        rest.counts = r.f64s()?;
        rest.sums = r.finite_f64s(rest.counts.len() * n_scores)?;
        rest.losses = (0..N_STRENGTHS).map(|_| r.finite()).collect::<Result<Vec<_>>>()?.try_into().unwrap_or([0.0; N_STRENGTHS]);
        if rest.counts.len() > MAX_LEVELS || !rest.counts.iter().all(|count| count.is_finite() && *count >= 0.0) {
            return inconsistent("the levels of an input have counts that no rows give");
        }
    }
    effects.origin = r.option_f64()?;
    if effects.origin.is_some_and(|origin| !origin.is_finite()) {
        return inconsistent("the origin of the target is not a number");
    }
    Ok(Some(effects))
}

fn read_design(r: &mut Reader, design: &mut Design) -> Result<()> {
    let (columns, levels) = (r.u32s()?, r.u32s()?);
    if columns.len() != levels.len() {
        return inconsistent("the levels with terms of their own are not pairs");
    }
    for (column, level) in columns.into_iter().zip(levels) {
        if !design.restore(column as usize, level as usize) {
            return inconsistent("the levels with terms of their own are not distinct, or too many");
        }
    }
    design.n_rows = r.finite()?;
    for moment in design.moments.iter_mut().flatten() {
        *moment = r.finite()?;
    }
    if design.moments.iter().any(|[n, _, squares]| *n < 0.0 || *squares < 0.0) {
        return inconsistent("the moments of a number are negative");
    }
    Ok(())
}
