//! Banks against their accounts kept slowly: weights at two levels, calibration, lags, members without trees, rows of other weight.
//!
//! The clouds in these banks have one particle that never grows, so that every forecast has one right answer. Everything is compared to
//! rounding.

use sapwood::bank::{Bank, Forecast, Horizon, MemberConfig, Rows, Run, TrivialKind, Wanted};
use sapwood::config::{CloudConfig, Leaf, Task};
use sapwood_oracle::product::bank::{self, Calibration, Mixing, Mixture};
use sapwood_oracle::product::members::{LastLabel, LastValue, LeastSquares, NumberMember};
use sapwood_oracle::product::twin::{Kind, Options, Twin};
use sapwood_oracle::rng::Rng;
use sapwood_oracle::settings::Evidence;
use sapwood_oracle::special::ln_sum_exp;
use sapwood_oracle::tree::SplitPrior;

const N_INPUTS: usize = 2;
/// No leaf ever has as many points.
const NEVER: usize = 100_000;

struct Stream {
    x: Vec<f64>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

impl Stream {
    fn row(&self, at: usize) -> &[f64] {
        &self.x[at * N_INPUTS..(at + 1) * N_INPUTS]
    }

    /// Inputs of which some are missing and one is absurd; one row in nine is not to be learned, and some count for more or less than one.
    fn new(n: usize, seed: u64, mut target: impl FnMut(usize, &[f64], &mut Rng) -> f64) -> Self {
        let mut rng = Rng::new(seed);
        let mut stream = Self { x: Vec::new(), y: Vec::new(), weight: Vec::new() };
        for at in 0..n {
            let mut x = vec![rng.uniform(), 5.0 + 2.0 * rng.uniform()];
            stream.y.push(target(at, &x, &mut rng));
            if rng.below(8) == 0 {
                x[rng.below(2)] = f64::NAN;
            }
            if at == 60 {
                x[0] = 1e4;
            }
            stream.x.extend(x);
            stream.weight.push(match rng.below(9) {
                0 => 0.0,
                1 | 2 => 0.3 + 2.0 * rng.uniform(),
                _ => 1.0,
            });
        }
        stream
    }

    fn forecasts(&self, bank: &mut Bank, horizon: Horizon) -> Forecast {
        let x = Rows::new(&self.x, N_INPUTS);
        let run = Run { x_test: x, y_test: &self.y, x, y: &self.y, weight: Some(&self.weight), horizon };
        bank.forecast_then_learn(run, &Wanted::default(), 1, &mut || true).expect("a run that may be made")
    }
}

fn stump(leaf: Leaf, lags: usize) -> MemberConfig {
    CloudConfig { n_particles: 1, min_leaf: Some(NEVER), lags, ..CloudConfig::new(leaf) }.into()
}

fn twin(kind: Kind, n_inputs: usize) -> Twin {
    let split_prior = SplitPrior { alpha: 0.95, beta: 2.0 };
    Twin::new(Options { kind, n_inputs, min_leaf: NEVER, evidence: Evidence::Joint, split_prior })
}

#[track_caller]
fn assert_close(a: f64, b: f64, what: &str) {
    assert!(a == b || (a - b).abs() < 2e-7 * (1.0 + a.abs().max(b.abs())), "{what}: {a} against {b}");
}

/// A member's inputs after its lags.
fn with_lag(x: &[f64], last: f64) -> Vec<f64> {
    x.iter().copied().chain([last]).collect()
}

/// Fails if a rate of forgetting, a weight, an error, the lag, the sharpness, a limit or a member without trees is off by anything that can be seen.
#[test]
fn a_bank_of_numbers_is_its_slow_account() {
    // A trend, which every member follows late, then one absurd target.
    let stream = Stream::new(160, 5, |at, x, rng| match at {
        0..3 => 7.0,
        100 => 400.0,
        _ => 7.0 + 0.15 * at as f64 + 3.0 * x[0] + 2.0 * (rng.uniform() + rng.uniform() - 1.0),
    });
    // Forecasts of the next row are made by all but the last, those of any row by the two without lags.
    let apart = CloudConfig { n_particles: 1, min_leaf: Some(NEVER), any_row_only: true, ..CloudConfig::new(Leaf::Linear) };
    let members: [MemberConfig; 5] =
        [TrivialKind::LastValue.into(), TrivialKind::LeastSquares.into(), stump(Leaf::Constant, 0), stump(Leaf::Linear, 1), apart.into()];
    let mut engine = Bank::new(Task::Regression, N_INPUTS, 0, &members, 3).expect("a valid bank");
    let of_any = stream.forecasts(&mut engine.clone(), Horizon::AnyRow);
    let forecast = stream.forecasts(&mut engine, Horizon::NextRow);

    let (mut mixing, mut calibration) = (Mixing::new(4), Calibration::default());
    let (mut mixing_of_any, mut calibration_of_any) = (Mixing::new(2), Calibration::default());
    let (mut last_value, mut least_squares) = (LastValue::default(), LeastSquares::new(N_INPUTS));
    let (mut constant, mut linear) = (twin(Kind::Constant, N_INPUTS), twin(Kind::Linear, N_INPUTS + 1));
    let mut apart = twin(Kind::Linear, N_INPUTS);
    let (mut last, mut ln_evidence) = (f64::NAN, 0.0);
    for at in 0..stream.y.len() {
        let (x, y, weight) = (stream.row(at), stream.y[at], stream.weight[at]);
        let lagged = with_lag(x, last);
        let parts = [last_value.forecast(x, last), least_squares.forecast(x, last), constant.student_t(x), linear.student_t(&lagged)];
        let weights = mixing.weights();
        let average: Mixture = weights.iter().copied().zip(parts).collect();
        let applied = calibration.applied(&average);
        let what = |of: &str| format!("{of}, row {at}");
        for (member, expected) in weights.iter().enumerate() {
            assert_close(forecast.weights[5 * at + member], *expected, &what("weight"));
        }
        assert_close(forecast.mean[at], bank::mean(&applied), &what("mean"));
        assert_close(forecast.variance[at], bank::variance(&applied), &what("variance"));
        assert_close(forecast.ln_density[at], bank::ln_density(&applied, y), &what("density"));
        let parts_of_any = [parts[2], apart.student_t(x)];
        let average_of_any: Mixture = mixing_of_any.weights().iter().copied().zip(parts_of_any).collect();
        let applied_of_any = calibration_of_any.applied(&average_of_any);
        assert_eq!(forecast.weights[5 * at + 4], 0.0);
        for (member, expected) in [2, 4].into_iter().zip(mixing_of_any.weights()) {
            assert_close(of_any.weights[5 * at + member], expected, &what("weight for any row"));
        }
        assert_close(of_any.mean[at], bank::mean(&applied_of_any), &what("mean of any row"));
        assert_close(of_any.variance[at], bank::variance(&applied_of_any), &what("variance of any row"));
        assert_close(of_any.ln_density[at], bank::ln_density(&applied_of_any, y), &what("density of any row"));
        if weight == 0.0 {
            continue;
        }
        let has_unit = [last_value.has_unit(), least_squares.has_unit(), constant.has_unit(), linear.has_unit()];
        let mut own: Vec<f64> = parts.iter().zip(has_unit).map(|(part, has)| if has { weight * part.ln_density(y) } else { 0.0 }).collect();
        // A leaf's own weight of a point that counts otherwise is a ratio of evidences.
        (own[2], own[3]) = (constant.ln_weight(x, y, weight), linear.ln_weight(&lagged, y, weight));
        ln_evidence += ln_sum_exp(&weights.iter().zip(&own).map(|(w, d)| w.ln() + d).collect::<Vec<_>>());
        mixing.learn(&own);
        if has_unit.contains(&true) {
            let gain = bank::ln_density(&applied, y) - bank::ln_density(&calibration.held(&average), y);
            ln_evidence += weight * gain;
            calibration.learn(&average, y, weight);
        }
        calibration.see_target(y);
        let own_of_any = [own[2], apart.ln_weight(x, y, weight)];
        mixing_of_any.learn(&own_of_any);
        if constant.has_unit() || apart.has_unit() {
            calibration_of_any.learn(&average_of_any, y, weight);
        }
        calibration_of_any.see_target(y);
        last_value.learn(x, last, y, weight);
        least_squares.learn(x, last, y, weight);
        constant.learn(x, y, weight);
        linear.learn(&lagged, y, weight);
        apart.learn(x, y, weight);
        last = y;
    }
    assert_close(engine.ln_evidence(), ln_evidence, "log evidence");
    assert_close(engine.sharpness(Horizon::NextRow).expect("members"), calibration.sharpness(), "sharpness");
    let sharpness = engine.sharpness(Horizon::AnyRow).expect("members without lags");
    assert_close(sharpness, calibration_of_any.sharpness(), "sharpness for any row");
    // Otherwise calibration has hardly been tested.
    assert!(calibration.lag() > 0.05 && (calibration.sharpness() - 1.0).abs() > 0.02, "{} {}", calibration.lag(), calibration.sharpness());
}

#[test]
fn a_bank_of_classes_is_its_slow_account() {
    let n_classes = 3;
    let mut label = 0;
    let stream = Stream::new(160, 6, |_, x, rng| {
        label = match rng.below(5) {
            0 => rng.below(n_classes),
            1 => usize::from(x[0] > 0.5),
            _ => (label + 1) % n_classes,
        };
        label as f64
    });
    let members: [MemberConfig; 3] = [TrivialKind::LastLabel.into(), stump(Leaf::Multinomial, 0), stump(Leaf::Quadratic, 0)];
    let mut engine = Bank::new(Task::Classification, N_INPUTS, n_classes, &members, 3).expect("a valid bank");
    let of_any = stream.forecasts(&mut engine.clone(), Horizon::AnyRow);
    let forecast = stream.forecasts(&mut engine, Horizon::NextRow);

    let (mut mixing, mut calibration) = (Mixing::new(3), Calibration::default());
    let (mut mixing_of_any, mut calibration_of_any) = (Mixing::new(2), Calibration::default());
    let mut last_label = LastLabel::new(n_classes);
    let mut counts = twin(Kind::Multinomial { n_classes }, N_INPUTS);
    let mut quadratic = twin(Kind::Discriminant { n_classes, by_class: true }, N_INPUTS);
    let (mut last, mut ln_evidence) = (None, 0.0);
    for at in 0..stream.y.len() {
        let (x, y, weight) = (stream.row(at), stream.y[at], stream.weight[at]);
        let class = y as usize;
        let of = |twin: &Twin| -> Vec<f64> { (0..n_classes).map(|class| twin.ln_predictive(x, class as f64).exp()).collect() };
        let parts = [last_label.probabilities(last), of(&counts), of(&quadratic)];
        let weights = mixing.weights();
        let average: Vec<f64> = (0..n_classes).map(|class| weights.iter().zip(&parts).map(|(w, part)| w * part[class]).sum()).collect();
        let applied = calibration.applied_to_classes(&average);
        let what = |of: &str| format!("{of}, row {at}");
        for (member, expected) in weights.iter().enumerate() {
            assert_close(forecast.weights[3 * at + member], *expected, &what("weight"));
        }
        for (class, expected) in applied.iter().enumerate() {
            assert_close(forecast.proba[n_classes * at + class], *expected, &what("probability"));
        }
        assert_close(forecast.ln_density[at], applied[class].ln(), &what("density"));
        // The two clouds see no lag.
        let weights_of_any = mixing_of_any.weights();
        let of_class = |class: usize| weights_of_any.iter().zip(&parts[1..]).map(|(w, part)| w * part[class]).sum();
        let average_of_any: Vec<f64> = (0..n_classes).map(of_class).collect();
        for (class, expected) in calibration_of_any.applied_to_classes(&average_of_any).iter().enumerate() {
            assert_close(of_any.proba[n_classes * at + class], *expected, &what("probability of any row"));
        }
        if weight == 0.0 {
            continue;
        }
        let own = [weight * parts[0][class].ln(), counts.ln_weight(x, y, weight), quadratic.ln_weight(x, y, weight)];
        ln_evidence += ln_sum_exp(&weights.iter().zip(&own).map(|(w, d)| w.ln() + d).collect::<Vec<_>>());
        ln_evidence += weight * (applied[class].ln() - average[class].ln());
        mixing.learn(&own);
        calibration.learn_class(&average, class, weight);
        mixing_of_any.learn(&own[1..]);
        calibration_of_any.learn_class(&average_of_any, class, weight);
        last_label.learn(last, class, weight);
        counts.learn(x, y, weight);
        quadratic.learn(x, y, weight);
        last = Some(class);
    }
    assert_close(engine.ln_evidence(), ln_evidence, "log evidence");
    assert_close(engine.sharpness(Horizon::NextRow).expect("members"), calibration.sharpness(), "sharpness");
    assert!((calibration.sharpness() - 1.0).abs() > 0.02, "{}", calibration.sharpness());
}
