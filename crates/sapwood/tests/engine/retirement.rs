//! Retiring a point moves it from the active to the retired part of its leaf: at lambda = 1 nothing else changes, and below it only older retired points lose weight.

use sapwood::bank::Bank;
use sapwood::config::{CloudConfig, Division, Evidence, Leaf, Prior, Task};

use crate::common::{Data, LEAVES, N_CLASSES, Noise, assert_close, bank, bytes, discards, predict};

/// Linear leaves keep their default minimum size: with as many points as coefficients the residual under the reference prior is pure rounding.
fn config(leaf: Leaf) -> CloudConfig {
    let min_leaf = if leaf == Leaf::Linear { None } else { Some(3) };
    CloudConfig { n_particles: 20, min_leaf, forgetting: Some(1.0), ..CloudConfig::new(leaf) }
}

/// The priors of a leaf; they do not apply to classification.
fn priors(leaf: Leaf) -> &'static [Prior] {
    if leaf.task() == Task::Regression { &[Prior::Default, Prior::Reference] } else { &[Prior::Default] }
}

/// `ln` predictives of some targets.
fn ln_densities(bank: &Bank, ask: &Data) -> Vec<f64> {
    let predictive = sapwood::bank::Predictive::new(std::sync::Arc::new(bank.clone()), ask.rows(), sapwood::bank::Horizon::NextRow)
        .expect("rows of the right width");
    predictive.ln_density(&ask.y, 1).expect("targets of the right kind")
}

/// Fails if a retired point is counted twice, dropped, or kept about another origin than the rest of its leaf.
#[test]
fn retiring_at_lambda_one_changes_no_prediction() {
    for leaf in LEAVES {
        for discard in discards(leaf) {
            for &prior in priors(leaf) {
                let mut data = Data::for_leaf(leaf, 2, 60, 1);
                data.weight = Some((0..60).map(|row| 0.5 + (row % 3) as f64).collect());
                let ask = Data::for_leaf(leaf, 2, 20, 2);
                let mut bank = bank(2, N_CLASSES, &[CloudConfig { discard, prior, ..config(leaf) }], 3);
                data.teach(&mut bank, 0..60, 1);
                let (answers, densities, evidence) = (predict(&bank, &ask), ln_densities(&bank, &ask), bank.ln_evidence());
                let mut noise = Noise::new(4);
                for n_left in (0..60).rev() {
                    bank.retire(0, &[noise.below(n_left + 1)]).expect("a position in the pool");
                    // Sixty updates of sums of size 1 to 60, each rounded to a relative 1e-16.
                    for (before, after) in answers.iter().zip(predict(&bank, &ask)) {
                        assert_close(*before, after, 1e-10);
                    }
                    for (before, after) in densities.iter().zip(ln_densities(&bank, &ask)) {
                        assert_close(*before, after, 1e-10);
                    }
                    assert_eq!(bank.ln_evidence(), evidence);
                    assert_eq!(bank.member(0).expect("a member").n_active(), n_left);
                }
            }
        }
    }
}

/// Fails if retired mass is lost, duplicated or faded by a grow, a prune, a resampling or a division, in any particle at any step.
#[test]
fn mass_is_conserved_at_lambda_one() {
    for leaf in LEAVES {
        for discard in discards(leaf) {
            for division in [Division::Proportional, Division::Gaussian] {
                for evidence in [Evidence::Joint, Evidence::Conditional] {
                    let data = Data::for_leaf(leaf, 2, 120, 5);
                    let member = CloudConfig { discard, division: Some(division), evidence, max_active: Some(25), ..config(leaf) };
                    let mut bank = bank(2, N_CLASSES, &[member], 6);
                    for row in 0..data.len() {
                        data.teach(&mut bank, row..row + 1, 1);
                        let member = bank.member(0).expect("a member");
                        for particle in 0..member.n_particles() {
                            let nodes = member.tree(particle).expect("a particle");
                            assert_close(nodes[0].n_active + nodes[0].n_retired, (row + 1) as f64, 1e-12);
                            assert_eq!(nodes[0].n_active, member.n_active() as f64);
                            assert!(nodes.iter().all(|node| node.n_retired >= -1e-9));
                        }
                    }
                    let grown = bank.member(0).expect("a member").particle_stats().iter().any(|stats| stats.n_leaves > 1);
                    assert!(grown, "trees that never grew show nothing");
                }
            }
        }
    }
}

/// At lambda = 1 a single leaf predicts the same with a pool of five as with all points active. Fails if retirement loses any statistics.
#[test]
fn a_single_leaf_forgets_nothing_by_retiring() {
    for leaf in LEAVES {
        for discard in discards(leaf) {
            let data = Data::for_leaf(leaf, 2, 80, 7);
            let learned = |max_active| {
                let mut bank = bank(2, N_CLASSES, &[CloudConfig { split_alpha: 0.0, max_active, discard, ..config(leaf) }], 8);
                data.teach(&mut bank, 0..80, 1);
                bank
            };
            let (small, whole) = (learned(Some(5)), learned(None));
            assert_close(small.ln_evidence(), whole.ln_evidence(), 1e-10);
            for (a, b) in predict(&small, &data).iter().zip(predict(&whole, &data)) {
                assert_close(*a, b, 1e-10);
            }
        }
    }
}

/// `nu <- lambda nu + 1`, starting from zero. Fails if lambda is applied twice, not at all, or to the point that has just retired.
#[test]
fn retired_mass_follows_its_recursion() {
    for leaf in LEAVES {
        for lambda in [0.0, 0.5, 0.9, 0.99, 1.0] {
            let data = Data::for_leaf(leaf, 2, 150, 9);
            let member = CloudConfig { split_alpha: 0.0, max_active: Some(10), forgetting: Some(lambda), ..config(leaf) };
            let mut bank = bank(2, N_CLASSES, &[member], 10);
            let mut mass = 0.0;
            for row in 0..data.len() {
                data.teach(&mut bank, row..row + 1, 1);
                mass = if row < 10 { 0.0 } else { lambda * mass + 1.0 };
                let stats = bank.member(0).expect("a member").particle_stats();
                assert!(stats.iter().all(|own| (own.retired_per_leaf - mass).abs() < 1e-10), "{lambda} at row {row}");
                assert!(lambda == 1.0 || mass <= 1.0 / (1.0 - lambda) + 1e-9);
            }
        }
    }
}

/// At lambda = 0 the predictive of a constant leaf depends on the pool and the last retired point only. Fails if older points still have an
/// effect.
#[test]
fn lambda_zero_drops_history() {
    let member =
        CloudConfig { split_alpha: 0.0, max_active: Some(10), forgetting: Some(0.0), prior: Prior::Reference, ..config(Leaf::Constant) };
    let mut data = Data::regression(1, 100, 13);
    let mut far = data.clone();
    far.y[..50].iter_mut().for_each(|y| *y += 1000.0);
    let learned = |data: &Data| {
        let mut bank = bank(1, 0, std::slice::from_ref(&member), 14);
        data.teach(&mut bank, 0..100, 1);
        predict(&bank, data)
    };
    data.x[..].copy_from_slice(&far.x);
    for (a, b) in learned(&data).iter().zip(learned(&far)) {
        // Points at 1000 have passed through the sums and left rounding errors of 1e6 * 1e-16, relative to a variance of order 1.
        assert_close(*a, b, 1e-8);
    }
}

/// Fails if particles differ in an unused forgetting factor while every point is active, or get none when the first point is retired.
#[test]
fn forgetting_factors_are_drawn_when_they_matter() {
    for leaf in LEAVES {
        let data = Data::for_leaf(leaf, 2, 80, 5);
        let automatic = CloudConfig { forgetting: None, ..config(leaf) };
        let [mut bank, mut without] = [automatic, config(leaf)].map(|member| bank(2, N_CLASSES, &[member], 6));
        assert_eq!(data.teach(&mut bank, 0..60, 1), data.teach(&mut without, 0..60, 1));
        let n_distinct_trees = |bank: &Bank| bank.member(0).expect("a member").n_distinct_trees();
        let forgetting = |bank: &Bank| bank.member(0).expect("a member").forgetting();
        assert_eq!(n_distinct_trees(&bank), n_distinct_trees(&without));
        assert!(forgetting(&bank).iter().all(|(_, share)| *share == 1.0 / 7.0));

        let (mut restored, _) = sapwood::snapshot::load(&bytes(&bank)).expect("a model file");
        for bank in [&mut bank, &mut restored] {
            bank.retire(0, &[0]).expect("a position in the pool");
            // Twenty particles over seven values.
            assert!(forgetting(bank).iter().all(|(_, share)| [2.0, 3.0].contains(&(share * 20.0).round())));
            bank.retire(0, &[0, 1, 2]).expect("positions in the pool");
            data.teach(bank, 60..80, 1);
        }
        assert_eq!(bytes(&bank), bytes(&restored));
    }
}
