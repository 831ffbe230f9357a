//! Small immutable results; every attribute access returns a new array.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use sapwood::bank::{self, Member};
use sapwood::cloud::TreeNode;

/// A flat list of rows as a two-dimensional array.
pub fn table<'py>(py: Python<'py>, values: Vec<f64>, n_rows: usize, n_columns: usize) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_vec((n_rows, n_columns), values).expect("as many values as rows times columns").into_pyarray(py)
}

/// One-step-ahead forecasts of a run, one row each.
#[pyclass(frozen, module = "sapwood._core")]
pub struct Forecast {
    pub inner: bank::Forecast,
    pub n_levels: usize,
    pub n_classes: usize,
    pub n_members: usize,
}

#[pymethods]
impl Forecast {
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.mean)
    }

    #[getter]
    fn var<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.variance)
    }

    #[getter]
    fn epistemic<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.epistemic)
    }

    #[getter]
    fn pit<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.pit)
    }

    #[getter]
    fn crps<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.crps)
    }

    #[getter]
    fn ln_density<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.ln_density)
    }

    #[getter]
    fn quantiles<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let n_rows = self.inner.ln_density.len();
        let n_levels = if self.inner.quantiles.is_empty() { 0 } else { self.n_levels };
        table(py, self.inner.quantiles.clone(), n_rows, n_levels)
    }

    #[getter]
    fn proba<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        table(py, self.inner.proba.clone(), self.inner.ln_density.len(), self.n_classes)
    }

    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        table(py, self.inner.weights.clone(), self.inner.ln_density.len(), self.n_members)
    }
}

/// The active pool of one member, oldest point first.
#[pyclass(frozen, module = "sapwood._core")]
pub struct ActivePool {
    x: Vec<f64>,
    n_columns: usize,
    y: Vec<f64>,
    weight: Vec<f64>,
    age: Vec<u64>,
    score: Vec<f64>,
}

impl ActivePool {
    pub fn new(member: &dyn Member, n_inputs: usize) -> Self {
        let points = member.active();
        Self {
            x: points.iter().flat_map(|point| point.x.iter().copied()).collect(),
            n_columns: n_inputs + member.lags(),
            y: points.iter().map(|point| point.y).collect(),
            weight: points.iter().map(|point| point.weight).collect(),
            age: points.iter().map(|point| point.age).collect(),
            score: points.iter().map(|point| point.score).collect(),
        }
    }
}

#[pymethods]
impl ActivePool {
    #[getter]
    fn x<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        table(py, self.x.clone(), self.y.len(), self.n_columns)
    }

    #[getter]
    fn y<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.y)
    }

    #[getter]
    fn weight<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.weight)
    }

    #[getter]
    fn age<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.age)
    }

    #[getter]
    fn score<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.score)
    }
}

/// One entry per particle of a cloud.
#[pyclass(frozen, module = "sapwood._core")]
pub struct TreeStats {
    n_distinct: usize,
    height: Vec<u32>,
    n_leaves: Vec<u32>,
    active_per_leaf: Vec<f64>,
    retired_per_leaf: Vec<f64>,
    forgetting: Vec<f64>,
}

impl TreeStats {
    pub fn new(member: &dyn Member) -> Self {
        let particles = member.particle_stats();
        Self {
            n_distinct: member.n_distinct_trees(),
            height: particles.iter().map(|p| p.height).collect(),
            n_leaves: particles.iter().map(|p| p.n_leaves).collect(),
            active_per_leaf: particles.iter().map(|p| p.active_per_leaf).collect(),
            retired_per_leaf: particles.iter().map(|p| p.retired_per_leaf).collect(),
            forgetting: particles.iter().map(|p| p.forgetting).collect(),
        }
    }
}

#[pymethods]
impl TreeStats {
    #[getter]
    fn n_distinct(&self) -> usize {
        self.n_distinct
    }

    #[getter]
    fn height<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.height)
    }

    #[getter]
    fn n_leaves<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.n_leaves)
    }

    #[getter]
    fn active_per_leaf<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.active_per_leaf)
    }

    #[getter]
    fn retired_per_leaf<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.retired_per_leaf)
    }

    #[getter]
    fn forgetting<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.forgetting)
    }
}

/// One tree in preorder. Leaves have `split_dim` -1.
#[pyclass(frozen, module = "sapwood._core")]
pub struct TreeDump {
    nodes: Vec<TreeNode>,
    n_values: usize,
}

impl TreeDump {
    pub fn new(nodes: Vec<TreeNode>) -> Self {
        let n_values = nodes.iter().map(|node| node.value.len()).max().unwrap_or(0);
        Self { nodes, n_values }
    }

    fn column<'py, T: numpy::Element>(&self, py: Python<'py>, f: impl Fn(&TreeNode) -> T) -> Bound<'py, PyArray1<T>> {
        PyArray1::from_iter(py, self.nodes.iter().map(f))
    }
}

#[pymethods]
impl TreeDump {
    #[getter]
    fn split_dim<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.column(py, |node| node.split.map_or(-1, |(split, _, _)| i64::from(split.dim)))
    }

    #[getter]
    fn cut<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |node| node.split.map_or(f64::NAN, |(split, _, _)| split.cut))
    }

    #[getter]
    fn nan_left<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.column(py, |node| node.split.is_some_and(|(split, _, _)| split.nan_left))
    }

    #[getter]
    fn left<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.column(py, |node| node.split.map_or(-1, |(_, left, _)| left as i64))
    }

    #[getter]
    fn right<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        self.column(py, |node| node.split.map_or(-1, |(_, _, right)| right as i64))
    }

    #[getter]
    fn n_active<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |node| node.n_active)
    }

    #[getter]
    fn n_retired<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.column(py, |node| node.n_retired)
    }

    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        let value = |node: &TreeNode, ix: usize| node.value.get(ix).copied().unwrap_or(f64::NAN);
        let values = self.nodes.iter().flat_map(|node| (0..self.n_values).map(move |ix| value(node, ix))).collect();
        table(py, values, self.nodes.len(), self.n_values)
    }
}
