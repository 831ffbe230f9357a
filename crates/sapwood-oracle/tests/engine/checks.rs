//! Every check, run on the engine. In several tests, so that they run side by side.

use sapwood_oracle::check::checks;

use crate::adapter::EngineBench;

/// The engine is fast, so this many times as many clouds as in the fault matrix are run, which detects smaller faults.
const EFFORT: u64 = 4;
/// A resampling offset that every step uses again is 5.5 standard deviations at an effort of 4, and 9.3 at this.
const MORE_EFFORT: u64 = 16;

/// The checks that are worth more effort.
const TREES: [&str; 2] = ["trees, N=512", "trees, retiring"];

#[track_caller]
fn assert_passes(effort: u64, is_wanted: impl Fn(&str) -> bool) {
    let mut failed = Vec::new();
    let wanted = checks::<EngineBench>().into_iter().filter(|check| is_wanted(check.name));
    let mut n_run = 0;
    for check in wanted {
        let outcome = (check.run)(&EngineBench, effort);
        println!("{:20} {:.3e} (limit {:.0e})", check.name, outcome.value, outcome.limit);
        if !outcome.passed() {
            failed.push(format!("{}: {} > {}", check.name, outcome.value, outcome.limit));
        }
        n_run += 1;
    }
    assert!(n_run > 0, "no such check");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_evidence_is_unbiased() {
    assert_passes(EFFORT, |name| name.starts_with("evidence"));
}

#[test]
fn trees_of_a_full_pool_are_those_of_the_recursion() {
    assert_passes(MORE_EFFORT, |name| name == TREES[0]);
}

#[test]
fn trees_with_retired_points_are_those_of_the_recursion() {
    assert_passes(MORE_EFFORT, |name| name == TREES[1]);
}

#[test]
fn the_engine_passes_every_other_check() {
    assert_passes(EFFORT, |name| !name.starts_with("evidence") && !TREES.contains(&name));
}
