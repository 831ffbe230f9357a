//! Invariance to units: affine maps of the target and of any input map the predictions accordingly and change nothing else.

use sapwood::config::{CloudConfig, Discard, Leaf};

use crate::common::{Data, N_CLASSES, bank, discards, predict};

fn config(leaf: Leaf, discard: Discard) -> CloudConfig {
    CloudConfig { n_particles: 40, max_active: Some(60), discard, ..CloudConfig::new(leaf) }
}

fn learned(data: &Data, members: &[CloudConfig], ask: &Data) -> (f64, Vec<f64>) {
    let mut bank = bank(data.n_inputs, N_CLASSES, members, 3);
    data.teach(&mut bank, 0..data.len(), 1);
    (bank.ln_evidence(), predict(&bank, ask))
}

/// `y -> a + c y` and `x_j -> d_j + e_j x_j`.
fn mapped(data: &Data, (a, c): (f64, f64), x_maps: &[(f64, f64)]) -> Data {
    let mut mapped = data.clone();
    mapped.y.iter_mut().for_each(|y| *y = a + c * *y);
    for row in mapped.x.chunks_mut(data.n_inputs) {
        row.iter_mut().zip(x_maps).for_each(|(v, (d, e))| *v = d + e * *v);
    }
    mapped
}

/// Rows whose density is not counted, because two different targets have not been seen yet.
const N_WITHOUT_UNIT: usize = 2;

/// Fails if anything in the default prior, a tie-break, a clipping limit, a box or a fallback has a unit of its own. Means and standard deviations
/// agree to 1e-6 of a standard deviation (an offset of 500 costs three of sixteen digits, and sums of hundreds of terms a few more).
#[test]
fn regression_has_no_units() {
    let data = Data::regression(2, 250, 21);
    let ask = Data::regression(2, 30, 22);
    for leaf in [Leaf::Constant, Leaf::Linear] {
        for discard in discards(leaf) {
            // All points of a constant leaf have the same score, so that rounding decides which one is discarded.
            if (leaf, discard) == (Leaf::Constant, Discard::Alc) {
                continue;
            }
            let members = [config(leaf, discard)];
            let (ln_evidence, answers) = learned(&data, &members, &ask);
            for (y_map, x_maps) in [
                ((500.0, 1.0), [(0.0, 1.0), (0.0, 1.0)]),
                ((0.0, 1700.0), [(0.0, 1.0), (0.0, 1.0)]),
                ((0.0, 3e-7), [(0.0, 1.0), (0.0, 1.0)]),
                ((0.0, -2.5), [(0.0, 1.0), (0.0, 1.0)]),
                ((0.0, 1.0), [(300.0, 1.0), (-7.0, 1.0)]),
                ((0.0, 1.0), [(0.0, 1e4), (0.0, 3e-5)]),
                ((-20.0, 0.3), [(5.0, 70.0), (0.0, 0.2)]),
            ] {
                let (mapped_evidence, mapped_answers) = learned(&mapped(&data, y_map, &x_maps), &members, &mapped(&ask, y_map, &x_maps));
                let (a, c) = y_map;
                let shift = -((data.len() - N_WITHOUT_UNIT) as f64) * f64::ln(c.abs());
                let name = format!("{leaf:?}, {discard:?}, {y_map:?}, {x_maps:?}");
                assert!(
                    (mapped_evidence - ln_evidence - shift).abs() < 1e-6 * ln_evidence.abs(),
                    "{name}: {mapped_evidence} {ln_evidence}"
                );
                for (before, after) in answers.chunks(3).zip(mapped_answers.chunks(3)) {
                    let sd = before[1].sqrt();
                    assert!(((after[0] - a) / c - before[0]).abs() < 1e-6 * sd, "{name}: mean");
                    assert!((after[1].sqrt() / c.abs() / sd - 1.0).abs() < 1e-6, "{name}: sd");
                    assert!((after[2].sqrt() / c.abs() - before[2].sqrt()).abs() < 1e-6 * sd, "{name}: model's part of the sd");
                }
            }
        }
    }
}

#[test]
fn class_probabilities_do_not_see_the_units_of_inputs() {
    let data = Data::classes(2, N_CLASSES, 250, 23);
    let ask = Data::classes(2, N_CLASSES, 30, 24);
    for discard in discards(Leaf::Multinomial) {
        let members = [config(Leaf::Multinomial, discard)];
        let (ln_evidence, answers) = learned(&data, &members, &ask);
        for x_maps in [[(300.0, 1.0), (-7.0, 1.0)], [(0.0, 1e6), (0.0, 3e-9)], [(5.0, 70.0), (0.0, 0.2)]] {
            let same = (0.0, 1.0);
            let (mapped_evidence, mapped_answers) = learned(&mapped(&data, same, &x_maps), &members, &mapped(&ask, same, &x_maps));
            // Class counts do not depend on the inputs, so the results are bit-identical.
            assert_eq!(mapped_evidence, ln_evidence);
            assert_eq!(mapped_answers, answers);
        }
    }
}

/// Fails if a ridge, a clipping limit or a fallback has a unit of its own. Discards the oldest point, because entropies of leaves tie up to
/// rounding. Tolerance as for regression.
#[test]
fn discriminant_leaves_have_no_units() {
    let mut data = Data::classes(3, N_CLASSES, 250, 27);
    // An input that is constant at first has no scale until it changes.
    data.x.chunks_mut(3).take(40).for_each(|row| row[2] = 0.25);
    let ask = Data::classes(3, N_CLASSES, 30, 28);
    for leaf in [Leaf::Discriminant, Leaf::Quadratic] {
        let members = [config(leaf, Discard::Oldest)];
        let (ln_evidence, answers) = learned(&data, &members, &ask);
        for x_maps in
            [[(300.0, 1.0), (-7.0, 1.0), (0.0, 1.0)], [(0.0, 1e6), (0.0, 3e-9), (0.0, 7.0)], [(5.0, 70.0), (0.0, 0.2), (1.0, 1e-3)]]
        {
            let same = (0.0, 1.0);
            let (mapped_evidence, mapped_answers) = learned(&mapped(&data, same, &x_maps), &members, &mapped(&ask, same, &x_maps));
            assert!(
                (mapped_evidence - ln_evidence).abs() < 1e-6 * ln_evidence.abs(),
                "{leaf:?} {x_maps:?}: {mapped_evidence} {ln_evidence}"
            );
            for (before, after) in answers.iter().zip(&mapped_answers) {
                assert!((after - before).abs() < 1e-6 * before, "{leaf:?} {x_maps:?}: {before} {after}");
            }
        }
    }
}

/// Fails if the order of class labels matters. (Entropies of permuted counts are equal only up to rounding, so the point that the entropy rule
/// discards may depend on the labels.)
#[test]
fn names_of_classes_do_not_matter() {
    let data = Data::classes(2, N_CLASSES, 250, 25);
    let ask = Data::classes(2, N_CLASSES, 30, 26);
    let renamed = Data { y: data.y.iter().map(|y| (y + 1.0) % N_CLASSES as f64).collect(), ..data.clone() };
    let leaves = [(Leaf::Multinomial, Discard::Oldest), (Leaf::Multinomial, Discard::Random), (Leaf::Quadratic, Discard::Oldest)];
    for (leaf, discard) in leaves {
        let members = [config(leaf, discard)];
        let (ln_evidence, answers) = learned(&data, &members, &ask);
        let (renamed_evidence, renamed_answers) = learned(&renamed, &members, &ask);
        assert!((renamed_evidence - ln_evidence).abs() < 1e-9 * ln_evidence.abs());
        for (row, renamed_row) in answers.chunks(N_CLASSES).zip(renamed_answers.chunks(N_CLASSES)) {
            for (class, p) in row.iter().enumerate() {
                assert!((renamed_row[(class + 1) % N_CLASSES] - p).abs() < 1e-9);
            }
        }
    }
}
