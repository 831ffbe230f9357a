//! Every module uses only the modules below it. Fails if an import points upwards, which is how cycles begin.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up; modules on one line may use each other.
const ORDER: &[&[&str]] = &[
    &["num"],
    &["rng"],
    &["error"],
    &["config"],
    &["split"],
    &["predict"],
    &["effects"],
    &["leaf"],
    &["pool"],
    &["tree"],
    &["cloud"],
    &["bank"],
    &["snapshot"],
];

fn level(module: &str) -> Option<usize> {
    ORDER.iter().position(|level| level.contains(&module))
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
}

#[test]
fn imports_point_downwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    sources(&root, &mut all);
    let mut upwards = Vec::new();
    for path in &all {
        let inside = path.strip_prefix(&root).expect("below src");
        let module = inside.components().next().expect("a name").as_os_str().to_string_lossy().replace(".rs", "");
        let Some(own) = level(&module) else { continue };
        let text = fs::read_to_string(path).expect("a source");
        // Tests may build anything that they check.
        if inside.file_name().is_some_and(|name| name == "tests.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for part in code.split("crate::").skip(1) {
            let used: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if level(&used).is_some_and(|other| other > own) {
                upwards.push(format!("{} uses {used}", inside.display()));
            }
        }
    }
    assert!(upwards.is_empty(), "{upwards:#?}");
}
