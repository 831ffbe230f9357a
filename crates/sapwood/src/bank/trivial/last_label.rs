//! Transition probabilities between labels, from exponentially decaying counts.

use super::{TrivialKind, last_target};
use crate::bank::member::{Member, MemberConfig};
use crate::num::ln;

/// Decay per observation of the counts in the same row of the transition table.
const DECAY: f64 = 0.99;
/// Pseudo-counts that shrink each row of the table towards the labels' marginal frequencies, and those towards the uniform distribution.
const PSEUDO_COUNT: f64 = 1.0;

/// Counts that have decayed to this are dropped, so that memory depends only on the labels that still occur.
const NEGLIGIBLE: f64 = 1e-9;

#[derive(Clone, Debug, PartialEq)]
pub struct LastLabel {
    /// Decaying count per label.
    pub(crate) counts: Vec<f64>,
    /// Per label: the labels that have recently followed it, in increasing order, with their decaying counts.
    pub(crate) followers: Vec<Vec<(u32, f64)>>,
}

impl LastLabel {
    pub fn new(n_classes: usize) -> Self {
        Self { counts: vec![0.0; n_classes], followers: vec![Vec::new(); n_classes] }
    }

    pub fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// The last label; none before the first.
    fn last_of(&self, x: &[f64]) -> Option<usize> {
        let last = last_target(x);
        (last >= 0.0 && last < self.n_classes() as f64).then_some(last as usize)
    }

    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, out: &mut [f64]) {
        let followers = self.last_of(x).map_or(&[][..], |last| &self.followers[last][..]);
        let share = weight / (followers.iter().map(|(_, count)| count).sum::<f64>() + PSEUDO_COUNT);
        let uniform = PSEUDO_COUNT / self.n_classes() as f64;
        let marginal_share = share * PSEUDO_COUNT / (self.counts.iter().sum::<f64>() + PSEUDO_COUNT);
        for (p, count) in out.iter_mut().zip(&self.counts) {
            *p += marginal_share * (count + uniform);
        }
        for (class, count) in followers {
            out[*class as usize] += share * count;
        }
    }

    pub fn add_classes(&mut self, n_classes: usize) {
        self.counts.resize(n_classes, 0.0);
        self.followers.resize(n_classes, Vec::new());
    }
}

impl Member for LastLabel {
    fn config(&self) -> MemberConfig {
        TrivialKind::LastLabel.into()
    }

    fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        let class = y as usize;
        let mut probabilities = vec![0.0; self.n_classes()];
        self.add_class_probabilities(x, 1.0, &mut probabilities);
        let decay = libm::pow(DECAY, weight);
        self.counts.iter_mut().for_each(|count| *count *= decay);
        self.counts[class] += weight;
        if let Some(last) = self.last_of(x) {
            let followers = &mut self.followers[last];
            followers.iter_mut().for_each(|(_, count)| *count *= decay);
            match followers.binary_search_by_key(&(class as u32), |(follower, _)| *follower) {
                Ok(at) => followers[at].1 += weight,
                Err(at) => followers.insert(at, (class as u32, weight)),
            }
            followers.retain(|(_, count)| *count > NEGLIGIBLE);
        }
        weight * ln(probabilities[class])
    }
}
