//! The leaf formulas against quadrature and against each other.

use std::f64::consts::PI;

use sapwood_oracle::leaf::gaussian::{self, Row};
use sapwood_oracle::leaf::{Datum, Discriminant, GaussianPrior, LeafModel, Nig, multinomial, quadrature};
use sapwood_oracle::special::{ln_gamma, ln_sum_exp};

fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} against {b}: off by {}", (a - b).abs());
}

fn nig(m: usize) -> Nig {
    let mut precision = vec![vec![0.2; m]; m];
    for (i, row) in precision.iter_mut().enumerate() {
        row[i] = 0.7 + 0.3 * i as f64;
    }
    Nig { precision, mean: (0..m).map(|i| 0.4 - 0.9 * i as f64).collect(), nu0: 2.0, s0: 0.6, ln_occam: None }
}

fn models() -> Vec<LeafModel> {
    vec![
        LeafModel::Constant(GaussianPrior::Nig(nig(1))),
        LeafModel::Linear(GaussianPrior::Nig(nig(2))),
        LeafModel::Constant(GaussianPrior::Reference),
        LeafModel::Linear(GaussianPrior::Reference),
        LeafModel::Multinomial { n_classes: 3, baseline: 1.0 / 3.0 },
    ]
}

fn discriminants() -> Vec<LeafModel> {
    let discriminant = |by_class, diagonal| {
        LeafModel::Discriminant(Discriminant { n_classes: 3, baseline: 1.0 / 3.0, ridge: vec![0.3], by_class, diagonal, mistake: None })
    };
    vec![discriminant(false, false), discriminant(true, false), discriminant(true, true)]
}

const POINTS: [(f64, f64); 6] = [(0.3, 1.0), (1.7, 0.0), (-0.4, 2.0), (0.9, 1.0), (2.2, 0.0), (1.1, 2.0)];

fn data(order: &[usize]) -> Vec<([f64; 1], f64)> {
    order.iter().map(|ix| ([POINTS[*ix].0], POINTS[*ix].1)).collect()
}

fn weighted(points: &[([f64; 1], f64)]) -> Vec<Datum<'_>> {
    points.iter().map(|(x, y)| Datum { x, y: *y, weight: 1.0 }).collect()
}

fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(n - 1);
    (0..n)
        .flat_map(|place| {
            shorter.iter().map(move |order| {
                let mut order = order.clone();
                order.insert(place, n - 1);
                order
            })
        })
        .collect()
}

#[test]
fn ln_gamma_has_its_known_values() {
    for (x, expected) in [
        (1.0, 0.0),
        (2.0, 0.0),
        (0.5, 0.5 * PI.ln()),
        (10.0, 362_880.0_f64.ln()),
        (100.0, 359.134_205_369_575_4),
        (1e-3, 6.907_178_885_383_853),
    ] {
        assert_close(ln_gamma(x), expected, 1e-14);
    }
}

#[test]
fn ln_gamma_obeys_the_duplication_formula() {
    for i in 1..200 {
        let x = 0.17 * f64::from(i);
        let right = (1.0 - 2.0 * x) * 2.0_f64.ln() + 0.5 * PI.ln() + ln_gamma(2.0 * x);
        assert_close(ln_gamma(x) + ln_gamma(x + 0.5), right, 1e-13);
    }
}

#[test]
fn ln_sum_exp_survives_huge_and_absent_terms() {
    assert_close(ln_sum_exp(&[1e4, 1e4 + 2.0_f64.ln()]), 1e4 + 3.0_f64.ln(), 1e-14);
    assert_eq!(ln_sum_exp(&[]), f64::NEG_INFINITY);
}

fn rows(linear: bool) -> Vec<Row> {
    let weights = [1.0, 0.35, 0.8, 1.0, 1.0, 0.6];
    POINTS.iter().zip(weights).map(|((x, y), weight)| Row { z: if linear { vec![1.0, *x] } else { vec![1.0] }, y: *y, weight }).collect()
}

/// Tolerance: the grid of the quadrature is good to about 1e-10.
#[test]
fn gaussian_evidence_is_the_integral_of_likelihood_times_prior() {
    for (m, linear) in [(1, false), (2, true)] {
        for prior in [GaussianPrior::Nig(nig(m)), GaussianPrior::Reference] {
            let formula = gaussian::ln_evidence(&prior, &rows(linear)).expect("six points determine the leaf");
            assert_close(quadrature::gaussian_ln_evidence(&prior, &rows(linear)), formula, 1e-9);
        }
    }
}

#[test]
fn the_proper_gaussian_prior_integrates_to_one() {
    for m in [1, 2] {
        assert_close(quadrature::gaussian_ln_evidence(&GaussianPrior::Nig(nig(m)), &[]), 0.0, 1e-9);
        assert_close(gaussian::ln_evidence(&GaussianPrior::Nig(nig(m)), &[]).expect("proper"), 0.0, 1e-12);
    }
}

#[test]
fn an_occam_factor_replaces_the_normaliser_and_nothing_else() {
    let plain = nig(1);
    let replaced = Nig { ln_occam: Some(0.25), ..plain.clone() };
    let difference = 0.25 - 0.5 * plain.precision[0][0].ln();
    let evidence = |nig: &Nig| gaussian::ln_evidence(&GaussianPrior::Nig(nig.clone()), &rows(false)).expect("proper");
    assert_close(evidence(&replaced) - evidence(&plain), difference, 1e-12);
}

#[test]
fn two_class_evidence_is_the_integral_over_the_class_probability() {
    for baseline in [0.5, 1.0, 2.0] {
        for counts in [[0.0, 0.0], [3.0, 1.0], [0.3, 7.25]] {
            let formula = multinomial::ln_evidence(&counts, baseline);
            assert_close(quadrature::two_class_ln_evidence(counts, baseline), formula, 1e-10);
        }
    }
}

/// Tolerance: six log terms of order one.
#[test]
fn evidence_is_the_product_of_predictives_in_every_order() {
    for model in models() {
        for order in orders(POINTS.len()) {
            let points = data(&order);
            let all = weighted(&points);
            // An improper prior starts where its evidence first exists; how many points that takes depends on the order.
            let first = (0..=all.len()).find(|n| model.ln_evidence(&all[..*n]).is_some()).expect("six points suffice");
            let mut sum = model.ln_evidence(&all[..first]).expect("found above");
            for n in first..all.len() {
                sum += model.ln_predictive(&all[..n], all[n].x, all[n].y).expect("more points keep it defined");
            }
            assert_close(sum, model.ln_evidence(&all).expect("six points suffice"), 1e-11);
        }
    }
}

#[test]
fn predictives_are_normalised() {
    let points = data(&[0, 1, 2, 3, 4, 5]);
    let all = weighted(&points);
    for model in models().into_iter().chain(discriminants()) {
        let total: f64 = match &model {
            LeafModel::Multinomial { n_classes, .. } | LeafModel::Discriminant(Discriminant { n_classes, .. }) => {
                (0..*n_classes).map(|class| model.ln_predictive(&all, &[0.8], class as f64).expect("proper").exp()).sum()
            }
            // y = sinh(u) makes the heavy tails of the Student-t fall off exponentially.
            _ => (-2000..=2000)
                .map(|i| {
                    let u = f64::from(i) * 0.01;
                    model.ln_predictive(&all, &[0.8], u.sinh()).expect("determined").exp() * u.cosh() * 0.01
                })
                .sum(),
        };
        assert_close(total, 1.0, 1e-9);
    }
}

/// The weight of a point may be divided between copies, as a grow does and a prune undoes.
#[test]
fn weights_of_equal_points_add() {
    let points = data(&[0, 1, 2, 3, 4, 5]);
    for model in models().into_iter().chain(discriminants()) {
        let whole: Vec<Datum> = points.iter().map(|(x, y)| Datum { x, y: *y, weight: 0.9 }).collect();
        let parts: Vec<Datum> = points.iter().flat_map(|(x, y)| [0.3, 0.7].map(|share| Datum { x, y: *y, weight: share * 0.9 })).collect();
        let evidence = |data: &[Datum]| model.ln_evidence(data).expect("six points suffice");
        assert_close(evidence(&parts), evidence(&whole), 1e-12);
    }
}

/// With one input an inverse-Wishart is an inverse-gamma: the nested models are regressions of the input on nothing, on the classes with one
/// noise, and on nothing in each class. Those are checked against quadrature above.
#[test]
fn discriminant_evidence_in_one_input_is_that_of_regressions_of_the_input_on_the_class() {
    let ridge = 0.3;
    let n = POINTS.len() as f64;
    let mean = POINTS.iter().map(|(x, _)| x).sum::<f64>() / n;
    let psi = 3.0 * POINTS.iter().map(|(x, _)| (x - mean).powi(2)).sum::<f64>() / n + ridge;
    let ln_marginal = |n_groups: usize, group: &dyn Fn(usize) -> Option<usize>| {
        let indicator = |own: usize| (0..n_groups).map(|g| f64::from(u8::from(g == own))).collect();
        let rows: Vec<Row> = POINTS
            .iter()
            .filter_map(|(x, class)| group(*class as usize).map(|own| Row { z: indicator(own), y: *x, weight: 1.0 }))
            .collect();
        let prior = Nig { precision: identity(n_groups), mean: vec![mean; n_groups], nu0: 3.0, s0: psi / 3.0, ln_occam: None };
        gaussian::ln_evidence(&GaussianPrior::Nig(prior), &rows).expect("proper")
    };
    let one = ln_marginal(1, &|_| Some(0));
    let means = ln_marginal(3, &Some) - one;
    let covariances = (0..3).map(|class| ln_marginal(1, &move |own| (own == class).then_some(0))).sum::<f64>() - one;
    let points = data(&[0, 1, 2, 3, 4, 5]);
    let counts = multinomial::ln_evidence(&[2.0, 2.0, 2.0], 1.0 / 3.0);
    for (model, logs) in discriminants().iter().zip([vec![0.0, means], vec![0.0, means, covariances], vec![0.0, means, covariances]]) {
        let expected = counts + ln_sum_exp(&logs) - (logs.len() as f64).ln();
        assert_close(model.ln_evidence(&weighted(&points)).expect("proper"), expected, 1e-12);
    }
}

fn identity(m: usize) -> Vec<Vec<f64>> {
    (0..m).map(|i| (0..m).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

/// Where the class does not depend on the input, the model of one Gaussian wins. Fails if the penalty for the class means is missing.
#[test]
fn inputs_that_say_nothing_leave_the_class_frequencies() {
    let inputs = (0..60).map(|i| [f64::from(i % 5), f64::from(i % 4)]);
    let points: Vec<([f64; 2], f64)> = inputs.enumerate().map(|(i, x)| (x, (i % 3) as f64)).collect();
    let data: Vec<Datum> = points.iter().map(|(x, y)| Datum { x, y: *y, weight: 1.0 }).collect();
    let ridge = vec![0.2, 0.2];
    let model = Discriminant { n_classes: 3, baseline: 1.0 / 3.0, ridge, by_class: false, diagonal: false, mistake: None };
    for x in [[0.0, 3.0], [2.0, 1.0]] {
        // Sixty points that do not depend on the class leave the class means about a hundredth of the weight.
        assert_close(model.ln_predictive(&data, &x, 1.0).exp(), 1.0 / 3.0, 0.02);
    }
}

#[test]
fn the_reference_prior_is_undefined_until_the_points_determine_the_leaf() {
    let model = LeafModel::Linear(GaussianPrior::Reference);
    let points = data(&[0, 1, 2]);
    let all = weighted(&points);
    assert!(model.ln_evidence(&all[..2]).is_none());
    assert!(model.ln_evidence(&all).is_some());
    let repeated = [([1.0], 0.0), ([1.0], 1.0), ([1.0], 2.0)];
    assert!(model.ln_evidence(&weighted(&repeated)).is_none());
}
