use super::*;
use crate::rng::{Purpose, Stream};

fn score(effects: &Effects, x: &[f64]) -> f64 {
    let mut row = Vec::new();
    effects.extend(x, &mut row);
    assert_eq!(&row[..x.len()], x, "the inputs come first");
    row[x.len()]
}

/// Rows of a number and a level of many: the target is twice the number plus the level's effect, and the level depends on the number.
fn rows(n_levels: usize, n_rows: usize) -> Vec<([f64; 2], f64)> {
    let mut stream = Stream::new(7, 0, 0, Purpose::Sample);
    let mut normal = || (0..12).map(|_| stream.uniform()).sum::<f64>() - 6.0;
    let effect: Vec<f64> = (0..n_levels).map(|_| 3.0 * normal()).collect();
    let mut at = 0_usize;
    (0..n_rows)
        .map(|_| {
            at = (at * 13 + 7) % n_levels;
            let number = normal() + effect[at] / 3.0;
            ([number, at as f64], 2.0 * number + effect[at] + 0.1 * normal())
        })
        .collect()
}

#[test]
fn few_levels_are_told_from_the_number_that_goes_with_them() {
    // Fails if effects are marginal means: those of levels with large numbers would be too large.
    let mut effects = Effects::new(Task::Regression, 2, 0, &[1]);
    let rows = rows(5, 600);
    for (x, y) in &rows {
        effects.learn(x, *y, 1.0);
    }
    let offset = effects.origin.expect("rows were learned");
    for (x, y) in &rows[500..] {
        assert!((y - offset - score(&effects, x)).abs() < 1.0, "the noise has a standard deviation of .1, twelve uniforms at most .6");
    }
}

#[test]
fn many_levels_have_shrunken_effects_at_bounded_memory() {
    let mut effects = Effects::new(Task::Regression, 2, 0, &[1]);
    for (x, y) in rows(500, 5000) {
        effects.learn(&x, y, 1.0);
    }
    let errors: f64 = rows(500, 5500)[5000..].iter().map(|(x, y)| (y - effects.origin.expect("rows") - score(&effects, x)).powi(2)).sum();
    assert!(errors / 500.0 < 2.0, "the effects have a variance of 9");
    for level in 0..1_000_000 {
        effects.learn(&[0.0, f64::from(level)], 0.0, 1.0);
    }
    assert!(effects.rest[0].counts.len() <= MAX_LEVELS);
}

#[test]
fn scores_do_not_depend_on_the_units_of_the_target() {
    let mut fits = [Effects::new(Task::Regression, 2, 0, &[1]), Effects::new(Task::Regression, 2, 0, &[1])];
    for (x, y) in rows(100, 500) {
        fits[0].learn(&x, y, 1.0);
        fits[1].learn(&[x[0] * 8.0, x[1]], 1024.0 * y + 4096.0, 1.0);
    }
    for (x, _) in rows(100, 50) {
        let (one, other) = (score(&fits[0], &x), score(&fits[1], &[x[0] * 8.0, x[1]]));
        assert!((1024.0 * one - other).abs() < 1e-6 * other.abs().max(1.0));
    }
}

#[test]
fn two_classes_have_log_odds() {
    let mut effects = Effects::new(Task::Classification, 1, 2, &[0]);
    for i in 0..4000_u32 {
        let level = i % 100;
        effects.learn(&[f64::from(level)], f64::from(u8::from(i % 7 < level % 7)), 1.0);
    }
    for level in 0..90 {
        let (low, high) = (score(&effects, &[f64::from(level / 7 * 7)]), score(&effects, &[f64::from(level / 7 * 7 + 6)]));
        assert!(low < -0.5 && high > 0.5, "never, and six times in seven");
    }
}

#[test]
fn missing_and_unseen_levels_and_constants_are_no_trouble() {
    let mut effects = Effects::new(Task::Classification, 3, 4, &[1]);
    for i in 0..50 {
        effects.learn(&[f64::NAN, f64::NAN, 3.0], f64::from(i % 4), 2.0);
    }
    let mut row = Vec::new();
    effects.extend(&[1.0, 77.0, f64::NAN], &mut row);
    assert_eq!(row.len(), 3 + 4);
    assert!(row[3..].iter().all(|score| (score - 0.25).abs() < 0.1));
}
