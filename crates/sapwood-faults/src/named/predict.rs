//! Predictive distributions.

use super::Fault;

pub const FAULTS: &[Fault] = &[
    Fault::new(
        "variance-without-df",
        "predict/student_t.rs",
        "The variance of a Student-t is its squared scale",
        "self.scale * self.scale * self.df / (self.df - 2.0)",
        "self.scale * self.scale",
    ),
    Fault::new(
        "between-left-out",
        "predict/moments.rs",
        "The spread of the components' locations is left out of the variance",
        "self.within + self.between",
        "self.within",
    ),
    Fault::new(
        "epistemic-with-noise",
        "predict/moments.rs",
        "The epistemic part includes the noise",
        "self.within - self.noise + self.between",
        "self.within + self.between",
    ),
    Fault::new("sharpen-keeps-scale", "predict/mixture.rs", "Sharpening moves locations and leaves scales", "dist.scale /= factor;", ""),
    Fault::new(
        "width-without-distance",
        "predict/mixture.rs",
        "The width of a mixture leaves out where its components lie",
        "c.dist.scale + (c.dist.location - mean).abs()",
        "c.dist.scale + 0.0 * (c.dist.location - mean).abs()",
    ),
    Fault::new(
        "mix-unweighted",
        "predict/mixture.rs",
        "A mixture of densities counts its parts equally",
        "w * exp(l - max)",
        "exp(l - max + 0.0 * w) / weights.len() as f64",
    ),
    Fault::new(
        "crps-half",
        "predict/crps.rs",
        "The CRPS subtracts half of what it should",
        "distance - self.half_mean_difference(self.coarse_or_exact())",
        "distance - 0.5 * self.half_mean_difference(self.coarse_or_exact())",
    ),
    Fault::new(
        "quantile-starts-and-stays",
        "predict/quantile.rs",
        "A quantile is that of one normal",
        "found.unwrap_or_else(|| self.mixture.quantile_by_bisection(q))",
        "start + 0.0 * found.unwrap_or(0.0)",
    ),
    Fault::new("sample-gamma", "predict/student_t.rs", "Draws have half the degrees of freedom", "0.5 * self.df", "0.25 * self.df")
        .after("let shape = "),
    Fault::new(
        "sample-first-component",
        "predict/mixture.rs",
        "Draws come from the first component",
        "chosen.unwrap_or(last)",
        "chosen.unwrap_or(last).min(0)",
    ),
];
