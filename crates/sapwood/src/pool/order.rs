//! The active points in order of each input.
//!
//! A leaf that looks for room to split asks how its points compare along an input. Ranks answer that in two bytes a point, so that many
//! are compared at once, and the value that stands at a rank is read from the sorted column.

/// Pools above this many slots keep no order: its upkeep touches every slot at every step, and a rank has two bytes, one bit of which is its sign: processors compare signed numbers in fewer instructions.
const AT_MOST: usize = 1 << 14;

/// The rank of a missing value: above all others.
pub const MISSING: i16 = i16::MAX;

/// Ranks of the active points along each input.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    columns: Vec<RankedColumn>,
}

/// The active points along one input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedColumn {
    /// The values that are not missing, ascending.
    sorted: Vec<f64>,
    /// By slot, how many of the other values stand before its own; among equals any order. Free slots count as missing.
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

    /// Whether a pool of so many slots is better off without an order.
    pub fn is_too_large(n_slots: usize) -> bool {
        n_slots > AT_MOST
    }

    pub fn insert(&mut self, x: &[f64], slot: usize) {
        for (column, &value) in self.columns.iter_mut().zip(x) {
            column.insert(value, slot);
        }
    }

    pub fn remove(&mut self, slot: usize) {
        self.columns.iter_mut().for_each(|column| column.remove(slot));
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

    fn insert(&mut self, value: f64, slot: usize) {
        if slot == self.ranks.len() {
            self.ranks.push(MISSING);
        }
        if value.is_nan() {
            return;
        }
        let rank = self.sorted.partition_point(|other| *other < value);
        self.sorted.insert(rank, value);
        let rank = rank as i16;
        for other in &mut self.ranks {
            *other += i16::from((*other >= rank) & (*other != MISSING));
        }
        self.ranks[slot] = rank;
    }

    fn remove(&mut self, slot: usize) {
        let rank = std::mem::replace(&mut self.ranks[slot], MISSING);
        if rank == MISSING {
            return;
        }
        self.sorted.remove(rank as usize);
        for other in &mut self.ranks {
            *other -= i16::from((*other > rank) & (*other != MISSING));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Fails if an upkeep of ranks forgets a slot, moves a missing one, or confuses equals.
    #[test]
    fn ranks_follow_points_that_come_and_go() {
        let mut stream = Stream::new(3, 0, 0, Purpose::Sample);
        let mut order = Order::new(1);
        let mut values: Vec<Option<f64>> = Vec::new();
        for _ in 0..2000 {
            let value = if stream.below(9) == 0 { f64::NAN } else { stream.below(20) as f64 - 7.0 };
            let slot = values.iter().position(Option::is_none).unwrap_or(values.len());
            if slot == values.len() {
                values.push(None);
            }
            values[slot] = Some(value);
            order.insert(&[value], slot);
            if values.iter().flatten().count() > 40 {
                let gone = stream.below(values.len());
                if values[gone].take().is_some() {
                    order.remove(gone);
                }
            }
            let column = order.column(0);
            let known: Vec<usize> = (0..values.len()).filter(|&slot| values[slot].is_some_and(|value| !value.is_nan())).collect();
            assert_eq!(column.sorted().len(), known.len());
            assert!(column.sorted().is_sorted());
            let mut ranks: Vec<i16> = known.iter().map(|&slot| column.ranks()[slot]).collect();
            assert!(known.iter().all(|&slot| Some(column.sorted()[column.ranks()[slot] as usize]) == values[slot]));
            ranks.sort_unstable();
            assert!(ranks.iter().enumerate().all(|(at, &rank)| at == rank as usize));
            assert!((0..values.len()).filter(|slot| !known.contains(slot)).all(|slot| column.ranks()[slot] == MISSING));
            // At once or one at a time, the same but for the order among equals.
            let at_once = RankedColumn::of(&values.iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<f64>>());
            assert_eq!(at_once.sorted(), column.sorted());
            assert!(known.iter().all(|&slot| Some(at_once.sorted()[at_once.ranks()[slot] as usize]) == values[slot]));
        }
    }
}
