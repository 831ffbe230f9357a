//! Running the engine's tests under one fault after the other.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::scratch::{SWITCH, Scratch};
use crate::site::Site;

/// A test binary that computes for so many seconds under a fault, or needs so much memory (in kB), does not end or grows without end. Seconds of
/// the processor, so that a busy machine does not look like a fault.
const CPU_SECONDS: u64 = 300;
const MEMORY_KB: u64 = 4_000_000;
/// One that only waits is given up after this.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What the tests said to a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first test that failed, or how the run ended.
    Caught(String),
    Missed,
    /// The fault does not compile.
    Unviable,
}

impl Verdict {
    fn parse(text: &str) -> Option<Self> {
        Some(match text.split_once(' ').unwrap_or((text, "")) {
            ("caught", by) => Self::Caught(by.to_owned()),
            ("missed", _) => Self::Missed,
            ("unviable", _) => Self::Unviable,
            _ => return None,
        })
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Self::Caught(by) => write!(f, "caught {by}"),
            Self::Missed => write!(f, "missed"),
            Self::Unviable => write!(f, "unviable"),
        }
    }
}

/// Verdicts by fault, kept in a file to which every run appends, so that a run that was stopped can be continued.
pub struct Verdicts {
    path: PathBuf,
    pub by_name: BTreeMap<String, Verdict>,
}

impl Verdicts {
    pub fn open(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let parse = |line: &str| line.split_once('\t').and_then(|(name, verdict)| Some((name.to_owned(), Verdict::parse(verdict)?)));
        Self { path: path.to_owned(), by_name: text.lines().filter_map(parse).collect() }
    }

    fn add(&mut self, name: &str, verdict: Verdict) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path).expect("the list of verdicts");
        writeln!(file, "{name}\t{verdict}").expect("writing the list of verdicts");
        println!("{verdict:50} {name}");
        self.by_name.insert(name.to_owned(), verdict);
    }
}

/// Which faults to run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// This share (counted from 0) of so many.
    pub shard: (usize, usize),
    /// Part of the name.
    pub only: String,
    /// Those missed before are run again.
    pub missed_again: bool,
    /// Every one is run again.
    pub all_again: bool,
    /// The tests are known to pass without a fault.
    pub clean_is_known: bool,
}

/// Run the tests under every selected fault that has no verdict yet.
///
/// # Panics
///
/// If the tests fail without a fault.
pub fn run(scratch: &Scratch, sites: &[Site], selection: &Selection, verdicts: &mut Verdicts) {
    let binaries = scratch.test_binaries();
    if !selection.clean_is_known {
        assert_eq!(run_tests(&binaries, usize::MAX), Verdict::Missed, "a test fails without a fault");
    }
    let (shard, n_shards) = selection.shard;
    for (number, site) in sites.iter().enumerate() {
        let known = verdicts.by_name.get(&site.name);
        let again = selection.all_again || (selection.missed_again && known == Some(&Verdict::Missed));
        if number % n_shards != shard || !site.name.contains(&selection.only) || (known.is_some() && !again) {
            continue;
        }
        let verdict = if scratch.unviable.contains(&number) { Verdict::Unviable } else { run_tests(&binaries, number) };
        verdicts.add(&site.name, verdict);
    }
}

/// The first failure of the test binaries under a fault.
fn run_tests(binaries: &[PathBuf], number: usize) -> Verdict {
    binaries.iter().find_map(|binary| first_failure(binary, number)).map_or(Verdict::Missed, Verdict::Caught)
}

/// The first failing test of one binary, or how else it ended.
fn first_failure(binary: &Path, number: usize) -> Option<String> {
    // Under a fault memory may be asked for without end.
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {MEMORY_KB}; ulimit -t {CPU_SECONDS}; exec \"$0\" --test-threads=1")).arg(binary);
    // As cargo runs tests: in the folder of their package.
    let package = if is_of_oracle(binary) { "sapwood-oracle" } else { "sapwood" };
    let root = binary.ancestors().nth(4).expect("target/faults/deps");
    command.current_dir(root.join("crates").join(package)).env(SWITCH, number.to_string());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("a test binary");
    let stdout = child.stdout.take().expect("its output");
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
    });
    let start = Instant::now();
    let mut running = String::new();
    let ended = loop {
        match lines.recv_timeout(PATIENCE.saturating_sub(start.elapsed())) {
            Ok(line) if line.starts_with("test ") && line.ends_with("FAILED") => {
                break Some(line.trim_start_matches("test ").split(' ').next().unwrap_or_default().to_owned());
            }
            Ok(line) => running = line,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => break Some(format!("(no end after {running})")),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break None,
        }
    };
    if ended.is_some() {
        child.kill().ok();
    }
    let status = child.wait().expect("the end of a test binary");
    let what = if is_of_oracle(binary) { "oracle: " } else { "" };
    match ended {
        Some(test) => Some(format!("{what}{test}")),
        None => (!status.success()).then(|| format!("{what}(aborted)")),
    }
}

/// Both packages have a test called `engine`.
fn is_of_oracle(binary: &Path) -> bool {
    let depends = fs::read_to_string(binary.with_extension("d")).unwrap_or_default();
    depends.contains("sapwood-oracle/")
}
