//! Discriminant leaves: the algebra of their statistics, and properties of their evidence and predictions. The formulas themselves are checked
//! against the slow reference, in its own crate.

use super::*;
use crate::leaf::batch::ln_z_of_each;
use crate::num::exp;
use crate::num::special::{normal_cdf, normal_pdf, normal_quantile};
use crate::rng::{Purpose, Stream};

fn normals(seed: u64, n: usize) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0, 0, Purpose::Sample);
    (0..n).map(|_| normal_quantile(stream.uniform().max(1e-16))).collect()
}

/// Encoded points `[class, x]` away from zero; classes lie `apart` from each other along every input.
fn points(n_inputs: usize, n_classes: usize, n: usize, apart: f64, seed: u64) -> Vec<Vec<f64>> {
    let draws = normals(seed, n * n_inputs);
    draws
        .chunks(n_inputs)
        .enumerate()
        .map(|(row, z)| {
            let class = (row * row % n_classes) as f64;
            std::iter::once(class).chain(z.iter().enumerate().map(|(i, z)| 5.0 - i as f64 + apart * class + z)).collect()
        })
        .collect()
}

/// All variants, for one and several inputs and classes, after some points to set the ridge.
fn models() -> Vec<Discriminant> {
    let mut all = Vec::new();
    for covariance in [Covariance::Pooled, Covariance::ByClass] {
        for (n_inputs, n_classes, shape) in
            [(1, 2, Shape::Full), (3, 2, Shape::Full), (4, 5, Shape::Full), (6, 3, Shape::Diagonal), (2, 120, Shape::Full)]
        {
            let mut model = Discriminant::new(n_inputs, n_classes, covariance, None).with_shape(shape);
            for point in points(n_inputs, n_classes, 40, 0.5, 90) {
                model.track(&point[1..], point[0], 1.0);
            }
            all.push(model);
        }
    }
    all
}

fn points_for(model: &Discriminant, n: usize, seed: u64) -> Vec<Vec<f64>> {
    points(model.layout.n_inputs, model.layout.n_classes, n, 0.7, seed)
}

fn stats_of(model: &Discriminant, origin: &[f64], points: &[Vec<f64>]) -> Vec<f64> {
    let mut stats = vec![0.0; model.stat_len()];
    points.iter().for_each(|point| model.observe(&mut stats, origin, point, 1.0));
    stats
}

fn ln_z(model: &Discriminant, stats: &[f64]) -> f64 {
    ln_z_of_each(model, &[stats.to_vec()], &[])[0]
}

fn fit_of(model: &Discriminant, stats: &[f64]) -> DiscriminantFit {
    let mut fit = DiscriminantFit::default();
    model.fit(stats, &[], &mut fit);
    fit
}

fn probabilities(model: &Discriminant, stats: &[f64], origin: &[f64], x: &[f64]) -> Vec<f64> {
    let point: Vec<f64> = std::iter::once(0.0).chain(x.iter().copied()).collect();
    let mut out = vec![0.0; model.n_classes()];
    model.add_class_probabilities(&fit_of(model, stats), stats, origin, &point, 1.0, &mut out);
    out
}

#[track_caller]
fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0), "{a:e} and {b:e}");
}

#[track_caller]
fn assert_all_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| assert_close(*a, *b, tolerance));
}

#[test]
fn observing_commutes_and_is_undone_by_forgetting() {
    for model in models() {
        let origin = model.origin();
        let few = points_for(&model, 12, 1);
        let stats = stats_of(&model, &origin, &few);
        let backwards: Vec<Vec<f64>> = few.iter().rev().cloned().collect();
        assert_all_close(&stats_of(&model, &origin, &backwards), &stats, 1e-12);
        let mut left = stats_of(&model, &origin, &few[..5]);
        few[5..].iter().for_each(|point| model.observe(&mut left, &origin, point, 2.5));
        few[5..].iter().for_each(|point| model.observe(&mut left, &origin, point, -2.5));
        assert_all_close(&left, &stats_of(&model, &origin, &few[..5]), 1e-12);
    }
}

#[test]
fn statistics_about_another_origin_are_those_of_the_same_points() {
    for model in models() {
        let few = points_for(&model, 12, 2);
        let from = model.origin();
        let to: Vec<f64> = from.iter().enumerate().map(|(i, o)| o + 2.0 - i as f64).collect();
        let mut stats = stats_of(&model, &from, &few);
        model.shift(&mut stats, &from, &to);
        assert_all_close(&stats, &stats_of(&model, &to, &few), 1e-11);
        assert_close(ln_z(&model, &stats), ln_z(&model, &stats_of(&model, &from, &few)), 1e-9);
    }
}

/// The moments of the left part must be those of the truncated class Gaussians. The right part is the remainder, and dividing the mirror image
/// must give it. Fails if a shrink or a slope has the wrong sign, or if the parts do not add up.
#[test]
fn a_division_cuts_the_gaussian_of_every_class() {
    for model in models() {
        let (origin, layout) = (model.origin(), model.layout);
        let retired = stats_of(&model, &origin, &points_for(&model, 60, 3));
        let dim = layout.n_inputs - 1;
        let split = Split { dim: dim as u32, nan_left: false, cut: origin[dim] + 0.4 };
        let mut left = vec![0.0; retired.len()];
        model.divide(Division::Gaussian, &retired, &origin, &split, 0.5, &mut left);
        let class = 0;
        let (count, first) = (retired[layout.count(class)], retired[layout.first(class)][dim]);
        let mean = first / count;
        let variance = if layout.covariance == Covariance::ByClass {
            retired[layout.second(class)][layout.shape.diagonal_ix(dim)] / count - mean * mean
        } else {
            let within: f64 = (0..layout.n_classes).map(|c| (retired[layout.count(c)], retired[layout.first(c)][dim])).fold(
                retired[layout.second(0)][layout.shape.diagonal_ix(dim)],
                |sum, (n, first)| if n > 0.0 { sum - first * first / n } else { sum },
            );
            within / retired[0]
        };
        let z = (0.4 - mean) / variance.sqrt();
        assert_close(left[layout.count(class)], count * normal_cdf(z), 1e-12);
        assert_close(left[layout.first(class)][dim], count * (mean * normal_cdf(z) - variance.sqrt() * normal_pdf(z)), 1e-10);

        // x -> -x maps the right part to the left one.
        let mirrored = |stats: &[f64]| {
            let mut out = stats.to_vec();
            (0..layout.n_classes).for_each(|class| out[layout.first(class)].iter_mut().for_each(|v| *v = -*v));
            out
        };
        let zero = vec![0.0; origin.len()];
        let mut right = vec![0.0; retired.len()];
        let mirror = Split { cut: -0.4, ..split };
        model.divide(Division::Gaussian, &mirrored(&retired), &zero, &mirror, 0.5, &mut right);
        let rest: Vec<f64> = retired.iter().zip(&left).map(|(whole, left)| whole - left).collect();
        assert_all_close(&mirrored(&right), &rest, 1e-9);
        let largest = largest_of(&model, &origin);
        assert!(model.are_possible(&left, &largest) && model.are_possible(&rest, &largest));
    }
}

#[test]
fn a_division_far_from_the_points_gives_everything_to_one_side() {
    for model in models() {
        let origin = model.origin();
        let retired = stats_of(&model, &origin, &points_for(&model, 30, 4));
        for (cut, expected) in [(1e6, retired.clone()), (-1e6, vec![0.0; retired.len()])] {
            let mut left = vec![1.0; retired.len()];
            model.divide(Division::Gaussian, &retired, &origin, &Split { dim: 0, nan_left: false, cut }, 0.5, &mut left);
            assert_all_close(&left, &expected, 1e-12);
        }
        let mut left = vec![0.0; retired.len()];
        let split = Split { dim: 0, nan_left: false, cut: origin[0] };
        model.divide(Division::Proportional, &retired, &origin, &split, 0.3, &mut left);
        assert_all_close(&left, &retired.iter().map(|v| 0.3 * v).collect::<Vec<_>>(), 1e-15);
    }
}

/// Fails if the result for a leaf depends, even in the last bit, on the other leaves of its batch.
#[test]
fn many_leaves_at_once_are_the_same_as_one_at_a_time() {
    for model in models() {
        let origin = model.origin();
        let mut rows: Vec<f64> = (0..11).flat_map(|n| stats_of(&model, &origin, &points_for(&model, 3 * n, n as u64))).collect();
        // One with extreme determinants, and one with the rounding errors of a class whose points have gone.
        rows[4 * model.stat_len()..5 * model.stat_len()].iter_mut().for_each(|v| *v *= 1e60);
        rows[5 * model.stat_len() + model.layout.first(0).start] += 1e-13;
        rows[5 * model.stat_len() + model.layout.count(0)] = 0.0;
        let leaves: Vec<Vec<f64>> = rows.chunks(model.stat_len()).map(<[f64]>::to_vec).collect();
        let together = ln_z_of_each(&model, &leaves, &[]);
        let mut fits = vec![DiscriminantFit::default(); 11];
        model.fit_rows(&rows, &[], &mut Vec::new(), &mut fits, &mut [true; 11]);
        for (ix, row) in rows.chunks(model.stat_len()).enumerate() {
            assert_eq!(together[ix].to_bits(), ln_z(&model, row).to_bits());
            let alone = fit_of(&model, row);
            assert_eq!(fits[ix].model_weights, alone.model_weights);
            assert_eq!(fits[ix].classes, alone.classes);
        }
    }
}

#[test]
fn probabilities_sum_to_one_and_are_what_weighs_a_point() {
    for model in models() {
        let origin = model.origin();
        for n in [0, 1, 2, 7, 60] {
            let stats = stats_of(&model, &origin, &points_for(&model, n, 5));
            let fit = fit_of(&model, &stats);
            for mut point in points_for(&model, 4, 6) {
                let p = probabilities(&model, &stats, &origin, &point[1..]);
                assert_close(p.iter().sum(), 1.0, 1e-12);
                for (class, p) in p.iter().enumerate() {
                    point[0] = class as f64;
                    assert!(*p > 0.0 || n == 60, "class {class} has probability {p}");
                    assert_close(exp(model.ln_predictive(&fit, &stats, &origin, &point, 1.0)), *p, 1e-12);
                }
            }
        }
    }
}

/// With a single class (or no points) the evidence must be that of the multinomial leaf.
#[test]
fn a_leaf_of_one_class_is_a_multinomial_leaf() {
    for model in models().into_iter().filter(|model| model.layout.covariance == Covariance::Pooled) {
        let counts = Multinomial::new(model.layout.n_classes, None);
        let origin = model.origin();
        for n in [0, 1, 2, 9, 50] {
            let one_class: Vec<Vec<f64>> = points_for(&model, n, 7)
                .into_iter()
                .map(|point| std::iter::once(1.0).chain(point[1..].iter().copied()).collect())
                .collect();
            let stats = stats_of(&model, &origin, &one_class);
            let mut multinomial = vec![0.0; counts.stat_len()];
            one_class.iter().for_each(|point| counts.observe(&mut multinomial, &[], &point[..1], 1.0));
            let expected = ln_z_of_each(&counts, &[multinomial], &[]);
            assert_close(ln_z(&model, &stats), expected[0], 1e-10);
        }
    }
}

/// For inputs that do not depend on the class the geometric mean of the Bayes factors is below 1, so the evidence is lower than that of
/// multinomial leaves on average. Fails if the penalty for the class means is missing (then every leaf gains).
#[test]
fn uninformative_inputs_lower_the_evidence() {
    for model in models() {
        let (origin, layout) = (model.origin(), model.layout);
        let counts = Multinomial::new(layout.n_classes, None);
        let mut sum = 0.0;
        let n_leaves = 60;
        for seed in 0..n_leaves {
            let leaf = points(layout.n_inputs, layout.n_classes, 40, 0.0, 100 + seed);
            let stats = stats_of(&model, &origin, &leaf);
            let mut multinomial = vec![0.0; counts.stat_len()];
            leaf.iter().for_each(|point| counts.observe(&mut multinomial, &[], &point[..1], 1.0));
            let alone = ln_z_of_each(&counts, &[multinomial], &[]);
            sum += ln_z(&model, &stats) - alone[0];
        }
        assert!(sum / f64::from(n_leaves as u32) < -0.1, "{layout:?}: {}", sum / f64::from(n_leaves as u32));
    }
}

/// An oblique boundary, which no single split can follow. Fails if the covariance is ignored.
#[test]
fn oblique_classes_are_separated() {
    for covariance in [Covariance::Pooled, Covariance::ByClass] {
        let model = Discriminant::new(2, 2, covariance, None).with_ridge(vec![0.2, 0.2]);
        let origin = model.origin();
        let leaf: Vec<Vec<f64>> = normals(8, 120)
            .chunks(2)
            .enumerate()
            .map(|(row, z)| {
                let class = (row % 2) as f64;
                vec![class, z[0] + class - 0.5, z[0] - class + 0.5 + 0.1 * z[1]]
            })
            .collect();
        let stats = stats_of(&model, &origin, &leaf);
        for x in [-2.0, 0.0, 2.0] {
            assert!(probabilities(&model, &stats, &origin, &[x + 0.5, x - 0.5])[1] > 0.99);
            assert!(probabilities(&model, &stats, &origin, &[x - 0.5, x + 0.5])[1] < 0.01);
        }
    }
}

/// On the scale of a tiny leaf every input is far out, where the class that it has not seen would win. Fails if the ridge is on the scale of
/// the leaf. (A class without points that has its own covariance rightly has wide tails.)
#[test]
fn a_tiny_leaf_does_not_favour_the_absent_class_elsewhere() {
    let two_pooled = |model: &Discriminant| model.layout.n_classes == 2 && model.layout.covariance == Covariance::Pooled;
    for model in models().into_iter().filter(two_pooled) {
        let p = model.layout.n_inputs;
        let origin = model.origin();
        let tiny: Vec<Vec<f64>> = (0..6)
            .map(|i| std::iter::once(0.0).chain((0..p).map(|j| origin[j] + 1e-4 * f64::from(i * (j as i32 + 1) % 5))).collect())
            .collect();
        let stats = stats_of(&model, &origin, &tiny);
        let elsewhere: Vec<f64> = origin.iter().map(|o| o + 2.0).collect();
        assert!(probabilities(&model, &stats, &origin, &elsewhere)[0] > 0.5);
    }
}

#[test]
fn constant_and_repeated_columns_are_harmless() {
    for covariance in [Covariance::Pooled, Covariance::ByClass] {
        let plain = points(1, 2, 50, 2.0, 9);
        let wide: Vec<Vec<f64>> = plain.iter().map(|point| vec![point[0], point[1], 7.0, point[1], 3.0 * point[1] - 1.0]).collect();
        let mut model = Discriminant::new(4, 2, covariance, None);
        wide.iter().for_each(|point| assert!(model.track(&point[1..], point[0], 1.0) || model.scale.n > 32.0));
        let origin = model.origin();
        let stats = stats_of(&model, &origin, &wide);
        assert!(ln_z(&model, &stats).is_finite());
        let p = probabilities(&model, &stats, &origin, &wide[1][1..]);
        assert!(p[wide[1][0] as usize] > 0.5, "{p:?}");
        // A value that ends the constancy of a column is ignored until the column has a scale.
        let (mut kept, mut broken) = (vec![0.0; 5], vec![0.0; 5]);
        model.encode(&wide[1][1..], 0.0, &mut kept);
        model.encode(&[wide[1][1], -1e9, wide[1][3], wide[1][4]], 0.0, &mut broken);
        assert_eq!(kept, broken);
    }
}

#[test]
fn classes_that_appear_later_have_no_points_yet() {
    for mut model in models() {
        let origin = model.origin();
        let few = points_for(&model, 20, 10);
        let mut stats = stats_of(&model, &origin, &few);
        model.set_n_classes(model.n_classes() + 2);
        stats.resize(model.stat_len(), 0.0);
        assert_all_close(&stats, &stats_of(&model, &origin, &few), 1e-15);
        let p = probabilities(&model, &stats, &origin, &few[0][1..]);
        assert_close(p.iter().sum(), 1.0, 1e-12);
        assert_eq!(p[p.len() - 1], p[p.len() - 2]);
        assert!(p[p.len() - 1] > 0.0);
    }
}

/// Fails if a weight of two gives other statistics than two rows, or a weight does not matter to the predictive.
#[test]
fn a_weight_repeats_the_point() {
    for model in models() {
        let origin = model.origin();
        let few = points_for(&model, 15, 11);
        let (mut once, mut twice) = (stats_of(&model, &origin, &few), stats_of(&model, &origin, &few));
        model.observe(&mut once, &origin, &few[3], 2.0);
        (0..2).for_each(|_| model.observe(&mut twice, &origin, &few[3], 1.0));
        assert_all_close(&once, &twice, 1e-12);
        let fit = fit_of(&model, &once);
        let ln_p = |weight| model.ln_predictive(&fit, &once, &origin, &few[0], weight);
        assert_close(ln_p(1.0 + 1e-9), ln_p(1.0), 1e-6);
        assert!(ln_p(2.0) < ln_p(1.0));
    }
}

/// The largest statistics of a stream whose inputs are between -100 and 100 and weigh 100 together.
fn largest_of(model: &Discriminant, origin: &[f64]) -> Vec<f64> {
    let extent = Extent::new(100.0, std::iter::repeat_n((-100.0, 100.0), origin.len()));
    model.largest_stats(origin, &extent)
}

/// Fails if impossible statistics would be accepted from a file.
#[test]
fn statistics_that_no_points_have_are_refused() {
    for model in models() {
        let origin = model.origin();
        let stats = stats_of(&model, &origin, &points_for(&model, 30, 12));
        let largest = largest_of(&model, &origin);
        assert!(model.are_possible(&stats, &largest));
        let mut negative = stats.clone();
        negative[model.layout.count(0)] = -1.0;
        let mut miscounted = stats.clone();
        miscounted[0] += 1.0;
        let mut squeezed = stats;
        squeezed[model.layout.first(0).start] += 1e6;
        for impossible in [negative, miscounted, squeezed] {
            assert!(!model.are_possible(&impossible, &largest));
        }
    }
}
