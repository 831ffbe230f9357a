//! How labels follow one another: transition counts that fade.

use super::last_target;
use crate::num::ln;

/// What a row leaves of the counts before it in the same row of the table.
const KEPT: f64 = 0.99;
/// Every row of the table leans on the labels' own frequencies with this many pseudo-counts, and those on equality.
const LEANING: f64 = 1.0;

/// Counts that have faded to this are dropped: memory follows the labels that still occur.
const NEGLIGIBLE: f64 = 1e-9;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LastLabel {
    /// By label: its fading count.
    pub(crate) counts: Vec<f64>,
    /// By label: the labels that have lately come after it, in increasing order, with their fading counts.
    pub(crate) followers: Vec<Vec<(u32, f64)>>,
}

impl LastLabel {
    pub fn new(n_classes: usize) -> Self {
        Self { counts: vec![0.0; n_classes], followers: vec![Vec::new(); n_classes] }
    }

    fn n_classes(&self) -> usize {
        self.counts.len()
    }

    /// None before the first label.
    fn last_of(&self, x: &[f64]) -> Option<usize> {
        let last = last_target(x);
        (last >= 0.0 && last < self.n_classes() as f64).then_some(last as usize)
    }

    pub fn add_class_probabilities(&self, x: &[f64], weight: f64, out: &mut [f64]) {
        let followers = self.last_of(x).map_or(&[][..], |last| &self.followers[last][..]);
        let share = weight / (followers.iter().map(|(_, count)| count).sum::<f64>() + LEANING);
        let even = LEANING / self.n_classes() as f64;
        let lean = share * LEANING / (self.counts.iter().sum::<f64>() + LEANING);
        for (p, count) in out.iter_mut().zip(&self.counts) {
            *p += lean * (count + even);
        }
        for (class, count) in followers {
            out[*class as usize] += share * count;
        }
    }

    pub fn observe(&mut self, x: &[f64], y: f64, weight: f64) -> f64 {
        let class = y as usize;
        let mut probabilities = vec![0.0; self.n_classes()];
        self.add_class_probabilities(x, 1.0, &mut probabilities);
        let kept = libm::pow(KEPT, weight);
        self.counts.iter_mut().for_each(|count| *count *= kept);
        self.counts[class] += weight;
        if let Some(last) = self.last_of(x) {
            let followers = &mut self.followers[last];
            followers.iter_mut().for_each(|(_, count)| *count *= kept);
            match followers.binary_search_by_key(&(class as u32), |(follower, _)| *follower) {
                Ok(at) => followers[at].1 += weight,
                Err(at) => followers.insert(at, (class as u32, weight)),
            }
            followers.retain(|(_, count)| *count > NEGLIGIBLE);
        }
        weight * ln(probabilities[class])
    }

    pub fn add_classes(&mut self, n_classes: usize) {
        self.counts.resize(n_classes, 0.0);
        self.followers.resize(n_classes, Vec::new());
    }
}
