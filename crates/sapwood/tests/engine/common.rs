//! Shared by the tests: random data from an independent generator, and banks that learn it.

use std::ops::Range;

use sapwood::bank::{Bank, Horizon, MemberConfig, Predictive, Rows, TrivialKind};
use sapwood::config::{Discard, Leaf, Task};
use sapwood::snapshot;

/// SplitMix64, which the engine does not use for its draws.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// On (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A table of rows to learn.
#[derive(Clone, Debug, Default)]
pub struct Data {
    pub n_inputs: usize,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weight: Option<Vec<f64>>,
}

impl Data {
    /// Generate rows; `make` fills the inputs and returns the target.
    pub fn new(n_inputs: usize, n_rows: usize, mut make: impl FnMut(usize, &mut [f64]) -> f64) -> Self {
        let mut x = vec![0.0; n_rows * n_inputs];
        let y = x.chunks_mut(n_inputs).enumerate().map(|(row, inputs)| make(row, inputs)).collect();
        Self { n_inputs, x, y, weight: None }
    }

    /// A step and a slope with noise, so that there is something to split on and something to fit.
    pub fn regression(n_inputs: usize, n_rows: usize, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        Self::new(n_inputs, n_rows, |_, x| {
            x.iter_mut().for_each(|v| *v = noise.uniform());
            let step = if x[0] < 0.5 { -1.0 } else { 2.0 };
            step + x[n_inputs - 1] + 0.2 * noise.normal()
        })
    }

    /// Classes that depend on the first input, with one label in six at random.
    pub fn classes(n_inputs: usize, n_classes: usize, n_rows: usize, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        Self::new(n_inputs, n_rows, |_, x| {
            x.iter_mut().for_each(|v| *v = noise.uniform());
            let flipped = noise.below(6) == 0;
            (if flipped { noise.below(n_classes) } else { (x[0] * n_classes as f64) as usize }) as f64
        })
    }

    /// Data of a leaf's task; labels run from 0 to 2.
    pub fn for_leaf(leaf: Leaf, n_inputs: usize, n_rows: usize, seed: u64) -> Self {
        match leaf.task() {
            Task::Regression => Self::regression(n_inputs, n_rows, seed),
            Task::Classification => Self::classes(n_inputs, N_CLASSES, n_rows, seed),
        }
    }

    pub fn len(&self) -> usize {
        self.y.len()
    }

    pub fn row(&self, ix: usize) -> &[f64] {
        &self.x[ix * self.n_inputs..(ix + 1) * self.n_inputs]
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows::new(&self.x, self.n_inputs)
    }

    /// Make a bank learn some of the rows.
    pub fn teach(&self, bank: &mut Bank, range: Range<usize>, n_threads: usize) -> Vec<f64> {
        let weight = self.weight.as_ref().map(|w| &w[range.clone()]);
        bank.learn(self.rows().slice(range.clone()), &self.y[range], weight, n_threads, &mut || true).expect("rows that may be learned")
    }
}

/// Number of classes of [`Data::for_leaf`].
pub const N_CLASSES: usize = 3;

pub const LEAVES: [Leaf; 5] = [Leaf::Constant, Leaf::Linear, Leaf::Multinomial, Leaf::Discriminant, Leaf::Quadratic];

/// The discard rules that go with a leaf.
pub fn discards(leaf: Leaf) -> [Discard; 3] {
    let scored = if leaf.task() == Task::Regression { Discard::Alc } else { Discard::Entropy };
    [Discard::Oldest, Discard::Random, scored]
}

/// The members without trees of a task.
pub fn trivial(task: Task) -> impl Iterator<Item = MemberConfig> {
    [TrivialKind::LastValue, TrivialKind::LeastSquares, TrivialKind::LastLabel]
        .into_iter()
        .filter(move |kind| kind.task() == task)
        .map(MemberConfig::from)
}

/// A bank of these members, for the task of the first one.
pub fn bank<C: Into<MemberConfig> + Clone>(n_inputs: usize, n_classes: usize, members: &[C], seed: u64) -> Bank {
    let task = members[0].clone().into().task();
    let n_classes = if task == Task::Classification { n_classes } else { 0 };
    Bank::new(task, n_inputs, n_classes, members, seed).expect("a configuration that is allowed")
}

/// The model file of a bank.
pub fn bytes(bank: &Bank) -> Vec<u8> {
    snapshot::save(bank, b"meta").expect("a model that can be saved")
}

/// Means and variances, or class probabilities, at the rows of a table, each taken as the next row.
pub fn predict(bank: &Bank, data: &Data) -> Vec<f64> {
    predict_for(bank, data, Horizon::NextRow)
}

/// The same for a horizon that the bank has an account of.
pub fn predict_for(bank: &Bank, data: &Data, horizon: Horizon) -> Vec<f64> {
    let predictive = Predictive::new(std::sync::Arc::new(bank.clone()), data.rows(), horizon).expect("rows that may be asked about");
    match bank.task() {
        Task::Regression => predictive.moments(1).expect("moments of a regression").to_vec(),
        Task::Classification => predictive.proba(1).expect("probabilities of a classification"),
    }
}

/// `|a - b|` is below `tolerance` times the larger of 1 and their size.
#[track_caller]
pub fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!(a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0), "{a:e} and {b:e} differ by {:e}", (a - b).abs());
}
