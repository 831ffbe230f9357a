//! Gaussian leaves against dense linear algebra, quadrature and the identities of conjugate models.

mod dense;
mod discard;
mod divide;
mod evidence;
mod lanes;
mod prior;
mod statistics;

use super::*;
use crate::leaf::batch::ln_z_of_each;
use crate::rng::{Purpose, Stream};

fn normals(seed: u64, n: usize) -> Vec<f64> {
    let mut stream = Stream::new(seed, 0, 0, Purpose::Sample);
    (0..n).map(|_| crate::num::special::normal_quantile(stream.uniform().max(1e-16))).collect()
}

/// Encoded points `[x, y]` of a plane with noise, away from zero.
fn points(n_regressors: usize, n: usize, seed: u64) -> Vec<Vec<f64>> {
    let draws = normals(seed, n * (n_regressors + 1));
    draws
        .chunks(n_regressors + 1)
        .map(|z| {
            let x: Vec<f64> = z[..n_regressors].iter().enumerate().map(|(i, z)| 3.0 + i as f64 + z).collect();
            let y = 5.0 + x.iter().enumerate().map(|(i, v)| v * (i as f64 - 0.5)).sum::<f64>() + 0.7 * z[n_regressors];
            x.into_iter().chain([y]).collect()
        })
        .collect()
}

fn nig(n_regressors: usize) -> FixedPrior {
    let m = n_regressors + 1;
    let mut precision = vec![0.0; packed_len(m)];
    for i in 0..m {
        for j in 0..i {
            precision[packed_ix(i, j)] = 0.05;
        }
        precision[packed_ix(i, i)] = 0.5 + 0.25 * i as f64;
    }
    FixedPrior { precision, mean: (0..m).map(|i| 0.5 - i as f64).collect(), nu0: 3.0, s0: 0.8 }
}

/// All sizes of leaves under all priors; the default prior has seen some points.
fn models() -> Vec<Gaussian> {
    let mut all = Vec::new();
    for n_regressors in 0..=3 {
        for prior in [GaussianPrior::fixed(&nig(n_regressors)), GaussianPrior::default_for(n_regressors), GaussianPrior::Reference] {
            let mut model = Gaussian::new(n_regressors, prior);
            for point in points(n_regressors, 40, 90) {
                model.track(&point[..n_regressors], point[n_regressors], 1.0);
            }
            all.push(model);
        }
    }
    all
}

fn stats_of(model: &Gaussian, origin: &[f64], points: &[Vec<f64>], weight: f64) -> Vec<f64> {
    let mut stats = vec![0.0; model.stat_len()];
    points.iter().for_each(|point| model.observe(&mut stats, origin, point, weight));
    stats
}

fn ln_z(model: &Gaussian, stats: &[f64], origin: &[f64]) -> f64 {
    ln_z_of_each(model, &[stats.to_vec()], origin)[0]
}

fn fit_of(model: &Gaussian, stats: &[f64], origin: &[f64]) -> GaussianFit {
    let mut fit = GaussianFit::default();
    model.fit(stats, origin, &mut fit);
    fit
}

#[track_caller]
fn assert_close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0), "{a:e} and {b:e}");
}

#[track_caller]
fn assert_all_close(a: &[f64], b: &[f64], tolerance: f64) {
    let size = a.iter().chain(b).fold(0.0, |m: f64, v| m.max(v.abs()));
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * size), "{a:?}\n{b:?}");
}
