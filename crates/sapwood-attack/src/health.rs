//! What holds of every model that can be had: by learning accepted rows, or from a file that was accepted.

use std::sync::Arc;

use sapwood::bank::{Bank, Horizon, Predictive, Rows};
use sapwood::config::Task;
use sapwood::snapshot;

const LEVELS: [f64; 7] = [1e-9, 0.001, 0.05, 0.5, 0.95, 0.999, 1.0 - 1e-9];

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Everything that can be asked of a model, for these inputs: answers are numbers in range, and a saved model is the same model.
pub fn check(bank: &Bank, x: &[f64]) -> Result<(), String> {
    check_state(bank)?;
    check_members(bank)?;
    let answers = all_answers(bank, x)?;
    let file = snapshot::save(bank, b"meta").map_err(|error| format!("save: {error}"))?;
    let (again, meta) = snapshot::load(&file).map_err(|error| format!("a saved model is refused: {error}"))?;
    require(meta == b"meta", || "the meta bytes changed".into())?;
    let second = snapshot::save(&again, b"meta").map_err(|error| format!("save again: {error}"))?;
    require(second == file, || "a loaded model is saved as another file".into())?;
    let after = all_answers(&again, x)?;
    let same = answers.len() == after.len() && answers.iter().zip(&after).all(|(a, b)| a.to_bits() == b.to_bits());
    require(same, || "a loaded model answers differently".into())
}

/// The horizons that a bank can forecast.
fn horizons(bank: &Bank) -> impl Iterator<Item = Horizon> {
    [Horizon::NextRow, Horizon::AnyRow].into_iter().filter(|horizon| bank.weights(*horizon).is_ok())
}

fn all_answers(bank: &Bank, x: &[f64]) -> Result<Vec<f64>, String> {
    let by_horizon: Vec<Vec<f64>> = horizons(bank).map(|horizon| answers(bank, x, horizon)).collect::<Result<_, String>>()?;
    Ok(by_horizon.concat())
}

fn check_state(bank: &Bank) -> Result<(), String> {
    horizons(bank).try_for_each(|horizon| check_account(bank, horizon))?;
    require(!bank.ln_evidence().is_nan() && bank.ln_evidence() < f64::INFINITY, || format!("evidence {}", bank.ln_evidence()))?;
    require(bank.trace().iter().all(|term| !term.is_nan() && *term < f64::INFINITY), || "a term of the evidence".into())
}

fn check_account(bank: &Bank, horizon: Horizon) -> Result<(), String> {
    let weights = bank.weights(horizon).map_err(|error| error.to_string())?;
    let total: f64 = weights.iter().sum();
    require(weights.iter().all(|w| (0.0..=1.0 + 1e-12).contains(w)) && (total - 1.0).abs() < 1e-9, || {
        format!("member weights {weights:?}")
    })?;
    let sharpness = bank.sharpness(horizon).map_err(|error| error.to_string())?;
    require(sharpness > 0.0 && sharpness.is_finite(), || format!("sharpness {sharpness}"))
}

fn check_members(bank: &Bank) -> Result<(), String> {
    for ix in 0..bank.n_members() {
        let member = bank.member(ix).map_err(|error| error.to_string())?;
        require(member.active().iter().all(|point| point.weight > 0.0 && point.y.is_finite()), || format!("pool of member {ix}"))?;
        let shares: f64 = member.forgetting().iter().map(|(_, share)| share).sum();
        require(member.n_particles() == 0 || (shares - 1.0).abs() < 1e-9, || format!("forgetting shares of member {ix}: {shares}"))?;
        let stats = member.particle_stats();
        let sound = stats.iter().all(|p| p.n_leaves > 0 && p.retired_per_leaf.is_finite() && p.retired_per_leaf >= -1e-3);
        require(sound, || format!("particles of member {ix}"))?;
        require(member.split_use().iter().all(|used| used.is_finite()), || format!("splits of member {ix}"))?;
        for particle in 0..member.n_particles().min(3) {
            let nodes = member.tree(particle).ok_or("a particle without a tree")?;
            let sound = nodes.iter().all(|node| node.value.iter().all(|v| v.is_finite()));
            require(sound, || {
                format!("leaf values of particle {particle} of member {ix}: {:?}", nodes.iter().map(|n| &n.value).collect::<Vec<_>>())
            })?;
        }
    }
    Ok(())
}

/// All predictions at some rows, one after another.
fn answers(bank: &Bank, x: &[f64], horizon: Horizon) -> Result<Vec<f64>, String> {
    let rows = Rows::new(x, bank.n_inputs());
    let predictive = Predictive::new(Arc::new(bank.clone()), rows, horizon).map_err(|error| error.to_string())?;
    match bank.task() {
        Task::Regression => numbers(&predictive, rows.len()),
        Task::Classification => classes(&predictive, bank.n_classes()),
    }
}

fn classes(predictive: &Predictive, n_classes: usize) -> Result<Vec<f64>, String> {
    let all = predictive.proba(1).map_err(|error| error.to_string())?;
    for proba in all.chunks(n_classes.max(1)) {
        let total: f64 = proba.iter().sum();
        let sound = proba.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)) && (total - 1.0).abs() < 1e-9;
        require(sound, || format!("probabilities {proba:?} that sum to {total}"))?;
    }
    let drawn = predictive.sample(2, 5).map_err(|error| error.to_string())?;
    require(drawn.iter().all(|class| *class >= 0.0 && *class < n_classes as f64), || format!("drawn classes {drawn:?}"))?;
    Ok(all)
}

fn numbers(predictive: &Predictive, n_rows: usize) -> Result<Vec<f64>, String> {
    let moments = predictive.moments(1).map_err(|error| error.to_string())?.to_vec();
    for row in moments.chunks(3) {
        // A mixture with a component of at most two degrees of freedom has an infinite variance.
        let sound = row[0].is_finite() && row[1] >= 0.0 && row[2] >= 0.0 && row[2] <= row[1];
        require(sound, || format!("mean, variance and epistemic variance {row:?}"))?;
    }
    let quantiles = predictive.quantile(&LEVELS, 1).map_err(|error| error.to_string())?;
    for row in quantiles.chunks(LEVELS.len()) {
        // The solver stops at a relative error that can exceed the width of the distribution.
        let sorted = row.windows(2).all(|pair| pair[1] - pair[0] >= -1e-12 * pair[0].abs().max(pair[1].abs()));
        require(row.iter().all(|q| q.is_finite()) && sorted, || format!("quantiles {row:?}"))?;
    }
    let mut all = [moments, quantiles].concat();
    for y in [0.0, 1.0, -1e100, 1e100] {
        let y = vec![y; n_rows];
        let cdf = predictive.cdf(&y, 1).map_err(|error| error.to_string())?;
        require(cdf.iter().all(|p| (0.0..=1.0 + 1e-9).contains(p)), || format!("cdf {cdf:?} at {}", y[0]))?;
        let ln_density = predictive.ln_density(&y, 1).map_err(|error| error.to_string())?;
        require(ln_density.iter().all(|d| *d < f64::INFINITY), || format!("ln density {ln_density:?} at {}", y[0]))?;
        let crps = predictive.crps(&y, 1).map_err(|error| error.to_string())?;
        require(crps.iter().all(|s| *s >= 0.0), || format!("CRPS {crps:?} at {}", y[0]))?;
        all.extend([cdf, ln_density, crps].concat());
    }
    let drawn = predictive.sample(2, 5).map_err(|error| error.to_string())?;
    require(drawn.iter().all(|y| !y.is_nan()), || format!("drawn values {drawn:?}"))?;
    Ok(all)
}
