//! The same stream gives the same bytes, whatever the number of threads, the batches, the queries and the interruptions.

use sapwood::bank::{Bank, Horizon, MemberConfig, Predictive, Run, Wanted};
use sapwood::config::{CloudConfig, Division, Evidence, Leaf, Named, Prior, Task};
use sapwood::snapshot;

use crate::common::{Data, LEAVES, Noise, bank, bytes, discards, predict, trivial};

/// Small enough to be saved at every step, with small leaves so that all moves occur, and a pool that fills up early.
fn small(leaf: Leaf) -> CloudConfig {
    CloudConfig { n_particles: 12, max_active: Some(14), min_leaf: Some(2), forgetting: Some(1.0), ..CloudConfig::new(leaf) }
}

/// Every leaf with every discard rule and kind of forgetting; priors, evidence, division, candidates and lags alternate.
fn combinations() -> Vec<CloudConfig> {
    let mut all = Vec::new();
    for leaf in LEAVES {
        for discard in discards(leaf) {
            for forgetting in [Some(1.0), Some(0.9), Some(0.0), None] {
                let turn = all.len();
                all.push(CloudConfig {
                    discard,
                    forgetting,
                    evidence: if turn % 2 == 0 { Evidence::Joint } else { Evidence::Conditional },
                    prior: if turn % 5 == 4 { Prior::Reference } else { Prior::Default },
                    division: if turn % 3 == 2 { Some(Division::Proportional) } else { None },
                    n_candidates: Some(1 + turn % 2),
                    lags: if turn % 4 == 3 { 2 } else { 0 },
                    ..small(leaf)
                });
            }
        }
    }
    all
}

/// A stream with missing inputs, weights (some of them 0), repeated rows, and classes that appear late.
fn untidy(leaf: Leaf, n_rows: usize, seed: u64) -> Data {
    let mut data = Data::for_leaf(leaf, 2, n_rows, seed);
    let mut noise = Noise::new(seed ^ 0xABCD);
    data.x.iter_mut().for_each(|v| *v = if noise.below(8) == 0 { f64::NAN } else { *v });
    data.weight = Some((0..n_rows).map(|row| if row % 11 == 7 { 0.0 } else { 0.25 + 1.5 * noise.uniform() }).collect());
    for row in 1..n_rows {
        if row % 9 == 0 {
            let (first, second) = data.x.split_at_mut(row * 2);
            second[..2].copy_from_slice(&first[row * 2 - 2..]);
        }
    }
    if leaf.task() == Task::Classification {
        let n_late = |row: usize| {
            if row < n_rows / 3 {
                2
            } else if row < 2 * n_rows / 3 {
                3
            } else {
                5
            }
        };
        for (row, y) in data.y.iter_mut().enumerate() {
            *y = (*y as usize + noise.below(3)) as f64 % n_late(row) as f64;
        }
    }
    data
}

/// Classes a bank must know before it learns up to `end`.
fn classes_until(data: &Data, end: usize) -> usize {
    data.y[..end].iter().fold(0.0, |a: f64, b| a.max(*b)) as usize + 1
}

fn teach(bank: &mut Bank, data: &Data, start: usize, end: usize, n_threads: usize) {
    if bank.task() == Task::Classification {
        bank.add_classes(classes_until(data, end).max(bank.n_classes())).expect("a growing number of classes");
    }
    data.teach(bank, start..end, n_threads);
}

/// Fails if anything that the next step depends on is missing from the file: a stale cached posterior, a tally, an origin, the order of the
/// particles, the position in the random numbers.
#[test]
fn saved_and_restored_at_every_step() {
    for (ix, config) in combinations().into_iter().enumerate() {
        let data = untidy(config.leaf, 70, 100 + ix as u64);
        let mut straight = bank(2, 2, std::slice::from_ref(&config), 5);
        let mut restored = straight.clone();
        for row in 0..data.len() {
            teach(&mut straight, &data, row, row + 1, 1);
            teach(&mut restored, &data, row, row + 1, 1);
            let file = bytes(&restored);
            assert!(bytes(&straight) == file, "row {row} of combination {ix}: {config:?}");
            let (loaded, meta) = snapshot::load(&file).expect("a file that was just written");
            assert_eq!(meta, b"meta");
            assert!(bytes(&loaded) == file, "what is loaded is saved again as other bytes: {config:?}");
            restored = loaded;
        }
    }
}

/// Members of every kind side by side.
fn mixed_bank(task: Task, seed: u64) -> Bank {
    let clouds = combinations().into_iter().filter(|config| config.leaf.task() == task).step_by(3).take(7);
    let members: Vec<MemberConfig> = clouds.map(MemberConfig::from).chain(trivial(task)).collect();
    bank(2, 2, &members, seed)
}

fn stream(task: Task) -> Data {
    untidy(if task == Task::Regression { Leaf::Linear } else { Leaf::Multinomial }, 200, 77)
}

const TASKS: [Task; 2] = [Task::Regression, Task::Classification];

/// Fails if threads share random numbers, or if a sum depends on the order in which members finish.
#[test]
fn any_number_of_threads() {
    for task in TASKS {
        let mut data = stream(task);
        let run = |n_threads: usize, data: &Data| {
            let mut bank = mixed_bank(task, 3);
            bank.add_classes(5).ok();
            let ln_predictive = data.teach(&mut bank, 0..data.len(), n_threads);
            let asked = Predictive::new(std::sync::Arc::new(bank.clone()), data.rows(), Horizon::NextRow).expect("rows of the right width");
            let answers = asked.ln_density(&data.y, n_threads).expect("targets of the right kind");
            (bytes(&bank), bits(&ln_predictive), bits(&answers))
        };
        data.weight = None;
        let one = run(1, &data);
        for n_threads in [2, 3, 7] {
            assert!(run(n_threads, &data) == one, "{} threads, {}", n_threads, task.name());
        }
    }
}

/// Bit patterns, so that NaN equals itself and -0 does not equal 0.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Fails if the weights, lags or evidence of the bank are updated only at the end of a batch, or if a row of weight 0 has an effect.
#[test]
fn any_batching() {
    for task in TASKS {
        let data = stream(task);
        let run = |batch: usize| {
            let mut bank = mixed_bank(task, 4);
            bank.add_classes(5).ok();
            for start in (0..data.len()).step_by(batch) {
                data.teach(&mut bank, start..(start + batch).min(data.len()), 1);
            }
            bytes(&bank)
        };
        let one = run(1);
        for batch in [7, 64, 1000] {
            assert!(run(batch) == one, "batches of {batch}, {}", task.name());
        }
    }
}

/// Fails if forecasting changes the model, for any delay of the labels.
#[test]
fn forecasting_then_learning_is_learning() {
    for task in TASKS {
        let data = stream(task);
        let learned = |n_rows: usize| {
            let mut bank = mixed_bank(task, 6);
            bank.add_classes(5).ok();
            data.teach(&mut bank, 0..n_rows, 1);
            bytes(&bank)
        };
        let wanted = Wanted { levels: vec![0.1, 0.9], pit: true, crps: true };
        for delay in [0, 1, 100] {
            let n_learned = data.len() - delay;
            let run = Run {
                x_test: data.rows(),
                y_test: &data.y,
                x: data.rows().slice(0..n_learned),
                y: &data.y[..n_learned],
                weight: data.weight.as_ref().map(|w| &w[..n_learned]),
                horizon: Horizon::NextRow,
            };
            let mut bank = mixed_bank(task, 6);
            bank.add_classes(5).ok();
            let forecast = bank.forecast_then_learn(run, &wanted, 2, &mut || true).expect("a run that may be made");
            assert!(bytes(&bank) == learned(n_learned), "delay {delay}, {}", task.name());
            assert_eq!(forecast.ln_density.len(), data.len());
        }
    }
}

/// Rows predicted together share a walk through the trees. Fails if a prediction depends on the other rows.
#[test]
fn a_row_is_predicted_alone_as_in_company() {
    for task in TASKS {
        let data = stream(task);
        let mut bank = mixed_bank(task, 5);
        bank.add_classes(5).ok();
        data.teach(&mut bank, 0..150, 1);
        let together = predict(&bank, &data);
        let width = together.len() / data.len();
        for row in 0..data.len() {
            let alone = Data { n_inputs: 2, x: data.row(row).to_vec(), y: vec![data.y[row]], weight: None };
            assert_eq!(bits(&predict(&bank, &alone)), bits(&together[row * width..(row + 1) * width]), "row {row}");
        }
    }
}

/// Fails if a forecast uses its own target, or if the rows of a chunk are forecast by the model before the chunk.
#[test]
fn forecasts_are_what_the_model_would_have_said() {
    for task in TASKS {
        let data = stream(task);
        let mut bank = mixed_bank(task, 8);
        bank.add_classes(5).ok();
        let mut step_by_step = bank.clone();
        let run = Run {
            x_test: data.rows(),
            y_test: &data.y,
            x: data.rows(),
            y: &data.y,
            weight: data.weight.as_deref(),
            horizon: Horizon::NextRow,
        };
        let forecast = bank.forecast_then_learn(run, &Wanted::default(), 1, &mut || true).expect("a run that may be made");
        for row in 0..data.len() {
            let ask = Data { n_inputs: 2, x: data.row(row).to_vec(), y: vec![data.y[row]], weight: None };
            let said = predict(&step_by_step, &ask);
            let forecasted = match task {
                Task::Regression => vec![forecast.mean[row], forecast.variance[row], forecast.epistemic[row]],
                Task::Classification => forecast.proba[row * 5..(row + 1) * 5].to_vec(),
            };
            for (a, b) in said.iter().zip(&forecasted) {
                // The two sum the same terms in a different order.
                assert!(a == b || (a - b).abs() <= 1e-9 * a.abs().max(1e-3), "row {row}: {said:?} {forecasted:?}");
            }
            data.teach(&mut step_by_step, row..row + 1, 1);
        }
    }
}

/// The density that scores a forecast must be the one that weighs the particles when the row is learned. Fails if one of them comes from
/// another predictive. While all targets have been equal there is no scale, and learning counts no density.
#[test]
fn forecast_densities_are_those_that_learning_returns() {
    for task in TASKS {
        let mut data = stream(task);
        data.weight = None;
        let mut bank = mixed_bank(task, 8);
        bank.add_classes(5).ok();
        let learned = data.teach(&mut bank.clone(), 0..data.len(), 1);
        let run = Run { x_test: data.rows(), y_test: &data.y, x: data.rows(), y: &data.y, weight: None, horizon: Horizon::NextRow };
        let forecast = bank.forecast_then_learn(run, &Wanted::default(), 1, &mut || true).expect("a run that may be made");
        let n_without_unit = if task == Task::Regression { 2 } else { 0 };
        for (row, (a, b)) in learned.iter().zip(&forecast.ln_density).enumerate().skip(n_without_unit) {
            assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "row {row}: {a} {b}");
        }
    }
}

/// Fails if a query caches something that affects the next step: posteriors computed early, or updated tallies.
#[test]
fn questions_change_nothing() {
    for task in TASKS {
        let data = stream(task);
        let mut silent = mixed_bank(task, 9);
        silent.add_classes(5).ok();
        let mut asked = silent.clone();
        for row in 0..data.len() {
            data.teach(&mut silent, row..row + 1, 1);
            data.teach(&mut asked, row..row + 1, 1);
            let before = bytes(&asked);
            predict(&asked, &data);
            asked.refresh_fits();
            predict(&asked, &data);
            for member in 0..asked.n_members() {
                let member = asked.member(member).expect("a member");
                member.active();
                member.particle_stats();
                member.forgetting();
                member.split_use();
                member.tree(0);
            }
            asked.weights(Horizon::NextRow).expect("weights of every bank");
            assert!(bytes(&asked) == before, "a question at row {row}, {}", task.name());
            assert!(bytes(&silent) == before, "questions before row {row}, {}", task.name());
        }
    }
}

/// Fails if an interrupted batch leaves part of a chunk behind, or loses a chunk: the first, or one not yet in the weights of the bank.
#[test]
fn an_interrupted_batch_has_learned_whole_rows() {
    let mut data = stream(Task::Regression);
    for (n_chunks, n_threads) in [(1, 1), (2, 1), (1, 2), (2, 2), (3, 3)] {
        let mut n_asked = 0;
        let mut go_on = || {
            n_asked += 1;
            n_asked % n_chunks != 0
        };
        let mut from_start = mixed_bank(Task::Regression, 10);
        let [mut learner, mut forecaster] = [from_start.clone(), from_start.clone()];
        let learned = learner.learn(data.rows(), &data.y, data.weight.as_deref(), n_threads, &mut go_on).expect("rows that may be learned");
        assert!(learned.len() < data.len() && learned.len().is_multiple_of(n_chunks));
        data.teach(&mut from_start, 0..learned.len(), 1);
        assert!(bytes(&learner) == bytes(&from_start), "{n_chunks} chunks, {n_threads} threads");
        let run = Run {
            x_test: data.rows(),
            y_test: &data.y,
            x: data.rows(),
            y: &data.y,
            weight: data.weight.as_deref(),
            horizon: Horizon::NextRow,
        };
        let forecast = forecaster.forecast_then_learn(run, &Wanted::default(), n_threads, &mut go_on).expect("a run that may be made");
        assert_eq!(forecast.mean.len(), learned.len());
        assert!(bytes(&forecaster) == bytes(&from_start), "{n_chunks} chunks, {n_threads} threads");
        data.weight = None;
    }
}

/// Fails if two members, or two seeds, draw the same numbers.
#[test]
fn members_and_seeds_differ() {
    let data = Data::regression(2, 60, 1);
    let config = small(Leaf::Constant);
    let learned = |seed: u64| {
        let mut bank = bank(2, 0, &[config.clone(), config.clone()], seed);
        data.teach(&mut bank, 0..data.len(), 1);
        bank
    };
    let one = learned(1);
    let trees = |bank: &Bank, member: usize| bank.member(member).expect("a member").particle_stats();
    assert_ne!(trees(&one, 0), trees(&one, 1));
    assert_ne!(trees(&one, 0), trees(&learned(2), 0));
}
