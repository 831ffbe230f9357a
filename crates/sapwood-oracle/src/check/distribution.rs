//! The distribution over trees and the predictive follow the enumerated recursion.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::{Bench, Check, Filter, Outcome, Problem, SIX_SIGMA, problem, seed, standard_errors, worst};
use crate::filter::ExactFilter;
use crate::tree::{LineTree, Tree};

/// Trees rarer than this are not compared one by one: their frequencies are too skewed for a normal limit.
const RARE: f64 = 0.002;

const NULL: &str = "over clouds, evidence estimate times tree frequency averages to the enumerated evidence times \
                    probability (exact for any N)";
const STATISTIC: &str = "worst distance in standard errors of a tree's mean, of the mean number of leaves and of the mean \
                         path length; infinite for a tree that cannot occur";

pub fn checks<B: Bench>() -> Vec<Check<B>> {
    let check = |name, run| Check { name, null: NULL, statistic: STATISTIC, false_alarm: 1e-6, run };
    vec![
        check("trees, N=512", |bench: &B, effort| frequencies(bench, &[problem::full()], 512, 50 * effort)),
        check("trees, retiring", |bench: &B, effort| {
            frequencies(bench, &[problem::forgetting(), problem::conditional(), problem::gaussian()], 256, 40 * effort)
        }),
        check("trees, discriminant", |bench: &B, effort| frequencies(bench, &[problem::discriminant()], 64, 40 * effort)),
        check("trees, prior only", |bench: &B, effort| frequencies(bench, &[problem::prior_only()], 256, 40 * effort)),
        Check {
            name: "carried lambda",
            null: "over clouds whose particles carry their own lambda, evidence estimate times the share of each lambda, and \
                   times the frequency of each tree, averages to the enumerated product",
            statistic: "worst distance in standard errors",
            false_alarm: 1e-7,
            run: carried,
        },
        Check {
            name: "predictive",
            null: "over clouds, evidence estimate times predictive averages to the enumerated product",
            statistic: "worst distance in standard errors over a grid of inputs and three problems",
            false_alarm: 1e-7,
            run: predictives,
        },
    ]
}

fn learn<B: Bench>(bench: &B, problem: &Problem, test: &str, n_particles: usize, cloud: u64) -> B::Filter {
    let name = format!("{test} {}", problem.name);
    let mut filter = bench.start(seed(&name, cloud), n_particles, &problem.settings);
    for (x, y) in &problem.stream {
        filter.observe(&[*x as f64], *y);
    }
    filter
}

fn frequencies<B: Bench>(bench: &B, problems: &[Problem], n_particles: usize, n_clouds: u64) -> Outcome {
    let value = worst(problems.iter().map(|problem| tree_deviation(bench, problem, &problem.solve(), n_particles, n_clouds)));
    Outcome { value, limit: SIX_SIGMA }
}

fn tree_deviation<B: Bench>(bench: &B, problem: &Problem, exact: &ExactFilter, n_particles: usize, n_clouds: u64) -> f64 {
    let probabilities = exact.tree_probabilities();
    let features = Features::of(&probabilities);
    let expected = features.average(probabilities.iter().map(|(tree, p)| (tree.clone(), *p)));
    let mut samples = vec![Vec::new(); expected.len()];
    for cloud in 0..n_clouds {
        let filter = learn(bench, problem, "trees", n_particles, cloud);
        let share = (filter.ln_evidence() - exact.ln_evidence()).exp() / n_particles as f64;
        let trees: Vec<LineTree> = filter.trees().iter().map(Tree::on_line).collect();
        if trees.iter().any(|tree| !probabilities.contains_key(tree)) {
            return f64::INFINITY;
        }
        let estimate = features.average(trees.into_iter().map(|tree| (tree, share)));
        for (sample, value) in samples.iter_mut().zip(estimate) {
            sample.push(value);
        }
    }
    worst(samples.iter().zip(&expected).map(|(sample, p)| standard_errors(sample, *p)))
}

/// Averaged over trees: an indicator of each common tree, the number of leaves and the path length. The last two accumulate
/// small deviations of many trees in the same direction, as caused by a wrong prior.
struct Features {
    common: BTreeMap<LineTree, usize>,
}

impl Features {
    fn of(probabilities: &BTreeMap<LineTree, f64>) -> Self {
        let common = probabilities.iter().filter(|(_, p)| **p >= RARE).map(|(tree, _)| tree.clone());
        Self { common: common.enumerate().map(|(ix, tree)| (tree, ix)).collect() }
    }

    fn average(&self, trees: impl Iterator<Item = (LineTree, f64)>) -> Vec<f64> {
        let n_common = self.common.len();
        let mut sums = vec![0.0; n_common + 2];
        for (tree, share) in trees {
            if let Some(ix) = self.common.get(&tree) {
                sums[*ix] += share;
            }
            sums[n_common] += share * tree.leaves().len() as f64;
            sums[n_common + 1] += share * tree.path_length(0) as f64;
        }
        sums
    }
}

fn carried<B: Bench>(bench: &B, effort: u64) -> Outcome {
    // Solved once: enumerating this problem takes longer than running its clouds.
    static EXACT: OnceLock<ExactFilter> = OnceLock::new();
    let problem = problem::carried();
    let (n_particles, n_clouds) = (140, 40 * effort);
    let exact = EXACT.get_or_init(|| problem.solve());
    let values = problem.settings.forgetting.values();
    let mut samples = vec![Vec::new(); values.len()];
    for cloud in 0..n_clouds {
        let filter = learn(bench, &problem, "carried", n_particles, cloud);
        let share = (filter.ln_evidence() - exact.ln_evidence()).exp() / n_particles as f64;
        let held = filter.forgetting();
        for (sample, value) in samples.iter_mut().zip(values) {
            sample.push(share * held.iter().filter(|own| *own == value).count() as f64);
        }
    }
    let shares = samples.iter().zip(exact.forgetting_probabilities()).map(|(sample, p)| standard_errors(sample, p));
    let trees = tree_deviation(bench, &problem, exact, n_particles, n_clouds);
    Outcome { value: worst(shares.chain([trees])), limit: SIX_SIGMA }
}

fn predictives<B: Bench>(bench: &B, effort: u64) -> Outcome {
    let problems = [problem::full(), problem::forgetting(), problem::gaussian()];
    let value = worst(problems.iter().map(|problem| predictive_deviation(bench, problem, 64, 90 * effort)));
    Outcome { value, limit: SIX_SIGMA }
}

fn predictive_deviation<B: Bench>(bench: &B, problem: &Problem, n_particles: usize, n_clouds: u64) -> f64 {
    let exact = problem.solve();
    let grid: Vec<(i64, f64)> = (0..=3).flat_map(|x| [(x, 0.0), (x, 1.0)]).collect();
    let mut samples = vec![Vec::new(); grid.len()];
    for cloud in 0..n_clouds {
        let filter = learn(bench, problem, "predictive", n_particles, cloud);
        for (sample, (x, y)) in samples.iter_mut().zip(&grid) {
            let ln_joint = filter.ln_evidence() - exact.ln_evidence() + filter.ln_predictive(&[*x as f64], *y);
            sample.push(ln_joint.exp());
        }
    }
    worst(samples.iter().zip(&grid).map(|(sample, (x, y))| standard_errors(sample, exact.predictive(*x, *y))))
}
