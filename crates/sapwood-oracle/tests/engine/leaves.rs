//! Features of leaves that the checks do not cover: the reference prior, and the Gaussian division of retired mass.

use sapwood::config::Division;
use sapwood_oracle::leaf::{Datum, GaussianPrior, LeafModel, Nig};
use sapwood_oracle::rng::Rng;
use sapwood_oracle::settings::Settings;

use crate::adapter::{config, gaussian_cloud};

fn stream(seed: u64, n: usize) -> Vec<(Vec<f64>, f64)> {
    let mut rng = Rng::new(seed);
    (0..n)
        .map(|_| {
            let x = vec![rng.uniform(), rng.uniform()];
            let y = if x[0] > 0.5 { 2.0 * x[1] } else { -1.0 - x[0] } + 0.2 * rng.uniform();
            (x, y)
        })
        .collect()
}

fn weak_prior(m: usize) -> GaussianPrior {
    let precision = (0..m).map(|i| (0..m).map(|j| if i == j { 0.3 } else { 0.0 }).collect()).collect();
    GaussianPrior::Nig(Nig { precision, mean: vec![0.1; m], nu0: 2.0, s0: 0.1, ln_occam: None })
}

/// From the first step at which the points determine the leaf. Tolerance: rounding of forty points of order one.
#[test]
fn a_lone_leaf_under_the_reference_prior_predicts_as_the_formula_says() {
    for leaf in [LeafModel::Constant(GaussianPrior::Reference), LeafModel::Linear(GaussianPrior::Reference)] {
        let settings = Settings { min_leaf: 100, ..Settings::new(2, leaf.clone(), 100) };
        let mut cloud = gaussian_cloud(&config(&settings, 2), 2, &GaussianPrior::Reference, 5);
        let points = stream(11, 40);
        let mut n_compared = 0;
        for (now, (x, y)) in points.iter().enumerate() {
            let ln_weight = cloud.observe(x, *y, 1.0);
            let past: Vec<Datum> = points[..now].iter().map(|(x, y)| Datum { x, y: *y, weight: 1.0 }).collect();
            if let Some(expected) = leaf.ln_predictive(&past, x, *y) {
                assert!((ln_weight - expected).abs() < 1e-8, "step {now}: {ln_weight} against {expected}");
                n_compared += 1;
            }
        }
        assert!(n_compared > 30);
    }
}

/// Fails if the right child's part is computed on its own instead of as the remainder.
#[test]
fn gaussian_division_conserves_retired_mass() {
    let capacity = 20;
    let settings = Settings { capacity: Some(capacity), ..Settings::new(2, LeafModel::Linear(weak_prior(3)), 4) };
    let config = sapwood::config::CloudConfig { division: Some(Division::Gaussian), ..config(&settings, 30) };
    let mut cloud = gaussian_cloud(&config, 2, &weak_prior(3), 3);
    let mut n_split = 0;
    for (ix, (x, y)) in stream(12, 120).into_iter().enumerate() {
        cloud.observe(&x, y, 1.0);
        for stats in cloud.particle_stats() {
            let mass = stats.retired_per_leaf * f64::from(stats.n_leaves);
            assert!((mass - (ix + 1).saturating_sub(capacity) as f64).abs() < 1e-9, "step {ix}: {mass}");
            n_split += usize::from(stats.n_leaves > 1);
        }
    }
    assert!(n_split > 0, "nothing grew, so nothing was divided");
}
