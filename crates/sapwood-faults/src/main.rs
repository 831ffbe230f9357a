//! `named` and `mutants` run the engine's tests under faults, `tables` writes the tables of what they noticed.

use std::process::ExitCode;

use sapwood_faults::run::{Selection, Verdicts, run};
use sapwood_faults::scratch::{Scratch, repository};
use sapwood_faults::{mutants, named, table};

const HELP: &str = "cargo run --release -p sapwood-faults -- COMMAND [OPTION...]

  named       run the tests under every fault written by hand
  mutants     run the tests under a random sample of changes made by machine
  tables      write FAULTS.md and MUTANTS.md from the verdicts so far

  --shard K/N       only this share, counted from 1, so that several can run side by side
  --only TEXT       only faults whose name contains this
  --missed-again    run those again that no test noticed before
  --all-again       run all again
  --clean-is-known  do not run the tests without a fault first
  --as-prepared     use the scratch copy as it stands, which several shards can share
  --prepare         only make the scratch copy

A run that was stopped continues where it was. Verdicts are kept in target/, so `cargo clean` forgets them.";

const SAMPLE: usize = 400;
const SEED: u64 = 19;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let value = |option: &str| arguments.iter().position(|argument| argument == option).and_then(|at| arguments.get(at + 1)).cloned();
    let shard = value("--shard").unwrap_or_else(|| "1/1".into());
    let Some((shard, n_shards)) = shard.split_once('/').and_then(|(k, n)| Some((k.parse::<usize>().ok()?, n.parse::<usize>().ok()?)))
    else {
        eprintln!("--shard takes K/N, such as 1/2");
        return ExitCode::FAILURE;
    };
    let selection = Selection {
        shard: (shard - 1, n_shards),
        only: value("--only").unwrap_or_default(),
        missed_again: has("--missed-again"),
        all_again: has("--all-again"),
        clean_is_known: has("--clean-is-known"),
    };
    let verdicts = |kind: &str| Verdicts::open(&repository().join("target").join(format!("{kind}.tsv")));
    match arguments.first().map(String::as_str) {
        Some(kind @ ("named" | "mutants")) => {
            let sites = if kind == "named" {
                let sites: Result<Vec<_>, _> = named::all().map(named::Fault::site).collect();
                match sites {
                    Ok(sites) => sites,
                    Err(error) => {
                        eprintln!("{error}");
                        return ExitCode::FAILURE;
                    }
                }
            } else {
                mutants::sample(SAMPLE, SEED)
            };
            let name = format!("faults-{kind}");
            let scratch =
                if has("--as-prepared") { Scratch::as_prepared(&name) } else { Scratch::prepare(&name, &sites, kind == "mutants") };
            if !has("--prepare") {
                run(&scratch, &sites, &selection, &mut verdicts(kind));
            }
        }
        Some("tables") => {
            std::fs::write(table::committed("FAULTS.md"), table::of_named(&verdicts("named"))).expect("FAULTS.md");
            let (sample, verdicts) = (mutants::sample(SAMPLE, SEED), verdicts("mutants"));
            if !verdicts.by_name.is_empty() {
                std::fs::write(table::committed("MUTANTS.md"), table::of_mutants(&sample, &verdicts)).expect("MUTANTS.md");
            }
        }
        _ => {
            println!("{HELP}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
