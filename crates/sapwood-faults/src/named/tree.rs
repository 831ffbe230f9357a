//! Trees and the pool.

use super::Fault;

pub const FAULTS: &[Fault] = &[
    Fault::new(
        "beta-too-small",
        "tree/prior.rs",
        "The exponent of the tree prior is 0.1 too small",
        "libm::pow((1 + depth) as f64, -beta)",
        "libm::pow((1 + depth) as f64, 0.1 - beta)",
    ),
    Fault::new("depth-from-one", "tree/prior.rs", "The root has depth 1", "(1 + depth) as f64", "(2 + depth) as f64")
        .after("fn probabilities"),
    Fault::new("lambda-not-applied", "tree/leaf_node.rs", "Retired statistics do not fade", "*r *= lambda", "*r *= 1.0 + 0.0 * lambda"),
    Fault::new("lambda-applied-twice", "tree/leaf_node.rs", "Retired statistics fade twice", "*r *= lambda", "*r *= lambda * lambda"),
    Fault::new("scored-after-retiring", "tree/leaf_node.rs", "A leaf's scores are kept when its history fades", "self.scored = false;", "")
        .after("self.retired.iter_mut().for_each"),
    Fault::new(
        "retired-point-not-added",
        "tree/leaf_node.rs",
        "A retired point is lost",
        "point_stats.observe(model, pool, &mut self.retired, &self.origin, slot);",
        "",
    ),
    Fault::new(
        "merge-keeps-box",
        "tree/leaf_node.rs",
        "A merged leaf keeps the box of one of its parts",
        "*a = a.max(*b)",
        "*a = *a + 0.0 * *b",
    ),
    Fault::new(
        "merge-loses-retired",
        "tree/leaf_node.rs",
        "A prune loses what was retired on the other side",
        "add_shifted(model, &mut self.retired, &self.origin, &other.retired, &other.origin);",
        "",
    ),
    Fault::new(
        "merge-not-shifted",
        "tree/leaf_node.rs",
        "Leaves about different origins are merged without moving one of them",
        "origin == other_origin",
        "origin == other_origin || true",
    ),
    Fault::new(
        "recentre-leaves-retired",
        "tree/leaf_node.rs",
        "Retired statistics stay about the old origin",
        "model.shift(&mut self.retired, &self.origin, origin);",
        "",
    ),
    Fault::new(
        "never-summed-afresh",
        "tree/leaf_node.rs",
        "Rounding is never cleared by summing the points afresh",
        "swamped || self.n_removed as usize > 16 + self.points.len()",
        "false && swamped",
    ),
    Fault::new("copied-leaf-stays-tallied", "tree/mod.rs", "A copied leaf counts as tallied", "target.n_tallied = 0;", ""),
    Fault::new(
        "nan-descends-right",
        "tree/mod.rs",
        "Looking up a row with a missing value ignores the side that a split remembers",
        "x.iter().any(|value| value.is_nan())",
        "x.iter().all(|value| value.is_nan())",
    ),
    Fault::new("pool-weight-lost", "pool/point_stats.rs", "Cached statistics of a point leave out its weight", "pool.weight(slot)", "1.0")
        .after("row.fill(0.0);"),
    Fault::new(
        "rank-of-ties",
        "pool/order.rs",
        "A value that moves up keeps the rank of a removed point",
        "if old.is_some_and(|old| old < new) { new - 1 } else { new }",
        "new.min(sorted.len() - 1)",
    ),
];
