//! Members without trees: their predictions, and their robustness.

use sapwood::bank::{Bank, Horizon, Predictive, Run, TrivialKind, Wanted};
use sapwood::config::{CloudConfig, Leaf, Task};

use crate::common::{Data, Noise, assert_close, bank, trivial};

fn alone(kind: TrivialKind, n_inputs: usize, n_classes: usize) -> Bank {
    bank(n_inputs, n_classes, &[kind], 1)
}

/// Mean and variance at one row.
fn moments(bank: &Bank, x: &[f64]) -> (f64, f64) {
    let asked = Data { n_inputs: x.len(), x: x.to_vec(), y: vec![0.0], weight: None };
    let predictive = Predictive::new(std::sync::Arc::new(bank.clone()), asked.rows(), Horizon::NextRow).expect("one row");
    let moments = predictive.moments(1).expect("moments of a regression");
    (moments[0], moments[1])
}

fn proba(bank: &Bank, x: &[f64]) -> Vec<f64> {
    let asked = Data { n_inputs: x.len(), x: x.to_vec(), y: vec![0.0], weight: None };
    let predictive = Predictive::new(std::sync::Arc::new(bank.clone()), asked.rows(), Horizon::NextRow).expect("one row");
    predictive.proba(1).expect("probabilities of a classification")
}

/// A random walk with a mean step size of 1. Fails if the location is not the last target, or if the width does not follow the errors.
#[test]
fn last_value_follows_a_walk() {
    let mut noise = Noise::new(5);
    let mut level = 1e6;
    let data = Data::new(1, 2000, |_, x| {
        x[0] = noise.uniform();
        level += noise.normal() * (std::f64::consts::PI / 2.0).sqrt();
        level
    });
    let mut bank = alone(TrivialKind::LastValue, 1, 0);
    data.teach(&mut bank, 0..2000, 1);
    let (mean, variance) = moments(&bank, &[0.5]);
    assert_eq!(mean, data.y[1999]);
    // A Student-t with 3 degrees of freedom and a mean distance of 1 has a standard deviation of pi/2; an average over about 20 errors has
    // a relative error of about a fifth; five times that is exceeded by chance once in 10^6.
    assert!((variance.sqrt() / (std::f64::consts::PI / 2.0) - 1.0).abs() < 1.0, "{variance}");
}

/// `y = 3 - 2 x0 + 0.5 y_last` and an irrelevant column. Fails if a slope has the wrong units or the last target is not used.
#[test]
fn least_squares_finds_the_line() {
    let mut noise = Noise::new(6);
    let mut last = 0.0;
    let data = Data::new(2, 3000, |_, x| {
        (x[0], x[1]) = (100.0 * noise.uniform(), 1e-3 * noise.uniform());
        last = 3.0 - 2.0 * x[0] + 0.5 * last + 0.1 * noise.normal();
        last
    });
    let mut bank = alone(TrivialKind::LeastSquares, 2, 0);
    data.teach(&mut bank, 0..3000, 1);
    let (mean, variance) = moments(&bank, &[70.0, 5e-4]);
    // The ridge of a thousandth shrinks the slopes, an error of a thousandth of the spread of y, here 60.
    assert_close(mean - (3.0 - 140.0 + 0.5 * last), 0.0, 0.2);
    assert!(variance.sqrt() < 0.5, "{variance}");
}

/// Fails if one outlier in an input or in the target distorts the fit permanently.
#[test]
fn least_squares_outlives_an_absurd_row() {
    for (input, target) in [(1e9, 0.0), (0.5, 1e9)] {
        let mut noise = Noise::new(7);
        let data = Data::new(1, 600, |row, x| {
            x[0] = noise.uniform();
            let y = 10.0 * x[0] + 0.1 * noise.normal();
            if row == 300 {
                x[0] = input;
                return target;
            }
            y
        });
        let mut bank = alone(TrivialKind::LeastSquares, 1, 0);
        data.teach(&mut bank, 0..600, 1);
        let (mean, _) = moments(&bank, &[0.25]);
        // Clipped at eight standard deviations, one row in three hundred changes the fit by a few hundredths of the spread.
        assert!((mean - 2.5).abs() < 1.0, "{mean}");
    }
}

/// Two alternating labels. Fails if the transition table is transposed.
#[test]
fn last_label_learns_what_follows_what() {
    let data = Data::new(1, 300, |row, x| {
        x[0] = 0.0;
        (row % 2) as f64
    });
    let mut bank = alone(TrivialKind::LastLabel, 1, 3);
    data.teach(&mut bank, 0..300, 1);
    let after_one = proba(&bank, &[0.0]);
    assert_close(after_one.iter().sum(), 1.0, 1e-12);
    assert!(after_one[0] > 0.98 && after_one[2] > 0.0, "{after_one:?}");
}

/// A new class has positive probability at once and a high one soon.
#[test]
fn last_label_meets_new_classes() {
    let mut bank = alone(TrivialKind::LastLabel, 1, 1);
    let first = Data::new(1, 50, |_, _| 0.0);
    first.teach(&mut bank, 0..50, 1);
    bank.add_classes(4).expect("more classes than before");
    assert!(proba(&bank, &[0.0])[3] > 0.0);
    let later = Data::new(1, 50, |_, _| 3.0);
    later.teach(&mut bank, 0..50, 1);
    assert!(proba(&bank, &[0.0])[3] > 0.9);
}

/// Labels that arrive two rows late. Fails if a forecast uses its own target or another that has not arrived.
#[test]
fn late_labels_are_not_foreseen() {
    let data = Data::new(1, 40, |row, x| {
        x[0] = 0.0;
        row as f64
    });
    let mut bank = alone(TrivialKind::LastValue, 1, 0);
    let n_learned = data.len() - 2;
    let run = Run {
        x_test: data.rows(),
        y_test: &data.y,
        x: data.rows().slice(0..n_learned),
        y: &data.y[..n_learned],
        weight: None,
        horizon: Horizon::NextRow,
    };
    let forecast = bank.forecast_then_learn(run, &Wanted::default(), 1, &mut || true).expect("a run that may be made");
    // The first three rows have no past; after that the last target learned is three rows old.
    for row in 3..data.len() {
        assert_eq!(forecast.mean[row], data.y[row - 3], "row {row}");
    }
    assert!(forecast.mean[..3].iter().all(|mean| *mean == 0.0));
}

/// A row of weight 2 counts like two rows for the evidence, and one of weight 0 not at all.
#[test]
fn weights_count() {
    let mut data = Data::regression(2, 60, 9);
    let mut plain = alone(TrivialKind::LeastSquares, 2, 0);
    let before = data.teach(&mut plain, 0..59, 1);
    let once = data.teach(&mut plain.clone(), 59..60, 1)[0];
    data.weight = Some((0..60).map(|row| if row == 59 { 2.0 } else { 1.0 }).collect());
    let twice = data.teach(&mut plain, 59..60, 1)[0];
    assert_close(twice, 2.0 * once, 1e-12);
    assert!(before.iter().all(|ln_density| ln_density.is_finite()));
}

/// Such a member has no pool, particles or trees. Fails if a query for them panics instead of returning nothing or an error.
#[test]
fn questions_for_clouds_have_an_answer() {
    for task in [Task::Regression, Task::Classification] {
        let members: Vec<_> = trivial(task).collect();
        let mut bank = bank(2, 2, &members, 3);
        let leaf = if task == Task::Regression { Leaf::Linear } else { Leaf::Multinomial };
        let data = Data::for_leaf(leaf, 2, 30, 4);
        bank.add_classes(3).ok();
        data.teach(&mut bank, 0..30, 1);
        bank.rejuvenate();
        bank.refresh_fits();
        for ix in 0..bank.n_members() {
            let member = bank.member(ix).expect("a member");
            assert_eq!((member.n_active(), member.n_particles(), member.n_distinct_trees()), (0, 0, 0));
            assert!(member.active().is_empty() && member.forgetting().is_empty() && member.particle_stats().is_empty());
            assert!(member.tree(0).is_none());
        }
        assert!(bank.retire(0, &[0]).is_err());
        assert_eq!(bank.n_seen(), 30);
    }
}

/// Such a member belongs to one task.
#[test]
fn the_wrong_task_is_refused() {
    let error = Bank::new(Task::Classification, 1, 2, &[TrivialKind::LastValue], 0).expect_err("a regression member");
    assert!(error.to_string().contains("last_value"), "{error}");
    assert!(Bank::new(Task::Regression, 1, 0, &[TrivialKind::LastLabel], 0).is_err());
}

/// On a shuffled stream the bank soon ignores a useless forecast. Fails if its density is overconfident.
#[test]
fn a_useless_member_costs_little() {
    let data = Data::regression(2, 1500, 10);
    let cloud = CloudConfig { n_particles: 50, max_active: Some(200), ..CloudConfig::new(Leaf::Linear) };
    let members: Vec<_> = std::iter::once(cloud.clone().into()).chain(trivial(Task::Regression)).collect();
    let mut with = bank(2, 0, &members, 11);
    let mut without = bank(2, 0, &[cloud], 11);
    let scores = [&mut with, &mut without].map(|bank| data.teach(bank, 0..1500, 1).iter().skip(100).sum::<f64>() / 1400.0);
    // Mixing over three members costs at most ln 3 in all if weights never faded; fading costs a little at every row.
    assert!(scores[0] > scores[1] - 0.01, "{scores:?}");
}
