//! Discard scores, against sums over particles of quantities integrated by brute force.

use sapwood::bank::{Bank, Rows};
use sapwood::config::{CloudConfig, Discard, Task};
use sapwood_oracle::check::LeafMass;
use sapwood_oracle::leaf::gaussian::{self, Row};
use sapwood_oracle::leaf::{Datum, GaussianPrior, LeafModel, Nig};
use sapwood_oracle::rng::Rng;
use sapwood_oracle::settings::Settings;
use sapwood_oracle::tree::{Split, Tree};

use crate::adapter::{config, gaussian_cloud, rebuild};

type Point = (Vec<f64>, f64);

/// Calls `visit` with the box and the points of every leaf of a tree.
fn for_each_leaf(
    tree: &Tree<Split, LeafMass>,
    (lower, upper): (&[f64], &[f64]),
    points: &[Point],
    visit: &mut impl FnMut(&[f64], &[f64], &[Point]),
) {
    match tree {
        Tree::Leaf(_) => visit(lower, upper, points),
        Tree::Split(split, left, right) => {
            let (below, above): (Vec<Point>, Vec<Point>) = points.iter().cloned().partition(|p| split.goes_left(&p.0));
            let (mut end, mut start) = (upper.to_vec(), lower.to_vec());
            end[split.dim] = split.cut;
            start[split.dim] = split.cut;
            for_each_leaf(left, (lower, &end), &below, visit);
            for_each_leaf(right, (&start, upper), &above, visit);
        }
    }
}

/// Smallest and largest value of each input.
fn range(points: &[Point]) -> (Vec<f64>, Vec<f64>) {
    let bound = |pick: fn(f64, f64) -> f64| -> Vec<f64> {
        (0..points[0].0.len()).map(|dim| points.iter().map(|(x, _)| x[dim]).reduce(pick).expect("points")).collect()
    };
    (bound(f64::min), bound(f64::max))
}

/// Mean over trees of the score of each point in its leaf.
fn averaged(trees: &[Tree<Split, LeafMass>], points: &[Point], score: impl Fn(&Point, &[f64], &[f64], &[Point]) -> f64) -> Vec<f64> {
    let (lower, upper) = range(points);
    let mut scores = vec![0.0; points.len()];
    for tree in trees {
        for_each_leaf(tree, (&lower, &upper), points, &mut |low, high, held| {
            for point in held {
                let ix = points.iter().position(|other| other == point).expect("a point of the pool");
                scores[ix] += score(point, low, high, held) / trees.len() as f64;
            }
        });
    }
    scores
}

/// Volumes are relative to the range of the inputs. Tolerance: rounding of sums over sixty points and forty particles.
#[test]
fn alc_scores_are_expected_reductions_of_variance() {
    let prior = GaussianPrior::Nig(Nig {
        precision: vec![vec![0.3, 0.0, 0.0], vec![0.0, 0.3, 0.1], vec![0.0, 0.1, 0.3]],
        mean: vec![0.1, 0.2, 0.3],
        nu0: 3.0,
        s0: 0.1,
        ln_occam: None,
    });
    let settings = Settings::new(2, LeafModel::Linear(prior.clone()), 5);
    let config = CloudConfig { discard: Discard::Alc, ..config(&settings, 40) };
    let mut cloud = gaussian_cloud(&config, 2, &prior, 8);
    let mut rng = Rng::new(21);
    let mut points = Vec::new();
    for _ in 0..60 {
        let x = vec![rng.uniform(), 3.0 + 2.0 * rng.uniform()];
        let y = if x[0] > 0.5 { x[1] } else { -1.0 } + 0.1 * rng.uniform();
        cloud.observe(&x, y, 1.0);
        points.push((x, y));
    }
    let trees: Vec<_> = (0..40).map(|ix| rebuild(&cloud.tree(ix).expect("a particle"), 0)).collect();
    assert!(trees.iter().any(|tree| tree.leaves().len() > 1), "every tree is a lone root");
    let row = |(x, y): &Point| Row { z: vec![1.0, x[0], x[1]], y: *y, weight: 1.0 };
    let (lower, upper) = range(&points);
    let volume: f64 = lower.iter().zip(&upper).map(|(a, b)| b - a).product();
    let expected = averaged(&trees, &points, |point, low, high, held| {
        let rows: Vec<Row> = held.iter().map(row).collect();
        gaussian::alc(&prior, &rows, &row(point).z, low, high).expect("df > 2") / volume
    });
    for (point, expected) in cloud.active().iter().zip(&expected) {
        let error = (point.score - expected).abs() / expected;
        assert!(error < 1e-9, "{:?}: {} against {expected}", point.x, point.score);
    }
}

#[test]
fn entropy_scores_are_entropies_of_leaves() {
    let leaf = LeafModel::Multinomial { n_classes: 3, baseline: 0.5 };
    let settings = Settings::new(2, leaf.clone(), 1);
    let config = CloudConfig { discard: Discard::Entropy, ..config(&settings, 40) };
    let mut bank = Bank::new(Task::Classification, 2, 3, &[config], 4).expect("a valid bank");
    let mut rng = Rng::new(22);
    let mut points = Vec::new();
    for _ in 0..60 {
        let x = vec![rng.uniform(), rng.uniform()];
        let y = if rng.uniform() < 0.2 { rng.below(3) as f64 } else { (3.0 * x[0]).floor() };
        bank.learn(Rows::new(&x, 2), &[y], None, 1, &mut || true).expect("a valid row");
        points.push((x, y));
    }
    let member = bank.member(0).expect("one member");
    let trees: Vec<_> = (0..40).map(|ix| rebuild(&member.tree(ix).expect("a particle"), 0)).collect();
    let expected = averaged(&trees, &points, |_, _, _, held| {
        let data: Vec<Datum> = held.iter().map(|(x, y)| Datum { x, y: *y, weight: 1.0 }).collect();
        (0..3).map(|class| leaf.ln_predictive(&data, &[0.0, 0.0], f64::from(class)).expect("proper")).map(|ln_p| -ln_p * ln_p.exp()).sum()
    });
    for (point, expected) in member.active().iter().zip(&expected) {
        assert!((point.score - expected).abs() < 1e-9, "{:?}: {} against {expected}", point.x, point.score);
    }
}
