//! The committed tables.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::named::{self, Fault};
use crate::run::{Verdict, Verdicts};
use crate::site::Site;

pub fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The table of named faults.
pub fn of_named(verdicts: &Verdicts) -> String {
    let rows: Vec<(&Fault, Option<&Verdict>)> = named::all().map(|fault| (fault, verdicts.by_name.get(fault.name))).collect();
    let count = |is: fn(&Verdict) -> bool| rows.iter().filter(|(_, verdict)| verdict.is_some_and(is)).count();
    let mut out = format!(
        "# Faults in the engine, and the first test that fails with each\n\n\
         Written by `cargo run --release -p sapwood-faults -- named` and then `-- tables`. Only the Rust tests are run, of one fault at a\n\
         time, in this order: the slow twins of banks and particles, the engine's unit tests, the tests of the whole engine and the\n\
         oracle's checks. Of {} faults {} are caught, {} are missed and {} have not been run since they were written.\n\n\
         | where | fault | caught by |\n|---|---|---|\n",
        rows.len(),
        count(|verdict| matches!(verdict, Verdict::Caught(_))),
        count(|verdict| *verdict == Verdict::Missed),
        rows.iter().filter(|(_, verdict)| verdict.is_none()).count(),
    );
    for (fault, verdict) in rows {
        let by = match verdict {
            Some(Verdict::Caught(by)) => format!("`{by}`"),
            Some(other) => format!("**{other}**"),
            None => "not run yet".into(),
        };
        writeln!(out, "| `{}` | {} | {by} |", fault.file, fault.what).expect("writing to a string");
    }
    out
}

/// The score of the mutants, and those that no test noticed.
pub fn of_mutants(sample: &[Site], verdicts: &Verdicts) -> String {
    let run: Vec<(&Site, &Verdict)> =
        sample.iter().filter_map(|site| verdicts.by_name.get(&site.name).map(|verdict| (site, verdict))).collect();
    let equivalent = equivalents();
    let count = |is: &dyn Fn(&Site, &Verdict) -> bool| run.iter().filter(|(site, verdict)| is(site, verdict)).count();
    let n_caught = count(&|_, verdict| matches!(verdict, Verdict::Caught(_)));
    let n_unviable = count(&|_, verdict| *verdict == Verdict::Unviable);
    let reason = |site: &Site| equivalent.iter().find(|(name, _)| *name == site.name).map(|(_, reason)| reason.as_str());
    let n_equivalent = count(&|site, verdict| *verdict == Verdict::Missed && reason(site).is_some());
    let n_counted = run.len() - n_unviable - n_equivalent;
    let mut out = format!(
        "# Mutants of the engine\n\n\
         Written by `cargo run --release -p sapwood-faults -- mutants` and then `-- tables`. A random sample of small changes to leaf/, tree/,\n\
         cloud/, bank/, predict/, snapshot/ and pool/, each run against the Rust tests alone.\n\n\
         {} were run; {n_unviable} do not compile and {n_equivalent} are equivalent (listed with the reason). Of the other {n_counted},\n\
         **{n_caught} ({:.1} %) are killed**. A name is a file, a line, a column and a change, in the sources of the commit that wrote this page.\n\n",
        run.len(),
        100.0 * n_caught as f64 / n_counted.max(1) as f64
    );
    out.push_str("## Not killed\n\n| mutant | why it may live |\n|---|---|\n");
    for (site, verdict) in &run {
        if **verdict == Verdict::Missed {
            writeln!(out, "| `{}` | {} |", site.name.replace('|', "\\|"), reason(site).unwrap_or("no test notices it"))
                .expect("writing to a string");
        }
    }
    out.push_str("\n## All\n\n| mutant | verdict |\n|---|---|\n");
    for (site, verdict) in &run {
        writeln!(out, "| `{}` | {verdict} |", site.name.replace('|', "\\|")).expect("writing to a string");
    }
    out
}

/// Mutants that cannot be told from the engine, each with the reason: lines of `equivalent.tsv`.
fn equivalents() -> Vec<(String, String)> {
    let text = fs::read_to_string(committed("equivalent.tsv")).unwrap_or_default();
    text.lines().filter_map(|line| line.split_once('\t')).map(|(name, reason)| (name.to_owned(), reason.to_owned())).collect()
}
