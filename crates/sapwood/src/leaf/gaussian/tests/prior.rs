//! The default prior.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::dense::{dense, invert};
use super::*;

/// Fails if the default prior is not the documented unit-information prior: a tenth of an observation with the running second moments (plus
/// a ridge of a tenth of each variance), centred on the linear fit to the stream; two degrees of freedom with a fifth of the residual
/// variance of that fit; and an Occam factor of .25 nats per coefficient (1 for constant leaves) in place of `1/2 ln .1`.
#[test]
fn the_default_prior_is_the_unit_information_prior() {
    let n = 1 << 14;
    for n_regressors in [0, 1, 3] {
        let m = n_regressors + 1;
        let stream = points(n_regressors, n, 7);
        let mut model = Gaussian::new(n_regressors, GaussianPrior::default_for(n_regressors));
        stream.iter().for_each(|p| {
            model.track(&p[..n_regressors], p[n_regressors], 1.0);
        });
        let mean_of = |f: &dyn Fn(&[f64]) -> f64| stream.iter().map(|p| f(p)).sum::<f64>() / n as f64;
        let means: Vec<f64> = (0..m).map(|i| mean_of(&|p| p[i])).collect();
        let covariance = |i: usize, j: usize| mean_of(&|p| (p[i] - means[i]) * (p[j] - means[j]));
        let ridged = |i: usize, j: usize| covariance(i, j) * if i == j { 1.1 } else { 1.0 };
        let (inverse, _) = invert((0..n_regressors).map(|i| (0..n_regressors).map(|j| ridged(i, j)).collect()).collect());
        let with_target: Vec<f64> = (0..n_regressors).map(|i| covariance(i, n_regressors)).collect();
        let slope: Vec<f64> = inverse.iter().map(|row| row.iter().zip(&with_target).map(|(a, b)| a * b).sum()).collect();
        let explained: f64 = slope.iter().zip(&with_target).map(|(a, b)| a * b).sum();
        let residual = (covariance(n_regressors, n_regressors) - explained) * n as f64 / (n - m) as f64;
        let level = means[n_regressors] - slope.iter().zip(&means).map(|(a, b)| a * b).sum::<f64>();
        // Moments of [1, x] about zero.
        let moment = |i: usize, j: usize| match (i, j) {
            (0, 0) => 1.0,
            (i, 0) => means[i - 1],
            (i, j) => ridged(i - 1, j - 1) + means[i - 1] * means[j - 1],
        };
        let precision: Vec<f64> = (0..m).flat_map(|i| (0..=i).map(|j| 0.1 * moment(i, j)).collect::<Vec<_>>()).collect();
        let mean = [level].into_iter().chain(slope).collect();
        let fixed = FixedPrior { precision, mean, nu0: 2.0, s0: 0.2 * residual };
        let few = points(n_regressors, 6, 8);
        let want = dense(&few, Some(&fixed));
        let origin = model.origin();
        let stats = stats_of(&model, &origin, &few, 1.0);
        let fit = fit_of(&model, &stats, &origin);
        let occam = if n_regressors == 0 { 1.0 } else { 0.25 };
        // Correlations are shrunk by 1 in n, here 6e-5.
        assert_close(ln_z(&model, &stats, &origin), want.ln_z + m as f64 * (occam - 0.5 * 0.1f64.ln()), 1e-3);
        assert_close(fit.sum_of_squares / want.s, 1.0, 1e-3);
        assert_eq!(fit.df, want.df);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    /// Affine maps of the data under the default prior: the predictive is mapped, and `ln Z` decreases by `n ln c`. Fails if the prior has a unit
    /// of its own.
    #[test]
    fn the_default_prior_has_no_units(
        seed in 0u64..10_000,
        (a, ln_c) in (-1e3..1e3f64, -8.0..8.0f64),
        maps in prop::collection::vec((-1e3..1e3f64, -8.0..8.0f64), 3),
        n_regressors in 0usize..=3,
    ) {
        let c = ln_c.exp();
        let map = |p: &[f64]| -> Vec<f64> {
            let x = p[..n_regressors].iter().zip(&maps).map(|(v, (d, ln_e))| d + ln_e.exp() * v);
            x.chain([a + c * p[n_regressors]]).collect()
        };
        let few = points(n_regressors, 25, seed);
        let at = points(n_regressors, 1, seed + 1).remove(0);
        let fitted = |points: &[Vec<f64>], at: &[f64]| {
            let mut model = Gaussian::new(n_regressors, GaussianPrior::default_for(n_regressors));
            points.iter().for_each(|p| { model.track(&p[..n_regressors], p[n_regressors], 1.0); });
            let origin = model.origin();
            let stats = stats_of(&model, &origin, &points[..15], 1.0);
            let fit = fit_of(&model, &stats, &origin);
            (ln_z(&model, &stats, &origin), model.student_t(&fit, &origin, at))
        };
        let (ln_before, before) = fitted(&few, &at);
        let mapped: Vec<Vec<f64>> = few.iter().map(|p| map(p)).collect();
        let (ln_after, after) = fitted(&mapped, &map(&at));
        // An offset of 1e3 over a scale of e^-8 leaves nine of sixteen digits in the mapped data.
        prop_assert!((ln_after - (ln_before - 15.0 * ln_c)).abs() < 1e-4, "{ln_after} {ln_before}");
        prop_assert!(((after.location - a) / c - before.location).abs() < 1e-5 * (1.0 + before.location.abs()));
        prop_assert!((after.scale / c / before.scale - 1.0).abs() < 1e-5);
    }
}
