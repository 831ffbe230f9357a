//! The active points that a leaf holds.

use crate::pool::Pool;
use crate::split::Split;

/// Slots of the pool, in the order in which they are summed.
#[derive(Clone, Debug, Default)]
pub struct Points {
    slots: Vec<u32>,
    /// The exclusive or of the fingerprints of the points; see [`Pool::fingerprint`].
    fingerprint: u64,
}

impl Points {
    pub fn with_capacity(n_points: usize) -> Self {
        Self { slots: Vec::with_capacity(n_points), fingerprint: 0 }
    }

    /// `None` if a slot is not in the pool.
    pub fn from_slots(slots: Vec<u32>, pool: &Pool) -> Option<Self> {
        let all_exist = slots.iter().all(|slot| (*slot as usize) < pool.n_slots());
        all_exist.then(|| Self { fingerprint: fingerprint_of(&slots, pool), slots })
    }

    #[cfg(test)]
    pub fn with_fingerprint(slots: Vec<u32>, fingerprint: u64) -> Self {
        Self { slots, fingerprint }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    #[inline]
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Identifies the set of points within one pool at one time. The exclusive or of the fingerprints of two disjoint sets is that of their
    /// union.
    #[inline]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    pub fn clear(&mut self) {
        self.slots.clear();
        self.fingerprint = 0;
    }

    /// Copy another leaf's points into the existing allocation.
    pub fn copy_from(&mut self, source: &Self) {
        self.slots.clone_from(&source.slots);
        self.fingerprint = source.fingerprint;
    }

    /// Append the points of another leaf; the two are disjoint.
    pub fn append(&mut self, other: &Self) {
        self.slots.extend_from_slice(&other.slots);
        self.fingerprint ^= other.fingerprint;
    }

    pub fn push(&mut self, pool: &Pool, slot: u32) {
        self.slots.push(slot);
        self.fingerprint ^= pool.fingerprint(slot);
    }

    /// Remove a point, which must be present. Returns its position, which the last point takes over.
    pub fn swap_remove(&mut self, pool: &Pool, slot: u32) -> usize {
        let position = position_of(&self.slots, slot).expect("a leaf holds the points that fall in it");
        self.slots.swap_remove(position);
        self.fingerprint ^= pool.fingerprint(slot);
        position
    }

    /// Distribute the points over the two sides of a split, keeping their order. Both sides must be empty.
    pub fn divide(&self, pool: &Pool, split: &Split, left: &mut Self, right: &mut Self) {
        divide_slots(&self.slots, pool.column(split.dim as usize), split, &mut left.slots, &mut right.slots);
        let left_is_smaller = left.len() < right.len();
        let smaller = fingerprint_of(if left_is_smaller { &left.slots } else { &right.slots }, pool);
        let larger = self.fingerprint ^ smaller;
        (left.fingerprint, right.fingerprint) = if left_is_smaller { (smaller, larger) } else { (larger, smaller) };
    }
}

fn fingerprint_of(slots: &[u32], pool: &Pool) -> u64 {
    slots.iter().fold(0, |set, slot| set ^ pool.fingerprint(*slot))
}

/// Branchless: every slot is written to both sides, and only one side advances.
fn divide_slots(slots: &[u32], values: &[f64], split: &Split, left: &mut Vec<u32>, right: &mut Vec<u32>) {
    left.resize(slots.len(), 0);
    right.resize(slots.len(), 0);
    let mut n_left = 0;
    for (at, &slot) in slots.iter().enumerate() {
        let value = values[slot as usize];
        let goes_left = (value < split.cut) | (split.nan_left & value.is_nan());
        left[n_left] = slot;
        right[at - n_left] = slot;
        n_left += usize::from(goes_left);
    }
    left.truncate(n_left);
    right.truncate(slots.len() - n_left);
}

/// Linear search that compares a chunk at a time, so that it vectorises.
fn position_of(slots: &[u32], slot: u32) -> Option<usize> {
    const CHUNK: usize = 16;
    let (chunks, rest) = slots.as_chunks::<CHUNK>();
    let contains = |chunk: &[u32; CHUNK]| chunk.iter().fold(false, |found, other| found | (*other == slot));
    let (start, part) = match chunks.iter().position(contains) {
        Some(at) => (at * CHUNK, &chunks[at][..]),
        None => (slots.len() - rest.len(), rest),
    };
    part.iter().position(|other| *other == slot).map(|at| start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a chunk is skipped, the remainder is not searched, or a fingerprint does not follow its points.
    #[test]
    fn points_come_and_go_anywhere_in_the_list() {
        let mut pool = Pool::new(1, 1);
        let slots: Vec<u32> = (0..50u32).map(|row| pool.insert(&[f64::from(row)], 0.0, 1.0, 1 + u64::from(row), |_| ())).collect();
        let all = Points::from_slots(slots.clone(), &pool).expect("slots of the pool");
        for (position, &slot) in slots.iter().enumerate() {
            let mut rest = all.clone();
            assert_eq!(rest.swap_remove(&pool, slot), position);
            assert!(rest.len() == 49 && !rest.slots().contains(&slot));
            assert_eq!(rest.fingerprint(), all.fingerprint() ^ pool.fingerprint(slot));
        }
        for cut in [0.0, 10.0, 30.0, 50.0] {
            let split = Split { dim: 0, nan_left: false, cut };
            let (mut left, mut right) = (Points::default(), Points::default());
            all.divide(&pool, &split, &mut left, &mut right);
            assert_eq!(left.len(), cut as usize);
            assert_eq!(left.fingerprint(), fingerprint_of(left.slots(), &pool));
            assert_eq!(left.fingerprint() ^ right.fingerprint(), all.fingerprint());
        }
        assert!(Points::from_slots(vec![3, 50], &pool).is_none());
    }
}
