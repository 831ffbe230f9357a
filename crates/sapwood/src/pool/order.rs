//! The active points in order of each input.
//!
//! To find the range of valid cuts, a leaf compares its points along an input. Ranks take two bytes per point, so that many are compared at
//! once; the value at a rank is read from the sorted column.

use pulp::{Arch, WithSimd};

/// Pools with more slots keep no order, because updating it touches every slot at every step. Ranks are 16-bit and signed, since vector
/// instruction sets compare signed integers directly.
const AT_MOST: usize = 1 << 14;

/// The rank of a missing value, above all others.
pub const MISSING: i16 = i16::MAX;

/// Ranks of the points along each input. A removed point keeps its rank until its slot is reused: no leaf refers to it, and replacing one
/// point by another changes only the ranks between the two.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    columns: Vec<RankedColumn>,
}

/// The points along one input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedColumn {
    /// The values that are not missing, ascending.
    sorted: Vec<f64>,
    /// By slot, the rank of its value; ties are in any order.
    ranks: Vec<i16>,
}

impl Order {
    pub fn new(n_inputs: usize) -> Self {
        Self { columns: vec![RankedColumn::default(); n_inputs] }
    }

    /// The order of points that fill all slots, from the values of each input by slot.
    pub fn of(columns: &[Vec<f64>]) -> Self {
        Self { columns: columns.iter().map(|values| RankedColumn::of(values)).collect() }
    }

    pub fn column(&self, dim: usize) -> &RankedColumn {
        &self.columns[dim]
    }

    /// Whether a pool with this many slots is too large to keep an order.
    pub fn is_too_large(n_slots: usize) -> bool {
        n_slots > AT_MOST
    }

    /// Replace the point in a slot.
    pub fn insert(&mut self, x: &[f64], slot: usize) {
        Arch::new().dispatch(Insertion { columns: &mut self.columns, x, slot });
    }
}

/// Compiled for the widest vector instructions of the machine; the loops inside auto-vectorise.
struct Insertion<'a> {
    columns: &'a mut [RankedColumn],
    x: &'a [f64],
    slot: usize,
}

impl WithSimd for Insertion<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        for (column, &value) in self.columns.iter_mut().zip(self.x) {
            column.insert(value, self.slot);
        }
    }
}

impl RankedColumn {
    fn of(values: &[f64]) -> Self {
        let mut slots: Vec<usize> = (0..values.len()).filter(|&slot| !values[slot].is_nan()).collect();
        slots.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![MISSING; values.len()];
        for (rank, &slot) in slots.iter().enumerate() {
            ranks[slot] = rank as i16;
        }
        Self { sorted: slots.iter().map(|&slot| values[slot]).collect(), ranks }
    }

    /// By slot.
    pub fn ranks(&self) -> &[i16] {
        &self.ranks
    }

    /// By rank.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    #[inline(always)]
    fn insert(&mut self, value: f64, slot: usize) {
        if slot == self.ranks.len() {
            self.ranks.push(MISSING);
        }
        let Self { sorted, ranks } = self;
        let old = (ranks[slot] != MISSING).then_some(ranks[slot] as usize);
        let new = (!value.is_nan()).then(|| sorted.partition_point(|other| *other < value));
        ranks[slot] = MISSING;
        match (old, new) {
            (None, None) => {}
            (None, Some(new)) => {
                sorted.insert(new, value);
                shift(ranks, new, MISSING as usize, 1);
            }
            (Some(old), None) => {
                sorted.remove(old);
                shift(ranks, old, MISSING as usize, -1);
            }
            (Some(old), Some(new)) if new <= old => {
                sorted.copy_within(new..old, new + 1);
                shift(ranks, new, old, 1);
            }
            (Some(old), Some(new)) => {
                sorted.copy_within(old + 1..new, old);
                shift(ranks, old, new, -1);
            }
        }
        if let Some(new) = new {
            let rank = if old.is_some_and(|old| old < new) { new - 1 } else { new };
            sorted[rank] = value;
            ranks[slot] = rank as i16;
        }
    }
}

/// Shift the ranks in `[start, end)` by one.
#[inline(always)]
fn shift(ranks: &mut [i16], start: usize, end: usize, by: i16) {
    let (start, end) = (start as i16, end as i16);
    for rank in ranks {
        let is_within = (*rank >= start) & (*rank < end);
        *rank += if is_within { by } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Fails if an update of the ranks misses a slot, moves a missing value, mishandles ties, or drops a removed point before its slot is reused.
    #[test]
    fn ranks_follow_points_that_come_and_go() {
        let mut stream = Stream::new(3, 0, 0, Purpose::Sample);
        let mut order = Order::new(1);
        let mut values: Vec<f64> = Vec::new();
        for row in 0..2000 {
            let value = if stream.below(9) == 0 { f64::NAN } else { stream.below(20) as f64 - 7.0 };
            let slot = if row < 40 { row } else { stream.below(40) };
            values.resize(values.len().max(slot + 1), 0.0);
            values[slot] = value;
            order.insert(&[value], slot);
            let column = order.column(0);
            let known: Vec<usize> = (0..values.len()).filter(|&slot| !values[slot].is_nan()).collect();
            assert_eq!(column.sorted().len(), known.len());
            assert!(column.sorted().is_sorted());
            let mut ranks: Vec<i16> = known.iter().map(|&slot| column.ranks()[slot]).collect();
            assert!(known.iter().all(|&slot| column.sorted()[column.ranks()[slot] as usize] == values[slot]));
            ranks.sort_unstable();
            assert!(ranks.iter().enumerate().all(|(at, &rank)| at == rank as usize));
            assert!((0..values.len()).filter(|slot| !known.contains(slot)).all(|slot| column.ranks()[slot] == MISSING));
            // In bulk or one at a time, the result is the same up to the order of ties.
            let at_once = RankedColumn::of(&values);
            assert_eq!(at_once.sorted(), column.sorted());
            assert!(known.iter().all(|&slot| at_once.sorted()[at_once.ranks()[slot] as usize] == values[slot]));
        }
    }
}
