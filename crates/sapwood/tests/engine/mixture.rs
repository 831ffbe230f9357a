//! The Student-t mixture against numerical integration of its own density, and its parts against each other.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sapwood::predict::{Mixture, Moments, StudentT};
use sapwood::rng::{Purpose, Stream};

use crate::common::assert_close;

fn student_t(df: f64, location: f64, scale: f64) -> StudentT {
    StudentT { df, location, scale, noise_share: 0.75 }
}

fn mixture(components: &[(f64, StudentT)]) -> Mixture {
    let total: f64 = components.iter().map(|(weight, _)| weight).sum();
    let mut mixture = Mixture::default();
    components.iter().for_each(|(weight, dist)| mixture.push(weight / total, *dist));
    mixture
}

/// Very different shapes: one component, distant modes, mixed widths, heavy and light tails.
fn examples() -> Vec<Mixture> {
    vec![
        mixture(&[(1.0, student_t(5.0, 0.0, 1.0))]),
        mixture(&[(0.5, student_t(3.5, -2.0, 0.5)), (0.3, student_t(30.0, 1.0, 0.1)), (0.2, student_t(1500.0, 4.0, 2.0))]),
        mixture(&[(0.9, student_t(8.0, 0.0, 0.01)), (0.1, student_t(8.0, 10.0, 3.0))]),
        mixture(&[(0.7, student_t(6.0, 1e6, 1.0)), (0.3, student_t(12.0, 1e6 + 3.0, 0.2))]),
    ]
}

/// `integral of f` over the real line, by the tanh-sinh-like substitution `y = centre + width sinh(sinh t)`, for which the
/// trapezoidal rule is accurate to rounding with the smooth, heavy-tailed functions here.
fn integrate(mixture: &Mixture, f: impl Fn(f64) -> f64) -> f64 {
    // Between neighbouring locations as well as outside, so that distant narrow components are not missed.
    let mut locations: Vec<(f64, f64)> = mixture.components().iter().map(|c| (c.dist.location, c.dist.scale)).collect();
    locations.sort_by(|a, b| a.0.total_cmp(&b.0));
    let narrowest = locations.iter().map(|l| l.1).fold(f64::INFINITY, f64::min);
    let (first, last) = (locations[0].0, locations[locations.len() - 1].0);
    let tail = |from: f64, side: f64| {
        // Double-exponential rule on a half line.
        let step = 1.0 / 64.0;
        (-480..=320)
            .map(|k| {
                let t = step * f64::from(k);
                let inner = std::f64::consts::FRAC_PI_2 * t.sinh();
                let distance = inner.exp();
                let value = f(from + side * distance);
                let weight = std::f64::consts::FRAC_PI_2 * t.cosh() * distance;
                if value == 0.0 || distance == 0.0 || weight.is_infinite() { 0.0 } else { value * weight * step }
            })
            .sum::<f64>()
    };
    let n_panels = (((last - first) / narrowest).ceil() as usize * 2).clamp(0, 20_000);
    let width = if n_panels > 0 { (last - first) / n_panels as f64 } else { 0.0 };
    let inside: f64 = (0..n_panels).map(|k| gauss(first + width * k as f64, first + width * (k as f64 + 1.0), &f)).sum();
    tail(first, -1.0) + inside + tail(last, 1.0)
}

/// Ten-point Gauss-Legendre rule.
fn gauss(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    const NODES: [(f64, f64); 5] = [
        (0.148_874_338_981_631_2, 0.295_524_224_714_752_87),
        (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
        (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
        (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
        (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
    ];
    let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
    NODES.iter().map(|(node, weight)| weight * (f(centre - half * node) + f(centre + half * node))).sum::<f64>() * half
}

/// Fails if a normalising constant or a weight is wrong. The error of the quadrature is below 1e-9 on these shapes.
#[test]
fn densities_integrate_to_one() {
    for mixture in examples() {
        assert_close(integrate(&mixture, |y| mixture.ln_density(y).exp()), 1.0, 1e-8);
    }
}

/// Fails if a variance is confused with a scale, the spread of the locations is left out, or a mean far from zero costs precision.
#[test]
fn moments_are_those_of_the_density() {
    for mixture in examples() {
        let mean = integrate(&mixture, |y| (y - mixture.mean()) * mixture.ln_density(y).exp());
        let moments = mixture.moments();
        let (variance, epistemic) = (moments.variance(), moments.epistemic());
        let numeric = integrate(&mixture, |y| (y - mixture.mean()).powi(2) * mixture.ln_density(y).exp());
        // The mean relative to the one reported, in standard deviations.
        assert!(mean.abs() < 1e-7 * variance.sqrt(), "{mean}");
        // The truncation error of the quadrature of y^2 with 3.5 degrees of freedom.
        assert_close(numeric / variance, 1.0, 1e-6);
        assert!(epistemic >= 0.0 && epistemic <= variance);
        assert_close(moments.mean, mixture.mean(), 1e-14);
    }
}

/// Here a quarter of the variance within each component and all of the variance between them is epistemic.
#[test]
fn variance_splits_into_noise_and_model() {
    let mixture = mixture(&[(0.5, student_t(4.0, -1.0, 1.0)), (0.5, student_t(4.0, 1.0, 1.0))]);
    let moments = mixture.moments();
    assert_close(moments.variance(), 2.0 + 1.0, 1e-14);
    assert_close(moments.epistemic(), 0.25 * 2.0 + 1.0, 1e-14);
}

/// Fails if the variance is computed by subtracting squares: at 1e9 no digits of it would be left.
#[test]
fn moments_of_parts_mix_far_from_zero() {
    let near = [(0.3, student_t(5.0, -1.0, 0.5)), (0.2, student_t(30.0, 0.25, 1.0)), (0.5, student_t(9.0, 2.0, 0.1))];
    let far = near.map(|(weight, dist)| (weight, StudentT { location: 1e9 + dist.location, ..dist }));
    let whole = mixture(&far).moments();
    let parts = [(0.5, mixture(&far[..2]).moments()), (0.5, mixture(&far[2..]).moments())];
    let mixed = Moments::mix(parts.iter().copied());
    // The locations themselves are rounded to 1e-7 there.
    for moments in [whole, mixed] {
        assert_close(moments.variance(), mixture(&near).moments().variance(), 1e-6);
        assert_close(moments.epistemic(), mixture(&near).moments().epistemic(), 1e-6);
    }
}

/// Fails if the distribution function belongs to another distribution than the density.
#[test]
fn the_distribution_function_is_the_integral_of_the_density() {
    for mixture in examples() {
        for level in [0.003, 0.1, 0.35, 0.5, 0.8, 0.99] {
            let y = mixture.quantile(level);
            let variance = mixture.moments().variance();
            let h = 1e-4 * variance.sqrt().min(mixture.components().iter().map(|c| c.dist.scale).fold(f64::INFINITY, f64::min));
            let slope = gauss(y - h, y + h, |u| mixture.ln_density(u).exp());
            // Differences of numbers near 1 have errors of 1e-16; the slope is of order 1e-4.
            assert!((mixture.cdf(y + h) - mixture.cdf(y - h) - slope).abs() < 1e-13, "{level}");
        }
    }
}

/// CRPS is `integral (F(z) - 1{z >= y})^2 dz` by definition. Fails if the closed form of either term is wrong.
#[test]
fn crps_is_its_integral() {
    for mixture in examples() {
        let variance = mixture.moments().variance();
        for level in [0.02, 0.5, 0.9] {
            let y = mixture.quantile(level);
            // Split at y, where the integrand jumps.
            let reach = 400.0 * variance.sqrt();
            let narrowest = mixture.components().iter().map(|c| c.dist.scale).fold(f64::INFINITY, f64::min);
            let below = panels(y - reach, y, narrowest, |z| mixture.cdf(z).powi(2));
            let above = panels(y, y + reach, narrowest, |z| (1.0 - mixture.cdf(z)).powi(2));
            // The documented accuracy; beyond 400 standard deviations the tails of 3.5 degrees of freedom hold less than 1e-10.
            assert_close(mixture.crps(y), below + above, 3e-5 * variance.sqrt());
        }
    }
}

/// Panels that are narrow only near `y` (one end of the interval) would miss distant modes, so all are narrow up to a limit.
fn panels(a: f64, b: f64, width: f64, f: impl Fn(f64) -> f64) -> f64 {
    let n = (((b - a) / width).ceil() as usize).clamp(2000, 200_000);
    let step = (b - a) / n as f64;
    (0..n).map(|k| gauss(a + step * k as f64, a + step * (k + 1) as f64, &f)).sum()
}

/// Null: draws follow the mixture. Statistic: Kolmogorov-Smirnov on 20,000 draws; 2.23 / sqrt(n) is exceeded by chance once in 10^4.
/// Fails if a scale is off by 4 %, a component is never chosen, or a Student-t has one degree of freedom too few.
#[test]
fn samples_follow_the_distribution_function() {
    let n = 20_000;
    for (ix, mixture) in examples().iter().enumerate() {
        let mut stream = Stream::new(41, ix as u64, 0, Purpose::Sample);
        let mut levels: Vec<f64> = (0..n).map(|_| mixture.cdf(mixture.sample(&mut stream))).collect();
        levels.sort_by(f64::total_cmp);
        let distance = levels
            .iter()
            .enumerate()
            .map(|(rank, level)| (level - rank as f64 / f64::from(n)).abs().max((level - (rank + 1) as f64 / f64::from(n)).abs()))
            .fold(0.0, f64::max);
        assert!(distance < 2.23 / f64::from(n).sqrt(), "mixture {ix}: {distance}");
    }
}

/// Tiny and huge degrees of freedom, and targets whose square overflows.
#[test]
fn extremes_stay_numbers() {
    for df in [0.05, 0.5, 1.0, 1.5, 2.0, 1e3, 1e9, 1e15] {
        for (location, scale) in [(0.0, 1.0), (1e9, 1e-6), (-1e100, 1e90), (1e-300, 1e-300)] {
            let mixture = mixture(&[(1.0, student_t(df, location, scale))]);
            for y in [location, location + scale, location - 40.0 * scale, 1e100, -1e100, 0.0] {
                assert!(!mixture.ln_density(y).is_nan(), "{df} {location} {scale} {y}");
                assert!((0.0..=1.0).contains(&mixture.cdf(y)), "{df} {location} {scale} {y}");
                assert!(mixture.crps(y) >= 0.0, "{df} {location} {scale} {y}: {}", mixture.crps(y));
            }
            for level in [0.01, 0.5, 0.99] {
                assert!(!mixture.quantile(level).is_nan(), "{df} {location} {scale} {level}");
            }
        }
    }
}

/// Components of weight 0 have no effect, whatever their variance.
#[test]
fn weight_zero_is_absence() {
    let alone = mixture(&[(1.0, student_t(5.0, 1.0, 2.0))]);
    let beside = mixture(&[(1.0, student_t(5.0, 1.0, 2.0)), (0.0, student_t(1.5, -3.0, 9.0))]);
    assert_eq!(beside.moments(), alone.moments());
    assert_eq!(beside.mean(), alone.mean());
    assert_eq!(beside.cdf(0.5), alone.cdf(0.5));
    assert_eq!(beside.ln_density(0.5), alone.ln_density(0.5));
    assert_eq!(beside.crps(0.5), alone.crps(0.5));
}

fn any_component() -> impl Strategy<Value = (f64, StudentT)> {
    // Widths that differ by sixteen orders of magnitude: the error must not be relative to the widest.
    (0.01..1.0, (-2.0f64..6.0), -10.0..10.0, (-8.0f64..8.0))
        .prop_map(|(weight, df, location, width)| (weight, student_t(10f64.powf(df), location, 10f64.powf(width))))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quantiles_invert_the_distribution_function(components in prop::collection::vec(any_component(), 1..6), level in 1e-4..0.9999f64) {
        let mixture = mixture(&components);
        let y = mixture.quantile(level);
        let error = (mixture.cdf(y) - level).abs();
        // Where adjacent doubles differ by more than 1e-10 in probability, the nearest one is the correct result.
        let spacing = mixture.cdf(y + 4.0 * y.abs() * f64::EPSILON) - mixture.cdf(y - 4.0 * y.abs() * f64::EPSILON);
        prop_assert!(error < 1e-10 + spacing, "cdf({y}) misses {level} by {error}");
    }

    #[test]
    fn quantiles_are_in_order(components in prop::collection::vec(any_component(), 1..6), a in 1e-4..0.9999f64, b in 1e-4..0.9999f64) {
        let mixture = mixture(&components);
        let (low, high) = (mixture.quantile(a.min(b)), mixture.quantile(a.max(b)));
        prop_assert!(low <= high + 1e-12 * high.abs(), "{low} {high}");
    }

    #[test]
    fn the_distribution_function_rises(components in prop::collection::vec(any_component(), 1..6), a in -100.0..100.0f64, b in -100.0..100.0f64) {
        let mixture = mixture(&components);
        let (low, high) = (mixture.cdf(a.min(b)), mixture.cdf(a.max(b)));
        // Two ways of computing the incomplete beta function agree to 1e-13.
        prop_assert!((-1e-15..=1.0 + 1e-12).contains(&low) && low <= high + 1e-13);
    }
}
