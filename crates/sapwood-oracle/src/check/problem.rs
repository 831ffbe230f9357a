//! Small problems whose filter can be enumerated.

use crate::filter::ExactFilter;
use crate::leaf::{Discriminant, GaussianPrior, LeafModel, Nig};
use crate::settings::{Evidence, Forgetting, Settings};
use crate::tree::SplitPrior;

/// A short stream of integer inputs with the settings under which it is learned.
pub struct Problem {
    pub name: &'static str,
    pub settings: Settings,
    pub stream: Vec<(i64, f64)>,
}

impl Problem {
    pub fn solve(&self) -> ExactFilter {
        let mut exact = ExactFilter::new(&self.settings);
        for (x, y) in &self.stream {
            exact.observe(*x, *y);
        }
        exact
    }
}

fn two_classes(baseline: f64) -> LeafModel {
    LeafModel::Multinomial { n_classes: 2, baseline }
}

/// Four inputs (15 trees) whose classes alternate, so that deep trees are worth growing; nothing retires.
pub fn full() -> Problem {
    let inputs = [0, 3, 1, 2, 3, 0, 2, 1, 3, 0, 1, 2];
    let stream = inputs.iter().map(|x| (*x, (x % 2) as f64)).collect();
    Problem { name: "full", settings: Settings::new(1, two_classes(0.5), 1), stream }
}

/// Three inputs, a pool of four, forgetting: the state carries retired weights.
pub fn forgetting() -> Problem {
    let stream = vec![(0, 0.0), (2, 1.0), (1, 0.0), (2, 1.0), (0, 1.0), (1, 1.0), (2, 0.0), (0, 0.0), (2, 1.0), (1, 0.0)];
    let settings = Settings { capacity: Some(4), forgetting: Forgetting::Fixed(0.7), ..Settings::new(1, two_classes(0.5), 1) };
    Problem { name: "forgetting", settings, stream }
}

/// Like [`forgetting`], with one factor per particle. Long runs of one class, then of the other,
/// make the factors differ in what they predict.
pub fn carried() -> Problem {
    let stream = [0, 2, 1, 2, 0, 1, 2, 0].iter().zip([0, 0, 0, 0, 0, 1, 1, 1]);
    let values = vec![1.0, 0.99, 0.97, 0.9, 0.8, 0.5, 0.0];
    let settings = Settings {
        capacity: Some(3),
        forgetting: Forgetting::Carried { values, mutation: 0.001 },
        ..Settings::new(1, two_classes(0.5), 1)
    };
    Problem { name: "carried", settings, stream: stream.map(|(x, y)| (*x, f64::from(y))).collect() }
}

/// Conditional evidence: a retirement changes the score of its leaf even at lambda = 1, and alternating inputs make sure that
/// the leaf is next evaluated as a sibling. A tree prior under which pruning is as likely as growing.
pub fn conditional() -> Problem {
    let stream = [0, 2, 1, 2, 0, 2, 1, 0, 2, 0, 1].iter().zip([0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0]);
    let settings = Settings {
        capacity: Some(3),
        evidence: Evidence::Conditional,
        split_prior: SplitPrior { alpha: 0.5, beta: 0.5 },
        ..Settings::new(1, two_classes(0.5), 1)
    };
    Problem { name: "conditional", settings, stream: stream.map(|(x, y)| (*x, f64::from(y))).collect() }
}

/// Gaussian leaves, several candidates, at least two points per leaf, a pool of six.
pub fn gaussian() -> Problem {
    let prior = Nig { precision: vec![vec![0.4]], mean: vec![0.3], nu0: 2.0, s0: 0.5, ln_occam: None };
    let leaf = LeafModel::Constant(GaussianPrior::Nig(prior));
    let settings = Settings { capacity: Some(6), n_candidates: 2, ..Settings::new(1, leaf, 2) };
    let stream = vec![(0, -0.9), (3, 1.4), (1, -1.1), (3, 1.9), (2, 0.2), (0, -1.3), (2, 0.7), (1, -0.6), (3, 1.2), (0, -0.8)];
    Problem { name: "gaussian", settings, stream }
}

/// Discriminant leaves with all three nested models, a pool of five, forgetting. Class 1 lies in the middle of class 0, so that neither one
/// split nor one line separates them.
pub fn discriminant() -> Problem {
    let leaf = Discriminant { n_classes: 2, baseline: 0.5, ridge: vec![0.4], by_class: true, diagonal: false, mistake: None };
    let settings = Settings { capacity: Some(5), forgetting: Forgetting::Fixed(0.8), ..Settings::new(1, LeafModel::Discriminant(leaf), 1) };
    let stream = [0, 2, 1, 2, 0, 1, 2, 1, 0].iter().zip([0, 0, 1, 0, 0, 1, 0, 1, 1]);
    Problem { name: "discriminant", settings, stream: stream.map(|(x, y)| (*x, f64::from(y))).collect() }
}

/// One class only: every predictive is 1 and every evidence 0, and the cloud follows the prior's own recursion.
pub fn prior_only() -> Problem {
    let leaf = LeafModel::Multinomial { n_classes: 1, baseline: 1.0 };
    let stream = [0, 4, 2, 1, 3, 4, 0, 2, 3, 1].iter().map(|x| (*x, 0.0)).collect();
    Problem { name: "prior_only", settings: Settings::new(1, leaf, 1), stream }
}

pub fn problems() -> Vec<Problem> {
    vec![full(), forgetting(), carried(), conditional(), gaussian(), discriminant(), prior_only()]
}
