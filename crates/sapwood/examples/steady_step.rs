//! Steps of a cloud with a full pool, for counting instructions: `steady_step JOB` warms up the cloud and then takes `STEPS` steps inside
//! [`counted_region`], which the profiler finds by name. `benchmarks/speed/instructions.py` runs it under callgrind.
//! `steady_step JOB sizes` prints the amount of work in a step instead.

use std::f64::consts::PI;
use std::process::ExitCode;

use sapwood::bank::{ClassificationMember, Member, RegressionMember};
use sapwood::cloud::StepSizes;
use sapwood::config::{CloudConfig, Discard, Leaf, Prior, Task};
use sapwood::rng::{Purpose, Stream};

const STEPS: usize = 100;
const SEED: u64 = 0;

/// A configuration, its stream, and the number of warm-up rows.
struct Job {
    config: CloudConfig,
    n_inputs: usize,
    n_classes: usize,
    n_before: usize,
    row: fn(&mut Stream, &mut Vec<f64>) -> f64,
}

impl Job {
    fn named(name: &str) -> Option<Self> {
        match name {
            "friedman-orand" => Some(Self {
                config: CloudConfig {
                    max_active: Some(200),
                    discard: Discard::Random,
                    forgetting: Some(1.0),
                    prior: Prior::Reference,
                    ..CloudConfig::new(Leaf::Linear)
                },
                n_inputs: 5,
                n_classes: 0,
                n_before: 800,
                row: friedman,
            }),
            "friedman-full" => Some(Self {
                config: CloudConfig { max_active: None, forgetting: Some(1.0), ..CloudConfig::new(Leaf::Linear) },
                n_inputs: 5,
                n_classes: 0,
                n_before: 1000,
                row: friedman,
            }),
            "prices" => Some(Self {
                config: CloudConfig { max_active: Some(100), forgetting: Some(0.8), ..CloudConfig::new(Leaf::Multinomial) },
                n_inputs: 4,
                n_classes: 2,
                n_before: 300,
                row: prices,
            }),
            _ => None,
        }
    }

    fn member(&self) -> sapwood::error::Result<Box<dyn Member>> {
        let config = self.config.clone().into();
        Ok(match self.config.leaf.task() {
            Task::Regression => RegressionMember::new(&config, self.n_inputs, SEED)?.into_member(),
            Task::Classification => ClassificationMember::new(&config, self.n_inputs, self.n_classes, SEED)?.into_member(),
        })
    }
}

/// Friedman's function of five inputs.
fn friedman(noise: &mut Stream, x: &mut Vec<f64>) -> f64 {
    x.extend((0..5).map(|_| noise.uniform()));
    10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4] + normal(noise)
}

/// Similar to the electricity market data: demand and prices of two places, and whether the price rises.
fn prices(noise: &mut Stream, x: &mut Vec<f64>) -> f64 {
    x.extend((0..4).map(|_| noise.uniform()));
    let rising = if x[0] > 0.6 { x[1] > 0.3 } else { x[2] + x[3] > 1.3 };
    f64::from(u8::from(rising != (noise.uniform() < 0.1)))
}

fn normal(noise: &mut Stream) -> f64 {
    (-2.0 * (1.0 - noise.uniform()).ln()).sqrt() * (2.0 * PI * noise.uniform()).cos()
}

/// The steps to be counted. The profiler relies on the name, and on the function not being inlined.
#[inline(never)]
fn counted_region(member: &mut dyn Member, x: &[Vec<f64>], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| member.observe(x, *y, 1.0)).sum()
}

fn print_sizes(member: &mut dyn Member, x: &[Vec<f64>], y: &[f64]) {
    let mut sums = [0; 8];
    for (x, y) in x.iter().zip(y) {
        member.observe(x, *y, 1.0);
        let StepSizes { leaves, sets_of_points, contents, proposals, chains, outcomes, prunes } = member.step_sizes();
        let sizes = [member.n_distinct_trees(), leaves, sets_of_points, contents, proposals, chains, outcomes, prunes];
        sums.iter_mut().zip(sizes).for_each(|(sum, size)| *sum += size);
    }
    let names = [
        "distinct trees",
        "leaves at the input",
        "of them with different points",
        "of them with different statistics",
        "grow proposals",
        "chains of them on the same points and dimension",
        "pairs of children that are weighed",
        "prunes",
    ];
    for (name, sum) in names.into_iter().zip(sums) {
        println!("{:8.1} {name}", sum as f64 / x.len() as f64);
    }
}

fn main() -> ExitCode {
    let Some(job) = std::env::args().nth(1).as_deref().and_then(Job::named) else {
        eprintln!("usage: steady_step friedman-orand|friedman-full|prices [sizes]");
        return ExitCode::FAILURE;
    };
    let mut noise = Stream::new(SEED, 0, 0, Purpose::Member);
    let (x, y): (Vec<_>, Vec<_>) = (0..job.n_before + STEPS)
        .map(|_| {
            let mut x = Vec::with_capacity(job.n_inputs);
            let y = (job.row)(&mut noise, &mut x);
            (x, y)
        })
        .unzip();
    let mut member = job.member().expect("an allowed configuration");
    for (x, y) in x.iter().zip(&y).take(job.n_before) {
        member.observe(x, *y, 1.0);
    }
    if std::env::args().nth(2).as_deref() == Some("sizes") {
        print_sizes(&mut *member, &x[job.n_before..], &y[job.n_before..]);
        return ExitCode::SUCCESS;
    }
    let ln_evidence = counted_region(&mut *member, &x[job.n_before..], &y[job.n_before..]);
    println!("{STEPS} steps, log evidence {ln_evidence:.6}");
    ExitCode::SUCCESS
}
