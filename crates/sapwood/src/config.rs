//! The configuration of a cloud. A [`CloudConfig`] is unchecked; [`CloudConfig::check`] turns it into [`Settings`], which a cloud requires.

use crate::error::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    Regression,
    Classification,
}

impl Task {
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Classification => "classification",
        }
    }
}

/// An option that is chosen by name. These names are the public ones everywhere.
pub trait Named: Sized + Copy + PartialEq + 'static {
    const OPTION: &'static str;
    const ALLOWED: &'static str;
    const NAMES: &'static [(&'static str, Self)];

    fn parse(given: &str) -> Result<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| Error::UnknownOption {
            name: Self::OPTION,
            given: given.into(),
            allowed: Self::ALLOWED,
        })
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, value)| *value == self).expect("every value is named").0
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $type:ident, $option:literal, $allowed:literal, $($(#[$vdoc:meta])* $variant:ident = $name:literal),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type { $($(#[$vdoc])* $variant),+ }
        impl Named for $type {
            const OPTION: &'static str = $option;
            const ALLOWED: &'static str = $allowed;
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];
        }
    };
}

named!(
    Leaf, "leaf", "constant, linear, multinomial, discriminant, quadratic",
    Constant = "constant", Linear = "linear", Multinomial = "multinomial",
    /// Gaussian classes with one covariance, nested with the multinomial leaf.
    Discriminant = "discriminant",
    /// Like the discriminant leaf, with one covariance per class as a further nested model.
    Quadratic = "quadratic"
);
impl Leaf {
    /// The task that a leaf model is for.
    pub fn task(self) -> Task {
        match self {
            Self::Constant | Self::Linear => Task::Regression,
            Self::Multinomial | Self::Discriminant | Self::Quadratic => Task::Classification,
        }
    }
}

named!(
    /// Which active point is retired when the pool is full.
    Discard, "discard", "oldest, random, alc, entropy",
    Oldest = "oldest", Random = "random",
    /// The point whose loss raises the predictive variance least (regression).
    Alc = "alc",
    /// The point in the leaf of lowest class entropy (classification).
    Entropy = "entropy"
);
named!(Prior, "prior", "default, reference", Default = "default", Reference = "reference");
named!(
    /// How retired points enter the evidence of a leaf.
    Evidence, "evidence", "joint, conditional",
    /// `Z(active + retired)`.
    Joint = "joint",
    /// `Z(active + retired) / Z(retired)`.
    Conditional = "conditional"
);
named!(
    /// How retired statistics are divided between the children of a grow.
    Division, "division", "proportional, gaussian",
    /// By the children's shares of the active points; a prune undoes it exactly.
    Proportional = "proportional",
    /// By truncating a Gaussian with the retired moments at the cut. Leaves without moments of the inputs divide proportionally.
    Gaussian = "gaussian"
);

/// The grid of automatic forgetting factors.
pub const FORGETTING_GRID: [f64; 7] = [1.0, 0.99, 0.97, 0.9, 0.8, 0.5, 0.0];

#[derive(Clone, Debug, PartialEq)]
pub struct CloudConfig {
    pub leaf: Leaf,
    pub n_particles: usize,
    /// `None` keeps every point active.
    pub max_active: Option<usize>,
    pub discard: Discard,
    /// `None` lets every particle carry its own factor.
    pub forgetting: Option<f64>,
    pub prior: Prior,
    pub evidence: Evidence,
    pub division: Option<Division>,
    pub split_alpha: f64,
    pub split_beta: f64,
    pub min_leaf: Option<usize>,
    pub n_candidates: Option<usize>,
    pub dirichlet: Option<f64>,
    pub lags: usize,
}

impl CloudConfig {
    pub fn new(leaf: Leaf) -> Self {
        Self {
            leaf,
            n_particles: 1000,
            max_active: None,
            discard: Discard::Oldest,
            forgetting: None,
            prior: Prior::Default,
            evidence: Evidence::Joint,
            division: None,
            split_alpha: 0.95,
            split_beta: 2.0,
            min_leaf: None,
            n_candidates: None,
            dirichlet: None,
            lags: 0,
        }
    }

    /// Check every field, for a stream with `n_inputs` inputs (not counting lags).
    pub fn check(&self, task: Task, n_inputs: usize) -> Result<Settings> {
        let out_of_range = |name, given: f64, allowed| Err(Error::OutOfRange { name, given, allowed });
        if self.leaf.task() != task {
            return Err(Error::Incompatible {
                name: "leaf",
                option: self.leaf.name(),
                with: task.name(),
                remedy: if task == Task::Regression { "use linear or constant" } else { "use multinomial, discriminant or quadratic" },
            });
        }
        match (self.discard, task) {
            (Discard::Alc, Task::Classification) => {
                return Err(Error::Incompatible {
                    name: "discard",
                    option: "alc",
                    with: "classification",
                    remedy: "use entropy, oldest or random",
                });
            }
            (Discard::Entropy, Task::Regression) => {
                return Err(Error::Incompatible {
                    name: "discard",
                    option: "entropy",
                    with: "regression",
                    remedy: "use alc, oldest or random",
                });
            }
            _ => {}
        }
        if self.n_particles == 0 || self.n_particles > 10_000_000 {
            return out_of_range("n_particles", self.n_particles as f64, "between 1 and 10000000");
        }
        if self.max_active == Some(0) {
            return out_of_range("max_active", 0.0, "at least 1");
        }
        if let Some(lambda) = self.forgetting.filter(|lambda| !(0.0..=1.0).contains(lambda)) {
            return out_of_range("forgetting", lambda, "between 0 and 1");
        }
        if !(0.0..1.0).contains(&self.split_alpha) {
            return out_of_range("split_alpha", self.split_alpha, "at least 0 and below 1");
        }
        if !(self.split_beta >= 0.0 && self.split_beta.is_finite()) {
            return out_of_range("split_beta", self.split_beta, "finite and at least 0");
        }
        if self.min_leaf == Some(0) {
            return out_of_range("min_leaf", 0.0, "at least 1");
        }
        if self.n_candidates.is_some_and(|n| n == 0 || n > 10_000) {
            return out_of_range("n_candidates", self.n_candidates.unwrap_or(0) as f64, "between 1 and 10000");
        }
        if let Some(a0) = self.dirichlet.filter(|a0| !(*a0 > 0.0 && a0.is_finite())) {
            return out_of_range("dirichlet", a0, "finite and above 0");
        }
        if self.lags > 1000 {
            return out_of_range("lags", self.lags as f64, "between 0 and 1000");
        }
        let n_inputs = n_inputs + self.lags;
        Ok(Settings {
            config: self.clone(),
            n_inputs,
            min_leaf: self.min_leaf.unwrap_or_else(|| default_min_leaf(self.leaf, n_inputs)),
            n_candidates: self.n_candidates.unwrap_or_else(|| default_n_candidates(n_inputs)),
            division: self.division.unwrap_or(Division::Gaussian),
        })
    }
}

/// A linear leaf needs a little more than twice as many points as coefficients; lower values were worse on every stream measured.
fn default_min_leaf(leaf: Leaf, n_inputs: usize) -> usize {
    match leaf {
        Leaf::Linear => 2 * n_inputs + 4,
        Leaf::Constant => 4,
        Leaf::Multinomial | Leaf::Discriminant | Leaf::Quadratic if n_inputs > 20 => 3,
        Leaf::Multinomial | Leaf::Discriminant | Leaf::Quadratic => 1,
    }
}

/// With few inputs one candidate finds good splits; with many, most inputs are irrelevant, and a single draw rarely hits a useful one.
fn default_n_candidates(n_inputs: usize) -> usize {
    (n_inputs / 8).max(1)
}

/// A checked configuration, with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub(crate) config: CloudConfig,
    /// Number of inputs of the cloud, including lags.
    pub(crate) n_inputs: usize,
    pub(crate) min_leaf: usize,
    pub(crate) n_candidates: usize,
    pub(crate) division: Division,
}

impl Settings {
    pub fn config(&self) -> &CloudConfig {
        &self.config
    }

    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The forgetting factors that particles may carry.
    pub fn forgetting_values(&self) -> &[f64] {
        match &self.config.forgetting {
            Some(fixed) => std::slice::from_ref(fixed),
            None => &FORGETTING_GRID,
        }
    }
}
