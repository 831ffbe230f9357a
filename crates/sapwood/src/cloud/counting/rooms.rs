//! Where the points of a leaf leave room for a cut, and who is below it: what can be is found once for all leaves with the same points.

use super::NONE;
use crate::cloud::alike::Table;
use crate::cloud::propose::place_cut;
use crate::pool::{Pool, RankedColumn, SlotSet};
use crate::rng::coin;
use crate::tree::Split;

/// The active points of one step in the order of each input, and the sets of them that leaves hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Rooms {
    min_leaf: u32,
    pub of_class: Vec<SlotSet>,
    columns: Vec<Column>,
    table: Table,
    sets: Vec<SlotSet>,
    /// By set and by input.
    rooms: Vec<Room>,
    n_found: usize,
}

/// Values that are compared with a cut at a time.
const CHUNK: usize = 8;
/// As many values as they are the last of as many chunks.
const HALF: usize = CHUNK * CHUNK;
const _: () = assert!(SlotSet::ROOM == 2 * HALF);

/// The points in the order of one input.
#[derive(Clone, Debug)]
struct Column {
    is_made: bool,
    n_values: usize,
    /// Ascending; what is beyond the last is above all.
    sorted: [f64; SlotSet::ROOM],
    /// The last of every chunk of them, by half.
    lasts: [[f64; CHUNK]; 2],
    /// First none, then the one with the smallest value, then the two with the smallest, and so on; to the end, all that have a value.
    below: [SlotSet; SlotSet::ROOM + 1],
}

/// The cuts of a set of points along one input.
#[derive(Clone, Copy, Debug)]
struct Room {
    /// The last value that must go left and the first that must not; no room if they are not in order.
    low: f64,
    high: f64,
    /// How many points have no value; [`NONE`] before the room has been looked for.
    n_missing: u32,
}

impl Default for Column {
    fn default() -> Self {
        Self {
            is_made: false,
            n_values: 0,
            sorted: [f64::INFINITY; SlotSet::ROOM],
            lasts: [[f64::INFINITY; CHUNK]; 2],
            below: [SlotSet::default(); SlotSet::ROOM + 1],
        }
    }
}

impl Column {
    #[inline(never)]
    fn make(&mut self, ranked: &RankedColumn) {
        let Self { is_made, n_values, sorted, lasts, below } = self;
        let values = ranked.sorted();
        *is_made = true;
        *n_values = values.len();
        // Differences of values and cuts have the sign that comparing them says, but for those of a negative zero: there is none after this.
        sorted.iter_mut().zip(values).for_each(|(sorted, value)| *sorted = value + 0.0);
        sorted[values.len()..].fill(f64::INFINITY);
        lasts.as_flattened_mut().iter_mut().zip(sorted.as_chunks::<CHUNK>().0).for_each(|(last, chunk)| *last = chunk[CHUNK - 1]);
        below.fill(SlotSet::default());
        for (slot, &rank) in ranked.ranks().iter().enumerate() {
            // Missing values rank above all others.
            if let Some(set) = below.get_mut(rank as usize + 1) {
                set.insert(slot as u32);
            }
        }
        let mut all = SlotSet::default();
        for set in below {
            all = all.or(*set);
            *set = all;
        }
    }

    /// How many ranks there are before the first for which something holds that then holds for all after it.
    ///
    /// As many rounds whatever is found, so that the processor need not guess.
    #[inline(always)]
    fn n_before(&self, holds: impl Fn(&Self, usize) -> bool) -> usize {
        let mut n_before = 0;
        for half in [64, 32, 16, 8, 4, 2, 1] {
            // The mask changes nothing, but shows the compiler that there is such a rank.
            let rank = (n_before + half - 1) & (SlotSet::ROOM - 1);
            n_before += if holds(self, rank) { 0 } else { half };
        }
        n_before
    }

    /// How many values are below a cut that is not above all of them: first which half, then how many chunks, then how many of the next.
    #[inline(always)]
    fn n_below(&self, cut: f64) -> usize {
        let half = usize::from(self.sorted[HALF - 1] < cut);
        let chunk = half * CHUNK + count_below(&self.lasts[half], cut);
        let (chunks, _) = self.sorted.as_chunks();
        chunk * CHUNK + count_below(&chunks[chunk % chunks.len()], cut)
    }

    /// Points of a set that are below a rank.
    #[inline(always)]
    fn below(&self, points: SlotSet, rank: usize) -> SlotSet {
        points.and(self.below[rank.min(SlotSet::ROOM)])
    }
}

impl Room {
    const UNKNOWN: Self = Self { low: 0.0, high: 0.0, n_missing: NONE };

    #[inline(always)]
    fn find(points: SlotSet, min_leaf: u32, column: &Column) -> Self {
        let n_known = column.below(points, column.n_values).len() as u32;
        let n_missing = points.len() as u32 - n_known;
        if n_known / 2 < min_leaf {
            return Self { n_missing, ..Self::UNKNOWN };
        }
        let n_below = |column: &Column, rank: usize| column.below(points, rank).len() as u32;
        let low = column.n_before(|column, rank| n_below(column, rank + 1) >= min_leaf);
        let high = column.n_before(|column, rank| n_known - n_below(column, rank + 1) < min_leaf);
        Self { low: column.sorted[low], high: column.sorted[high], n_missing }
    }
}

/// What a proposal would do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    pub split: Split,
    pub left: SlotSet,
    pub n_left: u32,
}

impl Rooms {
    /// Start over, for leaves of at least `min_leaf` points of so many classes.
    pub fn begin(&mut self, pool: &Pool, n_classes: usize, min_leaf: usize, n_leaves: usize) {
        let Self { of_class, columns, table, sets, rooms, n_found, .. } = self;
        of_class.clear();
        of_class.resize(n_classes, SlotSet::default());
        pool.active().iter().for_each(|&slot| of_class[pool.classes()[slot as usize] as usize].insert(slot));
        columns.resize_with(pool.n_inputs(), Column::default);
        columns.iter_mut().for_each(|column| column.is_made = false);
        table.begin(n_leaves);
        sets.clear();
        rooms.clear();
        *n_found = 0;
        self.min_leaf = min_leaf as u32;
    }

    /// A number that stands for a set of points.
    pub fn number(&mut self, points: SlotSet) -> u32 {
        let Self { columns, table, sets, rooms, .. } = self;
        let next = sets.len() as u32;
        let number = table.find_or_insert(points.bits(), next, |other| sets[other as usize] == points);
        if number == next {
            sets.push(points);
            rooms.resize(sets.len() * columns.len(), Room::UNKNOWN);
        }
        number
    }

    /// The split along an input at a place between 0 and 1 of the room for it; none if there is none.
    #[inline(always)]
    pub fn divide(&mut self, pool: &Pool, points: SlotSet, n_points: u32, set_number: u32, dim: u32, u: f64) -> Option<Division> {
        let room = &mut self.rooms[set_number as usize * self.columns.len() + dim as usize];
        let column = &mut self.columns[dim as usize];
        if room.n_missing == NONE {
            if !column.is_made {
                column.make(pool.ranked(dim as usize).expect("a small pool keeps its order"));
            }
            *room = Room::find(points, self.min_leaf, column);
            self.n_found += 1;
        }
        let &mut Room { low, high, n_missing } = room;
        if low >= high {
            return None;
        }
        let cut = place_cut(u, low, high);
        let mut left = column.below(points, column.n_below(cut));
        let mut n_left = left.len() as u32;
        // Where the leaf has seen missing values either side may take them; otherwise the larger side will.
        let mut nan_left = 2 * n_left >= n_points;
        if n_missing > 0 {
            nan_left = coin(u);
            if nan_left {
                left = left.or(points.without(column.below(points, column.n_values)));
                n_left += n_missing;
            }
        }
        Some(Division { split: Split { dim, nan_left, cut }, left, n_left })
    }

    /// How many sets of points, and how many rooms have been looked for in them.
    pub fn sizes(&self) -> (usize, usize) {
        (self.sets.len(), self.n_found)
    }
}

/// All are compared, whatever is found, so that many are at once: by the sign of a difference, which is a number like others. Of comparisons
/// the compiler makes bits, and packs and unpacks them.
#[inline(always)]
fn count_below(values: &[f64; CHUNK], cut: f64) -> usize {
    values.iter().map(|value| (value - cut).to_bits() >> 63).sum::<u64>() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if a chunk is skipped, a half taken for the other, or a negative zero counted as below a cut at zero.
    #[test]
    fn values_below_a_cut_are_those_that_go_left() {
        let mut pool = Pool::new(1, 1);
        let value = |row: u32| if row == 50 { -0.0 } else { f64::from(row % 100) - 50.0 };
        (0..127).for_each(|row| {
            pool.insert(&[value(row)], 0.0, 1.0, u64::from(row), |point| point.fill(0.0));
        });
        let mut column = Column::default();
        column.make(pool.ranked(0).expect("a small pool keeps its order"));
        for cut in (-101..=98).map(|cut| 0.5 * f64::from(cut)) {
            assert_eq!(column.n_below(cut), (0..127).filter(|row| value(*row) < cut).count(), "{cut}");
        }
    }
}
