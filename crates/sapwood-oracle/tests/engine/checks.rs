//! Every check, run on the engine.

use sapwood_oracle::check::checks;

use crate::adapter::EngineBench;

/// The engine is fast, so this many times as many clouds as in the fault matrix are run, which detects smaller faults.
const EFFORT: u64 = 4;

#[test]
fn the_engine_passes_every_check() {
    let mut failed = Vec::new();
    for check in checks::<EngineBench>() {
        let outcome = (check.run)(&EngineBench, EFFORT);
        println!("{:20} {:.3e} (limit {:.0e})", check.name, outcome.value, outcome.limit);
        if !outcome.passed() {
            failed.push(format!("{}: {} > {}", check.name, outcome.value, outcome.limit));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
