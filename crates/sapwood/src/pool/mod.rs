//! The active pool: the observations that the particles of a cloud can still split on.

mod order;
mod point_stats;

pub use order::{MISSING, RankedColumn};
pub use point_stats::PointStats;

use std::collections::VecDeque;

use self::order::Order;
use crate::leaf::EncodedPoints;

/// Observations in reusable slots; a slot number identifies a point while it is active.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    n_inputs: usize,
    point_len: usize,
    x: Vec<f64>,
    /// The inputs again, column by column: leaves read one input of many points.
    columns: Vec<Vec<f64>>,
    /// `None` if the pool is too large for it. Derived, never saved.
    order: Option<Order>,
    y: Vec<f64>,
    /// The targets as small integers, for counting labels.
    classes: Vec<i16>,
    points: Vec<f64>,
    weights: Vec<f64>,
    /// Number of active points whose weight is not 1.
    n_weighted: usize,
    arrivals: Vec<u64>,
    fingerprints: Vec<u64>,
    /// Active slots in order of arrival.
    active: VecDeque<u32>,
    free: Vec<u32>,
}

impl Pool {
    pub fn new(n_inputs: usize, point_len: usize) -> Self {
        Self {
            n_inputs,
            point_len,
            x: Vec::new(),
            columns: vec![Vec::new(); n_inputs],
            order: Some(Order::new(n_inputs)),
            y: Vec::new(),
            classes: Vec::new(),
            points: Vec::new(),
            weights: Vec::new(),
            n_weighted: 0,
            arrivals: Vec::new(),
            fingerprints: Vec::new(),
            active: VecDeque::new(),
            free: Vec::new(),
        }
    }

    /// A pool to be filled in bulk; [`Pool::restore_order`] must be called afterwards.
    pub(crate) fn without_order(n_inputs: usize, point_len: usize) -> Self {
        Self { order: None, ..Self::new(n_inputs, point_len) }
    }

    /// Sort every column at once, after a bulk insertion.
    pub(crate) fn restore_order(&mut self) {
        self.order = (!Order::is_too_large(self.n_slots())).then(|| Order::of(&self.columns));
    }

    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    pub fn len(&self) -> usize {
        self.active.len()
    }

    pub fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Active slots, oldest first.
    pub fn active(&self) -> &VecDeque<u32> {
        &self.active
    }

    pub fn n_slots(&self) -> usize {
        self.y.len()
    }

    /// Insert a point; `encode` writes the values that the leaf model uses.
    pub fn insert(&mut self, x: &[f64], y: f64, weight: f64, arrival: u64, encode: impl FnOnce(&mut [f64])) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.y.len();
            self.x.resize((slot + 1) * self.n_inputs, 0.0);
            self.columns.iter_mut().for_each(|column| column.push(0.0));
            self.y.push(0.0);
            self.classes.push(0);
            self.points.resize((slot + 1) * self.point_len, 0.0);
            self.weights.push(0.0);
            self.arrivals.push(0);
            self.fingerprints.push(0);
            slot as u32
        });
        let ix = slot as usize;
        self.x[ix * self.n_inputs..(ix + 1) * self.n_inputs].copy_from_slice(x);
        for (column, value) in self.columns.iter_mut().zip(x) {
            column[ix] = *value;
        }
        if Order::is_too_large(self.n_slots()) {
            self.order = None;
        }
        if let Some(order) = &mut self.order {
            order.insert(x, ix);
        }
        self.y[ix] = y;
        self.classes[ix] = y as i16;
        self.weights[ix] = weight;
        self.n_weighted += usize::from(weight != 1.0);
        self.arrivals[ix] = arrival;
        self.fingerprints[ix] = fingerprint(arrival);
        encode(&mut self.points[ix * self.point_len..(ix + 1) * self.point_len]);
        self.active.push_back(slot);
        slot
    }

    /// Remove the point at a position in order of arrival.
    pub fn remove(&mut self, position: usize) {
        let slot = self.active.remove(position).expect("a position in the pool");
        self.n_weighted -= usize::from(self.weight(slot) != 1.0);
        self.free.push(slot);
    }

    /// Put the active points back in order of arrival.
    pub fn sort_by_arrival(&mut self) {
        let arrivals = &self.arrivals;
        self.active.make_contiguous().sort_unstable_by_key(|&slot| arrivals[slot as usize]);
    }

    #[inline]
    pub fn x(&self, slot: u32) -> &[f64] {
        let start = slot as usize * self.n_inputs;
        &self.x[start..start + self.n_inputs]
    }

    /// One input of every slot.
    #[inline]
    pub fn column(&self, dim: usize) -> &[f64] {
        &self.columns[dim]
    }

    /// The order of the points along an input, if it is maintained.
    #[inline]
    pub fn ranked(&self, dim: usize) -> Option<&RankedColumn> {
        self.order.as_ref().map(|order| order.column(dim))
    }

    pub fn y(&self, slot: u32) -> f64 {
        self.y[slot as usize]
    }

    /// The target of every slot as a class index; meaningful only if the classes fit into the integer type.
    pub fn classes(&self) -> &[i16] {
        &self.classes
    }

    /// Whether every active point has weight 1.
    pub fn all_count_once(&self) -> bool {
        self.n_weighted == 0
    }

    /// The values of a point that the leaf model uses.
    #[inline]
    pub fn point(&self, slot: u32) -> &[f64] {
        let start = slot as usize * self.point_len;
        &self.points[start..start + self.point_len]
    }

    /// The encoded points at some slots.
    pub fn encoded<'a>(&'a self, slots: &'a [u32]) -> EncodedPoints<'a> {
        EncodedPoints::new(&self.points, self.point_len, slots)
    }

    #[inline]
    pub fn weight(&self, slot: u32) -> f64 {
        self.weights[slot as usize]
    }

    pub fn arrival(&self, slot: u32) -> u64 {
        self.arrivals[slot as usize]
    }

    /// A hash of the point at a slot. The exclusive or of the fingerprints of a set of points identifies the set: two different sets collide
    /// with probability 2^-64.
    #[inline]
    pub fn fingerprint(&self, slot: u32) -> u64 {
        self.fingerprints[slot as usize]
    }

    /// By slot, the position of its point in order of arrival, which identifies the point in a model file. Free slots have none.
    pub(crate) fn positions(&self) -> Vec<u32> {
        let mut positions = vec![u32::MAX; self.n_slots()];
        for (position, &slot) in self.active.iter().enumerate() {
            positions[slot as usize] = position as u32;
        }
        positions
    }
}

/// The bits of a number, mixed well (Steele, Lea & Flood 2014).
fn fingerprint(arrival: u64) -> u64 {
    let mut mixed = arrival.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
