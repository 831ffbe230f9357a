//! Clouds of one particle under the default prior, against their slow twin: at every step the weight of the row, the mass of every leaf, the
//! point that is retired and a forecast must be the twin's to rounding, and over all steps every kind of move must come as often as the twin's
//! probabilities say.
//!
//! False alarms: the comparisons are exact but for rounding; each of the counts of moves is normal in units of its standard deviation, and five of them
//! are exceeded by chance once in two million.

use sapwood::cloud::{Cloud, ForecastScratch, TreeNode};
use sapwood::config::{self, CloudConfig, Discard, Division, Task};
use sapwood::leaf::{ClassificationLeaf, Covariance, Discriminant, Gaussian, GaussianPrior, LeafModel, Multinomial};
use sapwood::predict::Mixture;
use sapwood_oracle::check::LeafMass;
use sapwood_oracle::product::moves::Tally;
use sapwood_oracle::product::twin::{Kind, Leaf, Options, Twin};
use sapwood_oracle::rng::Rng;
use sapwood_oracle::settings::Evidence;
use sapwood_oracle::tree::{Split, SplitPrior, Tree};

/// Largest number of standard deviations by which a count of moves may be off.
const FIVE_SIGMA: f64 = 5.0;

/// A configuration and the stream that it learns.
#[derive(Clone, Copy)]
struct Case {
    kind: Kind,
    discard: Discard,
    max_active: usize,
    forgetting: Option<f64>,
    evidence: Evidence,
    min_leaf: usize,
    /// Every so many values is missing; every so many rows has a weight of its own (0 for never).
    missing_every: usize,
    weight_every: usize,
    /// Half of the streams are wide at the end: the range grows when the pool is full.
    widens: bool,
}

const N_INPUTS: usize = 2;

impl Case {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            discard: Discard::Oldest,
            max_active: 16,
            forgetting: Some(0.9),
            evidence: Evidence::Joint,
            min_leaf: 2,
            missing_every: 0,
            weight_every: 0,
            widens: false,
        }
    }

    fn config(&self) -> CloudConfig {
        let leaf = match self.kind {
            Kind::Constant => config::Leaf::Constant,
            Kind::Linear => config::Leaf::Linear,
            Kind::Multinomial { .. } => config::Leaf::Multinomial,
            Kind::Discriminant { by_class, .. } => {
                if by_class {
                    config::Leaf::Quadratic
                } else {
                    config::Leaf::Discriminant
                }
            }
        };
        CloudConfig {
            n_particles: 1,
            max_active: Some(self.max_active),
            discard: self.discard,
            forgetting: self.forgetting,
            evidence: match self.evidence {
                Evidence::Joint => config::Evidence::Joint,
                Evidence::Conditional => config::Evidence::Conditional,
            },
            division: Some(Division::Proportional),
            min_leaf: Some(self.min_leaf),
            n_candidates: Some(1),
            ..CloudConfig::new(leaf)
        }
    }

    fn options(&self) -> Options {
        let split_prior = SplitPrior { alpha: 0.95, beta: 2.0 };
        Options { kind: self.kind, n_inputs: N_INPUTS, min_leaf: self.min_leaf, evidence: self.evidence, split_prior }
    }

    /// Steps in both inputs, so that trees of several levels are grown and pruned again; classes overlap.
    fn row(&self, rng: &mut Rng, at: usize, n_rows: usize) -> (Vec<f64>, f64, f64) {
        let reach = if self.widens && at > n_rows / 2 { 1.0 + at as f64 / n_rows as f64 } else { 1.0 };
        let mut x = vec![reach * rng.uniform(), 3.0 + reach * 2.0 * rng.uniform()];
        // Some values come more than once.
        x[0] = (x[0] * 40.0).floor() / 40.0;
        let (a, b) = (x[0] > 0.5, x[1] > 3.8);
        let drift = if at > n_rows / 2 { -1.0 } else { 1.0 };
        let y = match self.kind {
            Kind::Constant | Kind::Linear => {
                drift * if a { 1.0 } else { -1.0 } + if b { 0.7 } else { 0.0 } + 0.4 * x[1] + 0.8 * (rng.uniform() + rng.uniform() - 1.0)
            }
            Kind::Multinomial { n_classes } | Kind::Discriminant { n_classes, .. } => {
                let class = usize::from(a != (drift < 0.0)) + usize::from(b && n_classes > 2);
                if rng.uniform() < 0.25 { rng.below(n_classes) as f64 } else { class as f64 }
            }
        };
        if self.missing_every > 0 && rng.below(self.missing_every) == 0 {
            x[rng.below(N_INPUTS)] = f64::NAN;
        }
        let weight = if self.weight_every > 0 && rng.below(self.weight_every) == 0 { 0.5 + 2.0 * rng.uniform() } else { 1.0 };
        (x, y, weight)
    }
}

/// The engine's clouds, of whatever leaf.
trait Particle {
    fn learn(&mut self, x: &[f64], y: f64, weight: f64) -> f64;
    fn tree(&self) -> Tree<Split, LeafMass>;
    fn forgetting(&self) -> f64;
    /// Inputs, targets, weights and scores of the pool.
    fn pool(&self) -> Vec<Point>;
    fn ln_predictive(&self, x: &[f64], y: f64) -> f64;
}

fn rebuild(nodes: &[TreeNode], at: usize) -> Tree<Split, LeafMass> {
    let node = &nodes[at];
    match node.split {
        None => Tree::Leaf(LeafMass { active: node.n_active, retired: node.n_retired }),
        Some((split, left, right)) => {
            let split = Split { dim: split.dim as usize, cut: split.cut, nan_left: split.nan_left };
            Tree::split(split, rebuild(nodes, left), rebuild(nodes, right))
        }
    }
}

struct Numbers(Cloud<Gaussian>);
struct Classes<M: LeafModel>(Cloud<M>);

macro_rules! shared {
    () => {
        fn learn(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
            self.0.observe(x, y, weight)
        }

        fn tree(&self) -> Tree<Split, LeafMass> {
            rebuild(&self.0.tree(0).expect("a particle"), 0)
        }

        fn forgetting(&self) -> f64 {
            self.0.particle_stats()[0].forgetting
        }

        fn pool(&self) -> Vec<Point> {
            self.0.active().into_iter().map(|point| (point.x, point.y, point.weight, point.score)).collect()
        }
    };
}

impl Particle for Numbers {
    shared!();

    fn ln_predictive(&self, x: &[f64], y: f64) -> f64 {
        let mut mixture = Mixture::default();
        self.0.add_components(x, 1.0, &mut ForecastScratch::default(), &mut mixture);
        mixture.ln_density(y)
    }
}

impl<M: ClassificationLeaf> Particle for Classes<M> {
    shared!();

    fn ln_predictive(&self, x: &[f64], y: f64) -> f64 {
        let mut probabilities = vec![0.0; self.0.model().n_classes()];
        self.0.add_class_probabilities(x, 1.0, &mut ForecastScratch::default(), &mut probabilities);
        probabilities[y as usize].ln()
    }
}

fn engine(case: &Case, seed: u64) -> Box<dyn Particle> {
    let is_number = matches!(case.kind, Kind::Constant | Kind::Linear);
    let task = if is_number { Task::Regression } else { Task::Classification };
    let settings = case.config().check(task, N_INPUTS).expect("a valid configuration");
    let covariance = |by_class| if by_class { Covariance::ByClass } else { Covariance::Pooled };
    match case.kind {
        Kind::Constant => Box::new(Numbers(Cloud::new(settings, Gaussian::constant(GaussianPrior::default_for(0)), seed))),
        Kind::Linear => Box::new(Numbers(Cloud::new(settings, Gaussian::linear(N_INPUTS, GaussianPrior::default_for(N_INPUTS)), seed))),
        Kind::Multinomial { n_classes } => Box::new(Classes(Cloud::new(settings, Multinomial::new(n_classes, None), seed))),
        Kind::Discriminant { n_classes, by_class } => {
            Box::new(Classes(Cloud::new(settings, Discriminant::new(N_INPUTS, n_classes, covariance(by_class), None), seed)))
        }
    }
}

/// Rounding of sums of tens of terms of order one, some of them about an origin of their own.
#[track_caller]
fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() < 1e-7 * (1.0 + a.abs().max(b.abs())), "{what}: {a} against {b}");
}

/// Run a case on `n_streams` streams of `n_rows` rows; returns the counts of moves.
fn run(case: &Case, n_streams: u64, n_rows: usize) -> Tally {
    let mut tally = Tally::default();
    for stream in 0..n_streams {
        let mut rng = Rng::new(1000 + stream);
        let (mut particle, mut twin) = (engine(case, 77 + stream), Twin::new(case.options()));
        for at in 0..n_rows {
            let (x, y, weight) = case.row(&mut rng, at, n_rows);
            let what = |of: &str| format!("{of}, row {at} of stream {stream}");
            let expected = twin.ln_weight(&x, y, weight);
            assert_close(particle.learn(&x, y, weight), expected, &what("weight"));
            let moves = twin.learn(&x, y, weight);
            let total = moves.stay + moves.prune + moves.grows.iter().map(|grow| grow.p).sum::<f64>();
            assert_close(total, 1.0, "probabilities of the moves");
            let tree = particle.tree();
            tally.add(&moves, twin.follow(&x, &tree));
            follow_discard(case, &mut twin, particle.as_ref(), &what("discard"));
            compare_masses(&twin, &tree, &twin.tree, &what("mass"));
            if at >= 4 {
                let (x, y, _) = case.row(&mut rng, at, n_rows);
                assert_close(particle.ln_predictive(&x, y), twin.ln_predictive(&x, y), &what("forecast"));
            }
        }
    }
    tally
}

type Point = (Vec<f64>, f64, f64, f64);

fn is_same(twin: &Twin, row: usize, point: &Point) -> bool {
    let (x, y, weight) = twin.row(row);
    let same_bits = x.iter().zip(&point.0).all(|(a, b)| a.to_bits() == b.to_bits());
    same_bits && y == point.1 && weight == point.2
}

/// Let the twin retire what the engine has retired, after asking whether that was right.
fn follow_discard(case: &Case, twin: &mut Twin, particle: &dyn Particle, what: &str) {
    let pool = particle.pool();
    if twin.active.len() > case.max_active {
        let is_gone = |at: &usize| pool.get(*at).is_none_or(|point| !is_same(twin, twin.active[*at], point));
        let mut gone = (0..twin.active.len()).find(is_gone).expect("a point is gone");
        // Of equal neighbours any may be gone; take it to be the oldest.
        while gone > 0 && is_same(twin, twin.active[gone], &pool[gone - 1]) {
            gone -= 1;
        }
        match case.discard {
            Discard::Oldest => assert_eq!(gone, 0, "{what}"),
            Discard::Random => {}
            Discard::Alc | Discard::Entropy => {
                let scores = twin.scores();
                let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
                // The oldest of those that rounding cannot tell apart.
                let first = scores.iter().position(|score| *score <= least * (1.0 + 1e-7));
                assert_eq!(Some(gone), first, "{what}: {scores:?}");
            }
        }
        twin.retire(gone, particle.forgetting());
    }
    assert_eq!(pool.len(), twin.active.len(), "{what}");
    assert!(pool.iter().zip(&twin.active).all(|(point, row)| is_same(twin, *row, point)), "{what}");
    if matches!(case.discard, Discard::Alc | Discard::Entropy) {
        for (point, score) in pool.iter().zip(twin.scores()) {
            assert_close(point.3 / score, 1.0, what);
        }
    }
}

fn compare_masses(twin: &Twin, engine: &Tree<Split, LeafMass>, own: &Tree<Split, Leaf>, what: &str) {
    for (mass, leaf) in engine.leaves().into_iter().zip(own.leaves()) {
        assert_eq!(mass.active, leaf.active.len() as f64, "{what}");
        assert_close(mass.retired, twin.retired_mass(leaf), what);
    }
}

#[track_caller]
fn assert_moves_are_as_likely_as_they_should(case: &Case, n_streams: u64, n_rows: usize) {
    let tally = run(case, n_streams, n_rows);
    for sum in &tally.sums {
        println!("{:45} {:8.0} events, {:6.2} sigma", sum.name, sum.n_events, sum.deviation());
    }
    for sum in &tally.sums {
        assert!(sum.deviation().abs() < FIVE_SIGMA, "{}: {:.1} sigma", sum.name, sum.deviation());
    }
    // Otherwise hardly anything has been tested.
    assert!(tally.sums[0].n_events > 100.0 && tally.sums[4].n_events > 100.0, "too few moves");
}

const CLASSES: Kind = Kind::Multinomial { n_classes: 3 };

#[test]
fn class_counts() {
    assert_moves_are_as_likely_as_they_should(&Case { min_leaf: 1, ..Case::new(CLASSES) }, 60, 200);
}

#[test]
fn class_counts_with_missing_values_and_weights() {
    let case = Case { missing_every: 3, weight_every: 4, max_active: 20, forgetting: None, ..Case::new(CLASSES) };
    assert_moves_are_as_likely_as_they_should(&case, 60, 200);
}

#[test]
fn class_counts_under_the_conditional_evidence() {
    let case = Case { evidence: Evidence::Conditional, discard: Discard::Random, missing_every: 6, ..Case::new(CLASSES) };
    assert_moves_are_as_likely_as_they_should(&case, 60, 200);
}

/// Most points tie with others of their leaf.
#[test]
fn class_counts_discarded_by_entropy() {
    let case = Case { discard: Discard::Entropy, forgetting: Some(0.8), missing_every: 9, weight_every: 3, ..Case::new(CLASSES) };
    assert_moves_are_as_likely_as_they_should(&case, 40, 200);
}

#[test]
fn constant_leaves() {
    assert_moves_are_as_likely_as_they_should(&Case { forgetting: Some(1.0), ..Case::new(Kind::Constant) }, 40, 200);
}

#[test]
fn constant_leaves_with_missing_values_and_weights() {
    let case = Case { missing_every: 3, weight_every: 3, min_leaf: 3, forgetting: None, max_active: 24, ..Case::new(Kind::Constant) };
    assert_moves_are_as_likely_as_they_should(&case, 40, 200);
}

#[test]
fn linear_leaves() {
    let case = Case { min_leaf: 3, max_active: 20, forgetting: Some(0.95), ..Case::new(Kind::Linear) };
    assert_moves_are_as_likely_as_they_should(&case, 40, 150);
}

#[test]
fn linear_leaves_with_missing_values_and_weights() {
    let case = Case { missing_every: 4, weight_every: 4, min_leaf: 3, max_active: 20, forgetting: None, ..Case::new(Kind::Linear) };
    assert_moves_are_as_likely_as_they_should(&case, 40, 150);
}

#[test]
fn linear_leaves_under_the_conditional_evidence() {
    let case = Case { evidence: Evidence::Conditional, min_leaf: 3, max_active: 20, ..Case::new(Kind::Linear) };
    assert_moves_are_as_likely_as_they_should(&case, 30, 150);
}

/// The range of the inputs, which bounds the boxes, grows long after the pool is full.
#[test]
fn linear_leaves_discarded_by_alc() {
    let case = Case { discard: Discard::Alc, widens: true, min_leaf: 3, max_active: 16, ..Case::new(Kind::Linear) };
    assert_moves_are_as_likely_as_they_should(&case, 30, 150);
}

#[test]
fn discriminant_leaves() {
    let kind = Kind::Discriminant { n_classes: 3, by_class: false };
    assert_moves_are_as_likely_as_they_should(&Case { weight_every: 5, missing_every: 9, ..Case::new(kind) }, 12, 150);
}

#[test]
fn quadratic_leaves() {
    let kind = Kind::Discriminant { n_classes: 2, by_class: true };
    assert_moves_are_as_likely_as_they_should(&Case { forgetting: None, ..Case::new(kind) }, 12, 150);
}
