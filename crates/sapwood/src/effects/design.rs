//! Which terms of the linear model a row has.

use super::MAX_LEVELS;

/// With more numbers than this, levels are fitted without them: the fit costs the square of their number.
const MAX_NUMBERS: usize = 64;
/// How many levels are fitted together with the numbers, over all columns.
const MAX_TOGETHER: usize = 64;
/// A column has room for at least this many of them, whatever the number of columns.
const MIN_TOGETHER: usize = 4;
/// Numbers are limited to this many standard deviations about their mean.
const CLIP: f64 = 4.0;
/// How many rows it takes to standardise.
const MIN_ROWS: f64 = 3.0;

/// The terms of a row: position and value in the part that is fitted together; column and level of the rest.
#[derive(Debug, Default)]
pub struct Terms {
    pub known: Vec<(usize, f64)>,
    pub rest: Vec<(usize, usize)>,
}

#[derive(Clone, Debug)]
pub struct Design {
    pub(crate) n_inputs: usize,
    pub(crate) columns: Vec<usize>,
    pub(crate) numbers: Vec<usize>,
    /// Per column, the levels that have a term of their own, in the order of their terms within the column.
    pub(crate) together: Vec<Vec<usize>>,
    /// The same levels, as (column, level), in the order of their terms.
    pub(crate) order: Vec<(usize, usize)>,
    pub(crate) n_rows: f64,
    /// Of each number: how many values were known, their mean, and the sum of squares about it.
    pub(crate) moments: Vec<[f64; 3]>,
}

impl Design {
    pub fn new(n_inputs: usize, columns: &[usize]) -> Self {
        let mut numbers: Vec<usize> = (0..n_inputs).filter(|ix| !columns.contains(ix)).collect();
        if numbers.len() > MAX_NUMBERS {
            numbers.clear();
        }
        Self {
            n_inputs,
            columns: columns.to_vec(),
            together: vec![Vec::new(); columns.len()],
            order: Vec::new(),
            n_rows: 0.0,
            moments: vec![[0.0; 3]; numbers.len()],
            numbers,
        }
    }

    /// Terms that are there from the start: the intercept and the numbers.
    pub fn n_fixed(&self) -> usize {
        1 + self.numbers.len()
    }

    fn room(&self) -> usize {
        (MAX_TOGETHER / self.columns.len().max(1)).max(MIN_TOGETHER)
    }

    fn level(value: f64) -> Option<usize> {
        (value >= 0.0).then(|| (value as usize).min(MAX_LEVELS - 1))
    }

    /// Give the levels of a row a term each while there is room; returns how many terms are new.
    pub fn admit(&mut self, x: &[f64]) -> usize {
        let (room, before) = (self.room(), self.order.len());
        for (ix, &column) in self.columns.iter().enumerate() {
            let Some(level) = Self::level(x[column]) else { continue };
            if self.together[ix].len() < room && !self.together[ix].contains(&level) {
                self.together[ix].push(level);
                self.order.push((ix, level));
            }
        }
        self.order.len() - before
    }

    /// Give a level a term, as when it was first seen; false if that could not have happened.
    pub fn restore(&mut self, column: usize, level: usize) -> bool {
        let room = self.room();
        let Some(known) = self.together.get_mut(column) else { return false };
        if known.len() >= room || level >= MAX_LEVELS || known.contains(&level) {
            return false;
        }
        known.push(level);
        self.order.push((column, level));
        true
    }

    /// The position of a level's term.
    fn position(&self, column: usize, level: usize) -> Option<usize> {
        if !self.together[column].contains(&level) {
            return None;
        }
        self.order.iter().position(|known| *known == (column, level)).map(|ix| self.n_fixed() + ix)
    }

    pub fn terms(&self, x: &[f64]) -> Terms {
        let mut terms = Terms::default();
        terms.known.push((0, 1.0));
        for (ix, (&number, &[n, mean, squares])) in self.numbers.iter().zip(&self.moments).enumerate() {
            let deviation = (x[number] - mean) / (squares / n).sqrt();
            // NaN, of a missing value or a constant, is no term.
            if n >= MIN_ROWS && !deviation.is_nan() {
                terms.known.push((1 + ix, deviation.clamp(-CLIP, CLIP)));
            }
        }
        for (ix, &column) in self.columns.iter().enumerate() {
            let Some(level) = Self::level(x[column]) else { continue };
            match self.position(ix, level) {
                Some(position) => terms.known.push((position, 1.0)),
                None => terms.rest.push((ix, level)),
            }
        }
        terms
    }

    /// Take the numbers of a row into their moments.
    pub fn observe(&mut self, x: &[f64]) {
        self.n_rows += 1.0;
        for (&number, [n, mean, squares]) in self.numbers.iter().zip(&mut self.moments) {
            let value = x[number];
            if value.is_nan() {
                continue;
            }
            *n += 1.0;
            let deviation = value - *mean;
            *mean += deviation / *n;
            *squares += deviation * (value - *mean);
        }
    }
}
