//! The exact recursion of the filter on small problems: the limit of infinitely many particles.
//!
//! Inputs are integers on one axis, so a cut in `(b-1, b]` is the split `b` and the trees can be listed. A state is a tree
//! together with the retired weights at its leaves and the forgetting factor it carries; the active points are the same for every state.
//!
//! One step multiplies the mass of a state by the predictive of its leaf and moves it by the exact transition: the
//! choice between stay, prune and grow given the candidates, averaged over the candidates. In the language of
//! Feynman-Kac models the unnormalised mass is `gamma_t = (gamma_{t-1} G_t) M_t`, with potential `G_t` (the predictive)
//! and kernel `M_t` (the move). A particle filter that resamples without bias has
//! `E[prod_s mean weight_s * frequency_t(T)] = gamma_t(T)` for any number of particles; summed over `T` this is the
//! evidence. It equals the product of the one-step predictives accumulated here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::leaf::Datum;
use crate::settings::{Discard, Settings};
use crate::special::softmax;
use crate::tree::{LineTree, Tree};

/// A weight as part of the key of a state, rounded to nine digits so that rounding errors do not split a state.
#[derive(Clone, Copy, Debug)]
pub struct Weight(pub f64);

impl Weight {
    fn digits(self) -> i64 {
        (self.0 * 1e9).round() as i64
    }
}

impl PartialEq for Weight {
    fn eq(&self, other: &Self) -> bool {
        self.digits() == other.digits()
    }
}

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> Ordering {
        self.digits().cmp(&other.digits())
    }
}

/// The remaining weight of each retired point, by time of observation.
pub type Retired = BTreeMap<usize, Weight>;

/// A tree with the retired weights of its leaves.
pub type Remembering = Tree<i64, Retired>;

/// The index of the forgetting factor, and the tree.
pub type State = (usize, Remembering);

#[derive(Clone, Debug)]
struct Observation {
    x: [f64; 1],
    y: f64,
}

/// The distribution over states after each observation.
#[derive(Clone, Debug)]
pub struct ExactFilter {
    settings: Settings,
    history: Vec<Observation>,
    active: Vec<usize>,
    states: BTreeMap<State, f64>,
    ln_evidence: f64,
}

impl ExactFilter {
    pub fn new(settings: &Settings) -> Self {
        assert_eq!(settings.n_inputs, 1, "the enumerated filter has one input");
        let n_values = settings.forgetting.values().len();
        let states = (0..n_values).map(|ix| ((ix, Tree::Leaf(Retired::new())), 1.0 / n_values as f64)).collect();
        Self { settings: settings.clone(), history: Vec::new(), active: Vec::new(), states, ln_evidence: 0.0 }
    }

    pub fn ln_evidence(&self) -> f64 {
        self.ln_evidence
    }

    pub fn states(&self) -> &BTreeMap<State, f64> {
        &self.states
    }

    pub fn active(&self) -> &[usize] {
        &self.active
    }

    /// Probability of each tree, summed over retired weights.
    pub fn tree_probabilities(&self) -> BTreeMap<LineTree, f64> {
        let mut trees = BTreeMap::new();
        for ((_, tree), mass) in &self.states {
            *trees.entry(tree.map(&|b| *b, &|_| ())).or_insert(0.0) += mass;
        }
        trees
    }

    /// Probability of each forgetting factor.
    pub fn forgetting_probabilities(&self) -> Vec<f64> {
        let mut probabilities = vec![0.0; self.settings.forgetting.values().len()];
        for ((value_ix, _), mass) in &self.states {
            probabilities[*value_ix] += mass;
        }
        probabilities
    }

    /// Predictive density (or class probability) of `y` at `x`.
    pub fn predictive(&self, x: i64, y: f64) -> f64 {
        self.states.iter().map(|((_, tree), mass)| mass * self.ln_weight(tree, x, y).exp()).sum()
    }

    /// Learns one point, then retires the oldest while the pool is over its limit (for other choices see [`Self::retire`]).
    pub fn observe(&mut self, x: i64, y: f64) {
        self.learn(x, y);
        if self.settings.discard == Discard::Oldest {
            while self.settings.capacity.is_some_and(|capacity| self.active.len() > capacity) {
                self.retire(0);
            }
        }
    }

    /// Weighs, resamples and propagates; retires nothing.
    pub fn learn(&mut self, x: i64, y: f64) {
        let weighed: Vec<f64> = self.states.iter().map(|((_, tree), mass)| mass * self.ln_weight(tree, x, y).exp()).collect();
        let total: f64 = weighed.iter().sum();
        self.ln_evidence += total.ln();
        self.active.push(self.history.len());
        self.history.push(Observation { x: [x as f64], y });
        let mut next = BTreeMap::new();
        for ((value_ix, tree), mass) in self.states.keys().zip(weighed) {
            for (moved, probability) in self.transition(tree, 0, &self.active, x) {
                *next.entry((*value_ix, moved)).or_insert(0.0) += mass / total * probability;
            }
        }
        self.states = next;
        self.mutate();
    }

    fn mutate(&mut self) {
        let (mutation, n_values) = (self.settings.forgetting.mutation(), self.settings.forgetting.values().len());
        if mutation == 0.0 {
            return;
        }
        let mut next = BTreeMap::new();
        for ((value_ix, tree), mass) in &self.states {
            *next.entry((*value_ix, tree.clone())).or_insert(0.0) += mass * (1.0 - mutation);
            for drawn in 0..n_values {
                *next.entry((drawn, tree.clone())).or_insert(0.0) += mass * mutation / n_values as f64;
            }
        }
        self.states = next;
    }

    /// Retires the point at this position of the pool, in every state.
    pub fn retire(&mut self, position: usize) {
        let point = self.active.remove(position);
        let mut next = BTreeMap::new();
        for ((value_ix, tree), mass) in &self.states {
            let mut tree = tree.clone();
            retire_into(&mut tree, self.history[point].x[0], point, self.settings.forgetting.values()[*value_ix]);
            *next.entry((*value_ix, tree)).or_insert(0.0) += mass;
        }
        self.states = next;
    }

    fn ln_weight(&self, tree: &Remembering, x: i64, y: f64) -> f64 {
        let (retired, active) = self.leaf_at(tree, x, &self.active);
        let mut data = self.active_data(&active);
        data.extend(self.retired_data(retired));
        self.settings.leaf.ln_predictive(&data, &[x as f64], y).expect("the predictive is undefined under this prior")
    }

    fn leaf_at<'a>(&self, node: &'a Remembering, x: i64, active: &[usize]) -> (&'a Retired, Vec<usize>) {
        match node {
            Tree::Leaf(retired) => (retired, active.to_vec()),
            Tree::Split(boundary, left, right) => {
                let (below, above) = self.divide(active, *boundary);
                if x < *boundary { self.leaf_at(left, x, &below) } else { self.leaf_at(right, x, &above) }
            }
        }
    }

    fn divide(&self, active: &[usize], boundary: i64) -> (Vec<usize>, Vec<usize>) {
        active.iter().partition(|ix| self.history[**ix].x[0] < boundary as f64)
    }

    fn active_data(&self, active: &[usize]) -> Vec<Datum<'_>> {
        active.iter().map(|ix| self.datum(*ix, 1.0)).collect()
    }

    fn retired_data(&self, retired: &Retired) -> Vec<Datum<'_>> {
        retired.iter().map(|(ix, weight)| self.datum(*ix, weight.0)).collect()
    }

    fn datum(&self, ix: usize, weight: f64) -> Datum<'_> {
        Datum { x: &self.history[ix].x, y: self.history[ix].y, weight }
    }

    /// Log of prior times evidence of a subtree whose top is at `depth` and which holds these active points.
    fn ln_subtree(&self, node: &Remembering, depth: usize, active: &[usize]) -> f64 {
        let prior = self.settings.split_prior;
        match node {
            Tree::Leaf(retired) => {
                prior.ln_leaf(depth) + self.settings.ln_leaf_evidence(&self.active_data(active), &self.retired_data(retired))
            }
            Tree::Split(boundary, left, right) => {
                let (below, above) = self.divide(active, *boundary);
                prior.ln_split(depth) + self.ln_subtree(left, depth + 1, &below) + self.ln_subtree(right, depth + 1, &above)
            }
        }
    }

    /// The possible results of a move of the subtree, with probabilities. Alternatives are whole subtrees of the parent of the leaf at `x`.
    fn transition(&self, node: &Remembering, depth: usize, active: &[usize], x: i64) -> Vec<(Remembering, f64)> {
        match node {
            Tree::Leaf(retired) => self.choices(node.clone(), None, self.grown(retired, active), depth, active),
            Tree::Split(boundary, left, right) => {
                let (below, above) = self.divide(active, *boundary);
                let (child, inside) = if x < *boundary { (left, below) } else { (right, above) };
                let rebuilt = |new: Remembering| {
                    if x < *boundary {
                        Tree::split(*boundary, new, (**right).clone())
                    } else {
                        Tree::split(*boundary, (**left).clone(), new)
                    }
                };
                match &**child {
                    Tree::Leaf(retired) => {
                        let grown = self.grown(retired, &inside).into_iter().map(rebuilt).collect();
                        self.choices(node.clone(), Some(Tree::Leaf(merged(node))), grown, depth, active)
                    }
                    Tree::Split(..) => self
                        .transition(child, depth + 1, &inside, x)
                        .into_iter()
                        .map(|(new, probability)| (rebuilt(new), probability))
                        .collect(),
                }
            }
        }
    }

    /// The move probabilities averaged over every way to draw the candidates, all equally likely.
    fn choices(
        &self,
        stay: Remembering,
        prune: Option<Remembering>,
        grown: Vec<Remembering>,
        depth: usize,
        active: &[usize],
    ) -> Vec<(Remembering, f64)> {
        let ln_stay = self.ln_subtree(&stay, depth, active);
        let ln_prune = prune.as_ref().map_or(f64::NEG_INFINITY, |tree| self.ln_subtree(tree, depth, active));
        let ln_grown: Vec<f64> = grown.iter().map(|tree| self.ln_subtree(tree, depth, active)).collect();
        let n_drawn = if grown.is_empty() { 0 } else { self.settings.n_candidates };
        let n_ways = grown.len().pow(n_drawn as u32);
        let ln_share = (self.settings.n_candidates as f64).ln();
        let (mut p_stay, mut p_prune, mut p_grown) = (0.0, 0.0, vec![0.0; grown.len()]);
        for way in 0..n_ways {
            let drawn: Vec<usize> = (0..n_drawn).map(|draw| way / grown.len().pow(draw as u32) % grown.len()).collect();
            let mut logs = vec![ln_stay, ln_prune];
            logs.extend(drawn.iter().map(|ix| ln_grown[*ix] - ln_share));
            let probabilities = softmax(&logs);
            p_stay += probabilities[0] / n_ways as f64;
            p_prune += probabilities[1] / n_ways as f64;
            for (ix, probability) in drawn.iter().zip(&probabilities[2..]) {
                p_grown[*ix] += probability / n_ways as f64;
            }
        }
        let mut choices = vec![(stay, p_stay)];
        choices.extend(prune.map(|tree| (tree, p_prune)));
        choices.extend(grown.into_iter().zip(p_grown));
        choices
    }

    /// The leaf split at every candidate: boundaries uniform over the interval that leaves `min_leaf` active points on
    /// either side.
    fn grown(&self, retired: &Retired, active: &[usize]) -> Vec<Remembering> {
        let mut inputs: Vec<i64> = active.iter().map(|ix| self.history[*ix].x[0] as i64).collect();
        inputs.sort_unstable();
        let (n, k) = (inputs.len(), self.settings.min_leaf.max(1));
        if n < 2 * k {
            return Vec::new();
        }
        (inputs[k - 1] + 1..=inputs[n - k])
            .map(|boundary| {
                let below = inputs.iter().filter(|x| **x < boundary).count();
                let share = below as f64 / n as f64;
                let part = |share: f64| Tree::Leaf(retired.iter().map(|(ix, weight)| (*ix, Weight(share * weight.0))).collect());
                Tree::split(boundary, part(share), part(1.0 - share))
            })
            .collect()
    }
}

fn retire_into(node: &mut Remembering, x: f64, point: usize, forgetting: f64) {
    match node {
        Tree::Leaf(retired) => {
            for weight in retired.values_mut() {
                weight.0 *= forgetting;
            }
            retired.insert(point, Weight(1.0));
        }
        Tree::Split(boundary, left, right) => {
            retire_into(if x < *boundary as f64 { left } else { right }, x, point, forgetting);
        }
    }
}

/// The retired weights of all leaves of a subtree, added up.
fn merged(node: &Remembering) -> Retired {
    let mut all = Retired::new();
    for retired in node.leaves() {
        for (ix, weight) in retired {
            all.entry(*ix).or_insert(Weight(0.0)).0 += weight.0;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leaf::LeafModel;
    use crate::settings::Forgetting;

    #[test]
    fn pruning_what_was_grown_gives_the_leaf_back() {
        let leaf = LeafModel::Multinomial { n_classes: 2, baseline: 0.5 };
        let settings = Settings { capacity: Some(5), forgetting: Forgetting::Fixed(0.8), ..Settings::new(1, leaf, 1) };
        let mut exact = ExactFilter::new(&settings);
        for (x, y) in [(0, 0.0), (3, 1.0), (1, 1.0), (2, 0.0), (0, 1.0), (3, 1.0), (1, 0.0)] {
            exact.observe(x, y);
        }
        let retired = Retired::from([(0, Weight(0.8)), (1, Weight(1.0))]);
        let grown = exact.grown(&retired, &exact.active);
        assert_eq!(grown.len(), 3);
        for tree in grown {
            assert_eq!(merged(&tree), retired);
        }
    }
}
