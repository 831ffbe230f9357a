//! The cost of computing an evidence: nanoseconds each, in full batches, the best of many runs. Multiplied by the number of evidences per step
//! (`steady_step JOB sizes`) it is a lower bound of the time of a step.

use std::hint::black_box;
use std::time::Instant;

use sapwood::leaf::{Batch, Gaussian, GaussianPrior, LeafModel, Multinomial};
use sapwood::rng::{Purpose, Stream};

const LEAVES: usize = 64;
const ROUNDS: usize = 2000;

fn main() {
    println!(
        "{:6.1} ns an evidence, two classes",
        nanoseconds(&Multinomial::new(2, None), |noise, _| vec![f64::from(noise.below(2) as u8)])
    );
    let mut linear = Gaussian::linear(5, GaussianPrior::default_for(5));
    let mut noise = Stream::new(1, 0, 0, Purpose::Sample);
    for _ in 0..100 {
        let row: Vec<f64> = (0..6).map(|_| noise.uniform()).collect();
        linear.track(&row[..5], row[5], 1.0);
    }
    println!(
        "{:6.1} ns an evidence, linear leaves of five inputs",
        nanoseconds(&linear, |noise, n| (0..n).map(|_| noise.uniform()).collect())
    );
}

/// Leaves with 20 to 83 points each.
fn nanoseconds<M: LeafModel>(model: &M, mut point: impl FnMut(&mut Stream, usize) -> Vec<f64>) -> f64 {
    let mut noise = Stream::new(2, 0, 0, Purpose::Sample);
    let origin = model.origin();
    let mut prior = vec![0.0; model.stat_len()];
    model.prior_stats(&origin, &mut prior);
    let leaves: Vec<Vec<f64>> = (0..LEAVES)
        .map(|leaf| {
            let mut stats = vec![0.0; model.stat_len()];
            for _ in 0..20 + leaf {
                let point = point(&mut noise, model.point_len());
                model.observe(&mut stats, &origin, &point, 1.0);
            }
            stats
        })
        .collect();
    let (mut batch, mut scratch, mut out) = (Batch::default(), Vec::new(), Vec::new());
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        // The batch is consumed each time; filling it is not timed.
        batch.clear(model.stat_len());
        leaves.iter().for_each(|stats| batch.push(stats, &prior));
        out.clear();
        let began = Instant::now();
        model.ln_z_batch(black_box(&mut batch), &mut scratch, &mut out);
        best = best.min(began.elapsed().as_secs_f64());
        black_box(&out);
    }
    1e9 * best / LEAVES as f64
}
