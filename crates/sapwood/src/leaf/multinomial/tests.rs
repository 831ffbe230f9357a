//! Multinomial leaves against their definition and the identities of conjugate models.

use super::*;
use crate::leaf::batch::ln_z_of_each;

fn models() -> Vec<Multinomial> {
    let mut all = Vec::new();
    for n_classes in [1, 2, 3, 40] {
        all.extend([None, Some(1.0), Some(0.01), Some(250.0)].map(|dirichlet| Multinomial::new(n_classes, dirichlet)));
    }
    all
}

fn a0(model: &Multinomial) -> f64 {
    model.dirichlet.unwrap_or(1.0 / model.n_classes as f64)
}

fn observe(model: &Multinomial, labels: &[(usize, f64)]) -> Vec<f64> {
    let mut stats = vec![0.0; model.stat_len()];
    labels.iter().for_each(|(class, weight)| model.observe(&mut stats, &[], &[*class as f64], *weight));
    stats
}

fn ln_z(model: &Multinomial, stats: &[f64]) -> f64 {
    ln_z_of_each(model, &[stats.to_vec()], &[])[0]
}

fn ln_predictive(model: &Multinomial, stats: &[f64], class: usize, weight: f64) -> f64 {
    model.ln_predictive(&(), stats, &[], &[class as f64], weight)
}

#[track_caller]
fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0), "{a:e} and {b:e}");
}

/// A sequence of labels with weights.
fn labels(model: &Multinomial, n: usize) -> Vec<(usize, f64)> {
    (0..n).map(|i| ((i * i) % model.n_classes(), [1.0, 2.0, 0.3, 1.0][i % 4])).collect()
}

/// Fails if a gamma function is missing from the formula, or a class without counts is skipped wrongly.
#[test]
fn evidence_matches_the_formula() {
    for model in models() {
        for n in [0, 1, 5, 200] {
            let stats = observe(&model, &labels(&model, n));
            let (a0, k) = (a0(&model), model.n_classes() as f64);
            let want: f64 = libm::lgamma(k * a0) - libm::lgamma(k * a0 + n_points(&stats))
                + counts_in(&stats).map(|count| libm::lgamma(a0 + count) - libm::lgamma(a0)).sum::<f64>();
            assert_close(ln_z(&model, &stats), want, 1e-11);
        }
    }
}

/// With unit weights the gamma functions are products: `prod_i (a0 + earlier of the same class) / (K a0 + i)`.
#[test]
fn evidence_matches_the_polya_urn() {
    for model in models() {
        let (a0, k) = (a0(&model), model.n_classes() as f64);
        let mut counts = vec![0.0; model.n_classes()];
        let mut want = 0.0;
        let drawn: Vec<(usize, f64)> = labels(&model, 30).iter().map(|(class, _)| (*class, 1.0)).collect();
        for (i, (class, _)) in drawn.iter().enumerate() {
            want += ((a0 + counts[*class]) / (k * a0 + i as f64)).ln();
            counts[*class] += 1.0;
        }
        assert_close(ln_z(&model, &observe(&model, &drawn)), want, 1e-12);
    }
}

/// Fails if the weight of a particle is not the ratio of evidences, in any of several orders of the points.
#[test]
fn evidence_obeys_the_chain_rule() {
    for model in models() {
        let all = labels(&model, 9);
        let want = ln_z(&model, &observe(&model, &all));
        for first in 0..all.len() {
            let (mut stats, mut sum) = (observe(&model, &[]), 0.0);
            for i in 0..all.len() {
                let (class, weight) = all[(first + 4 * i) % all.len()];
                sum += ln_predictive(&model, &stats, class, weight);
                model.observe(&mut stats, &[], &[class as f64], weight);
            }
            assert_close(sum, want, 1e-11);
        }
    }
}

#[test]
fn a_weight_of_two_is_two_labels() {
    for model in models() {
        let mut stats = observe(&model, &labels(&model, 6));
        let twice = ln_predictive(&model, &stats, 0, 2.0);
        let mut singly = ln_predictive(&model, &stats, 0, 1.0);
        model.observe(&mut stats, &[], &[0.0], 1.0);
        singly += ln_predictive(&model, &stats, 0, 1.0);
        assert_close(twice, singly, 1e-11);
    }
}

/// Fails if particles are weighed by other probabilities than those predicted, or if these do not sum to one.
#[test]
fn probabilities_sum_to_one_and_are_the_predictive() {
    for model in models() {
        let stats = observe(&model, &labels(&model, 25));
        let mut proba = vec![0.0; model.n_classes()];
        model.add_class_probabilities(&(), &stats, &[], &[], 0.5, &mut proba);
        assert_close(proba.iter().sum(), 0.5, 1e-13);
        let mut entropy = 0.0;
        for (class, half) in proba.iter().enumerate() {
            assert_close((2.0 * half).ln(), ln_predictive(&model, &stats, class, 1.0), 1e-13);
            entropy -= 2.0 * half * (2.0 * half).ln();
        }
        assert_close(model.entropy_of(counts_in(&stats)), entropy, 1e-12);
    }
}

#[test]
fn statistics_form_an_algebra() {
    for model in models() {
        let all = labels(&model, 20);
        let mut stats = observe(&model, &all);
        let first = observe(&model, &all[..12]);
        all[12..].iter().for_each(|(class, weight)| model.observe(&mut stats, &[], &[*class as f64], -weight));
        assert!(stats.iter().zip(&first).all(|(a, b)| (a - b).abs() < 1e-13));
        let mut left = vec![0.0; first.len()];
        let split = Split { dim: 0, nan_left: false, cut: 0.0 };
        for division in [Division::Proportional, Division::Gaussian] {
            model.divide(division, &first, &[], &split, 0.25, &mut left);
            assert!(left.iter().zip(&first).all(|(l, f)| *l == 0.25 * f));
        }
    }
}

/// Fails if a leaf has another evidence in a batch than alone.
#[test]
fn a_batch_gives_the_evidence_of_each_leaf() {
    for model in models() {
        let all: Vec<Vec<f64>> = (0..21).map(|n| observe(&model, &labels(&model, 3 * n))).collect();
        let got = ln_z_of_each(&model, &all, &[]);
        assert_eq!(got.len(), all.len());
        for (got, stats) in got.iter().zip(&all) {
            assert_close(*got, ln_z(&model, stats), 1e-12);
        }
    }
}

/// Removing a point may leave a count slightly negative, which must be harmless.
#[test]
fn slightly_negative_counts_are_zero() {
    let model = Multinomial::new(2, Some(1e-12));
    let stats = [1.0 - 1e-13, 1.0, -1e-13];
    assert!(ln_z(&model, &stats).is_finite());
    assert!(ln_predictive(&model, &stats, 1, 1.0).is_finite());
    assert!(model.entropy_of(counts_in(&stats)).is_finite());
}
