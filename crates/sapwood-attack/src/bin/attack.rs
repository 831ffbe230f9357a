//! Run cases of one target: `attack TARGET FIRST N`. Prints the seed and the fault of each case that breaks the property, and in the end how
//! many were accepted and refused.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use sapwood_attack::{Choices, Outcome, TARGETS, bytes_of_seed};

/// Bytes that decide a case.
const N_BYTES: usize = 4096;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let numbers = (args.get(2).and_then(|n| n.parse::<u64>().ok()), args.get(3).and_then(|n| n.parse::<u64>().ok()));
    let target = args.get(1).and_then(|name| TARGETS.iter().find(|(known, _)| known == name));
    let (Some((_, property)), (Some(first), Some(n))) = (target, numbers) else {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: attack TARGET FIRST_SEED N_CASES, where TARGET is one of {}", names.join(", "));
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|_| ()));
    let (mut n_accepted, mut n_refused, mut n_broken) = (0u64, 0u64, 0u64);
    for seed in first..first + n {
        let bytes = bytes_of_seed(seed, N_BYTES);
        let outcome = catch_unwind(AssertUnwindSafe(|| property(&mut Choices::new(&bytes))));
        let wrong = match outcome {
            Ok(Ok(Outcome::Accepted)) => {
                n_accepted += 1;
                continue;
            }
            Ok(Ok(Outcome::Refused)) => {
                n_refused += 1;
                continue;
            }
            Ok(Err(wrong)) => wrong,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                format!("panic: {}", text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default())
            }
        };
        n_broken += 1;
        println!("broken {seed} {wrong}");
    }
    println!("done accepted {n_accepted} refused {n_refused} broken {n_broken}");
    if n_broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
