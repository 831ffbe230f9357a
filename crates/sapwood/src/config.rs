//! The configuration of a cloud. A [`CloudConfig`] is unchecked; [`CloudConfig::check`] turns it into [`Settings`], which a cloud requires.

use crate::error::{Error, Result};

/// An option that is chosen by name. These names are the public ones everywhere: in Python, in messages and in model files.
pub trait Named: Sized + Copy + PartialEq + 'static {
    const OPTION: &'static str;
    /// Every value with its name, in the order in which they are documented.
    const NAMES: &'static [(&'static str, Self)];

    /// The one task that this value is for, if it is not for both.
    fn only_for(self) -> Option<Task> {
        None
    }

    fn parse(given: &str) -> Result<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| Error::UnknownOption {
            name: Self::OPTION,
            given: given.into(),
            allowed: Self::names(None).join(", "),
        })
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, value)| *value == self).expect("every value is named").0
    }

    /// The names of all values, or of those that go with a task.
    fn names(task: Option<Task>) -> Vec<&'static str> {
        let goes_with = |value: Self| task.is_none() || value.only_for().is_none() || value.only_for() == task;
        Self::NAMES.iter().filter(|(_, value)| goes_with(*value)).map(|(name, _)| *name).collect()
    }

    fn check_task(self, task: Task) -> Result<()> {
        if self.only_for().is_none_or(|only| only == task) { Ok(()) } else { Err(self.wrong_task(task)) }
    }

    /// The error of choosing this value for a task that it is not for.
    fn wrong_task(self, task: Task) -> Error {
        let remedy = match &Self::names(Some(task))[..] {
            [] => "leave it out".to_owned(),
            [only] => format!("use {only}"),
            [others @ .., last] => format!("use {} or {last}", others.join(", ")),
        };
        Error::Incompatible { name: Self::OPTION, option: self.name(), with: task.name(), remedy }
    }
}

/// An enum whose values are chosen by name: `named!(Type, "option", Variant = "name", ...)`. A value for one task only is followed by
/// `for Task`.
macro_rules! named {
    (
        $(#[$doc:meta])* $type:ident, $option:literal,
        $($(#[$value_doc:meta])* $variant:ident = $name:literal $(for $task:ident)?),+ $(,)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type { $($(#[$value_doc])* $variant),+ }

        impl $crate::config::Named for $type {
            const OPTION: &'static str = $option;
            const NAMES: &'static [(&'static str, Self)] = &[$(($name, Self::$variant)),+];

            fn only_for(self) -> Option<$crate::config::Task> {
                match self {
                    $($(Self::$variant => Some($crate::config::Task::$task),)?)+
                    #[allow(unreachable_patterns, reason = "where every value is for one task")]
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use named;

named!(Task, "task", Regression = "regression", Classification = "classification");
named!(
    Leaf, "leaf",
    Constant = "constant" for Regression,
    Linear = "linear" for Regression,
    Multinomial = "multinomial" for Classification,
    /// Gaussian classes with one covariance, nested with the multinomial leaf.
    Discriminant = "discriminant" for Classification,
    /// Like the discriminant leaf, with one covariance per class as a further nested model.
    Quadratic = "quadratic" for Classification,
);
impl Leaf {
    pub fn task(self) -> Task {
        self.only_for().expect("every leaf model is for one task")
    }
}

named!(
    /// Which active point is retired when the pool is full.
    Discard, "discard",
    Oldest = "oldest",
    Random = "random",
    /// The point whose loss raises the predictive variance least.
    Alc = "alc" for Regression,
    /// The point in the leaf of lowest class entropy.
    Entropy = "entropy" for Classification,
);
impl Discard {
    /// Whether the rule compares scores that the leaves give to their points.
    pub(crate) fn uses_scores(self) -> bool {
        matches!(self, Self::Alc | Self::Entropy)
    }

    /// Whether these scores depend on the boxes of the leaves.
    pub(crate) fn uses_boxes(self) -> bool {
        self == Self::Alc
    }
}

named!(Prior, "prior", Default = "default", Reference = "reference");
named!(
    /// How retired points enter the evidence of a leaf.
    Evidence, "evidence",
    /// `Z(active + retired)`.
    Joint = "joint",
    /// `Z(active + retired) / Z(retired)`.
    Conditional = "conditional",
);
named!(
    /// How retired statistics are divided between the children of a grow.
    Division, "division",
    /// By the children's shares of the active points; a prune undoes it exactly.
    Proportional = "proportional",
    /// By truncating a Gaussian with the retired moments at the cut. Leaves without moments of the inputs divide proportionally.
    Gaussian = "gaussian",
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
    /// Whether a bank asks it for forecasts of rows at any distance only, and not for those of the next row.
    pub any_row_only: bool,
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
            any_row_only: false,
        }
    }

    /// How many splits each particle proposes, for a stream with `n_inputs` inputs (not counting lags).
    pub fn candidates(&self, n_inputs: usize) -> usize {
        self.n_candidates.unwrap_or_else(|| default_n_candidates(n_inputs.saturating_add(self.lags)))
    }

    /// Check every field, for a stream with `n_inputs` inputs (not counting lags).
    pub fn check(&self, task: Task, n_inputs: usize) -> Result<Settings> {
        let out_of_range = |name, given: f64, allowed| Err(Error::OutOfRange { name, given, allowed });
        self.leaf.check_task(task)?;
        self.discard.check_task(task)?;
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
        if let Some(a0) = self.dirichlet.filter(|a0| !(1e-12..=1e12).contains(a0)) {
            return out_of_range("dirichlet", a0, "between 1e-12 and 1e12");
        }
        if self.lags > 1000 {
            return out_of_range("lags", self.lags as f64, "between 0 and 1000");
        }
        if self.any_row_only && self.lags > 0 {
            return Err(Error::Incompatible {
                name: "any_row_only",
                option: "true",
                with: "lags",
                remedy: "a member that sees the last targets cannot forecast rows at any distance".to_owned(),
            });
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check_names<T: Named + std::fmt::Debug>() {
        for (name, value) in T::NAMES {
            assert!(T::parse(name).is_ok_and(|parsed| parsed == *value) && value.name() == *name);
            for task in [Task::Regression, Task::Classification] {
                assert_eq!(value.check_task(task).is_ok(), T::names(Some(task)).contains(name), "{value:?}");
            }
        }
        assert_eq!(T::names(None).len(), T::NAMES.len());
        assert!(T::parse("").is_err());
    }

    /// Fails if a name does not lead back to its value, or is offered for a task that it is refused for.
    #[test]
    fn names_lead_to_their_values_and_back() {
        check_names::<Task>();
        check_names::<Leaf>();
        check_names::<Discard>();
        check_names::<Prior>();
        check_names::<Evidence>();
        check_names::<Division>();
    }

    /// Fails if a leaf model is declared without its task.
    #[test]
    fn every_leaf_has_a_task() {
        let n_leaves = |task| Leaf::NAMES.iter().filter(|(_, leaf)| leaf.task() == task).count();
        assert_eq!([n_leaves(Task::Regression), n_leaves(Task::Classification)], [2, 3]);
    }

    /// Fails if the remedy names a value that would be refused as well.
    #[test]
    fn the_remedy_for_a_wrong_task_names_what_is_allowed() {
        let message = |error: Result<()>| error.unwrap_err().to_string();
        assert_eq!(
            message(Discard::Alc.check_task(Task::Classification)),
            "discard=\"alc\" does not go with classification; use oldest, random or entropy."
        );
        assert_eq!(
            message(Leaf::Quadratic.check_task(Task::Regression)),
            "leaf=\"quadratic\" does not go with regression; use constant or linear."
        );
    }
}
