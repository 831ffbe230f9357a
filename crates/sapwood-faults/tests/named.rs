//! The named faults belong to the engine of today, and the engine does not know of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sapwood_faults::named;
use sapwood_faults::scratch::repository;

/// Fails when the code that a fault replaces has changed: write the fault anew for the code of today.
#[test]
fn every_fault_has_its_place() {
    let lost: Vec<String> = named::all().filter_map(|fault| fault.site().err()).collect();
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<&str> = named::all().map(|fault| fault.name).collect();
    assert_eq!(names.len(), named::all().count());
}

/// The engine is built without any fault: its sources, which every build starts from, have no switch to select one.
#[test]
fn the_engine_has_no_switch() {
    fn search(path: &Path) {
        if path.is_dir() {
            fs::read_dir(path).expect("a folder").for_each(|entry| search(&entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            let text = fs::read_to_string(path).expect("a source");
            assert!(!text.contains("SAPWOOD_FAULT") && !text.contains("switch::is"), "{}", path.display());
            assert!(!text.contains("sapwood-faults"), "{} depends on the faults", path.display());
        }
    }
    for package in ["sapwood", "sapwood-py"] {
        search(&repository().join("crates").join(package));
    }
}
