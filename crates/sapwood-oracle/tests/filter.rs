//! The enumerated filter against results computed by hand, and its invariants.

use std::collections::BTreeMap;

use sapwood_oracle::check::problems;
use sapwood_oracle::filter::ExactFilter;
use sapwood_oracle::leaf::{GaussianPrior, LeafModel, Nig};
use sapwood_oracle::settings::{Discard, Forgetting, Settings};
use sapwood_oracle::special::softmax;
use sapwood_oracle::tree::{LineTree, Tree, enumerate};

fn classes() -> LeafModel {
    LeafModel::Multinomial { n_classes: 2, baseline: 0.5 }
}

fn leaf() -> LineTree {
    Tree::Leaf(())
}

#[test]
fn two_points_by_hand() {
    let mut exact = ExactFilter::new(&Settings::new(1, classes(), 1));
    exact.observe(0, 0.0);
    exact.observe(3, 1.0);
    // First 1/2, then (0.5 + 0) / (1 + 1) for the class not seen.
    assert!((exact.ln_evidence() - 0.125_f64.ln()).abs() < 1e-14);
    // Together Z = 1/8; apart Z = 1/2 * 1/2. Priors .05 against .95 (1 - .2375)^2.
    let (stay, grow) = (0.05 * 0.125, 0.95 * 0.7625_f64.powi(2) * 0.25);
    let trees = exact.tree_probabilities();
    assert!((trees[&leaf()] - stay / (stay + grow)).abs() < 1e-14);
    for boundary in 1..=3 {
        let probability = trees[&Tree::split(boundary, leaf(), leaf())];
        assert!((probability - grow / (stay + grow) / 3.0).abs() < 1e-14);
    }
}

#[test]
fn several_candidates_by_hand() {
    let settings = Settings { n_candidates: 2, ..Settings::new(1, classes(), 1) };
    let mut exact = ExactFilter::new(&settings);
    exact.observe(0, 0.0);
    exact.observe(2, 1.0);
    // Both boundaries have the same score, so two candidates of half weight are one of whole weight.
    let (stay, grow) = (0.05 * 0.125, 0.95 * 0.7625_f64.powi(2) * 0.25);
    assert!((exact.tree_probabilities()[&leaf()] - stay / (stay + grow)).abs() < 1e-14);
}

#[test]
fn probabilities_add_to_one_and_live_on_enumerated_trees() {
    for problem in problems() {
        let mut exact = ExactFilter::new(&problem.settings);
        for (x, y) in &problem.stream {
            exact.observe(*x, *y);
            let trees = exact.tree_probabilities();
            assert!((trees.values().sum::<f64>() - 1.0).abs() < 1e-12, "{}", problem.name);
            let all = enumerate(0..6, &[], 0);
            assert!(trees.keys().all(|tree| all.contains(tree)), "{}", problem.name);
        }
    }
}

/// With nothing retired every leaf of every tree in the support holds at least `min_leaf` points.
#[test]
fn min_leaf_holds_in_the_support() {
    let inputs = [0, 3, 1, 3, 2, 0, 2, 1];
    let mut exact = ExactFilter::new(&Settings::new(1, classes(), 2));
    for (n, x) in inputs.iter().enumerate() {
        exact.observe(*x, (x % 2) as f64);
        let allowed = enumerate(0..4, &inputs[..=n], 2);
        let trees = exact.tree_probabilities();
        assert!(trees.keys().all(|tree| trees.len() == 1 || allowed.contains(tree)));
    }
}

/// The evidence of a step is the predictive before it, and with lambda = 1 retiring all points changes neither.
#[test]
fn retirement_changes_no_predictive() {
    let nig = Nig { precision: vec![vec![0.4, 0.1], vec![0.1, 0.3]], mean: vec![0.1, 0.2], nu0: 2.0, s0: 0.5, ln_occam: None };
    for model in [classes(), LeafModel::Linear(GaussianPrior::Nig(nig))] {
        let mut exact = ExactFilter::new(&Settings::new(1, model, 1));
        for (x, y) in [(0, 0.0), (2, 1.0), (1, 0.0), (2, 0.0), (0, 1.0)] {
            let predicted = exact.predictive(x, y).ln();
            let before = exact.ln_evidence();
            exact.observe(x, y);
            assert!((exact.ln_evidence() - before - predicted).abs() < 1e-12);
        }
        let before: Vec<f64> = (0..3).map(|x| exact.predictive(x, 1.0)).collect();
        while !exact.active().is_empty() {
            exact.retire(0);
            for (x, expected) in before.iter().enumerate() {
                assert!((exact.predictive(x as i64, 1.0) - expected).abs() < 1e-12);
            }
        }
    }
}

/// With lambda = 1 mass is conserved by all moves.
#[test]
fn retired_mass_is_conserved() {
    let settings = Settings { capacity: Some(3), ..Settings::new(1, classes(), 1) };
    let mut exact = ExactFilter::new(&settings);
    for (n, (x, y)) in [(0, 0.0), (2, 1.0), (1, 0.0), (2, 1.0), (0, 1.0), (1, 1.0), (2, 0.0)].into_iter().enumerate() {
        exact.observe(x, y);
        for (_, state) in exact.states().keys() {
            let mass: f64 = state.leaves().iter().flat_map(|leaf| leaf.values()).map(|weight| weight.0).sum();
            assert!((mass - (n + 1).saturating_sub(3) as f64).abs() < 1e-8);
        }
    }
}

/// The retired mass of a leaf stays below 1/(1 - lambda) as long as it is not merged by a prune.
#[test]
fn forgetting_bounds_a_leaf_that_is_not_pruned_into() {
    let settings = Settings { capacity: Some(2), forgetting: Forgetting::Fixed(0.5), ..Settings::new(1, classes(), 1) };
    let mut exact = ExactFilter::new(&settings);
    let mut largest: f64 = 0.0;
    for x in [0, 1, 0, 1, 0, 1, 0, 0, 0, 0] {
        exact.observe(x, x as f64);
        for (_, state) in exact.states().keys() {
            let masses = state.leaves().into_iter().map(|leaf| leaf.values().map(|weight| weight.0).sum::<f64>());
            largest = masses.fold(largest, f64::max);
        }
    }
    assert!(largest > 2.0, "no prune passed the bound: {largest}");
    let rooted = Settings { min_leaf: 10, ..settings };
    let mut exact = ExactFilter::new(&rooted);
    for x in 0..12 {
        exact.observe(x, 0.0);
        for leaf in exact.states().keys().flat_map(|(_, tree)| tree.leaves()) {
            assert!(leaf.values().map(|weight| weight.0).sum::<f64>() < 2.0);
        }
    }
}

/// With lambda = 0 a leaf remembers only the last point retired into it.
#[test]
fn lambda_zero_drops_the_history_of_a_leaf() {
    let settings = Settings { capacity: Some(2), forgetting: Forgetting::Fixed(0.0), min_leaf: 10, ..Settings::new(1, classes(), 1) };
    let mut exact = ExactFilter::new(&settings);
    for y in [0.0, 0.0, 1.0, 1.0, 1.0] {
        exact.observe(0, y);
    }
    // Retired: the third point (class 1); active: two of class 1.
    assert!((exact.predictive(0, 1.0) - 3.5 / 4.0).abs() < 1e-12);
}

/// The target is the recursion, not the static posterior: a filter that samples the posterior is wrong.
#[test]
fn the_filter_is_not_the_static_posterior() {
    let problem = &problems()[0];
    let filtered = problem.solve().tree_probabilities();
    let inputs: Vec<i64> = problem.stream.iter().map(|(x, _)| *x).collect();
    let trees = enumerate(0..4, &inputs, 1);
    let ln_posterior: Vec<f64> = trees.iter().map(|tree| ln_joint(problem, tree)).collect();
    let posterior: BTreeMap<&LineTree, f64> = trees.iter().zip(softmax(&ln_posterior)).collect();
    let total_variation: f64 = posterior.iter().map(|(tree, p)| (p - filtered.get(*tree).copied().unwrap_or(0.0)).abs()).sum::<f64>() / 2.0;
    assert!(total_variation > 0.05, "total variation {total_variation}");
}

fn ln_joint(problem: &sapwood_oracle::check::Problem, tree: &LineTree) -> f64 {
    let mut groups: BTreeMap<Vec<bool>, Vec<([f64; 1], f64)>> = BTreeMap::new();
    for (x, y) in &problem.stream {
        let (mut path, mut node) = (Vec::new(), tree);
        while let Tree::Split(boundary, left, right) = node {
            path.push(x < boundary);
            node = if x < boundary { left } else { right };
        }
        groups.entry(path).or_default().push(([*x as f64], *y));
    }
    let evidence: f64 = groups
        .values()
        .map(|points| {
            let data: Vec<_> = points.iter().map(|(x, y)| sapwood_oracle::leaf::Datum { x, y: *y, weight: 1.0 }).collect();
            problem.settings.ln_leaf_evidence(&data, &[])
        })
        .sum();
    problem.settings.split_prior.ln_tree(tree, 0) + evidence
}

/// Random discarding is left to the caller, who may retire any position.
#[test]
fn any_position_can_be_retired() {
    let settings = Settings { capacity: Some(2), discard: Discard::Random, ..Settings::new(1, classes(), 1) };
    let mut exact = ExactFilter::new(&settings);
    for x in [0, 1, 2] {
        exact.observe(x, 0.0);
    }
    assert_eq!(exact.active(), [0, 1, 2]);
    exact.retire(1);
    assert_eq!(exact.active(), [0, 2]);
}
