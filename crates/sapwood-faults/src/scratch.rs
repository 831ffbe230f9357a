//! The scratch copy of the workspace, with switches, and its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::site::{Instrumented, Site, instrument};

/// Names the fault to switch on, by number.
pub const SWITCH: &str = "SAPWOOD_FAULT";

/// Appended to the engine's root in the scratch copy, and nowhere else.
const SWITCH_MODULE: &str = r#"
pub mod switch {
    use std::sync::LazyLock;
    static SELECTED: LazyLock<usize> =
        LazyLock::new(|| std::env::var("SAPWOOD_FAULT").ok().and_then(|number| number.parse().ok()).unwrap_or(usize::MAX));
    #[inline(always)]
    pub fn is(number: usize) -> bool { *SELECTED == number }
}
"#;

/// A profile that builds faster than a release and runs nearly as fast.
const PROFILE: &str = "\n[profile.faults]\ninherits = \"release\"\nlto = false\ncodegen-units = 16\nincremental = true\n";

/// In the scratch copy, the numbers of the sites that do not compile.
const UNVIABLE: &str = "unviable";

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// A copy of the workspace in which faults can be switched on.
pub struct Scratch {
    pub root: PathBuf,
    /// The numbers of sites whose fault does not compile.
    pub unviable: BTreeSet<usize>,
}

impl Scratch {
    /// Copy the workspace to `target/NAME` and put the sites in. Mutants that do not compile are left out; a named fault that does not compile is an
    /// error.
    pub fn prepare(name: &str, sites: &[Site], may_be_unviable: bool) -> Self {
        let root = repository().join("target").join(name);
        let mut scratch = Self { root, unviable: BTreeSet::new() };
        scratch.copy_workspace();
        loop {
            let instrumented = scratch.write(sites);
            let failed = scratch.failing_sites(&instrumented);
            if failed.is_empty() {
                let numbers: Vec<String> = scratch.unviable.iter().map(usize::to_string).collect();
                write_if_changed(&scratch.root.join(UNVIABLE), &numbers.join("\n"));
                return scratch;
            }
            assert!(may_be_unviable, "does not compile: {:?}", failed.iter().map(|number| &sites[*number].name).collect::<Vec<_>>());
            scratch.unviable.extend(failed);
        }
    }

    /// The copy that [`Scratch::prepare`] has made before, so that several runs can share it.
    pub fn as_prepared(name: &str) -> Self {
        let root = repository().join("target").join(name);
        let numbers = fs::read_to_string(root.join(UNVIABLE)).unwrap_or_default();
        Self { unviable: numbers.lines().filter_map(|number| number.parse().ok()).collect(), root }
    }

    fn copy_workspace(&self) {
        for folder in ["crates/sapwood", "crates/sapwood-oracle"] {
            copy_newer(&repository().join(folder), &self.root.join(folder));
        }
        copy_newer(&repository().join("Cargo.lock"), &self.root.join("Cargo.lock"));
        let manifest = fs::read_to_string(repository().join("Cargo.toml")).expect("the workspace's manifest");
        let members = manifest.lines().find(|line| line.starts_with("members")).expect("a list of members");
        let manifest = manifest.replace(members, "members = [\"crates/sapwood\", \"crates/sapwood-oracle\"]") + PROFILE;
        write_if_changed(&self.root.join("Cargo.toml"), &manifest);
    }

    /// Write the engine's sources with their switches.
    fn write(&self, sites: &[Site]) -> BTreeMap<String, Instrumented> {
        let mut by_file: BTreeMap<&str, Vec<(usize, &Site)>> = BTreeMap::from([("lib.rs", Vec::new())]);
        for (number, site) in sites.iter().enumerate().filter(|(number, _)| !self.unviable.contains(number)) {
            by_file.entry(&site.file).or_default().push((number, site));
        }
        let mut all = BTreeMap::new();
        for (file, sites) in by_file {
            let inside = Path::new("crates/sapwood/src").join(file);
            let source = fs::read_to_string(repository().join(&inside)).expect("a source of the engine");
            let mut instrumented = instrument(&source, &sites);
            if file == "lib.rs" {
                instrumented.text.push_str(SWITCH_MODULE);
            }
            write_if_changed(&self.root.join(&inside), &instrumented.text);
            all.insert(inside.to_string_lossy().into_owned(), instrumented);
        }
        all
    }

    fn cargo(&self, arguments: &[&str]) -> std::process::Output {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root).env("RUSTFLAGS", "-Awarnings").env_remove("CARGO_TARGET_DIR");
        command.output().expect("cargo must run")
    }

    /// The sites in which the compiler finds errors.
    fn failing_sites(&self, instrumented: &BTreeMap<String, Instrumented>) -> BTreeSet<usize> {
        let output = self.cargo(&["check", "--profile", "faults", "-p", "sapwood", "--message-format", "short"]);
        if output.status.success() {
            return BTreeSet::new();
        }
        let messages = String::from_utf8_lossy(&output.stderr);
        let mut failed = BTreeSet::new();
        for line in messages.lines().filter(|line| line.contains(": error")) {
            let mut parts = line.split(':');
            let (file, row, column) = (parts.next(), parts.next(), parts.next());
            let Some(instrumented) = file.and_then(|file| instrumented.get(file)) else { continue };
            let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok()).expect("line and column");
            let offset = offset_of(&instrumented.text, number(row), number(column));
            let inside = instrumented.ranges.iter().filter(|(_, range)| range.contains(&offset));
            failed.extend(inside.min_by_key(|(_, range)| range.len()).map(|(number, _)| *number));
        }
        assert!(!failed.is_empty(), "the scratch copy does not compile:\n{messages}");
        failed
    }

    /// Build the tests that run the engine; those that finish soonest come first.
    pub fn test_binaries(&self) -> Vec<PathBuf> {
        // The oracle's other tests do not run the engine.
        let of_engine = ["--lib", "--test", "engine", "--test", "engine_bank", "--test", "engine_twin"];
        let build = ["test", "--profile", "faults", "--no-run", "-p", "sapwood", "-p", "sapwood-oracle"];
        let output = self.cargo(&[&build[..], &of_engine[..]].concat());
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the tests do not compile:\n{messages}");
        let executables = messages.lines().filter_map(|line| {
            let (what, path) = line.trim().strip_prefix("Executable ")?.split_once(" (")?;
            Some((what.to_owned(), self.root.join(path.trim_end_matches(')'))))
        });
        let mut found: Vec<(usize, PathBuf)> = executables.filter_map(|(what, path)| Some((order(&what, &path)?, path))).collect();
        found.sort();
        found.into_iter().map(|(_, path)| path).collect()
    }
}

/// Where a test binary stands in the order; `None` if it does not run the engine.
fn order(what: &str, path: &Path) -> Option<usize> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let is = |start: &str| name.starts_with(start);
    match what {
        "tests/engine_bank/main.rs" => Some(0),
        "tests/engine_twin/main.rs" => Some(1),
        "unittests src/lib.rs" if is("sapwood-") => Some(2),
        "tests/engine/main.rs" => Some(3),
        _ => None,
    }
}

fn offset_of(text: &str, row: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(row - 1).map(str::len).sum();
    start + text[start..].char_indices().nth(column - 1).map_or(0, |(ix, _)| ix)
}

/// Copy a file or folder, leaving alone what has not changed, so that little is built again. The engine's sources are written by
/// [`Scratch::write`] afterwards where they have switches.
fn copy_newer(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder of the scratch copy");
        let names: BTreeSet<_> = fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
        for entry in fs::read_dir(to).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if !names.contains(entry.file_name().expect("a name")) {
                if entry.is_dir() { fs::remove_dir_all(&entry) } else { fs::remove_file(&entry) }.expect("removing what is gone");
            }
        }
        for name in names {
            copy_newer(&from.join(&name), &to.join(&name));
        }
    } else if let Ok(text) = fs::read_to_string(from) {
        write_if_changed(to, &text);
    }
}

fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder of the scratch copy");
        fs::write(path, text).expect("writing the scratch copy");
    }
}
