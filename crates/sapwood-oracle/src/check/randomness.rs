//! Random numbers: independent between particles and steps, and exactly continued after a restore.

use super::{Bench, Check, Filter, LeafMass, Outcome, SIX_SIGMA, problem, seed, standard_errors, worst};
use crate::filter::ExactFilter;
use crate::settings::Settings;
use crate::tree::{Split, Tree};

pub fn checks<B: Bench>() -> Vec<Check<B>> {
    vec![
        Check {
            name: "independence",
            null: "particles that are equal before a step move independently",
            statistic: "distance in standard errors of the mean squared deviation of the number that grow from its \
                        binomial variance",
            false_alarm: 1e-8,
            run: independence,
        },
        Check {
            name: "dimension",
            null: "the dimension of a cut is uniform over all columns; a constant column drawn means no grow",
            statistic: "worst distance in standard errors of the frequency of a split on each column",
            false_alarm: 1e-8,
            run: dimension,
        },
        Check {
            name: "mutation",
            null: "each particle draws its lambda anew with the stated probability, independently of the others",
            statistic: "distance in standard errors of the mean squared deviation of the numbers that carry each lambda",
            false_alarm: 1e-8,
            run: mutation,
        },
        Check {
            name: "restore",
            null: "a filter saved and restored at any step continues as if it had not been",
            statistic: "number of steps after which trees or evidence differ",
            false_alarm: 0.0,
            run: restore,
        },
    ]
}

/// Probability that a lone root grows when a second, different point arrives in the problem without likelihood.
fn first_grow() -> f64 {
    let mut exact = ExactFilter::new(&problem::prior_only().settings);
    exact.observe(0, 0.0);
    exact.observe(1, 0.0);
    1.0 - exact.tree_probabilities()[&Tree::Leaf(())]
}

fn grown<F: Filter>(filter: &F) -> f64 {
    filter.trees().iter().filter(|tree| matches!(tree, Tree::Split(..))).count() as f64
}

/// Every particle is a lone root until the second point, so the number that grow there is binomial with the enumerated
/// probability. A pair with identical moves adds two covariances to the variance of the sum.
fn independence<B: Bench>(bench: &B, effort: u64) -> Outcome {
    let settings = problem::prior_only().settings;
    let (n_particles, n_clouds) = (8, 8000 * effort);
    let (n, p) = (n_particles as f64, first_grow());
    let mut squares = Vec::new();
    for cloud in 0..n_clouds {
        let mut filter = bench.start(seed("independence", cloud), n_particles, &settings);
        filter.observe(&[0.0], 0.0);
        filter.observe(&[1.0], 0.0);
        squares.push((grown(&filter) - n * p).powi(2));
    }
    Outcome { value: standard_errors(&squares, n * p * (1.0 - p)), limit: SIX_SIGMA }
}

fn dimension<B: Bench>(bench: &B, effort: u64) -> Outcome {
    let settings = Settings { n_inputs: 3, ..problem::prior_only().settings };
    let mut on_column = vec![Vec::new(); 3];
    for cloud in 0..6000 * effort {
        let mut filter = bench.start(seed("dimension", cloud), 1, &settings);
        filter.observe(&[0.0, 5.0, 7.0], 0.0);
        filter.observe(&[1.0, 6.0, 7.0], 0.0);
        let tree = filter.trees().swap_remove(0);
        for (dim, sample) in on_column.iter_mut().enumerate() {
            let split_here = matches!(&tree, Tree::Split(split, ..) if split.dim == dim);
            sample.push(f64::from(u8::from(split_here)));
        }
    }
    let share = first_grow() / 3.0;
    let deviations = on_column.iter().zip([share, share, 0.0]).map(|(sample, p)| standard_errors(sample, p));
    Outcome { value: worst(deviations), limit: SIX_SIGMA }
}

/// With a single class all weights are equal, resampling keeps every particle, and only mutation changes how many carry each
/// value. The values start evenly distributed. Each particle ends with its initial value or another with known probabilities,
/// so the counts are sums of independent indicators.
fn mutation<B: Bench>(bench: &B, effort: u64) -> Outcome {
    let forgetting = problem::carried().settings.forgetting;
    let (values, n_each, n_steps) = (forgetting.values(), 2, 10);
    // With a limit on the pool: particles that keep every point carry no factor.
    let settings = Settings { forgetting: forgetting.clone(), capacity: Some(2 * n_steps as usize), ..problem::prior_only().settings };
    let n_values = values.len() as f64;
    let never_drawn = (1.0 - forgetting.mutation()).powi(n_steps);
    let same = never_drawn + (1.0 - never_drawn) / n_values;
    let other = (1.0 - same) / (n_values - 1.0);
    let from_others = (n_values - 1.0) * other * (1.0 - other);
    let expected = n_values * f64::from(n_each) * (same * (1.0 - same) + from_others);
    let squares: Vec<f64> = (0..1000 * effort)
        .map(|cloud| {
            let mut filter = bench.start(seed("mutation", cloud), values.len() * n_each as usize, &settings);
            for _ in 0..n_steps {
                filter.observe(&[0.0], 0.0);
            }
            let held = filter.forgetting();
            let count = |value: &f64| held.iter().filter(|own| *own == value).count() as f64;
            values.iter().map(|value| (count(value) - f64::from(n_each)).powi(2)).sum()
        })
        .collect();
    Outcome { value: standard_errors(&squares, expected), limit: SIX_SIGMA }
}

type Snapshot = (f64, Vec<Tree<Split, LeafMass>>);

fn restore<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let problem = problem::forgetting();
    let run = |saved_after: Option<usize>| -> Vec<Snapshot> {
        let mut filter = bench.start(seed("restore", 0), 16, &problem.settings);
        let mut snapshots = Vec::new();
        for (ix, (x, y)) in problem.stream.iter().enumerate() {
            filter.observe(&[*x as f64], *y);
            if saved_after == Some(ix) {
                filter = filter.saved_and_restored();
            }
            snapshots.push((filter.ln_evidence(), filter.trees()));
        }
        snapshots
    };
    let uninterrupted = run(None);
    let n_wrong = (0..problem.stream.len()).filter(|ix| run(Some(*ix)) != uninterrupted).count();
    Outcome { value: n_wrong as f64, limit: 0.0 }
}
