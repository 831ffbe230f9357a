//! Every fault against every check. The table is committed as `FAULTS.md`; `SAPWOOD_BLESS=1` rewrites it.

use std::fmt::Write;
use std::path::Path;

use sapwood_oracle::check::{Check, checks};
use sapwood_oracle::smc::{Fault, Scheme, SmcBench};

#[test]
fn a_clean_filter_passes_every_check_under_either_resampling_scheme() {
    for scheme in [Scheme::Systematic, Scheme::Residual] {
        for check in checks::<SmcBench>() {
            let outcome = (check.run)(&SmcBench::clean(scheme), 1);
            assert!(outcome.passed(), "{scheme:?}, {}: {} > {}", check.name, outcome.value, outcome.limit);
        }
    }
}

#[test]
fn every_fault_is_caught_and_the_table_is_the_committed_one() {
    let checks = checks::<SmcBench>();
    let caught = caught_by_each_check();
    for (fault, row) in Fault::ALL.iter().zip(&caught) {
        assert!(row.contains(&true), "no check catches {fault:?}: {}", fault.describe());
    }
    for (ix, check) in checks.iter().enumerate() {
        assert!(caught.iter().any(|row| row[ix]), "the check '{}' catches nothing", check.name);
    }
    let table = render(&checks, &caught);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("FAULTS.md");
    if std::env::var_os("SAPWOOD_BLESS").is_some() {
        std::fs::write(&path, &table).expect("FAULTS.md must be writable");
    }
    let committed = std::fs::read_to_string(&path).expect("FAULTS.md must exist; SAPWOOD_BLESS=1 writes it");
    assert_eq!(table, committed, "the fault matrix changed; if that is intended, run with SAPWOOD_BLESS=1");
}

/// One row per fault, one column per check. Faults are distributed over the cores; each check seeds its own clouds.
fn caught_by_each_check() -> Vec<Vec<bool>> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let row = |fault: &Fault| -> Vec<bool> {
        checks::<SmcBench>().iter().map(|check| !(check.run)(&SmcBench::with(*fault), 1).passed()).collect()
    };
    std::thread::scope(|scope| {
        let shares: Vec<_> = Fault::ALL
            .chunks(Fault::ALL.len().div_ceil(n_threads))
            .map(|faults| scope.spawn(move || faults.iter().map(row).collect::<Vec<_>>()))
            .collect();
        shares.into_iter().flat_map(|share| share.join().expect("no check panics")).collect()
    })
}

fn render(checks: &[Check<SmcBench>], caught: &[Vec<bool>]) -> String {
    let mut out = String::from(
        "# Which check catches which fault\n\n\
         Written by `tests/fault_matrix.rs` (`SAPWOOD_BLESS=1 cargo test --release -p sapwood-oracle --test fault_matrix`).\n\
         The slow particle filter is run with one fault at a time; `x` means that the check fails, as it should. Without a\n\
         fault every check passes.\n\n## Checks\n\n",
    );
    for (ix, check) in checks.iter().enumerate() {
        let false_alarm = match check.false_alarm {
            0.0 => "none (exact)".to_owned(),
            rate => format!("below {rate:e}"),
        };
        writeln!(out, "{}. **{}**: {}. Statistic: {}. False alarms: {false_alarm}.", ix + 1, check.name, check.null, check.statistic)
            .expect("writing to a string");
    }
    out.push_str("\n## Faults\n\n| fault |");
    for ix in 1..=checks.len() {
        write!(out, " {ix} |").expect("writing to a string");
    }
    out.push_str("\n|---|");
    out.push_str(&"---|".repeat(checks.len()));
    out.push('\n');
    for (fault, row) in Fault::ALL.iter().zip(caught) {
        write!(out, "| {} |", fault.describe().trim_end_matches('.')).expect("writing to a string");
        for caught in row {
            out.push_str(if *caught { " x |" } else { "   |" });
        }
        out.push('\n');
    }
    out
}
