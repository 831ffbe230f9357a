//! Discriminant leaves: Gaussian classes, nested with class counts alone.
//!
//! The evidence is `Dirichlet-multinomial(y)` times the mean over the nested models of `p(x | y, model) / p(x | one Gaussian)`. Each
//! density is a normal-inverse-Wishart marginal written out: for groups of points that share a covariance
//! `Sigma ~ IW(nu0, Psi)` and have means `mu_g ~ N(m, Sigma/k0)`,
//!
//! `ln p = -n p/2 ln(pi) + lnGamma_p((nu0+n)/2) - lnGamma_p(nu0/2) + nu0/2 ln|Psi| - (nu0+n)/2 ln|Psi + S| + p/2 sum_g ln(k0/(k0+n_g))`
//!
//! with `S = sum_g [scatter about the group's mean + k0 n_g/(k0+n_g) (mean_g - m)(mean_g - m)']`. One Gaussian is one group; equal
//! covariances are one such density with one group per class; unequal ones are one density per class. `m` and
//! `Psi = (p+2) covariance of the leaf + ridge` are computed from the leaf's points and held fixed when a new input is predicted, so a
//! predictive density is a ratio of two marginals.

use std::f64::consts::PI;

use super::{Datum, multinomial};
use crate::linalg::{Matrix, cholesky, ln_det};
use crate::special::{ln_gamma, ln_sum_exp, softmax};

/// A leaf model and its prior.
#[derive(Clone, Debug)]
pub struct Discriminant {
    pub n_classes: usize,
    /// Dirichlet pseudo-count per class.
    pub baseline: f64,
    /// Added to the diagonal of `Psi`.
    pub ridge: Vec<f64>,
    /// Whether classes with covariances of their own are a further nested model.
    pub by_class: bool,
    /// Whether inputs are independent given the class; all of them together then count for at most [`INDEPENDENT`].
    pub diagonal: bool,
    /// Injected to prove that the checks detect it.
    pub mistake: Option<Mistake>,
}

/// Faults of a discriminant leaf, as opposed to the filter around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The ridge is on the scale of the leaf instead of the stream.
    LeafRidge,
    /// Models are summed instead of averaged.
    NotAveraged,
    /// The class means are penalised as if `k0` were twice as large.
    WrongStrength,
    /// Predictions give every model the same weight.
    EvenWeights,
}

const K0: f64 = 1.0;
const INDEPENDENT: f64 = 4.0;

/// Held fixed while densities are compared: a group of inputs, their mean and `Psi`.
struct Prior {
    columns: Vec<usize>,
    mean: Vec<f64>,
    psi: Matrix,
}

fn weight_of(data: &[Datum]) -> f64 {
    data.iter().map(|d| d.weight).sum()
}

fn mean_of(data: &[Datum], columns: &[usize]) -> Vec<f64> {
    let n = weight_of(data);
    columns.iter().map(|i| if n > 0.0 { data.iter().map(|d| d.weight * d.x[*i]).sum::<f64>() / n } else { 0.0 }).collect()
}

/// `sum w (x - centre)(x - centre)'`.
fn scatter_about(data: &[Datum], columns: &[usize], centre: &[f64]) -> Matrix {
    let off = |d: &Datum, a: usize| d.x[columns[a]] - centre[a];
    let entry = |a: usize, b: usize| data.iter().map(|d| d.weight * off(d, a) * off(d, b)).sum();
    (0..columns.len()).map(|a| (0..columns.len()).map(|b| entry(a, b)).collect()).collect()
}

fn add(matrix: &mut Matrix, other: &Matrix, times: f64) {
    for (row, other) in matrix.iter_mut().zip(other) {
        for (entry, value) in row.iter_mut().zip(other) {
            *entry += times * value;
        }
    }
}

fn ln_gamma_p(p: usize, a: f64) -> f64 {
    p as f64 * (p as f64 - 1.0) / 4.0 * PI.ln() + (0..p).map(|j| ln_gamma(a - j as f64 / 2.0)).sum::<f64>()
}

impl Discriminant {
    /// The groups of inputs whose covariances are modelled.
    fn blocks(&self) -> Vec<Vec<usize>> {
        let p = self.ridge.len();
        if self.diagonal { (0..p).map(|i| vec![i]).collect() } else { vec![(0..p).collect()] }
    }

    fn input_weight(&self) -> f64 {
        if self.diagonal { (INDEPENDENT / self.ridge.len() as f64).min(1.0) } else { 1.0 }
    }

    fn prior(&self, data: &[Datum], columns: Vec<usize>) -> Prior {
        let (p, n) = (columns.len(), weight_of(data));
        let mean = mean_of(data, &columns);
        let scatter = scatter_about(data, &columns, &mean);
        let mut psi = vec![vec![0.0; p]; p];
        add(&mut psi, &scatter, (p as f64 + 2.0) / n.max(1.0));
        for a in 0..p {
            let leaf_scale = if n > 0.0 { scatter[a][a] / n } else { 0.0 };
            psi[a][a] += if self.mistake == Some(Mistake::LeafRidge) { leaf_scale + 1e-9 } else { self.ridge[columns[a]] };
        }
        Prior { columns, mean, psi }
    }

    /// Marginal density of inputs in groups that share a covariance.
    fn ln_marginal(&self, prior: &Prior, groups: &[Vec<Datum>]) -> f64 {
        let p = prior.columns.len();
        let nu0 = p as f64 + 2.0;
        let n: f64 = groups.iter().map(|group| weight_of(group)).sum();
        let mut whole = prior.psi.clone();
        let mut penalty = 0.0;
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let (n_g, centre) = (weight_of(group), mean_of(group, &prior.columns));
            add(&mut whole, &scatter_about(group, &prior.columns, &centre), 1.0);
            let off: Vec<f64> = centre.iter().zip(&prior.mean).map(|(a, b)| a - b).collect();
            let square = off.iter().map(|a| off.iter().map(|b| a * b).collect()).collect();
            add(&mut whole, &square, K0 * n_g / (K0 + n_g));
            let k0 = if self.mistake == Some(Mistake::WrongStrength) { 2.0 * K0 } else { K0 };
            penalty += (k0 / (k0 + n_g)).ln();
        }
        let ln_det_of = |matrix: &Matrix| ln_det(&cholesky(matrix).expect("the ridge keeps it positive definite"));
        -n * p as f64 / 2.0 * PI.ln() + ln_gamma_p(p, (nu0 + n) / 2.0) - ln_gamma_p(p, nu0 / 2.0) + nu0 / 2.0 * ln_det_of(&prior.psi)
            - (nu0 + n) / 2.0 * ln_det_of(&whole)
            + p as f64 / 2.0 * penalty
    }

    /// Density of the inputs under each nested model: one Gaussian, class means, class covariances.
    fn ln_densities(&self, priors: &[Prior], data: &[Datum]) -> Vec<f64> {
        let by_class: Vec<Vec<Datum>> =
            (0..self.n_classes).map(|class| data.iter().filter(|d| d.y == class as f64).copied().collect()).collect();
        let over_blocks = |f: &dyn Fn(&Prior) -> f64| self.input_weight() * priors.iter().map(f).sum::<f64>();
        let mut logs =
            vec![over_blocks(&|prior| self.ln_marginal(prior, &[data.to_vec()])), over_blocks(&|prior| self.ln_marginal(prior, &by_class))];
        if self.by_class {
            logs.push(over_blocks(&|prior| by_class.iter().map(|own| self.ln_marginal(prior, std::slice::from_ref(own))).sum()));
        }
        logs
    }

    fn priors(&self, data: &[Datum]) -> Vec<Prior> {
        self.blocks().into_iter().map(|columns| self.prior(data, columns)).collect()
    }

    pub fn ln_evidence(&self, data: &[Datum]) -> f64 {
        let logs = self.ln_densities(&self.priors(data), data);
        let n_models = if self.mistake == Some(Mistake::NotAveraged) { 1.0 } else { logs.len() as f64 };
        multinomial::ln_evidence(&multinomial::counts(self.n_classes, data), self.baseline) + ln_sum_exp(&logs) - n_models.ln() - logs[0]
    }

    pub fn ln_predictive(&self, data: &[Datum], x: &[f64], y: f64) -> f64 {
        let priors = self.priors(data);
        let before = self.ln_densities(&priors, data);
        let counts = multinomial::counts(self.n_classes, data);
        // By model and class: the class probability times the density of the input.
        let mut joint = vec![Vec::new(); before.len()];
        for class in 0..self.n_classes {
            let mut with: Vec<Datum> = data.to_vec();
            with.push(Datum { x, y: class as f64, weight: 1.0 });
            let ln_class = multinomial::ln_predictive(&counts, self.baseline, class);
            for ((own, after), before) in joint.iter_mut().zip(self.ln_densities(&priors, &with)).zip(&before) {
                own.push(ln_class + after - before);
            }
        }
        let weights =
            if self.mistake == Some(Mistake::EvenWeights) { vec![1.0 / before.len() as f64; before.len()] } else { softmax(&before) };
        joint.iter().zip(weights).map(|(logs, weight)| weight * softmax(logs)[y as usize]).sum::<f64>().ln()
    }
}
