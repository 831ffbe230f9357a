//! The model file. What is written and what is read must agree, so a fault is made on one side.

use super::Fault;

pub const FAULTS: &[Fault] = &[
    Fault::new(
        "file-loses-evidence",
        "snapshot/cloud.rs",
        "A cloud's log evidence is not restored",
        "cloud.ln_evidence = r.f64()?;",
        "r.f64()?;",
    ),
    Fault::new(
        "file-loses-removals",
        "snapshot/cloud.rs",
        "How many points a leaf has lost since it was summed is not restored",
        "leaf.n_removed = r.u32()?;",
        "r.u32()?;",
    ),
    Fault::new(
        "file-loses-tallied",
        "snapshot/cloud.rs",
        "How often a leaf's scores are in the tally is not restored",
        "leaf.n_tallied = r.u32()?;",
        "r.u32()?;",
    ),
    Fault::new("file-loses-scored", "snapshot/cloud.rs", "Restored leaves are scored anew", "leaf.scored = r.bool()?;", "r.bool()?;"),
    Fault::new(
        "file-loses-forgetting",
        "snapshot/cloud.rs",
        "Restored particles carry the first factor of the grid",
        "trees.push(Tree { root: nodes[root].0, n_copies, lambda_ix });",
        "trees.push(Tree { root: nodes[root].0, n_copies, lambda_ix: 0 * lambda_ix });",
    ),
    Fault::new(
        "file-loses-lags",
        "snapshot/parts.rs",
        "The latest targets are written as missing",
        "w.f64s(ledger.recent.iter().copied());",
        "w.f64s(ledger.recent.iter().map(|_| f64::NAN));",
    ),
    Fault::new(
        "file-loses-top-weights",
        "snapshot/parts.rs",
        "The weights of the rates are written as equal",
        "w.f64s(ln_top.iter().copied());",
        "w.f64s(ln_top.iter().map(|_| -crate::num::ln(ln_top.len() as f64)));",
    ),
    Fault::new(
        "file-loses-errors",
        "snapshot/parts.rs",
        "The sum of the average's errors is written as zero",
        "[errors.n, errors.sum, errors.squares, *lowest, *highest]",
        "[errors.n, 0.0 * errors.sum, errors.squares, *lowest, *highest]",
    ),
    Fault::new(
        "file-loses-fit-counter",
        "snapshot/trivial.rs",
        "Least squares forgets how long ago it was fitted",
        "w.u32(*n_since_fit);",
        "w.u32(0 * *n_since_fit);",
    ),
    Fault::new(
        "file-loses-pool-weight",
        "snapshot/pool.rs",
        "Active points are restored with weight 1",
        "pool.insert(&x, y, weight, arrival, |out| out.copy_from_slice(&point));",
        "pool.insert(&x, y, 1.0 + 0.0 * weight, arrival, |out| out.copy_from_slice(&point));",
    ),
    Fault::new(
        "file-loses-prior",
        "snapshot/parts.rs",
        "The default prior is restored as it was before the first row",
        "(pseudo.nu0, pseudo.noise, pseudo.ln_constant) = (r.finite()?, r.finite()?, r.finite()?);",
        "r.finite()?; r.finite()?; r.finite()?;",
    ),
    Fault::new(
        "file-range",
        "snapshot/cloud.rs",
        "The range of the inputs is not restored",
        "cloud.range = low.into_iter().zip(high).collect();",
        "let _ = (low, high);",
    ),
    Fault::new(
        "file-accepts-lost-points",
        "snapshot/cloud.rs",
        "A file whose points lie in the wrong leaves is accepted",
        "require(all_home && n_listed == n_active, LOST)?;",
        "let _ = (all_home, n_listed, n_active, LOST);",
    ),
    Fault::new(
        "file-accepts-wrong-sums",
        "snapshot/cloud.rs",
        "A file whose statistics are not those of its points is accepted",
        "require(close, \"a leaf's statistics are not those of its points\")?;",
        "let _ = close;",
    ),
];
