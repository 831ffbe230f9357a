//! Sums of points, and the origins they are centred on.

use super::*;

/// Fails if removing a point does not undo adding it, or if adding and scaling statistics does not merge and weight points.
#[test]
fn statistics_form_an_algebra() {
    for model in models() {
        let origin = model.origin();
        let (a, b) = (points(model.n_regressors, 7, 21), points(model.n_regressors, 5, 22));
        let (stats_a, stats_b) = (stats_of(&model, &origin, &a, 1.0), stats_of(&model, &origin, &b, 1.0));
        let merged: Vec<f64> = stats_a.iter().zip(&stats_b).map(|(a, b)| a + b).collect();
        assert_all_close(&merged, &stats_of(&model, &origin, &[a.clone(), b.clone()].concat(), 1.0), 1e-14);
        let scaled: Vec<f64> = stats_a.iter().map(|v| 0.3 * v).collect();
        assert_all_close(&scaled, &stats_of(&model, &origin, &a, 0.3), 1e-14);
        let mut forgotten = merged;
        b.iter().for_each(|point| model.observe(&mut forgotten, &origin, point, -1.0));
        assert_all_close(&forgotten, &stats_a, 1e-13);
    }
}

/// Fails if a shift misses a cross term: results must not depend on the origin.
#[test]
fn results_do_not_depend_on_the_origin() {
    for model in models() {
        let d = model.point_len();
        let few = points(model.n_regressors, 12, 31);
        let (from, to): (Vec<f64>, Vec<f64>) = ((0..d).map(|i| 1.0 + i as f64).collect(), (0..d).map(|i| 4.0 - 2.0 * i as f64).collect());
        let stats = stats_of(&model, &from, &few, 1.0);
        let mut shifted = stats.clone();
        model.shift(&mut shifted, &from, &to);
        assert_all_close(&shifted, &stats_of(&model, &to, &few, 1.0), 1e-13);
        let (here, there) = (fit_of(&model, &stats, &from), fit_of(&model, &shifted, &to));
        assert_close(ln_z(&model, &stats, &from), ln_z(&model, &shifted, &to), 1e-11);
        let at = &points(model.n_regressors, 1, 32)[0];
        let (a, b) = (model.student_t(&here, &from, at), model.student_t(&there, &to, at));
        assert_close(a.location, b.location, 1e-11);
        assert_close(a.scale, b.scale, 1e-11);
        assert_close(model.ln_predictive(&here, &stats, &from, at, 0.7), model.ln_predictive(&there, &shifted, &to, at, 0.7), 1e-11);
    }
}

/// Data 1e9 standard deviations from zero. Fails if any code path subtracts raw sums. The points themselves are rounded to 1e-7, so the
/// comparison is with the same rounded points moved near zero, which is exact.
#[test]
fn means_far_from_zero_cost_no_precision() {
    for n_regressors in [0, 2] {
        let far = 1e9;
        let rounded: Vec<Vec<f64>> = points(n_regressors, 50, 41).iter().map(|p| p.iter().map(|v| v + far).collect()).collect();
        let near: Vec<Vec<f64>> = rounded.iter().map(|p| p.iter().map(|v| v - far).collect()).collect();
        let fitted = |points: &[Vec<f64>], shift: f64| {
            let mut model = Gaussian::new(n_regressors, GaussianPrior::default_for(n_regressors));
            points.iter().for_each(|p| {
                model.track(&p[..n_regressors], p[n_regressors], 1.0);
            });
            let origin = model.origin();
            let stats = stats_of(&model, &origin, points, 1.0);
            let fit = fit_of(&model, &stats, &origin);
            let at: Vec<f64> = super::points(n_regressors, 1, 42)[0].iter().map(|v| (v + far) - far + shift).collect();
            let dist = model.student_t(&fit, &origin, &at);
            (ln_z(&model, &stats, &origin), dist.location - shift, dist.scale)
        };
        let (far_fit, near_fit) = (fitted(&rounded, far), fitted(&near, 0.0));
        // Means near 1e9 have an error of 1e-7 of the spread, which enters evidence and location once.
        assert_close(far_fit.0, near_fit.0, 1e-5);
        assert_close(far_fit.1, near_fit.1, 1e-5);
        assert_close(far_fit.2, near_fit.2, 1e-5);
    }
}
