//! The lane code against the scalar functions and closed forms.

use super::block::FRAC_1_SQRT_PI;
use super::*;
use crate::num::special::student_t_cdf;
use crate::predict::StudentT;

const DEGREES: [f64; 16] = [0.05, 0.5, 1.0, 1.5, 2.0, 2.7, 3.0, 5.5, 9.0, 11.99, 12.0, 14.3, 29.0, 100.0, 1e5, 1e15];

fn single(df: f64, location: f64, scale: f64) -> (MixtureLanes, StudentT) {
    let dist = StudentT { df, location, scale, noise_share: 1.0 };
    (MixtureLanes::new(&[Component { weight: 1.0, dist }]), dist)
}

fn points() -> impl Iterator<Item = f64> {
    (-300..=300).map(|i| {
        let i = f64::from(i) / 30.0;
        i * (1.0 + 0.1 * i * i)
    })
}

/// The scalar function uses a continued fraction and, above 30 degrees of freedom, Hill's expansion, whose error is 2e-12.
#[test]
fn distribution_function_and_density_agree_with_the_scalar_ones() {
    for df in DEGREES {
        let (lanes, dist) = single(df, 0.5, 2.0);
        for t in points() {
            let y = 0.5 + 2.0 * t;
            let at = lanes.derivatives(y);
            assert!((at.cdf - student_t_cdf(t, df)).abs() < 3e-12, "df {df}, t {t}: {} {}", at.cdf, student_t_cdf(t, df));
            // The scalar density takes the difference of two log-gammas of size df, which loses about df units in the last place.
            let tolerance = 1e-11 + 1e-14 * df;
            if dist.density(y) > 1e-290 && df < 1e6 {
                assert!((at.density / dist.density(y) - 1.0).abs() < tolerance, "df {df}, t {t}: {} {}", at.density, dist.density(y));
            }
        }
    }
}

/// Arguments so small that 1 + t^2/df rounds to 1.
#[test]
fn small_arguments_keep_their_precision() {
    for df in DEGREES {
        let (lanes, _) = single(df, 0.0, 1.0);
        let peak = lanes.derivatives(0.0).density;
        for t in [1e-12, 1e-9, 1e-6, 1e-5] {
            let excess = lanes.derivatives(t).cdf - 0.5;
            // The next term of the series is t^3 (df + 1)/(6 df) times the peak.
            assert!((excess - t * peak).abs() < 1e-12, "df {df}, t {t}: {excess}");
        }
    }
    let normal_peak = 0.5 * FRAC_1_SQRT_PI * std::f64::consts::SQRT_2;
    assert!((single(1e15, 0.0, 1.0).0.derivatives(0.0).density / normal_peak - 1.0).abs() < 1e-14);
}

/// Against central differences of the next lower derivative, whose error is about 1e-7.
#[test]
fn derivatives_are_those_of_the_distribution_function() {
    let h = 1e-4;
    for df in DEGREES.into_iter().filter(|df| *df >= 1.0) {
        let (lanes, _) = single(df, 0.0, 1.0);
        for t in [-4.0, -1.3, -0.2, 0.0, 0.7, 2.5] {
            let (below, at, above) = (lanes.derivatives(t - h), lanes.derivatives(t), lanes.derivatives(t + h));
            let slope = |f: fn(&Derivatives) -> f64| (f(&above) - f(&below)) / (2.0 * h);
            assert!((slope(|d| d.cdf) - at.density).abs() < 1e-7, "df {df}, t {t}");
            assert!((slope(|d| d.density) - at.slope).abs() < 1e-7, "df {df}, t {t}");
            assert!((slope(|d| d.slope) - at.curvature).abs() < 1e-7, "df {df}, t {t}");
            assert!(at.curvature_bound >= at.curvature.abs(), "df {df}, t {t}");
        }
    }
}

/// Closed form of `E|T - t|` for two degrees of freedom: `sqrt(2 + t^2)`.
#[test]
fn mean_distance_closed_form() {
    let (lanes, _) = single(2.0, 1.0, 3.0);
    for t in points() {
        let want = 3.0 * (2.0 + t * t).sqrt();
        assert!((lanes.mean_distance(1.0 + 3.0 * t) / want - 1.0).abs() < 1e-11, "{t}");
    }
    assert_eq!(single(1.0, 0.0, 1.0).0.mean_distance(0.0), f64::INFINITY);
}

/// Fails if a component's value depends on its lane or its neighbours, beyond the order of summation.
#[test]
fn mixtures_are_sums_over_components() {
    let components: Vec<Component> = (0..29)
        .map(|i| {
            let i = f64::from(i);
            let dist = StudentT { df: 1.5 + 1.1 * i, location: 0.3 * i, scale: 1.0 + 0.05 * i, noise_share: 1.0 };
            Component { weight: (1.0 + i) / 435.0, dist }
        })
        .collect();
    let all = MixtureLanes::new(&components);
    for y in [-3.0, 0.0, 4.4, 17.0] {
        let one = |c: &Component| MixtureLanes::new(&[Component { weight: 1.0, ..*c }]);
        let sum = |f: &dyn Fn(&MixtureLanes) -> f64| components.iter().map(|c| c.weight * f(&one(c))).sum::<f64>();
        assert!((all.derivatives(y).cdf - sum(&|a| a.derivatives(y).cdf)).abs() < 1e-14);
        assert!((all.mean_distance(y) - sum(&|a| a.mean_distance(y))).abs() < 1e-13);
        let density = all.derivatives(y).density;
        assert!(
            all.densities(&[y, 0.0]).into_iter().zip([density, all.derivatives(0.0).density]).all(|(a, b)| (a / b - 1.0).abs() < 1e-14)
        );
        let cdf = all.derivatives(y).cdf;
        assert!((all.cdf_times_survival(y) - cdf * (1.0 - cdf)).abs() < 1e-14);
    }
}
