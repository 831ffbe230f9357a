//! Identities that hold in every particle at every step, to rounding.

use super::{Bench, Check, Filter, LeafMass, Outcome, ROUNDING, SIX_SIGMA, seed, standard_errors, worst};
use crate::leaf::{Datum, Discriminant, GaussianPrior, LeafModel, Nig};
use crate::rng::Rng;
use crate::settings::{Discard, Forgetting, Settings};
use crate::tree::{Split, Tree};

pub fn checks<B: Bench>() -> Vec<Check<B>> {
    let exact = |name, null, statistic, run| Check { name, null, statistic, false_alarm: 0.0, run };
    vec![
        exact(
            "active counts",
            "in every particle each leaf counts the pool's points that the tree sends there",
            "worst difference of counts, leaf by leaf",
            active_counts,
        ),
        exact(
            "weigh = predict",
            "the evidence of a step is the predictive answered just before it, missing inputs included",
            "worst difference of logs",
            weigh_is_predict,
        ),
        exact(
            "retire, lambda=1",
            "retiring points changes no predictive",
            "worst difference of log predictives on a grid",
            retirement_invariance,
        ),
        exact(
            "one leaf",
            "a lone root predicts as a leaf of all points does, the retired ones with weight lambda^(retired since)",
            "worst difference of a step's log evidence from the leaf's log predictive, over every kind of leaf",
            one_leaf,
        ),
        exact(
            "retired mass",
            "with lambda=1 every particle's retired mass is the number of points retired, whatever it grew and pruned",
            "worst difference of masses",
            retired_mass,
        ),
        exact(
            "local moves",
            "a step changes the tree only at the new point's leaf or its parent; a prune adds the retired masses, a grow \
             divides them in proportion to the active points",
            "worst difference of masses; infinite when the change is not local",
            local_moves,
        ),
        exact(
            "forgetting bound",
            "a lone root that retired r points holds (1 - lambda^r)/(1 - lambda), below 1/(1 - lambda)",
            "worst difference of masses",
            forgetting_bound,
        ),
        Check {
            name: "random discard",
            null: "the first point discarded at random is uniform over the pool, the newest included",
            statistic: "worst distance of a position's frequency in standard errors",
            false_alarm: 1e-7,
            run: random_discard,
        },
    ]
}

/// Two noisy classes that depend on two inputs; optionally every seventh input is missing.
fn stream(name: &str, n: usize, missing: bool) -> Vec<(Vec<f64>, f64)> {
    let mut rng = Rng::new(seed(name, 0));
    (0..n)
        .map(|ix| {
            let mut x = vec![rng.uniform(), rng.uniform()];
            let class = (x[0] > 0.5) != (x[1] > 0.4) && rng.uniform() < 0.9;
            if missing && ix % 7 == 3 {
                x[ix % 2] = f64::NAN;
            }
            (x, f64::from(u8::from(class)))
        })
        .collect()
}

fn settings(capacity: Option<usize>, forgetting: f64) -> Settings {
    let leaf = LeafModel::Multinomial { n_classes: 2, baseline: 0.5 };
    Settings { capacity, forgetting: Forgetting::Fixed(forgetting), ..Settings::new(2, leaf, 2) }
}

fn active_counts<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let mut filter = bench.start(seed("active counts", 0), 40, &settings(Some(25), 0.9));
    let mut value = 0.0;
    for (x, y) in stream("active counts", 70, true) {
        filter.observe(&x, y);
        let pool: Vec<Vec<f64>> = filter.active().into_iter().map(|(x, _)| x).collect();
        value = worst(filter.trees().iter().map(|tree| count_difference(tree, &pool)).chain([value]));
    }
    Outcome { value, limit: 0.0 }
}

fn count_difference(tree: &Tree<Split, LeafMass>, points: &[Vec<f64>]) -> f64 {
    match tree {
        Tree::Leaf(mass) => (mass.active - points.len() as f64).abs(),
        Tree::Split(split, left, right) => {
            let (below, above): (Vec<_>, Vec<_>) = points.iter().cloned().partition(|x| split.goes_left(x));
            count_difference(left, &below).max(count_difference(right, &above))
        }
    }
}

fn weigh_is_predict<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let mut filter = bench.start(seed("weigh", 0), 40, &settings(Some(30), 0.9));
    let mut value = 0.0;
    for (x, y) in stream("weigh", 80, true) {
        let (before, predicted) = (filter.ln_evidence(), filter.ln_predictive(&x, y));
        filter.observe(&x, y);
        value = worst([value, (filter.ln_evidence() - before - predicted).abs()]);
    }
    Outcome { value, limit: ROUNDING }
}

fn retirement_invariance<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let mut filter = bench.start(seed("retire", 0), 40, &settings(None, 1.0));
    for (x, y) in stream("retire", 40, false) {
        filter.observe(&x, y);
    }
    let grid: Vec<Vec<f64>> = (0..25).map(|i| vec![f64::from(i % 5) / 4.0, f64::from(i / 5) / 4.0]).collect();
    let surface = |filter: &B::Filter| -> Vec<f64> { grid.iter().map(|x| filter.ln_predictive(x, 1.0)).collect() };
    let before = surface(&filter);
    let mut value = 0.0;
    for _ in 0..30 {
        filter.retire_oldest();
        value = worst(before.iter().zip(surface(&filter)).map(|(a, b)| (a - b).abs()).chain([value]));
    }
    Outcome { value, limit: ROUNDING }
}

fn one_leaf<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let nig = |m: usize| {
        let mut precision = vec![vec![0.1; m]; m];
        for (i, row) in precision.iter_mut().enumerate() {
            row[i] = 0.5;
        }
        GaussianPrior::Nig(Nig { precision, mean: vec![0.2; m], nu0: 2.0, s0: 0.4, ln_occam: None })
    };
    let classes = LeafModel::Multinomial { n_classes: 2, baseline: 0.5 };
    let discriminant = |by_class, diagonal| {
        LeafModel::Discriminant(Discriminant { n_classes: 2, baseline: 0.5, ridge: vec![0.05, 0.2], by_class, diagonal, mistake: None })
    };
    let models = [
        classes,
        LeafModel::Constant(nig(1)),
        LeafModel::Linear(nig(3)),
        discriminant(false, false),
        discriminant(true, false),
        discriminant(true, true),
    ];
    let (capacity, lambda) = (12, 0.9_f64);
    let mut value = 0.0;
    for leaf in models {
        let alone = Settings { leaf, min_leaf: 100, ..settings(Some(capacity), lambda) };
        let mut filter = bench.start(seed("one leaf", 0), 2, &alone);
        let points = stream("one leaf", 40, false);
        for (now, (x, y)) in points.iter().enumerate() {
            let before = filter.ln_evidence();
            filter.observe(x, *y);
            let n_retired = now.saturating_sub(capacity);
            let weight = |ix: usize| if ix < n_retired { lambda.powi((n_retired - 1 - ix) as i32) } else { 1.0 };
            let past: Vec<Datum> = points[..now].iter().enumerate().map(|(ix, (x, y))| Datum { x, y: *y, weight: weight(ix) }).collect();
            let expected = alone.leaf.ln_predictive(&past, x, *y).expect("the priors are proper");
            value = worst([value, (filter.ln_evidence() - before - expected).abs()]);
        }
    }
    Outcome { value, limit: ROUNDING }
}

fn retired_mass<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let capacity = 15;
    let mut filter = bench.start(seed("mass", 0), 40, &settings(Some(capacity), 1.0));
    let mut value = 0.0;
    for (ix, (x, y)) in stream("mass", 70, false).into_iter().enumerate() {
        filter.observe(&x, y);
        let expected = (ix + 1).saturating_sub(capacity) as f64;
        let masses = filter.trees();
        let differences = masses.iter().map(|tree| (tree.leaves().iter().map(|leaf| leaf.retired).sum::<f64>() - expected).abs());
        value = worst(differences.chain([value]));
    }
    Outcome { value, limit: ROUNDING }
}

/// A cloud of one particle has no other ancestor: its tree before and after a step differ by one move.
fn local_moves<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let mut value = 0.0;
    for cloud in 0..20 {
        let mut filter = bench.start(seed("moves", cloud), 1, &settings(None, 1.0));
        for (ix, (x, y)) in stream("moves", 60, false).into_iter().enumerate() {
            let before = filter.trees().swap_remove(0);
            filter.observe(&x, y);
            value = worst([value, move_difference(&before, &filter.trees()[0], Some(&x))]);
            if ix >= 20 {
                filter.retire_oldest();
            }
        }
    }
    Outcome { value, limit: ROUNDING }
}

/// How far `after` is from `before` with at most one move at the leaf of `x` (`None`: `x` is elsewhere).
fn move_difference(before: &Tree<Split, LeafMass>, after: &Tree<Split, LeafMass>, x: Option<&[f64]>) -> f64 {
    let retired = |tree: &Tree<Split, LeafMass>| tree.leaves().iter().map(|leaf| leaf.retired).sum::<f64>();
    match (before, after, x) {
        (Tree::Leaf(a), Tree::Leaf(b), _) => (a.retired - b.retired).abs(),
        (Tree::Leaf(parent), Tree::Split(_, left, right), Some(_)) => {
            let (Tree::Leaf(l), Tree::Leaf(r)) = (&**left, &**right) else { return f64::INFINITY };
            let n = l.active + r.active;
            worst([l, r].map(|child| (child.retired - parent.retired * child.active / n).abs()))
        }
        (Tree::Split(split, left, right), Tree::Leaf(merged), Some(x)) => {
            let at_x = if split.goes_left(x) { left } else { right };
            if matches!(**at_x, Tree::Split(..)) {
                return f64::INFINITY;
            }
            (merged.retired - retired(before)).abs()
        }
        (Tree::Split(a, a_left, a_right), Tree::Split(b, b_left, b_right), _) if a == b => {
            let goes_left = x.map(|x| a.goes_left(x));
            let on = |side: bool| x.filter(|_| goes_left == Some(side));
            worst([move_difference(a_left, b_left, on(true)), move_difference(a_right, b_right, on(false))])
        }
        _ => f64::INFINITY,
    }
}

/// A prune adds two masses and may exceed the bound of one leaf, so the check uses a tree that cannot grow.
fn forgetting_bound<B: Bench>(bench: &B, _effort: u64) -> Outcome {
    let (capacity, lambda) = (5, 0.8_f64);
    let alone = Settings { min_leaf: 100, ..settings(Some(capacity), lambda) };
    let mut filter = bench.start(seed("bound", 0), 4, &alone);
    let mut value = 0.0;
    for (ix, (x, y)) in stream("bound", 60, false).into_iter().enumerate() {
        filter.observe(&x, y);
        let n_retired = (ix + 1).saturating_sub(capacity) as i32;
        let expected = (1.0 - lambda.powi(n_retired)) / (1.0 - lambda);
        let masses = filter.trees();
        value = worst(masses.iter().map(|tree| (tree.leaves()[0].retired - expected).abs()).chain([value]));
    }
    Outcome { value, limit: ROUNDING }
}

fn random_discard<B: Bench>(bench: &B, effort: u64) -> Outcome {
    let (capacity, n_clouds) = (4, 2000 * effort);
    let settings = Settings { discard: Discard::Random, ..settings(Some(capacity), 1.0) };
    let points: Vec<(Vec<f64>, f64)> = stream("discard", capacity + 1, false);
    let mut discarded = vec![Vec::new(); points.len()];
    for cloud in 0..n_clouds {
        let mut filter = bench.start(seed("discard", cloud), 1, &settings);
        for (x, y) in &points {
            filter.observe(x, *y);
        }
        let left: Vec<Vec<f64>> = filter.active().into_iter().map(|(x, _)| x).collect();
        for (sample, (x, _)) in discarded.iter_mut().zip(&points) {
            sample.push(f64::from(u8::from(!left.contains(x))));
        }
    }
    let share = 1.0 / points.len() as f64;
    Outcome { value: worst(discarded.iter().map(|sample| standard_errors(sample, share))), limit: SIX_SIGMA }
}
