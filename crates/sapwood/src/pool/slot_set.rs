//! Sets of slots of a small pool, a bit each.

/// Slots below [`SlotSet::ROOM`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotSet([u64; N_WORDS]);

const N_WORDS: usize = 2;

impl SlotSet {
    /// Pools of up to so many slots have sets.
    pub const ROOM: usize = 64 * N_WORDS;

    #[inline(always)]
    pub fn insert(&mut self, slot: u32) {
        self.0[slot as usize / 64] |= 1 << (slot % 64);
    }

    #[inline(always)]
    pub fn remove(&mut self, slot: u32) {
        self.0[slot as usize / 64] &= !(1 << (slot % 64));
    }

    #[inline(always)]
    pub fn contains(self, slot: u32) -> bool {
        self.0[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Those that the other set does not have.
    #[inline(always)]
    pub fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// A number that no other set has.
    #[inline(always)]
    pub fn bits(self) -> u128 {
        u128::from(self.0[1]) << 64 | u128::from(self.0[0])
    }

    /// The slots, ascending.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().zip([0, 64]).flat_map(|(mut word, first)| {
            std::iter::from_fn(move || {
                let slot = word.trailing_zeros();
                // Without the lowest bit; of nothing, nothing is left.
                word &= word.wrapping_sub(1);
                (slot < u64::BITS).then_some(first + slot)
            })
        })
    }

    /// Visit the slots, ascending: faster where there is a loop for it.
    #[inline(always)]
    pub fn for_each(self, mut visit: impl FnMut(u32)) {
        for (mut word, first) in self.0.into_iter().zip([0, 64]) {
            while word != 0 {
                visit(first + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }
}

impl FromIterator<u32> for SlotSet {
    fn from_iter<I: IntoIterator<Item = u32>>(slots: I) -> Self {
        let mut set = Self::default();
        slots.into_iter().for_each(|slot| set.insert(slot));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::SlotSet;

    /// Fails if the two halves of the bits are taken for each other, or the last slot is lost.
    #[test]
    fn sets_hold_what_was_put_in() {
        let slots = [0, 1, 62, 63, 64, 65, 127];
        let mut set: SlotSet = slots.into_iter().rev().collect();
        assert!(set.iter().eq(slots));
        let mut visited = Vec::new();
        set.for_each(|slot| visited.push(slot));
        assert_eq!(visited, slots);
        assert_eq!(set.len(), slots.len());
        let other: SlotSet = [1, 64, 100].into_iter().collect();
        assert!(set.and(other).iter().eq([1, 64]));
        assert!(set.without(other).iter().eq([0, 62, 63, 65, 127]));
        assert_eq!(set.or(other).len(), 8);
        set.remove(127);
        assert!(!set.contains(127) && set.contains(65));
        assert_eq!(SlotSet::default().iter().count(), 0);
    }
}
