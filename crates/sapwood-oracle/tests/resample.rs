//! Resampling gives `N W_i` offspring on average: exactly for systematic, by the law of large numbers for residual.

use sapwood_oracle::rng::Rng;
use sapwood_oracle::smc::resample::{residual, systematic};

const WEIGHTS: [f64; 5] = [0.05, 0.4, 0.0, 0.33, 0.22];

fn offspring(ancestors: &[usize]) -> Vec<f64> {
    (0..WEIGHTS.len()).map(|ix| ancestors.iter().filter(|a| **a == ix).count() as f64).collect()
}

#[test]
fn systematic_offspring_average_over_the_offset_to_n_times_weight() {
    let n_offsets = 1000;
    let mut mean = [0.0; 5];
    for i in 0..n_offsets {
        let offset = (f64::from(i) + 0.5) / f64::from(n_offsets);
        for (sum, count) in mean.iter_mut().zip(offspring(&systematic(&WEIGHTS, offset))) {
            *sum += count / f64::from(n_offsets);
        }
    }
    for (mean, weight) in mean.iter().zip(WEIGHTS) {
        // The grid of offsets resolves each end of an interval to 1/1000.
        assert!((mean - 5.0 * weight).abs() <= 2e-3, "{mean} offspring for weight {weight}");
    }
}

#[test]
fn residual_offspring_average_to_n_times_weight() {
    let (mut rng, n_draws) = (Rng::new(7), 20_000);
    let mut mean = [0.0; 5];
    for _ in 0..n_draws {
        for (sum, count) in mean.iter_mut().zip(offspring(&residual(&WEIGHTS, &mut rng))) {
            *sum += count / f64::from(n_draws);
        }
    }
    for (mean, weight) in mean.iter().zip(WEIGHTS) {
        // The random part is at most two draws: standard error below 0.7 / sqrt(20000) = 0.005; six of them.
        assert!((mean - 5.0 * weight).abs() <= 0.03, "{mean} offspring for weight {weight}");
    }
}
