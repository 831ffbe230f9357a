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

/// How particle filters are made: clean or with one fault.
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
        let world = World { settings: settings.clone(), fault: self.fault, history: Vec::new() };
        let particles = vec![Particle::root(); n_particles];
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
        self.particles = ancestors.into_iter().map(|ix| self.particles[ix].clone()).collect();
    }

    fn retire(&mut self, position: usize) {
        let point = self.pool.remove(position);
        for particle in &mut self.particles {
            particle.retire(&self.world, point);
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
        self.ln_evidence += if self.has(Fault::EvidenceMeanOfLogs) {
            ln_weights.iter().sum::<f64>() / n
        } else {
            ln_sum_exp(&ln_weights) - n.ln()
        };
        self.resample(&ln_weights);
        let point = self.world.history.len();
        self.world.history.push((x.to_vec(), y));
        self.pool.push(point);
        for ix in 0..self.particles.len() {
            let stream = if self.has(Fault::SharedStream) && ix == 1 { 0 } else { ix as u64 };
            let mut rng = self.rng(stream, Purpose::Propagate);
            self.particles[ix].propagate(&self.world, point, &mut rng);
        }
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
