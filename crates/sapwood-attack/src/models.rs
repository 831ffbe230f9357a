//! Configurations and rows decided by choices, and the model files that mutation starts from.

use std::sync::OnceLock;

use sapwood::bank::trivial::TrivialKind;
use sapwood::bank::{Bank, MemberConfig, Rows};
use sapwood::config::{CloudConfig, Discard, Division, Evidence, Leaf, Prior, Task};
use sapwood::snapshot;

use crate::choices::{Choices, bytes_of_seed};

pub const MAX_INPUTS: usize = 3;

/// Members of one task, small so that a case is quick.
pub fn members(choices: &mut Choices, task: Task) -> Vec<MemberConfig> {
    let n_clouds = 1 + choices.below(3);
    let mut members: Vec<MemberConfig> = (0..n_clouds).map(|_| cloud(choices, task).into()).collect();
    for kind in [TrivialKind::LastValue, TrivialKind::LeastSquares, TrivialKind::LastLabel] {
        if kind.task() == task && choices.once_in(2) {
            members.push(kind.into());
        }
    }
    members
}

fn cloud(choices: &mut Choices, task: Task) -> CloudConfig {
    let (leaf, scored) = match task {
        Task::Regression => (choices.pick(&[Leaf::Linear, Leaf::Constant]), Discard::Alc),
        Task::Classification => (choices.pick(&[Leaf::Multinomial, Leaf::Discriminant, Leaf::Quadratic]), Discard::Entropy),
    };
    CloudConfig {
        n_particles: choices.pick(&[6, 1, 2, 12]),
        max_active: choices.pick(&[Some(8), None, Some(1), Some(20), Some(3)]),
        discard: choices.pick(&[Discard::Oldest, Discard::Random, scored]),
        forgetting: choices.pick(&[None, Some(1.0), Some(0.9), Some(0.0)]),
        prior: choices.pick(&[Prior::Default, Prior::Reference]),
        evidence: choices.pick(&[Evidence::Joint, Evidence::Conditional]),
        division: choices.pick(&[None, Some(Division::Proportional)]),
        split_alpha: choices.pick(&[0.95, 0.0, 0.999]),
        split_beta: choices.pick(&[2.0, 0.0]),
        min_leaf: choices.pick(&[Some(2), Some(1), None, Some(usize::MAX)]),
        n_candidates: choices.pick(&[None, Some(3)]),
        dirichlet: choices.pick(&[None, Some(1e-9), Some(1e9)]),
        lags: choices.pick(&[0, 1, 2, 5]),
        ..CloudConfig::new(leaf)
    }
}

/// A number that may be learned: mostly ordinary, sometimes extreme, often one that has been met before.
pub fn number(choices: &mut Choices, wildness: usize, met: &[f64]) -> f64 {
    const EXTREME: [f64; 10] = [0.0, -0.0, 1e100, -1e100, 1e-300, 5e-324, 1e30, -1e30, 1e90, -1e-100];
    match choices.below(16) {
        0..2 if !met.is_empty() => met[choices.below(met.len())],
        2..4 if wildness > 0 => choices.pick(&EXTREME),
        4 if wildness > 0 => (choices.uniform() - 0.5) * 10f64.powi(choices.below(200) as i32 - 100),
        5 => choices.below(4) as f64,
        _ => 2.0 * choices.uniform() - 1.0,
    }
}

/// Rows that may be learned.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub n_inputs: usize,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub weight: Option<Vec<f64>>,
}

impl Table {
    /// `wildness` 0: ordinary numbers; 1: some extreme ones; 2: extreme weights too.
    pub fn new(choices: &mut Choices, bank: &Bank, n_rows: usize, wildness: usize) -> Self {
        let n_inputs = bank.n_inputs();
        let mut table = Self { n_inputs, ..Self::default() };
        let unit = if wildness > 0 { 10f64.powi(choices.pick(&[0, 0, 30, 98, -30, -300])) } else { 1.0 };
        for row in 0..n_rows {
            for _ in 0..n_inputs {
                let value = if choices.once_in(20) { f64::NAN } else { number(choices, wildness, &table.x) };
                table.x.push(value);
            }
            let y = match bank.task() {
                Task::Classification => choices.below(bank.n_classes().max(1)) as f64,
                Task::Regression if choices.once_in(3) => number(choices, wildness, &table.y),
                Task::Regression => {
                    let signal = table.x[row * n_inputs];
                    unit * (if signal.is_nan() || signal.abs() > 1e2 { 1.0 } else { signal } + 0.1 * choices.uniform())
                }
            };
            table.y.push(y.clamp(-1e100, 1e100));
        }
        if choices.once_in(4) {
            let ordinary = [1.0, 0.0, 2.0, 0.5];
            let extreme = [1e9, 1e12, 1e-12, 1e-9];
            let draw = |_| if wildness > 1 && choices.once_in(2) { choices.pick(&extreme) } else { choices.pick(&ordinary) };
            table.weight = Some((0..n_rows).map(draw).collect());
        }
        table
    }

    pub fn rows(&self) -> Rows<'_> {
        Rows::new(&self.x, self.n_inputs)
    }

    pub fn teach(&self, bank: &mut Bank) -> Result<(), String> {
        bank.learn(self.rows(), &self.y, self.weight.as_deref(), 1, &mut || true)
            .map(|_| ())
            .map_err(|error| format!("rows that may be learned were refused: {error}"))
    }
}

pub fn bank(choices: &mut Choices) -> Bank {
    let task = choices.pick(&[Task::Regression, Task::Classification]);
    let n_classes = if task == Task::Classification { 1 + choices.below(4) } else { 0 };
    let n_inputs = 1 + choices.below(MAX_INPUTS);
    let members = members(choices, task);
    let seed = choices.u64();
    Bank::new(task, n_inputs, n_classes, &members, seed).expect("a configuration that is allowed")
}

/// Model files of small banks that between them use every part of the format.
pub fn seed_files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        (0..64)
            .map(|seed| {
                let bytes = bytes_of_seed(seed, 1 << 12);
                let mut choices = Choices::new(&bytes);
                let mut bank = bank(&mut choices);
                let n_rows = choices.pick(&[25, 3, 12, 40, 0]);
                if n_rows > 0 {
                    Table::new(&mut choices, &bank, n_rows, 0).teach(&mut bank).expect("ordinary rows");
                }
                snapshot::save(&bank, b"meta").expect("a model that can be saved")
            })
            .collect()
    })
}
