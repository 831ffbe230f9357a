//! Small immutable results; every attribute access returns a new array.

use std::convert::Infallible;

use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use sapwood::bank::{self, Member};
use sapwood::cloud::TreeNode;

/// A flat list of rows as a two-dimensional array.
pub fn table<'py>(py: Python<'py>, values: Vec<f64>, n_rows: usize, n_columns: usize) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_vec((n_rows, n_columns), values).expect("as many values as rows times columns").into_pyarray(py)
}

/// An attribute that Python reads as a one-dimensional array.
struct Column<T>(Vec<T>);

impl<'py, T: Element> IntoPyObject<'py> for &Column<T> {
    type Target = PyArray1<T>;
    type Output = Bound<'py, PyArray1<T>>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(PyArray1::from_slice(py, &self.0))
    }
}

/// An attribute that Python reads as a two-dimensional array.
struct Table {
    values: Vec<f64>,
    n_rows: usize,
    n_columns: usize,
}

impl<'py> IntoPyObject<'py> for &Table {
    type Target = PyArray2<f64>;
    type Output = Bound<'py, PyArray2<f64>>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(table(py, self.values.clone(), self.n_rows, self.n_columns))
    }
}

/// A column with one entry per item.
fn column<I, T>(items: &[I], value: impl Fn(&I) -> T) -> Column<T> {
    Column(items.iter().map(value).collect())
}

/// One-step-ahead forecasts of a run, one row each.
#[pyclass(frozen, get_all, module = "sapwood._core")]
pub struct Forecast {
    mean: Column<f64>,
    var: Column<f64>,
    epistemic: Column<f64>,
    pit: Column<f64>,
    crps: Column<f64>,
    ln_density: Column<f64>,
    quantiles: Table,
    proba: Table,
    weights: Table,
}

impl Forecast {
    pub fn new(forecast: bank::Forecast, n_levels: usize, n_classes: usize, n_members: usize) -> Self {
        let bank::Forecast { mean, variance, epistemic, quantiles, pit, crps, proba, ln_density, weights } = forecast;
        let n_rows = ln_density.len();
        // Classification has no quantiles, whatever levels were asked for.
        let n_levels = if quantiles.is_empty() { 0 } else { n_levels };
        let table = |values, n_columns| Table { values, n_rows, n_columns };
        Self {
            mean: Column(mean),
            var: Column(variance),
            epistemic: Column(epistemic),
            pit: Column(pit),
            crps: Column(crps),
            ln_density: Column(ln_density),
            quantiles: table(quantiles, n_levels),
            proba: table(proba, n_classes),
            weights: table(weights, n_members),
        }
    }
}

/// The active pool of one member, oldest point first.
#[pyclass(frozen, get_all, module = "sapwood._core")]
pub struct ActivePool {
    x: Table,
    y: Column<f64>,
    weight: Column<f64>,
    age: Column<u64>,
    score: Column<f64>,
}

impl ActivePool {
    pub fn new(member: &dyn Member, n_inputs: usize) -> Self {
        let points = member.active();
        let values = points.iter().flat_map(|point| point.x.iter().copied()).collect();
        Self {
            x: Table { values, n_rows: points.len(), n_columns: n_inputs + member.lags() },
            y: column(&points, |point| point.y),
            weight: column(&points, |point| point.weight),
            age: column(&points, |point| point.age),
            score: column(&points, |point| point.score),
        }
    }
}

/// One entry per particle of a cloud.
#[pyclass(frozen, get_all, module = "sapwood._core")]
pub struct TreeStats {
    n_distinct: usize,
    height: Column<u32>,
    n_leaves: Column<u32>,
    active_per_leaf: Column<f64>,
    retired_per_leaf: Column<f64>,
    forgetting: Column<f64>,
}

impl TreeStats {
    pub fn new(member: &dyn Member) -> Self {
        let particles = member.particle_stats();
        Self {
            n_distinct: member.n_distinct_trees(),
            height: column(&particles, |particle| particle.height),
            n_leaves: column(&particles, |particle| particle.n_leaves),
            active_per_leaf: column(&particles, |particle| particle.active_per_leaf),
            retired_per_leaf: column(&particles, |particle| particle.retired_per_leaf),
            forgetting: column(&particles, |particle| particle.forgetting),
        }
    }
}

/// One tree in preorder. Leaves have `split_dim` -1.
#[pyclass(frozen, get_all, module = "sapwood._core")]
pub struct TreeDump {
    split_dim: Column<i64>,
    cut: Column<f64>,
    nan_left: Column<bool>,
    left: Column<i64>,
    right: Column<i64>,
    n_active: Column<f64>,
    n_retired: Column<f64>,
    value: Table,
}

impl TreeDump {
    pub fn new(nodes: &[TreeNode]) -> Self {
        let n_columns = nodes.iter().map(|node| node.value.len()).max().unwrap_or(0);
        // Splits have no value.
        let value = |node: &TreeNode, ix: usize| node.value.get(ix).copied().unwrap_or(f64::NAN);
        let values = nodes.iter().flat_map(|node| (0..n_columns).map(move |ix| value(node, ix))).collect();
        Self {
            split_dim: column(nodes, |node| node.split.map_or(-1, |(split, _, _)| i64::from(split.dim))),
            cut: column(nodes, |node| node.split.map_or(f64::NAN, |(split, _, _)| split.cut)),
            nan_left: column(nodes, |node| node.split.is_some_and(|(split, _, _)| split.nan_left)),
            left: column(nodes, |node| node.split.map_or(-1, |(_, left, _)| left as i64)),
            right: column(nodes, |node| node.split.map_or(-1, |(_, _, right)| right as i64)),
            n_active: column(nodes, |node| node.n_active),
            n_retired: column(nodes, |node| node.n_retired),
            value: Table { values, n_rows: nodes.len(), n_columns },
        }
    }
}
