//! Deduplicating leaves that hold the same points.
//!
//! Particles that divide the data in the same way, but cut at different values between the same two points, have different leaves with the
//! same points: of some hundred leaves at an input, a few dozen hold different points. What depends on the points alone is computed once for
//! all of them. Sets of points are compared by fingerprint.

use crate::cloud::epoch_map::EpochMap;
use crate::leaf::Fit;
use crate::num::same_bits;
use crate::tree::{Forest, LeafNode};

/// Relative difference allowed between sums of the same numbers in a different order.
const ROUNDING: f64 = 1e-9;

/// Finds, among the leaves of a step, those with the same points and those with the same statistics too.
#[derive(Clone, Debug, Default)]
pub(super) struct LeafDedup {
    by_points: KeyTable,
    by_content: KeyTable,
}

impl LeafDedup {
    /// Start over, for at most `n_leaves` leaves.
    pub fn clear(&mut self, n_leaves: usize) {
        self.by_points.clear(n_leaves);
        self.by_content.clear(n_leaves);
    }

    /// The number of the first leaf with the same points as leaf `number`, which may be itself. `leaf_at` maps the number of an earlier leaf
    /// to its index.
    pub fn same_points<F: Fit>(&mut self, forest: &Forest<F>, leaf: &LeafNode<F>, number: u32, leaf_at: impl Fn(u32) -> usize) -> u32 {
        let is_same = |other: u32| {
            let other = forest.leaf(leaf_at(other));
            other.points.fingerprint() == leaf.points.fingerprint() && other.n_active() == leaf.n_active()
        };
        self.by_points.find_or_insert(leaf.points.fingerprint(), number, is_same)
    }

    /// The same for leaves that also have the same origin and equal retired statistics. Active statistics may differ in rounding, but not
    /// where one leaf has lost digits to a point that is gone.
    pub fn same_content<F: Fit>(&mut self, forest: &Forest<F>, leaf: &LeafNode<F>, number: u32, leaf_at: impl Fn(u32) -> usize) -> u32 {
        let is_same = |other: u32| {
            let other = forest.leaf(leaf_at(other));
            other.points.fingerprint() == leaf.points.fingerprint()
                && other.n_active() == leaf.n_active()
                && other.origin == leaf.origin
                && same_bits(&other.retired, &leaf.retired)
                && agree(&other.active, &leaf.active)
        };
        let key = leaf.retired.iter().fold(leaf.points.fingerprint(), |key, value| mix(key ^ value.to_bits()));
        self.by_content.find_or_insert(key, number, is_same)
    }
}

/// Whether two sums of the same numbers differ in rounding only.
fn agree(a: &[f64], b: &[f64]) -> bool {
    // Leaves that have agreed before hold equal sums.
    a == b || a.iter().zip(b).fold(true, |close, (a, b)| close & ((a - b).abs() <= ROUNDING * (a.abs() + b.abs())))
}

/// A hash table from keys to numbers, with open addressing.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyTable {
    entries: EpochMap<u32>,
    mask: usize,
}

impl KeyTable {
    /// Start over, for at most `n_entries` entries.
    pub fn clear(&mut self, n_entries: usize) {
        let n_slots = (2 * n_entries).next_power_of_two();
        self.mask = n_slots - 1;
        self.entries.clear(n_slots);
    }

    /// The number stored under a key; `number` is inserted if there is none. `is_same` resolves collisions.
    #[inline]
    pub fn find_or_insert(&mut self, key: u64, number: u32, is_same: impl Fn(u32) -> bool) -> u32 {
        // The high half of the product depends on every bit of the key.
        let mut at = (mix(key) >> 32) as usize & self.mask;
        loop {
            match self.entries.get(at) {
                Some(other) if is_same(other) => return other,
                Some(_) => at = (at + 1) & self.mask,
                None => {
                    self.entries.set(at, number);
                    return number;
                }
            }
        }
    }
}

fn mix(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::{Forest, LeafDedup, LeafNode};
    use crate::cloud::Cloud;
    use crate::config::{CloudConfig, Discard, Leaf, Task};
    use crate::leaf::{Gaussian, GaussianPrior};
    use crate::rng::{Purpose, Stream};
    use crate::tree::Points;
    use smallvec::smallvec;

    /// Fails if leaves are treated as equal despite different points, retired statistics or origins, or sums that have lost precision.
    #[test]
    fn only_leaves_with_the_same_content_are_deduplicated() {
        let plain = |leaf: &mut LeafNode<()>| {
            leaf.points = Points::with_fingerprint(vec![3, 5], 77);
            leaf.origin = vec![0.5].into();
            leaf.active = smallvec![2.0, 1.0, 4.0];
            leaf.retired = smallvec![1.0, 0.25, 0.125];
        };
        // How a leaf differs, and the numbers of the first leaves with the same points and with the same content.
        type Change = fn(&mut LeafNode<()>);
        let cases: [(Change, u32, u32); 7] = [
            (|_| (), 0, 0),
            (|leaf| leaf.points = Points::with_fingerprint(vec![5, 3], 77), 0, 0),
            (|leaf| leaf.active[1] += 1e-15, 0, 0),
            (|leaf| leaf.active[1] += 1e-3, 0, 3),
            (|leaf| leaf.retired[2] += 1e-15, 0, 4),
            (|leaf| leaf.origin = vec![0.25].into(), 0, 5),
            (|leaf| leaf.points = Points::with_fingerprint(vec![3, 5], 78), 6, 6),
        ];
        let mut forest = Forest::new(None, 3);
        let leaves: Vec<usize> = cases.iter().map(|_| forest.new_leaf()).collect();
        let mut dedup = LeafDedup::default();
        dedup.clear(cases.len());
        for (number, (change, same_points, same_content)) in cases.into_iter().enumerate() {
            let leaf = forest.leaf_mut(leaves[number]);
            plain(leaf);
            change(leaf);
            let (leaf, leaf_at) = (forest.leaf(leaves[number]), |other: u32| leaves[other as usize]);
            assert_eq!(dedup.same_points(&forest, leaf, number as u32, leaf_at), same_points, "leaf {number}");
            assert_eq!(dedup.same_content(&forest, leaf, number as u32, leaf_at), same_content, "leaf {number}");
        }
    }

    /// Fails if a move, an arrival or a retirement leaves a leaf with the fingerprint of other points.
    #[test]
    fn fingerprints_follow_the_points() {
        for discard in [Discard::Oldest, Discard::Random, Discard::Alc] {
            let mut config = CloudConfig { n_particles: 60, max_active: Some(40), discard, ..CloudConfig::new(Leaf::Constant) };
            config.min_leaf = Some(2);
            let settings = config.check(Task::Regression, 2).expect("settings");
            let mut cloud = Cloud::new(settings, Gaussian::constant(GaussianPrior::default_for(0)), 4);
            let mut noise = Stream::new(8, 0, 0, Purpose::Sample);
            let mut n_shared = 0;
            for row in 0..400 {
                let x = [noise.uniform(), if noise.below(10) == 0 { f64::NAN } else { noise.uniform() }];
                cloud.observe(&x, f64::from(u8::from(x[0] < 0.5)) + 0.1 * noise.uniform() + f64::from(row / 100), 1.0);
                let leaves: Vec<usize> = cloud.forest.live_leaves().collect();
                let mut sets = Vec::new();
                for &ix in &leaves {
                    let leaf = cloud.forest.leaf(ix);
                    let mut slots = leaf.points.slots().to_vec();
                    let fingerprint = slots.iter().fold(0, |set, slot| set ^ cloud.pool.fingerprint(*slot));
                    assert_eq!(leaf.points.fingerprint(), fingerprint);
                    slots.sort_unstable();
                    sets.push(slots);
                }
                sets.sort();
                sets.dedup();
                n_shared += leaves.len() - sets.len();
            }
            // Otherwise the test would have checked nothing.
            assert!(n_shared > 400, "{n_shared}");
        }
    }
}
