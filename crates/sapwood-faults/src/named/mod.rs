//! Mistakes in the engine that an engineer could make, written by hand.

mod bank;
mod cloud;
mod leaf;
mod predict;
mod snapshot;
mod step;
mod tree;

use std::fs;

use crate::scratch::repository;
use crate::site::Site;

/// A mistake at one place of the engine.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub name: &'static str,
    /// Below `crates/sapwood/src`.
    pub file: &'static str,
    /// One sentence, without its stop.
    pub what: &'static str,
    /// Where the search for `right` begins, if it occurs more than once.
    pub after: &'static str,
    /// An expression, or a whole statement with its semicolon.
    pub right: &'static str,
    pub wrong: &'static str,
}

impl Fault {
    const fn new(name: &'static str, file: &'static str, what: &'static str, right: &'static str, wrong: &'static str) -> Self {
        Self { name, file, what, after: "", right, wrong }
    }

    const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    /// Where the fault stands today; an error names what the sources no longer say.
    pub fn site(&self) -> Result<Site, String> {
        let path = repository().join("crates/sapwood/src").join(self.file);
        let source = fs::read_to_string(&path).map_err(|error| format!("{}: {}: {error}", self.name, path.display()))?;
        let start = source.find(self.after).ok_or_else(|| format!("{}: {} does not contain {:?}", self.name, self.file, self.after))?;
        let found =
            source[start..].find(self.right).ok_or_else(|| format!("{}: {} does not contain {:?}", self.name, self.file, self.right))?;
        let at = start + found;
        if self.after.is_empty() && source[at + 1..].contains(self.right) {
            return Err(format!("{}: {} contains {:?} more than once; say after what", self.name, self.file, self.right));
        }
        Ok(Site { name: self.name.into(), file: self.file.into(), range: at..at + self.right.len(), wrong: self.wrong.into() })
    }
}

/// Every fault.
pub fn all() -> impl Iterator<Item = &'static Fault> {
    [leaf::FAULTS, tree::FAULTS, step::FAULTS, cloud::FAULTS, bank::FAULTS, predict::FAULTS, snapshot::FAULTS].into_iter().flatten()
}
