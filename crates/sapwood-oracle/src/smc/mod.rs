//! A slow particle filter: explicit particles, lists of points at the leaves, everything recomputed at every step.

mod fault;
mod particle;
pub mod resample;

pub use fault::Fault;
pub use resample::Scheme;

use crate::check::{Bench, Filter, LeafMass};
use crate::rng::{Purpose, Rng};
use crate::settings::{Discard, Settings};
use crate::special::{ln_sum_exp, softmax};
use crate::tree::{Split, Tree};
use particle::{Particle, World};

/// Creates particle filters, correct or with one fault.
#[derive(Clone, Copy, Debug)]
pub struct SmcBench {
    pub fault: Option<Fault>,
    pub scheme: Scheme,
}

impl SmcBench {
    pub fn clean(scheme: Scheme) -> Self {
        Self { fault: None, scheme }
    }

    pub fn with(fault: Fault) -> Self {
        Self { fault: Some(fault), scheme: Scheme::Systematic }
    }
}

impl Bench for SmcBench {
    type Filter = Smc;

    fn start(&self, seed: u64, n_particles: usize, settings: &Settings) -> Smc {
        let leaf = self.fault.map_or_else(|| settings.leaf.clone(), |fault| fault.in_leaf(&settings.leaf));
        let world = World { settings: Settings { leaf, ..settings.clone() }, fault: self.fault, history: Vec::new() };
        let n_values = settings.forgetting.values().len();
        let particles = (0..n_particles).map(|ix| Particle::root(ix * n_values / n_particles)).collect();
        Smc { world, scheme: self.scheme, seed, step: 0, pool: Vec::new(), particles, ln_evidence: 0.0 }
    }
}

/// The filter.
#[derive(Clone, Debug)]
pub struct Smc {
    world: World,
    scheme: Scheme,
    seed: u64,
    step: u64,
    pool: Vec<usize>,
    particles: Vec<Particle>,
    ln_evidence: f64,
}

impl Smc {
    fn has(&self, fault: Fault) -> bool {
        self.world.has(fault)
    }

    fn rng(&self, particle: u64, purpose: Purpose) -> Rng {
        let step = if self.has(Fault::StreamRepeatsEachStep) { 0 } else { self.step };
        Rng::stream(self.seed, step, particle, purpose)
    }

    fn resample(&mut self, ln_weights: &[f64]) {
        let n = self.particles.len();
        let weights = if self.has(Fault::WeightsIgnored) { vec![1.0 / n as f64; n] } else { softmax(ln_weights) };
        let mut rng = self.rng(0, Purpose::Resample);
        let ancestors = match self.scheme {
            Scheme::Systematic => {
                let offset = if self.has(Fault::ResamplingOffsetStuck) { 0.5 } else { rng.uniform() };
                resample::systematic(&weights, offset)
            }
            Scheme::Residual => resample::residual(&weights, &mut rng),
        };
        let survivors = ancestors.into_iter().map(|ix| self.particles[ix].clone()).collect();
        let replaced = std::mem::replace(&mut self.particles, survivors);
        if self.has(Fault::LambdaNotInherited) {
            for (particle, before) in self.particles.iter_mut().zip(replaced) {
                particle.carry(before.value_ix());
            }
        }
    }

    /// Particles occasionally redraw the forgetting factor that they carry.
    fn mutate(&mut self) {
        let n_values = self.world.settings.forgetting.values().len();
        let excess = if self.has(Fault::LambdaMutatesTooOften) { 3.0 } else { 1.0 };
        for ix in 0..self.particles.len() {
            let mut rng = self.rng(ix as u64, Purpose::Mutate);
            if rng.uniform() < excess * self.world.settings.forgetting.mutation() {
                self.particles[ix].carry(rng.below(n_values));
            }
        }
    }

    fn retire(&mut self, position: usize) {
        let point = self.pool.remove(position);
        let shared = self.particles[0].value_ix();
        for ix in 0..self.particles.len() {
            let own = self.particles[ix].value_ix();
            if self.has(Fault::LambdaSharedByParticles) {
                self.particles[ix].carry(shared);
            }
            self.particles[ix].retire(&self.world, point);
            self.particles[ix].carry(own);
        }
    }

    fn discard(&mut self) {
        let position = match self.world.settings.discard {
            Discard::Oldest => usize::from(self.has(Fault::WrongPointRetired)),
            Discard::Random => {
                let spared = usize::from(self.has(Fault::DiscardSparesNewest));
                self.rng(0, Purpose::Discard).below(self.pool.len() - spared)
            }
        };
        self.retire(position);
    }
}

impl Filter for Smc {
    fn observe(&mut self, x: &[f64], y: f64) {
        self.step += 1;
        let ln_weights: Vec<f64> = self.particles.iter().map(|p| p.ln_predictive(&self.world, x, y)).collect();
        let n = self.particles.len() as f64;
        self.ln_evidence +=
            if self.has(Fault::EvidenceMeanOfLogs) { ln_weights.iter().sum::<f64>() / n } else { ln_sum_exp(&ln_weights) - n.ln() };
        self.resample(&ln_weights);
        let point = self.world.history.len();
        self.world.history.push((x.to_vec(), y));
        self.pool.push(point);
        for ix in 0..self.particles.len() {
            let stream = if self.has(Fault::SharedStream) && ix == 1 { 0 } else { ix as u64 };
            let mut rng = self.rng(stream, Purpose::Propagate);
            self.particles[ix].propagate(&self.world, point, &mut rng);
        }
        self.mutate();
        while self.world.settings.capacity.is_some_and(|capacity| self.pool.len() > capacity) {
            self.discard();
        }
    }

    fn ln_evidence(&self) -> f64 {
        self.ln_evidence
    }

    fn ln_predictive(&self, x: &[f64], y: f64) -> f64 {
        let logs: Vec<f64> = self.particles.iter().map(|p| p.ln_predictive_later(&self.world, x, y)).collect();
        ln_sum_exp(&logs) - (logs.len() as f64).ln()
    }

    fn trees(&self) -> Vec<Tree<Split, LeafMass>> {
        self.particles.iter().map(Particle::masses).collect()
    }

    fn forgetting(&self) -> Vec<f64> {
        let values = self.world.settings.forgetting.values();
        self.particles.iter().map(|particle| values[particle.value_ix()]).collect()
    }

    fn active(&self) -> Vec<(Vec<f64>, f64)> {
        self.pool.iter().map(|ix| self.world.history[*ix].clone()).collect()
    }

    fn retire_oldest(&mut self) {
        self.retire(0);
    }

    fn saved_and_restored(&self) -> Self {
        let mut restored = self.clone();
        if self.has(Fault::RestoreLosesRandomPosition) {
            restored.step = 0;
        }
        if self.has(Fault::RestoreLosesEvidence) {
            restored.ln_evidence = 0.0;
        }
        restored
    }
}
