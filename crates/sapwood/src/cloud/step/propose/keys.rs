//! Sort keys of a leaf's points along one input, compared in SIMD lanes.
//!
//! Small pools keep the rank of every point; in larger ones the key is the point's value, as an integer in the same order. Either way the
//! keys fill whole chunks, padded with the key of missing values, which is above all others. Loops run over the flattened chunks: the
//! compiler then knows that there is no remainder, and vectorises without one.

use crate::pool::{MISSING, RankedColumn};

/// Keys in a chunk.
const CHUNK: usize = 32;

/// The keys of a leaf's points.
pub(super) type Keys<K> = Vec<[K; CHUNK]>;

/// An integer that stands for a value.
pub(super) trait Key: Copy + Ord {
    /// The key of a missing value, and padding.
    const NONE: Self;
    /// Not above any other key.
    const LOWEST: Self;

    /// How many keys are below a threshold.
    fn count_below(keys: &[[Self; CHUNK]], threshold: Self) -> u32;
    /// How many keys below a threshold have a label.
    fn count_labelled(keys: &[[Self; CHUNK]], threshold: Self, labels: &[[i16; CHUNK]], label: i16) -> u32;
    /// By key, the number of thresholds it is not below.
    fn count_reached(keys: &[[Self; CHUNK]], thresholds: impl Iterator<Item = Self> + Clone, reached: &mut Keys<u16>);
    /// The smallest and the largest key of a value.
    fn smallest_and_largest(keys: &[[Self; CHUNK]]) -> (Self, Self);
    /// The `n`-th key (from 0) from below and from above, among the `n_known` keys of values.
    fn nth_from_both_ends(keys: &[[Self; CHUNK]], scratch: &mut Vec<Self>, n: usize, n_known: usize) -> (Self, Self);
}

/// How many values are below a cut; the padding is NaN.
#[inline(always)]
pub(super) fn count_values_below(values: &[[f64; CHUNK]], cut: f64) -> u32 {
    values.as_flattened().iter().map(|value| u64::from(*value < cut)).sum::<u64>() as u32
}

/// The values of some slots along an input.
#[inline(always)]
pub(super) fn gather_values(by_slot: &[f64], slots: &[u32], values: &mut Keys<f64>) {
    fill_chunks(slots, f64::NAN, values, |slot| by_slot[slot as usize]);
}

/// The keys of all points along one input.
pub(super) trait Column {
    type Key: Key;

    fn key(&self, slot: u32) -> Self::Key;
    fn value(&self, key: Self::Key) -> f64;
    /// The threshold that exactly the keys of values below a cut are below. The cut is above the value of `low` and not above that of `high`.
    fn threshold(&self, cut: f64, low: Self::Key, high: Self::Key) -> Self::Key;
}

/// The keys of some slots.
#[inline(always)]
pub(super) fn gather<C: Column>(column: &C, slots: &[u32], keys: &mut Keys<C::Key>) {
    fill_chunks(slots, C::Key::NONE, keys, |slot| column.key(slot));
}

/// The class of each of some slots.
#[inline(always)]
pub(super) fn gather_labels(by_slot: &[i16], slots: &[u32], labels: &mut Keys<i16>) {
    fill_chunks(slots, i16::MAX, labels, |slot| by_slot[slot as usize]);
}

#[inline(always)]
fn fill_chunks<K: Copy>(slots: &[u32], none: K, chunks: &mut Keys<K>, key: impl Fn(u32) -> K) {
    let n_chunks = slots.len().div_ceil(CHUNK);
    if chunks.len() < n_chunks {
        chunks.resize(n_chunks, [none; CHUNK]);
    }
    chunks.truncate(n_chunks);
    let (whole, rest) = slots.as_chunks::<CHUNK>();
    for (keys, slots) in chunks.iter_mut().zip(whole) {
        for at in 0..CHUNK {
            keys[at] = key(slots[at]);
        }
    }
    if let Some(last) = chunks.get_mut(whole.len()) {
        *last = [none; CHUNK];
        last.iter_mut().zip(rest).for_each(|(key_of, slot)| *key_of = key(*slot));
    }
}

/// The slots whose key is in `[from, to)`, of which there are `n`, in their order.
#[inline(always)]
pub(super) fn select<K: Key>(slots: &[u32], keys: &[[K; CHUNK]], from: K, to: K, n: u32, selected: &mut Vec<u32>) {
    selected.clear();
    let mut chunks = slots.chunks(CHUNK).zip(keys);
    // Stopping at the last match, not at the last chunk, keeps the compiler from interchanging the loops.
    while selected.len() < n as usize {
        let (slots, keys) = chunks.next().expect("as many keys as were counted");
        let mut within = within(keys, from, to);
        while within != 0 {
            selected.push(slots[within.trailing_zeros() as usize]);
            within &= within - 1;
        }
    }
}

/// Bit mask of the keys of a chunk that are in `[from, to)`.
#[inline(always)]
fn within<K: Key>(keys: &[K; CHUNK], from: K, to: K) -> u32 {
    const BITS: [u32; CHUNK] = {
        let mut bits = [0; CHUNK];
        let mut i = 0;
        while i < CHUNK {
            bits[i] = 1 << i;
            i += 1;
        }
        bits
    };
    let mut set = [0; CHUNK];
    for i in 0..CHUNK {
        set[i] = if (keys[i] >= from) & (keys[i] < to) { BITS[i] } else { 0 };
    }
    set.into_iter().fold(0, |all, bit| all | bit)
}

/// Ranks as keys.
pub(super) struct Ranks<'a> {
    ranks: &'a [i16],
    sorted: &'a [f64],
}

impl<'a> Ranks<'a> {
    pub fn new(column: &'a RankedColumn) -> Self {
        Self { ranks: column.ranks(), sorted: column.sorted() }
    }
}

impl Column for Ranks<'_> {
    type Key = i16;

    #[inline(always)]
    fn key(&self, slot: u32) -> i16 {
        self.ranks[slot as usize]
    }

    #[inline(always)]
    fn value(&self, key: i16) -> f64 {
        self.sorted[key as usize]
    }

    #[inline(always)]
    fn threshold(&self, cut: f64, low: i16, high: i16) -> i16 {
        low + self.sorted[low as usize..=high as usize].partition_point(|value| *value < cut) as i16
    }
}

/// Values as keys.
pub(super) struct Values<'a>(pub &'a [f64]);

impl Column for Values<'_> {
    type Key = i64;

    #[inline(always)]
    fn key(&self, slot: u32) -> i64 {
        let value = self.0[slot as usize];
        if value.is_nan() { i64::NONE } else { ordered(value) }
    }

    #[inline(always)]
    fn value(&self, key: i64) -> f64 {
        f64::from_bits((key ^ (((key >> 63) as u64) >> 1) as i64) as u64)
    }

    #[inline(always)]
    fn threshold(&self, cut: f64, _low: i64, _high: i64) -> i64 {
        ordered(cut)
    }
}

/// A number as an integer in the same order. Adding zero turns -0 into +0.
#[inline(always)]
fn ordered(value: f64) -> i64 {
    let bits = (value + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

macro_rules! impl_counting {
    () => {
        const NONE: Self = Self::MAX;
        const LOWEST: Self = Self::MIN;

        #[inline(always)]
        fn count_below(keys: &[[Self; CHUNK]], threshold: Self) -> u32 {
            keys.as_flattened().iter().map(|key| Self::from(*key < threshold)).sum::<Self>() as u32
        }

        #[inline(always)]
        fn count_labelled(keys: &[[Self; CHUNK]], threshold: Self, labels: &[[i16; CHUNK]], label: i16) -> u32 {
            let labelled = keys.as_flattened().iter().zip(labels.as_flattened());
            labelled.map(|(key, own)| Self::from((*key < threshold) & (*own == label))).sum::<Self>() as u32
        }

        #[inline(always)]
        fn count_reached(keys: &[[Self; CHUNK]], thresholds: impl Iterator<Item = Self> + Clone, reached: &mut Keys<u16>) {
            reached.resize(keys.len(), [0; CHUNK]);
            for (keys, reached) in keys.iter().zip(reached) {
                let mut counts = [0; CHUNK];
                for threshold in thresholds.clone() {
                    for at in 0..CHUNK {
                        counts[at] += u16::from(keys[at] >= threshold);
                    }
                }
                *reached = counts;
            }
        }

        #[inline(always)]
        fn smallest_and_largest(keys: &[[Self; CHUNK]]) -> (Self, Self) {
            let smallest = keys.as_flattened().iter().fold(Self::NONE, |smallest, key| smallest.min(*key));
            // Adding one wraps missing values around to the lowest.
            let largest = keys.as_flattened().iter().fold(Self::LOWEST, |largest, key| largest.max(key.wrapping_add(1)));
            (smallest, largest - 1)
        }
    };
}

impl Key for i16 {
    impl_counting!();

    /// Bitwise search: ranks are distinct, so the largest threshold that no more than `n` of them are below is the `n`-th.
    #[inline(always)]
    fn nth_from_both_ends(keys: &[[i16; CHUNK]], _scratch: &mut Vec<i16>, n: usize, n_known: usize) -> (i16, i16) {
        let (_, largest) = Self::smallest_and_largest(keys);
        let (n_low, n_high) = (n as i16, (n_known - 1 - n) as i16);
        let (mut low, mut high) = (0, 0);
        for bit in (0..i16::BITS - largest.leading_zeros()).rev() {
            let (next_low, next_high) = (low | 1 << bit, high | 1 << bit);
            let (below_low, below_high) = keys.as_flattened().iter().fold((0i16, 0i16), |(below_low, below_high), key| {
                (below_low + i16::from(*key < next_low), below_high + i16::from(*key < next_high))
            });
            low = if below_low <= n_low { next_low } else { low };
            high = if below_high <= n_high { next_high } else { high };
        }
        (low, high)
    }
}

impl Key for i64 {
    impl_counting!();

    #[inline(always)]
    fn nth_from_both_ends(keys: &[[i64; CHUNK]], scratch: &mut Vec<i64>, n: usize, n_known: usize) -> (i64, i64) {
        scratch.clear();
        scratch.extend_from_slice(keys.as_flattened());
        let (_, &mut low, above) = scratch.select_nth_unstable(n);
        let (_, &mut high, _) = above.select_nth_unstable(n_known - 2 - 2 * n);
        (low, high)
    }
}

const _: () = assert!(MISSING == i16::NONE);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;
    use crate::rng::{Purpose, Stream};

    /// Fails if the two kinds of keys disagree on the range of cuts or on the points below them.
    #[test]
    fn ranks_and_values_agree() {
        let mut stream = Stream::new(5, 0, 0, Purpose::Sample);
        for round in 0..300 {
            let n = 3 + stream.below(150);
            let mut pool = Pool::new(1, 1);
            for arrival in 0..n {
                // Ties, zeros of both signs, missing values, and both ends of the numbers.
                let value = match stream.below(12) {
                    0 => f64::NAN,
                    1 => -0.0,
                    2 => 0.0,
                    3 => f64::MAX,
                    4 => f64::MIN,
                    5 => stream.below(4) as f64,
                    _ => stream.uniform() - 0.5,
                };
                pool.insert(&[value], 0.0, 1.0, 1 + arrival as u64, |out| out[0] = 0.0);
            }
            let slots: Vec<u32> = (0..n as u32).filter(|_| round % 3 == 0 || stream.below(3) > 0).collect();
            let ranks = Ranks::new(pool.ranked(0).expect("a small pool keeps its order"));
            let values = Values(pool.column(0));
            let (mut by_rank, mut by_value) = (Vec::new(), Vec::new());
            gather(&ranks, &slots, &mut by_rank);
            gather(&values, &slots, &mut by_value);
            let n_known = i16::count_below(&by_rank, i16::NONE) as usize;
            assert_eq!(n_known, i64::count_below(&by_value, i64::NONE) as usize);
            let known: Vec<f64> = slots.iter().map(|&slot| pool.column(0)[slot as usize]).filter(|value| !value.is_nan()).collect();
            assert_eq!(n_known, known.len());
            if n_known < 2 {
                continue;
            }
            let mut sorted = known.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let (low, high) = i16::smallest_and_largest(&by_rank);
            assert_eq!((ranks.value(low), ranks.value(high)), (sorted[0], sorted[n_known - 1]));
            let (low, high) = i64::smallest_and_largest(&by_value);
            assert_eq!((values.value(low), values.value(high)), (sorted[0], sorted[n_known - 1]));
            let thresholds: Vec<i16> =
                [0, 1, 5].map(|back| by_rank.as_flattened()[0].saturating_sub(back)).into_iter().chain([i16::NONE]).collect();
            let mut reached = Vec::new();
            i16::count_reached(&by_rank, thresholds.iter().copied(), &mut reached);
            for (key, reached) in by_rank.as_flattened().iter().zip(reached.as_flattened()) {
                assert_eq!(usize::from(*reached), thresholds.iter().filter(|threshold| key >= threshold).count());
            }
            let n_aside = stream.below(n_known / 2);
            let (low, high) = i16::nth_from_both_ends(&by_rank, &mut Vec::new(), n_aside, n_known);
            let (first, last) = i64::nth_from_both_ends(&by_value, &mut Vec::new(), n_aside, n_known);
            assert_eq!((ranks.value(low), ranks.value(high)), (sorted[n_aside], sorted[n_known - 1 - n_aside]));
            assert_eq!((values.value(first), values.value(last)), (sorted[n_aside], sorted[n_known - 1 - n_aside]));
            for _ in 0..20 {
                let cut = sorted[n_aside] + stream.uniform_positive() * (sorted[n_known - 1 - n_aside] - sorted[n_aside]);
                if cut > sorted[n_aside] && cut <= sorted[n_known - 1 - n_aside] {
                    let n_below = known.iter().filter(|value| **value < cut).count() as u32;
                    let (by_rank_below, by_value_below) = (ranks.threshold(cut, low, high), values.threshold(cut, first, last));
                    assert_eq!(i16::count_below(&by_rank, by_rank_below), n_below);
                    assert_eq!(i64::count_below(&by_value, by_value_below), n_below);
                    let (mut one, mut other) = (Vec::new(), Vec::new());
                    select(&slots, &by_rank, by_rank_below, i16::NONE, n_known as u32 - n_below, &mut one);
                    select(&slots, &by_value, by_value_below, i64::NONE, n_known as u32 - n_below, &mut other);
                    let from_cut = |slot: &u32| pool.column(0)[*slot as usize] >= cut;
                    assert_eq!(one, slots.iter().copied().filter(from_cut).collect::<Vec<u32>>());
                    assert_eq!(one, other);
                }
            }
        }
    }
}
