//! The configuration of a bank member in Python.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sapwood::bank::{self, TrivialKind};
use sapwood::config::{CloudConfig, Discard, Division, Evidence, Leaf, Named, Prior, Task};
use sapwood::error::Error;

use crate::errors::to_python;

/// The names of an option's values, in the order in which they are documented; of those that go with a task, if one is given.
#[pyfunction]
#[pyo3(signature = (option, task=None))]
pub fn option_names<'py>(py: Python<'py>, option: &str, task: Option<&str>) -> PyResult<Bound<'py, PyTuple>> {
    type Names = fn(Option<Task>) -> Vec<&'static str>;
    const OPTIONS: [(&str, Names); 7] = [
        (Task::OPTION, Task::names),
        (Leaf::OPTION, Leaf::names),
        (Discard::OPTION, Discard::names),
        (Prior::OPTION, Prior::names),
        (Evidence::OPTION, Evidence::names),
        (Division::OPTION, Division::names),
        (TrivialKind::OPTION, TrivialKind::names),
    ];
    let task = task.map(Task::parse).transpose().map_err(to_python)?;
    let unknown = || Error::UnknownOption { name: "option", given: option.into(), allowed: OPTIONS.map(|(name, _)| name).join(", ") };
    let (_, names) = OPTIONS.iter().find(|(name, _)| *name == option).ok_or_else(|| to_python(unknown()))?;
    PyTuple::new(py, names(task))
}

/// One member of the bank: a cloud of dynamic trees, or something simpler. Frozen.
#[pyclass(frozen, module = "sapwood._core")]
pub struct MemberConfig {
    pub inner: bank::MemberConfig,
}

impl MemberConfig {
    fn cloud(&self) -> Option<&CloudConfig> {
        match &self.inner {
            bank::MemberConfig::Cloud(config) => Some(config),
            bank::MemberConfig::Trivial(_) => None,
        }
    }
}

#[pymethods]
impl MemberConfig {
    #[new]
    #[pyo3(signature = (*, leaf, n_particles=1000, max_active=None, discard="oldest", forgetting=None, prior="default",
        evidence="joint", division=None, split_alpha=0.95, split_beta=2.0, min_leaf=None, n_candidates=None, dirichlet=None,
        lags=0, any_row_only=false))]
    #[expect(clippy::too_many_arguments, reason = "one keyword per option")]
    fn new(
        leaf: &str,
        n_particles: usize,
        max_active: Option<usize>,
        discard: &str,
        forgetting: Option<f64>,
        prior: &str,
        evidence: &str,
        division: Option<&str>,
        split_alpha: f64,
        split_beta: f64,
        min_leaf: Option<usize>,
        n_candidates: Option<usize>,
        dirichlet: Option<f64>,
        lags: usize,
        any_row_only: bool,
    ) -> PyResult<Self> {
        let inner = CloudConfig {
            leaf: Leaf::parse(leaf).map_err(to_python)?,
            n_particles,
            max_active,
            discard: Discard::parse(discard).map_err(to_python)?,
            forgetting,
            prior: Prior::parse(prior).map_err(to_python)?,
            evidence: Evidence::parse(evidence).map_err(to_python)?,
            division: division.map(Division::parse).transpose().map_err(to_python)?,
            split_alpha,
            split_beta,
            min_leaf,
            n_candidates,
            dirichlet,
            lags,
            any_row_only,
        };
        Ok(Self { inner: inner.into() })
    }

    #[staticmethod]
    fn trivial(kind: &str) -> PyResult<Self> {
        let kind = TrivialKind::parse(kind).map_err(to_python)?;
        Ok(Self { inner: kind.into() })
    }

    #[getter]
    fn kind(&self) -> &'static str {
        match &self.inner {
            bank::MemberConfig::Cloud(_) => "cloud",
            bank::MemberConfig::Trivial(kind) => kind.name(),
        }
    }

    #[getter]
    fn leaf(&self) -> Option<&'static str> {
        self.cloud().map(|config| config.leaf.name())
    }

    #[getter]
    fn n_particles(&self) -> usize {
        self.cloud().map_or(0, |config| config.n_particles)
    }

    #[getter]
    fn max_active(&self) -> Option<usize> {
        self.cloud().map_or(Some(0), |config| config.max_active)
    }

    #[getter]
    fn discard(&self) -> Option<&'static str> {
        self.cloud().map(|config| config.discard.name())
    }

    #[getter]
    fn forgetting(&self) -> Option<f64> {
        self.cloud().and_then(|config| config.forgetting)
    }

    #[getter]
    fn lags(&self) -> usize {
        self.cloud().map_or(1, |config| config.lags)
    }

    #[getter]
    fn any_row_only(&self) -> bool {
        self.cloud().is_some_and(|config| config.any_row_only)
    }

    fn __repr__(&self) -> String {
        let Some(CloudConfig { leaf, n_particles, max_active, discard, forgetting, lags, .. }) = self.cloud() else {
            return format!("MemberConfig.trivial('{}')", self.kind());
        };
        let max_active = max_active.map_or("None".into(), |n| n.to_string());
        let forgetting = forgetting.map_or("None".into(), |f| f.to_string());
        format!(
            "MemberConfig(leaf='{}', n_particles={n_particles}, max_active={max_active}, discard='{}', forgetting={forgetting}, lags={lags})",
            leaf.name(),
            discard.name()
        )
    }
}
