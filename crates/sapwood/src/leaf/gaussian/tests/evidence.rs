//! The evidence and the predictive.

use super::dense::dense;
use super::*;

/// All permutations of `0..n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(n - 1);
    shorter.iter().flat_map(|order| (0..n).map(|at| [&order[..at], &[n - 1], &order[at..]].concat())).collect()
}

/// Fails if a term of ln Z, S, df or the leverage is missing, or if the results depend on the origin.
#[test]
fn evidence_and_predictive_match_the_definitions() {
    for n_regressors in 0..=3 {
        let points = points(n_regressors, 15, 1);
        let fixed = nig(n_regressors);
        for prior in [Some(&fixed), None] {
            let want = dense(&points, prior);
            let mut model = Gaussian::new(n_regressors, prior.map_or(GaussianPrior::Reference, GaussianPrior::fixed));
            points.iter().for_each(|p| {
                model.track(&p[..n_regressors], p[n_regressors], 1.0);
            });
            let origin = vec![2.0; n_regressors + 1];
            let stats = stats_of(&model, &origin, &points, 1.0);
            let fit = fit_of(&model, &stats, &origin);
            // The dense form subtracts raw sums near 1e3, which costs three of sixteen digits.
            assert_close(ln_z(&model, &stats, &origin), want.ln_z, 1e-10);
            assert_close(fit.sum_of_squares / want.s, 1.0, 1e-9);
            assert_eq!(fit.df, want.df);
            let at = super::points(n_regressors, 1, 2).remove(0);
            let z: Vec<f64> = [1.0].iter().chain(&at[..n_regressors]).copied().collect();
            let leverage: f64 = z.iter().zip(&want.inverse).map(|(zi, row)| zi * row.iter().zip(&z).map(|(a, b)| a * b).sum::<f64>()).sum();
            let dist = model.student_t(&fit, &origin, &at);
            assert_close(dist.location, z.iter().zip(&want.beta).map(|(a, b)| a * b).sum(), 1e-9);
            assert_close(dist.scale, (want.s / want.df * (1.0 + leverage)).sqrt(), 1e-9);
            assert_close(dist.noise_share, 1.0 / (1.0 + leverage), 1e-9);
            assert_eq!(dist.df, want.df);
        }
    }
}

/// `Z` is the integral of likelihood times prior: over mu and ln sigma by the trapezoidal rule, which is exact up to rounding for such
/// smooth, rapidly decaying functions. Fails if any constant of the evidence is wrong.
#[test]
fn evidence_is_the_integral_over_parameters() {
    let prior = FixedPrior { precision: vec![0.5], mean: vec![0.3], nu0: 3.0, s0: 0.8 };
    let model = Gaussian::constant(GaussianPrior::fixed(&prior));
    let y = [0.1, 1.4, -0.6, 0.9];
    let ln_normal = |v: f64, mean: f64, sd: f64| -0.5 * ((v - mean) / sd).powi(2) - sd.ln() - 0.5 * LN_2PI;
    let (step_t, step_u) = (0.02, 0.05);
    let mut z = 0.0;
    for i in -300..=500 {
        let sigma = (step_t * f64::from(i)).exp();
        // Inverse-gamma(nu0/2, nu0 s0/2) for sigma^2, with the Jacobian 2 sigma^2 of ln sigma.
        let (a, b) = (0.5 * prior.nu0, 0.5 * prior.nu0 * prior.s0);
        let ln_variance = 2.0 * sigma.ln();
        let ln_prior = a * b.ln() - libm::lgamma(a) - (a + 1.0) * ln_variance - b / (sigma * sigma) + 2f64.ln() + ln_variance;
        let sd = sigma / prior.precision[0].sqrt();
        for j in -240..=240 {
            let u = step_u * f64::from(j);
            let mu = prior.mean[0] + sd * u;
            let ln_likelihood: f64 = y.iter().map(|v| ln_normal(*v, mu, sigma)).sum();
            z += (ln_prior + ln_likelihood - 0.5 * u * u - 0.5 * LN_2PI).exp() * step_t * step_u;
        }
    }
    let stats = stats_of(&model, &[0.0], &y.map(|v| vec![v]), 1.0);
    assert_close(ln_z(&model, &stats, &[0.0]), z.ln(), 1e-8);
}

/// Fails if the predictive is not the ratio of evidences, under some prior and some order of the points.
#[test]
fn evidence_obeys_the_chain_rule_in_every_order() {
    for model in models() {
        let origin = model.origin();
        // Enough points for the reference prior to be proper at the start.
        let start = stats_of(&model, &origin, &points(model.n_regressors, 6, 3), 1.0);
        let few = points(model.n_regressors, 4, 4);
        let weights = [1.0, 2.0, 0.3, 1.0];
        let mut end = start.clone();
        few.iter().zip(weights).for_each(|(point, weight)| model.observe(&mut end, &origin, point, weight));
        let want = ln_z(&model, &end, &origin) - ln_z(&model, &start, &origin);
        for order in orders(4) {
            let mut stats = start.clone();
            let mut sum = 0.0;
            for ix in order {
                let fit = fit_of(&model, &stats, &origin);
                sum += model.ln_predictive(&fit, &stats, &origin, &few[ix], weights[ix]);
                model.observe(&mut stats, &origin, &few[ix], weights[ix]);
            }
            assert_close(sum, want, 1e-11);
        }
    }
}

/// Fails if a fixed prior is not normalised.
#[test]
fn an_empty_leaf_has_evidence_one_under_a_proper_prior() {
    for n_regressors in 0..=3 {
        let model = Gaussian::new(n_regressors, GaussianPrior::fixed(&nig(n_regressors)));
        let origin = vec![1.0; n_regressors + 1];
        assert_close(ln_z(&model, &vec![0.0; model.stat_len()], &origin), 0.0, 1e-12);
    }
}

/// Fails if a weight is treated as a count in one place and as a precision in another.
#[test]
fn a_weight_of_two_is_two_points() {
    for model in models() {
        let origin = model.origin();
        let start = stats_of(&model, &origin, &points(model.n_regressors, 8, 5), 1.0);
        let point = &points(model.n_regressors, 1, 6)[0];
        let (mut once, mut twice) = (start.clone(), start.clone());
        model.observe(&mut once, &origin, point, 2.0);
        model.observe(&mut twice, &origin, point, 1.0);
        let between = fit_of(&model, &twice, &origin);
        let first = fit_of(&model, &start, &origin);
        let singly = model.ln_predictive(&first, &start, &origin, point, 1.0) + model.ln_predictive(&between, &twice, &origin, point, 1.0);
        assert_close(model.ln_predictive(&first, &start, &origin, point, 2.0), singly, 1e-12);
        model.observe(&mut twice, &origin, point, 1.0);
        assert_all_close(&once, &twice, 1e-15);
    }
}

/// Fails if particles are weighed by another density than the one predicted, or if it does not integrate to one.
#[test]
fn the_predictive_is_a_normalised_student_t() {
    for model in models() {
        let origin = model.origin();
        let stats = stats_of(&model, &origin, &points(model.n_regressors, 9, 11), 1.0);
        let fit = fit_of(&model, &stats, &origin);
        let mut point = points(model.n_regressors, 1, 12).remove(0);
        let dist = model.student_t(&fit, &origin, &point);
        // Trapezoidal in t after y = location + scale sinh(t): exponentially accurate for a Student-t.
        let (step, mut integral, mut by_evidence) = (0.05, 0.0, 0.0);
        for k in -700..=700 {
            let t = step * f64::from(k);
            point[model.n_regressors] = dist.location + dist.scale * t.sinh();
            let jacobian = step * dist.scale * t.cosh();
            let ln_density = model.ln_predictive(&fit, &stats, &origin, &point, 1.0);
            assert_close(ln_density, dist.ln_density(point[model.n_regressors]), 1e-9);
            integral += ln_density.exp() * jacobian;
            if k % 4 == 0 && t.abs() < 20.0 {
                let mut more = stats.clone();
                model.observe(&mut more, &origin, &point, 1.0);
                by_evidence += 4.0 * (ln_z(&model, &more, &origin) - ln_z(&model, &stats, &origin)).exp() * jacobian;
            }
        }
        assert_close(integral, 1.0, 1e-9);
        // Beyond sinh(20) scales the evidence is a difference of huge sums; the mass out there is below 1e-8.
        assert_close(by_evidence, 1.0, 1e-6);
    }
}
