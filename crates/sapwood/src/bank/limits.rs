//! Bounds on what a configuration makes a bank allocate.

use super::MemberConfig;
use crate::config::{CloudConfig, Leaf};
use crate::error::{Error, Result};
use crate::num::cholesky::packed_len;

/// Splits proposed in one step by all members together; each takes some hundred bytes.
const MAX_PROPOSALS: usize = 2_000_000;
/// Entries of the statistics of one leaf per particle, over all members: 400 MB.
const MAX_ENTRIES: usize = 50_000_000;
/// Whatever the number of entries, this many classes are allowed, and not more than this.
const CLASSES: std::ops::RangeInclusive<usize> = 100..=1000;

fn clouds(members: &[MemberConfig]) -> impl Iterator<Item = &CloudConfig> {
    members.iter().filter_map(|member| match member {
        MemberConfig::Cloud(config) => Some(config),
        MemberConfig::Trivial(_) => None,
    })
}

pub fn check_proposals(members: &[MemberConfig], n_inputs: usize) -> Result<()> {
    let proposals = |config: &CloudConfig| config.n_particles.saturating_mul(config.candidates(n_inputs));
    let given = clouds(members).map(proposals).fold(0, usize::saturating_add);
    if given > MAX_PROPOSALS {
        let name = "n_particles times n_candidates, summed over the members";
        return Err(Error::OutOfRange { name, given: given as f64, allowed: "at most 2000000" });
    }
    Ok(())
}

pub fn check_classes(members: &[MemberConfig], n_inputs: usize, given: usize) -> Result<()> {
    let allowed = max_classes(members, n_inputs);
    if given > allowed { Err(Error::TooManyClasses { given, allowed }) } else { Ok(()) }
}

pub fn max_classes(members: &[MemberConfig], n_inputs: usize) -> usize {
    let per_class = |config: &CloudConfig| {
        let p = n_inputs + config.lags;
        let entries = match config.leaf {
            Leaf::Discriminant => 1 + p,
            Leaf::Quadratic if p > crate::leaf::MAX_FULL_INPUTS => 1 + 2 * p,
            Leaf::Quadratic => 1 + p + packed_len(p),
            Leaf::Multinomial | Leaf::Constant | Leaf::Linear => 1,
        };
        config.n_particles.saturating_mul(entries)
    };
    let entries = clouds(members).map(per_class).fold(0, usize::saturating_add);
    (MAX_ENTRIES / entries.max(1)).clamp(*CLASSES.start(), *CLASSES.end())
}
