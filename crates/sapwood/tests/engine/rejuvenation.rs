//! Rejuvenation: what was retired is kept, the points are learned again in a random order, and nothing that belongs to the stream changes.

use sapwood::bank::Bank;
use sapwood::cloud::{Cloud, ParticleStats};
use sapwood::config::{CloudConfig, Leaf, Task};
use sapwood::leaf::{Gaussian, GaussianPrior};

use crate::common::{Data, LEAVES, Noise, assert_close, bank, bytes};

fn config(leaf: Leaf, forgetting: Option<f64>) -> CloudConfig {
    CloudConfig { n_particles: 60, max_active: Some(20), min_leaf: Some(2), forgetting, ..CloudConfig::new(leaf) }
}

/// A cloud that has retired many points, of various weights, into trees of several leaves.
fn learned(leaf: Leaf, forgetting: Option<f64>) -> (Bank, f64) {
    let mut data = Data::for_leaf(leaf, 2, 120, 31);
    let mut noise = Noise::new(32);
    let weights: Vec<f64> = (0..120).map(|_| 0.5 + noise.uniform()).collect();
    let retired = weights[..100].iter().sum();
    data.weight = Some(weights);
    let mut bank = bank(2, 3, &[config(leaf, forgetting)], 33);
    data.teach(&mut bank, 0..120, 1);
    (bank, retired)
}

fn particles(bank: &Bank) -> Vec<ParticleStats> {
    bank.member(0).expect("a member").particle_stats()
}

fn mass(particle: &ParticleStats) -> f64 {
    particle.retired_per_leaf * f64::from(particle.n_leaves)
}

/// Fails if the average over trees leaves out how many particles have each: then mass would be lost.
#[test]
fn at_lambda_one_every_particle_keeps_all_that_was_retired() {
    for leaf in LEAVES {
        let (mut bank, retired) = learned(leaf, Some(1.0));
        bank.rejuvenate();
        for particle in particles(&bank) {
            assert_close(mass(&particle), retired, 1e-9);
        }
    }
}

/// Fails if the average is over distinct trees instead of particles. Histories differ where trees forgot at different times.
#[test]
fn particles_of_one_forgetting_factor_start_from_their_average() {
    for forgetting in [Some(0.8), None] {
        let (mut bank, _) = learned(Leaf::Multinomial, forgetting);
        let mean_by_factor = |particles: &[ParticleStats]| -> Vec<(f64, f64)> {
            let mut factors: Vec<f64> = particles.iter().map(|particle| particle.forgetting).collect();
            factors.dedup();
            factors.sort_by(f64::total_cmp);
            factors.dedup();
            let mean = |factor: f64| {
                let own: Vec<f64> = particles.iter().filter(|p| p.forgetting == factor).map(mass).collect();
                own.iter().sum::<f64>() / own.len() as f64
            };
            factors.into_iter().map(|factor| (factor, mean(factor))).collect()
        };
        // Without points to learn again, which would resample the particles.
        let before = mean_by_factor(&particles(&bank));
        let n_active = bank.member(0).expect("a member").n_active();
        assert!(particles(&bank).windows(2).any(|pair| mass(&pair[0]) != mass(&pair[1])), "all histories are equal");
        bank.retire(0, &(0..n_active).collect::<Vec<_>>()).expect("points of the pool");
        let emptied = mean_by_factor(&particles(&bank));
        assert!(before != emptied);
        bank.rejuvenate();
        for ((factor, mass), (factor_before, mass_before)) in mean_by_factor(&particles(&bank)).into_iter().zip(emptied) {
            assert_eq!(factor, factor_before);
            assert_close(mass, mass_before, 1e-9);
        }
    }
}

/// Fails if the replay tracks the running scale again: every row would count twice in the default prior.
#[test]
fn the_running_scale_and_the_prior_stay() {
    let settings = config(Leaf::Linear, None).check(Task::Regression, 2).expect("settings");
    let mut cloud = Cloud::new(settings, Gaussian::linear(2, GaussianPrior::default_for(2)), 4);
    let data = Data::regression(2, 50, 5);
    for row in 0..50 {
        cloud.observe(data.row(row), data.y[row], 1.0);
    }
    let (model, evidence, n_seen) = (cloud.model().clone(), cloud.ln_evidence(), cloud.n_seen());
    cloud.rejuvenate();
    assert!(*cloud.model() == model);
    assert_eq!((cloud.ln_evidence(), cloud.n_seen()), (evidence, n_seen));
}

/// Fails if the pool loses a weight, its order or an age in the replay.
#[test]
fn the_pool_stays() {
    for leaf in LEAVES {
        let (mut bank, _) = learned(leaf, None);
        let before = bank.member(0).expect("a member").active();
        bank.rejuvenate();
        let after = bank.member(0).expect("a member").active();
        assert_eq!(before.len(), after.len());
        for (a, b) in before.iter().zip(&after) {
            assert_eq!((&a.x, a.y, a.weight, a.age), (&b.x, b.y, b.weight, b.age));
        }
    }
}

/// Where there is nothing to learn again, nothing changes. Fails if the seed of the replay stays in use.
#[test]
fn an_untouched_cloud_stays_as_it_is() {
    let mut bank = bank(2, 3, &[config(Leaf::Multinomial, Some(1.0))], 6);
    let before = bytes(&bank);
    bank.rejuvenate();
    assert!(bytes(&bank) == before);
}

/// Points on a line, all of one class, came in ascending order. A lone particle's first cut lies between its first points: after a replay in random
/// order it is as often above the middle as below. The number below is binomial; 6 standard deviations are exceeded once in 10^9. In the order in
/// which they came nearly all would be below.
#[test]
fn the_order_of_the_replay_is_random() {
    let (n_points, n_seeds) = (12, 2000);
    let data = Data::new(1, n_points, |row, x| {
        x[0] = row as f64;
        0.0
    });
    let (mut n_below, mut n_split) = (0.0, 0.0);
    for seed in 0..n_seeds {
        let lone = CloudConfig { n_particles: 1, min_leaf: Some(1), ..CloudConfig::new(Leaf::Multinomial) };
        let mut bank = bank(1, 1, &[lone], seed);
        data.teach(&mut bank, 0..n_points, 1);
        bank.rejuvenate();
        let tree = bank.member(0).expect("a member").tree(0).expect("a particle");
        if let Some((split, ..)) = tree[0].split {
            n_split += 1.0;
            n_below += f64::from(u8::from(split.cut < 0.5 * (n_points - 1) as f64));
        }
    }
    assert!(n_split > 1000.0);
    let sigma = (n_below - 0.5 * n_split) / (0.25f64 * n_split).sqrt();
    assert!(sigma.abs() < 6.0, "{n_below} of {n_split}: {sigma} sigma");
}
