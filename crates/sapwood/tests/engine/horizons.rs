//! Forecasts of rows at any distance: they use no target, and are those of the bank that the members without lags would be.

use std::sync::Arc;

use sapwood::bank::{Bank, Horizon, MemberConfig, Predictive, Run, Wanted};
use sapwood::config::{CloudConfig, Leaf, Named, Task};
use sapwood::error::Error;
use sapwood::snapshot;

use crate::common::{Data, N_CLASSES, bank, bytes, predict, predict_for, trivial};

const LEAVES: [Leaf; 2] = [Leaf::Linear, Leaf::Multinomial];

fn cloud(leaf: Leaf, pool: usize, lags: usize) -> CloudConfig {
    CloudConfig { n_particles: 8, max_active: Some(pool), min_leaf: Some(2), lags, ..CloudConfig::new(leaf) }
}

fn without_lags(leaf: Leaf) -> Vec<MemberConfig> {
    [5, 12, 30].map(|pool| cloud(leaf, pool, 0).into()).to_vec()
}

/// The members without lags come first, so that their seeds are those of a bank of them alone.
fn with_lags(leaf: Leaf) -> Vec<MemberConfig> {
    let lagged = [cloud(leaf, 12, 1), cloud(leaf, 30, 2)].map(MemberConfig::from);
    without_lags(leaf).into_iter().chain(lagged).chain(trivial(leaf.task())).collect()
}

fn data(leaf: Leaf) -> Data {
    let mut data = Data::for_leaf(leaf, 2, 240, 21);
    data.weight = Some((0..data.len()).map(|row| [1.0, 0.5, 0.0, 2.0][row % 4]).collect());
    data
}

fn run<'a>(data: &'a Data, delay: usize, horizon: Horizon) -> Run<'a> {
    let n_learned = data.len() - delay;
    Run {
        x_test: data.rows(),
        y_test: &data.y,
        x: data.rows().slice(0..n_learned),
        y: &data.y[..n_learned],
        weight: data.weight.as_ref().map(|w| &w[..n_learned]),
        horizon,
    }
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Fails if the account of any row learns from, weighs or calibrates with a member that has lags, or misses a row.
#[test]
fn any_row_is_forecast_as_by_a_bank_without_lags() {
    for leaf in LEAVES {
        let data = data(leaf);
        let mut whole = bank(2, N_CLASSES, &with_lags(leaf), 4);
        let mut part = bank(2, N_CLASSES, &without_lags(leaf), 4);
        for row in 0..data.len() {
            data.teach(&mut whole, row..row + 1, 1);
            data.teach(&mut part, row..row + 1, 1);
            if row % 16 == 0 || row + 1 == data.len() {
                assert!(
                    same_bits(&predict_for(&whole, &data, Horizon::AnyRow), &predict(&part, &data)),
                    "row {row}, {}",
                    leaf.task().name()
                );
            }
        }
        let weights = whole.weights(Horizon::AnyRow).expect("members without lags");
        assert_eq!(weights[..3], part.weights(Horizon::NextRow).expect("members")[..]);
        assert!(weights[3..].iter().all(|weight| *weight == 0.0));
        assert!(!same_bits(&predict_for(&whole, &data, Horizon::AnyRow), &predict(&whole, &data)), "lags change something");
    }
}

/// The same along a stream, with labels at once and late. Fails if a forecast of any row sees a target.
#[test]
fn forecasts_along_a_stream_keep_to_the_horizon() {
    for (leaf, delay) in [(Leaf::Linear, 0), (Leaf::Linear, 7), (Leaf::Multinomial, 0), (Leaf::Multinomial, 7)] {
        let data = data(leaf);
        let wanted = Wanted { levels: vec![0.05, 0.95], pit: true, crps: true };
        let forecast = |members: &[MemberConfig], horizon, n_threads| {
            let mut bank = bank(2, N_CLASSES, members, 4);
            let forecast = bank.forecast_then_learn(run(&data, delay, horizon), &wanted, n_threads, &mut || true).expect("a run");
            (forecast, bytes(&bank))
        };
        let (of_any, learned) = forecast(&with_lags(leaf), Horizon::AnyRow, 1);
        let (of_part, _) = forecast(&without_lags(leaf), Horizon::NextRow, 1);
        for (any, part) in [
            (&of_any.mean, &of_part.mean),
            (&of_any.variance, &of_part.variance),
            (&of_any.quantiles, &of_part.quantiles),
            (&of_any.crps, &of_part.crps),
            (&of_any.pit, &of_part.pit),
            (&of_any.proba, &of_part.proba),
        ] {
            assert!(same_bits(any, part), "delay {delay}, {}", leaf.task().name());
        }
        // The density comes with the calibration in one case and is computed on its own in the other.
        for (any, part) in of_any.ln_density.iter().zip(&of_part.ln_density) {
            assert!((any - part).abs() < 1e-9, "{any} {part}");
        }
        // What is learned does not depend on what is asked, nor either on the number of threads.
        assert!(learned == forecast(&with_lags(leaf), Horizon::NextRow, 1).1);
        let (again, learned_again) = forecast(&with_lags(leaf), Horizon::AnyRow, 3);
        assert!(learned == learned_again && same_bits(&again.ln_density, &of_any.ln_density));
    }
}

/// Fails if a target after the last row learned changes anything, or if company changes the answer to a row.
#[test]
fn rows_are_answered_alike_alone_and_together() {
    for leaf in LEAVES {
        let data = data(leaf);
        let mut bank = bank(2, N_CLASSES, &with_lags(leaf), 5);
        data.teach(&mut bank, 0..200, 2);
        let together = predict_for(&bank, &data, Horizon::AnyRow);
        let width = together.len() / data.len();
        for row in 0..data.len() {
            let alone = Data { n_inputs: 2, x: data.row(row).to_vec(), y: vec![f64::NAN], weight: None };
            assert!(same_bits(&predict_for(&bank, &alone, Horizon::AnyRow), &together[row * width..(row + 1) * width]), "row {row}");
        }
    }
}

/// Members for any row only, after the others. Fails if they take part in forecasts of the next row, or none in those of any.
#[test]
fn members_for_any_row_only_leave_the_next_row_alone() {
    for leaf in LEAVES {
        let data = data(leaf);
        let apart = CloudConfig { any_row_only: true, ..cloud(leaf, 50, 0) };
        let more: Vec<MemberConfig> = with_lags(leaf).into_iter().chain([apart.into()]).collect();
        let mut plain = bank(2, N_CLASSES, &with_lags(leaf), 6);
        let mut extended = bank(2, N_CLASSES, &more, 6);
        let forecast = |bank: &mut Bank| {
            bank.forecast_then_learn(run(&data, 0, Horizon::NextRow), &Wanted::default(), 1, &mut || true).expect("a run that may be made")
        };
        let (without, with) = (forecast(&mut plain), forecast(&mut extended));
        assert!(same_bits(&without.ln_density, &with.ln_density));
        assert!(same_bits(&without.mean, &with.mean) && same_bits(&without.proba, &with.proba));
        assert!(same_bits(&predict(&plain, &data), &predict(&extended, &data)));
        assert_eq!(plain.ln_evidence(), extended.ln_evidence());
        assert_eq!(with.weights.chunks(extended.n_members()).map(|row| row[more.len() - 1]).sum::<f64>(), 0.0);
        // Together with the members without lags it is a bank as if there were no others.
        let joined: Vec<MemberConfig> = without_lags(leaf).into_iter().chain([cloud(leaf, 50, 0).into()]).collect();
        let mut joined = bank(2, N_CLASSES, &joined, 6);
        forecast(&mut joined);
        assert!(same_bits(&predict_for(&extended, &data, Horizon::AnyRow), &predict(&joined, &data)));
        assert!(extended.weights(Horizon::AnyRow).expect("members without lags")[more.len() - 1] > 0.0);
        let (loaded, _) = snapshot::load(&bytes(&extended)).expect("a file that was just written");
        assert!(bytes(&loaded) == bytes(&extended));
        assert!(same_bits(&predict_for(&loaded, &data, Horizon::AnyRow), &predict_for(&extended, &data, Horizon::AnyRow)));
    }
}

/// Fails if a bank of which every member needs the last target answers for any row, or refuses the next one.
#[test]
fn needs_a_member_without_lags() {
    let data = Data::regression(2, 60, 3);
    let mut lagged = bank(2, 0, &[cloud(Leaf::Linear, 20, 1)], 7);
    data.teach(&mut lagged, 0..50, 1);
    let before = bytes(&lagged);
    let refused = Predictive::new(Arc::new(lagged.clone()), data.rows(), Horizon::AnyRow).expect_err("no member can answer");
    assert_eq!(refused, Error::NeedsLastTarget);
    assert_eq!(lagged.weights(Horizon::AnyRow), Err(Error::NeedsLastTarget));
    let refused = lagged.forecast_then_learn(run(&data, 5, Horizon::AnyRow), &Wanted::default(), 1, &mut || true);
    assert_eq!(refused.expect_err("no member can answer"), Error::NeedsLastTarget);
    assert!(bytes(&lagged) == before);
    assert_eq!(predict(&lagged, &data).len(), 3 * data.len());
    let impossible = CloudConfig { any_row_only: true, ..cloud(Leaf::Linear, 20, 1) };
    assert!(matches!(Bank::new(Task::Regression, 2, 0, &[impossible], 1), Err(Error::Incompatible { name: "any_row_only", .. })));
    let nobody = CloudConfig { any_row_only: true, ..cloud(Leaf::Linear, 20, 0) };
    assert!(matches!(Bank::new(Task::Regression, 2, 0, &[nobody], 1), Err(Error::NoMembers)));
}
