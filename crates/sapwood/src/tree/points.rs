//! Which of the active points a leaf holds.

use super::Split;
use crate::pool::{Pool, SlotSet};

/// How the leaves of a forest keep their points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keeping {
    /// In an order: for leaves that sum over their points or score them.
    #[default]
    Lists,
    /// In none: for leaves that only count, in pools with few slots.
    Sets,
}

/// Points by slot.
#[derive(Debug)]
pub enum Points {
    /// The slots, and a number that stands for the set of them; see [`Pool::fingerprint`].
    List { slots: Vec<u32>, fingerprint: u64 },
    /// The slots, and how many they are: to count them takes long on plain processors.
    Set { set: SlotSet, n_points: u32 },
}

impl Default for Points {
    fn default() -> Self {
        Self::List { slots: Vec::new(), fingerprint: 0 }
    }
}

impl Points {
    /// No points yet, and room for some.
    pub fn with_room(keeping: Keeping, n_points: usize) -> Self {
        match keeping {
            Keeping::Lists => Self::List { slots: Vec::with_capacity(n_points), fingerprint: 0 },
            Keeping::Sets => Self::Set { set: SlotSet::default(), n_points: 0 },
        }
    }

    /// Some points of a pool. None if one of them is not there, or is named twice where that would not show.
    pub fn of(keeping: Keeping, slots: Vec<u32>, pool: &Pool) -> Option<Self> {
        if slots.iter().any(|slot| *slot as usize >= pool.n_slots()) {
            return None;
        }
        match keeping {
            Keeping::Lists => {
                let fingerprint = fingerprint_of(&slots, pool);
                Some(Self::List { slots, fingerprint })
            }
            Keeping::Sets => {
                let set: SlotSet = slots.iter().copied().collect();
                (set.len() == slots.len()).then_some(Self::Set { set, n_points: slots.len() as u32 })
            }
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::List { slots, .. } => slots.len(),
            Self::Set { n_points, .. } => *n_points as usize,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stands for the set of points, among those of one pool at one time. The exclusive or of two of them stands for the union of sets that
    /// have nothing in common.
    #[inline]
    pub fn fingerprint(&self) -> u128 {
        match self {
            Self::List { fingerprint, .. } => u128::from(*fingerprint),
            Self::Set { set, .. } => set.bits(),
        }
    }

    /// The points in the order in which they are summed.
    #[inline]
    pub fn for_each(&self, pool: &Pool, mut visit: impl FnMut(u32)) {
        match self {
            Self::List { slots, .. } => slots.iter().for_each(|slot| visit(*slot)),
            Self::Set { set, .. } => in_order(*set, pool, |slots| slots.iter().for_each(|slot| visit(*slot))),
        }
    }

    /// The same as a list.
    #[inline]
    pub fn list<'a>(&'a self, pool: &Pool, scratch: &'a mut Vec<u32>) -> &'a [u32] {
        match self {
            Self::List { slots, .. } => slots,
            Self::Set { set, .. } => {
                scratch.clear();
                in_order(*set, pool, |slots| scratch.extend_from_slice(slots));
                scratch
            }
        }
    }

    /// The points as a set; for pools that have sets.
    #[inline]
    pub fn set(&self) -> SlotSet {
        match self {
            Self::List { slots, .. } => slots.iter().copied().collect(),
            Self::Set { set, .. } => *set,
        }
    }

    pub fn clear(&mut self) {
        match self {
            Self::List { slots, fingerprint } => {
                slots.clear();
                *fingerprint = 0;
            }
            Self::Set { set, n_points } => (*set, *n_points) = Default::default(),
        }
    }

    /// Take over the points of another leaf, into the allocation that is there.
    pub fn copy_from(&mut self, source: &Self) {
        match (&mut *self, source) {
            (Self::List { slots, fingerprint }, Self::List { slots: others, fingerprint: other }) => {
                slots.clone_from(others);
                *fingerprint = *other;
            }
            (_, Self::List { slots, fingerprint }) => *self = Self::List { slots: slots.clone(), fingerprint: *fingerprint },
            (_, Self::Set { set, n_points }) => *self = Self::Set { set: *set, n_points: *n_points },
        }
    }

    /// Add those of another leaf of the same forest, none of which are here.
    pub fn join(&mut self, other: &Self) {
        match (self, other) {
            (Self::List { slots, fingerprint }, Self::List { slots: others, fingerprint: other }) => {
                slots.extend_from_slice(others);
                *fingerprint ^= other;
            }
            (Self::Set { set, n_points }, Self::Set { set: other, n_points: n_others }) => {
                *set = set.or(*other);
                *n_points += n_others;
            }
            _ => unreachable!("{DIFFERENT}"),
        }
    }

    pub fn push(&mut self, pool: &Pool, slot: u32) {
        match self {
            Self::List { slots, fingerprint } => {
                slots.push(slot);
                *fingerprint ^= pool.fingerprint(slot);
            }
            Self::Set { set, n_points } => {
                set.insert(slot);
                *n_points += 1;
            }
        }
    }

    /// Take a point out that is here. Returns its position in the list, which the last one takes; a set has none.
    pub fn remove(&mut self, pool: &Pool, slot: u32) -> Option<usize> {
        match self {
            Self::List { slots, fingerprint } => {
                let position = position_of(slots, slot).expect("a leaf holds the points that fall in it");
                slots.swap_remove(position);
                *fingerprint ^= pool.fingerprint(slot);
                Some(position)
            }
            Self::Set { set, n_points } => {
                debug_assert!(set.contains(slot), "a leaf holds the points that fall in it");
                set.remove(slot);
                *n_points -= 1;
                None
            }
        }
    }

    /// Give the points to either side of a split, which are empty. A list keeps its order.
    pub fn divide(&self, pool: &Pool, split: &Split, left: &mut Self, right: &mut Self) {
        let values = pool.column(split.dim as usize);
        match (self, left, right) {
            (
                Self::List { slots, fingerprint },
                Self::List { slots: left, fingerprint: left_print },
                Self::List { slots: right, fingerprint: right_print },
            ) => {
                divide_list(slots, values, split, left, right);
                let left_is_smaller = left.len() < right.len();
                let smaller = fingerprint_of(if left_is_smaller { left } else { right }, pool);
                let larger = fingerprint ^ smaller;
                (*left_print, *right_print) = if left_is_smaller { (smaller, larger) } else { (larger, smaller) };
            }
            (Self::Set { set, .. }, left, right) => {
                let mut goes_left = *set;
                set.for_each(|slot| {
                    if !split.sends_left(values[slot as usize]) {
                        goes_left.remove(slot);
                    }
                });
                self.divide_set(goes_left, goes_left.len() as u32, left, right);
            }
            _ => unreachable!("{DIFFERENT}"),
        }
    }

    /// The same for a set of which it is known who goes left, and how many.
    pub fn divide_set(&self, goes_left: SlotSet, n_left: u32, left: &mut Self, right: &mut Self) {
        let Self::Set { set, n_points } = self else { unreachable!("{DIFFERENT}") };
        *left = Self::Set { set: goes_left, n_points: n_left };
        *right = Self::Set { set: set.without(goes_left), n_points: n_points - n_left };
    }
}

const DIFFERENT: &str = "all leaves of a forest keep their points alike";

/// A set as a list, in an order that does not depend on which slots the points have: files do not keep them. Where every order gives the same
/// sums, any will do.
fn in_order(set: SlotSet, pool: &Pool, use_list: impl FnOnce(&[u32])) {
    let mut slots = [0; SlotSet::ROOM];
    let slots = &mut slots[..set.len()];
    slots.iter_mut().zip(set.iter()).for_each(|(entry, slot)| *entry = slot);
    if !pool.all_count_once() {
        slots.sort_unstable_by_key(|&slot| pool.arrival(slot));
    }
    use_list(slots);
}

fn fingerprint_of(slots: &[u32], pool: &Pool) -> u64 {
    slots.iter().fold(0, |set, slot| set ^ pool.fingerprint(*slot))
}

/// Every point is written to both sides and counted on one: the processor has nothing to guess.
fn divide_list(slots: &[u32], values: &[f64], split: &Split, left: &mut Vec<u32>, right: &mut Vec<u32>) {
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

/// Where a slot stands in a list. A chunk is compared at once, and looked at more closely only where it holds the slot.
fn position_of(slots: &[u32], slot: u32) -> Option<usize> {
    const CHUNK: usize = 16;
    let (chunks, rest) = slots.as_chunks::<CHUNK>();
    let holds_it = |chunk: &[u32; CHUNK]| chunk.iter().fold(false, |found, other| found | (*other == slot));
    let (start, part) = match chunks.iter().position(holds_it) {
        Some(at) => (at * CHUNK, &chunks[at][..]),
        None => (slots.len() - rest.len(), rest),
    };
    part.iter().position(|other| *other == slot).map(|at| start + at)
}

#[cfg(test)]
mod tests {
    use super::Keeping;
    use crate::cloud::{Cloud, Tree};
    use crate::config::{CloudConfig, Leaf, Task};
    use crate::leaf::Multinomial;
    use crate::rng::{Purpose, Stream};
    use crate::tree::Forest;

    /// Fails if a set loses a point, keeps one that is gone, or counts otherwise than a list: in a move, an arrival, a retirement by everybody
    /// or by tree, a second pass; with missing values, weights and more classes than the step that counts takes. (Of that step, see
    /// `cloud::counting`.)
    #[test]
    fn sets_do_as_lists() {
        for (n_classes, forgetting, weighted) in [(3, None, true), (6, Some(1.0), false), (2, Some(0.5), true)] {
            let config = CloudConfig {
                n_particles: 60,
                max_active: Some(127),
                forgetting,
                min_leaf: Some(2),
                ..CloudConfig::new(Leaf::Multinomial)
            };
            let settings = config.check(Task::Classification, 2).expect("settings");
            let mut in_sets = Cloud::new(settings.clone(), Multinomial::new(n_classes, None), 4);
            assert_eq!(in_sets.forest.keeping(), Keeping::Sets);
            let mut in_lists = in_sets.clone();
            in_lists.forest = Forest::new(Keeping::Lists, Some(127), 1 + n_classes);
            let root = in_lists.new_root_leaf();
            for Tree { root: old, .. } in &mut in_lists.trees {
                *old = root;
                in_lists.forest.retain(root);
            }
            let mut noise = Stream::new(8, 0, 0, Purpose::Sample);
            for row in 0..500 {
                let x = [noise.uniform(), if noise.below(10) == 0 { f64::NAN } else { noise.below(9) as f64 }];
                let y = ((x[0] * n_classes as f64) as usize + usize::from(noise.below(4) == 0)) % n_classes;
                // Sums of quarters do not round, whatever their order.
                let weight = if weighted { 0.5 * (2 + noise.below(4)) as f64 + 0.25 } else { 1.0 };
                let ln_weights = [&mut in_sets, &mut in_lists].map(|cloud| cloud.observe(&x, y as f64, weight).to_bits());
                assert_eq!(ln_weights[0], ln_weights[1], "row {row}");
                if row % 100 == 50 {
                    [&mut in_sets, &mut in_lists].into_iter().for_each(|cloud| cloud.retire_at(row % 37));
                }
                if row == 250 {
                    [&mut in_sets, &mut in_lists].into_iter().for_each(Cloud::rejuvenate);
                }
            }
        }
    }
}
