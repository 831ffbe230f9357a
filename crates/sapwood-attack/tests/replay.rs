//! A short replay of what `make fuzz` does for longer: the same cases every time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sapwood_attack::{Choices, Outcome, TARGETS, bytes_of_seed};

/// Cases of one target from consecutive seeds; returns how many were accepted.
fn replay(target: &str, n_cases: u64) -> u64 {
    let (_, property) = TARGETS.iter().find(|(name, _)| *name == target).expect("a target of this name");
    let (mut n_accepted, mut broken) = (0, Vec::new());
    for seed in 0..n_cases {
        let bytes = bytes_of_seed(seed, 4096);
        match catch_unwind(AssertUnwindSafe(|| property(&mut Choices::new(&bytes)))) {
            Ok(Ok(outcome)) => n_accepted += u64::from(outcome == Outcome::Accepted),
            Ok(Err(wrong)) => broken.push(format!("seed {seed}: {wrong}")),
            Err(_) => broken.push(format!("seed {seed}: a panic")),
        }
    }
    assert!(broken.is_empty(), "{} of {n_cases} cases:\n{}", broken.len(), broken[..broken.len().min(10)].join("\n"));
    n_accepted
}

/// Fails if a field of a model file is not compared with what it could be: the engine then panics, predicts NaN, or cannot save the model.
#[test]
fn resealed_files_are_refused_or_work() {
    let n_accepted = replay("resealed_file", 20_000);
    // If hardly any file were accepted, the changes would never have reached the engine.
    assert!(n_accepted > 2000, "{n_accepted}");
}

/// Fails if rows that are accepted lead to answers that are not numbers, or to a model that cannot be saved and loaded.
#[test]
fn accepted_rows_keep_models_working() {
    assert_eq!(replay("accepted_rows", 3000), 3000);
}
