//! One particle: a tree whose leaves list the points they hold.

use std::collections::BTreeMap;

use super::Fault;
use crate::check::LeafMass;
use crate::leaf::Datum;
use crate::rng::Rng;
use crate::settings::Settings;
use crate::special::softmax;
use crate::tree::{Split, SplitPrior, Tree};

/// The data and settings shared by all particles.
#[derive(Clone, Debug)]
pub struct World {
    pub settings: Settings,
    pub fault: Option<Fault>,
    pub history: Vec<(Vec<f64>, f64)>,
}

/// Points of a leaf: active ones by index, retired ones with their remaining weight.
#[derive(Clone, Debug, Default)]
struct Leaf {
    active: Vec<usize>,
    retired: BTreeMap<usize, f64>,
    /// The leaf as it was before points retired since it was last learned from; kept only by a fault.
    stale: Option<Box<Leaf>>,
}

impl Leaf {
    fn learn(&mut self, new: usize) {
        self.active.push(new);
        self.stale = None;
    }
}

type Node = Tree<Split, Leaf>;

#[derive(Clone, Debug)]
pub struct Particle {
    root: Node,
    /// Index of the forgetting factor it carries.
    value_ix: usize,
}

enum Move {
    Stay,
    Prune,
    Grow(Split),
}

impl World {
    pub fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn active_data(&self, leaf: &Leaf) -> Vec<Datum<'_>> {
        leaf.active.iter().map(|ix| self.datum(*ix, 1.0)).collect()
    }

    fn retired_data(&self, leaf: &Leaf) -> Vec<Datum<'_>> {
        leaf.retired.iter().map(|(ix, weight)| self.datum(*ix, *weight)).collect()
    }

    fn datum(&self, ix: usize, weight: f64) -> Datum<'_> {
        let (x, y) = &self.history[ix];
        Datum { x, y: *y, weight }
    }

    fn ln_predictive(&self, leaf: &Leaf, x: &[f64], y: f64) -> f64 {
        let mut data = self.active_data(leaf);
        if !self.has(Fault::RetiredIgnoredInPredictive) {
            data.extend(self.retired_data(leaf));
        }
        self.settings.leaf.ln_predictive(&data, x, y).expect("the predictive is undefined under this prior")
    }

    fn ln_evidence(&self, leaf: &Leaf, new: usize) -> f64 {
        let leaf = leaf.stale.as_deref().unwrap_or(leaf);
        let mut active = self.active_data(leaf);
        if self.has(Fault::MovesWithoutNewDatum) {
            active = leaf.active.iter().filter(|ix| **ix != new).map(|ix| self.datum(*ix, 1.0)).collect();
        }
        let excess = if self.has(Fault::EvidenceConstantWrong) { 0.2 } else { 0.0 };
        self.settings.ln_leaf_evidence(&active, &self.retired_data(leaf)) + excess
    }

    fn prior(&self) -> SplitPrior {
        let mut prior = self.settings.split_prior;
        if self.has(Fault::BetaTooSmall) {
            prior.beta -= 0.1;
        }
        prior
    }

    fn ln_split(&self, depth: usize) -> f64 {
        if self.has(Fault::PriorMissingInMove) { 0.0 } else { self.prior().ln_split(self.seen_depth(depth)) }
    }

    fn ln_leaf(&self, depth: usize) -> f64 {
        if self.has(Fault::PriorMissingInMove) { 0.0 } else { self.prior().ln_leaf(self.seen_depth(depth)) }
    }

    fn seen_depth(&self, depth: usize) -> usize {
        depth + usize::from(self.has(Fault::DepthOffByOne))
    }

    /// Log of prior times evidence of a subtree.
    fn ln_subtree(&self, node: &Node, depth: usize, new: usize) -> f64 {
        match node {
            Tree::Leaf(leaf) => self.ln_leaf(depth) + self.ln_evidence(leaf, new),
            Tree::Split(_, left, right) => {
                self.ln_split(depth) + self.ln_subtree(left, depth + 1, new) + self.ln_subtree(right, depth + 1, new)
            }
        }
    }

    fn dimension(&self, leaf: &Leaf, rng: &mut Rng) -> usize {
        let mut dims: Vec<usize> = (0..self.settings.n_inputs).collect();
        if self.has(Fault::DimensionNotUniform) {
            let first = &self.history[leaf.active[0]].0;
            dims.retain(|dim| leaf.active.iter().any(|ix| self.history[*ix].0[*dim] != first[*dim]));
        }
        if dims.is_empty() { 0 } else { dims[rng.below(dims.len())] }
    }

    /// A split drawn at random; `None` if the chosen column has no valid cut.
    fn candidate(&self, leaf: &Leaf, rng: &mut Rng) -> Option<Split> {
        let dim = self.dimension(leaf, rng);
        let mut values: Vec<f64> = leaf.active.iter().map(|ix| self.history[*ix].0[dim]).filter(|value| !value.is_nan()).collect();
        values.sort_by(f64::total_cmp);
        let k = (self.settings.min_leaf - usize::from(self.has(Fault::MinLeafOffByOne))).max(1);
        if values.len() < 2 * k {
            return None;
        }
        let (low, high) = (values[k - 1], values[values.len() - k]);
        if low == high {
            return None;
        }
        let cut = if self.has(Fault::CutAtDataPoints) {
            let inside: Vec<f64> = values.iter().copied().filter(|value| low < *value && *value <= high).collect();
            inside[rng.below(inside.len())]
        } else {
            // The uniform includes 0 and excludes 1: the interval is open at its lower end.
            high - (high - low) * rng.uniform()
        };
        let below = values.iter().filter(|value| **value < cut).count();
        Some(Split { dim, cut, nan_left: 2 * below >= values.len() })
    }

    /// The children of a leaf: active points by the split, retired weight in proportion to the active points.
    fn grow(&self, leaf: &Leaf, split: &Split) -> (Leaf, Leaf) {
        let (below, above): (Vec<usize>, Vec<usize>) = leaf.active.iter().partition(|ix| split.goes_left(&self.history[**ix].0));
        let share = below.len() as f64 / leaf.active.len() as f64;
        let (left, right) = match self.fault {
            Some(Fault::RetiredDuplicatedOnGrow) => (1.0, 1.0),
            Some(Fault::RetiredHalvedOnGrow) => (0.5, 0.5),
            _ => (share, 1.0 - share),
        };
        let part = |share: f64| leaf.retired.iter().map(|(ix, weight)| (*ix, share * weight)).collect();
        let child = |active, retired| Leaf { active, retired, stale: None };
        (child(below, part(left)), child(above, part(right)))
    }

    /// The leaf that a subtree becomes; `x` is in the child that survives if the sibling is dropped.
    fn prune(&self, node: &Node, x: &[f64]) -> Leaf {
        let mut merged = Leaf::default();
        let kept = if self.has(Fault::SiblingDroppedOnPrune) { vec![node.leaf_at(x)] } else { node.leaves() };
        for leaf in kept {
            merged.active.extend(&leaf.active);
            if !self.has(Fault::RetiredDroppedOnPrune) {
                for (ix, weight) in &leaf.retired {
                    *merged.retired.entry(*ix).or_insert(0.0) += weight;
                }
            }
        }
        merged.active.sort_unstable();
        merged
    }

    /// Draws the move of a leaf at `depth`; `parent` is the subtree that a prune would collapse.
    fn draw(&self, leaf: &Leaf, depth: usize, parent: Option<&Node>, new: usize, rng: &mut Rng) -> Move {
        let x = &self.history[new].0;
        let rest = parent.map_or(0.0, |parent| self.ln_rest(parent, depth, new));
        let mut moves = vec![Move::Stay];
        let mut logs = vec![self.ln_leaf(depth) + self.ln_evidence(leaf, new) + rest];
        if let Some(parent) = parent {
            moves.push(Move::Prune);
            logs.push(self.ln_leaf(depth - 1) + self.ln_evidence(&self.prune(parent, x), new));
        }
        let n_candidates = self.settings.n_candidates;
        let ln_share = if self.has(Fault::CandidatesNotAveraged) { 0.0 } else { (n_candidates as f64).ln() };
        for _ in 0..n_candidates {
            if let Some(split) = self.candidate(leaf, rng) {
                let (left, right) = self.grow(leaf, &split);
                let children = self.ln_evidence(&left, new) + self.ln_evidence(&right, new);
                logs.push(self.ln_split(depth) + 2.0 * self.ln_leaf(depth + 1) + children + rest - ln_share);
                moves.push(Move::Grow(split));
            }
        }
        moves.swap_remove(rng.choose(&softmax(&logs)))
    }

    /// The part of the score that stay and grow share: the parent's split and the sibling's subtree.
    fn ln_rest(&self, parent: &Node, depth: usize, new: usize) -> f64 {
        let Tree::Split(split, left, right) = parent else { unreachable!("a parent is a split") };
        if self.has(Fault::SiblingMissingInScore) {
            return self.ln_split(depth - 1);
        }
        let sibling = if split.goes_left(&self.history[new].0) { right } else { left };
        self.ln_split(depth - 1) + self.ln_subtree(sibling, depth, new)
    }

    fn propagate(&self, node: &mut Node, depth: usize, new: usize, rng: &mut Rng) {
        if let Tree::Leaf(leaf) = node {
            leaf.learn(new);
            if let Move::Grow(split) = self.draw(leaf, depth, None, new, rng) {
                *node = self.split_leaf(leaf, split);
            }
            return;
        }
        let x = &self.history[new].0;
        let Tree::Split(split, left, right) = node else { unreachable!("leaves returned above") };
        let goes_left = split.goes_left(x);
        let (child, sibling) = if goes_left { (left, right) } else { (right, left) };
        let Tree::Leaf(leaf) = &mut **child else {
            self.propagate(child, depth + 1, new, rng);
            return;
        };
        if self.has(Fault::PointInNeighbourLeaf) {
            first_leaf(sibling).learn(new);
        } else {
            leaf.learn(new);
        }
        let leaf = leaf.clone();
        match self.draw(&leaf, depth + 1, Some(node), new, rng) {
            Move::Stay => {}
            Move::Prune => *node = Tree::Leaf(self.prune(node, x)),
            Move::Grow(split) => {
                let Tree::Split(_, left, right) = node else { unreachable!("leaves returned above") };
                **(if goes_left { left } else { right }) = self.split_leaf(&leaf, split);
            }
        }
    }

    fn split_leaf(&self, leaf: &Leaf, split: Split) -> Node {
        let (left, right) = self.grow(leaf, &split);
        Tree::split(split, Tree::Leaf(left), Tree::Leaf(right))
    }

    fn retire(&self, node: &mut Node, point: usize, lambda: f64) {
        match node {
            Tree::Leaf(leaf) => {
                if self.has(Fault::EvidenceStaleAfterRetirement) && leaf.stale.is_none() {
                    leaf.stale = Some(Box::new(leaf.clone()));
                }
                if !self.has(Fault::RetiredStaysActive) {
                    leaf.active.retain(|ix| *ix != point);
                }
                if !self.has(Fault::LambdaAppliedToAllLeaves) {
                    self.forget(leaf, lambda);
                }
                leaf.retired.insert(point, 1.0);
            }
            Tree::Split(split, left, right) => {
                self.retire(if split.goes_left(&self.history[point].0) { left } else { right }, point, lambda);
            }
        }
    }

    fn forget(&self, leaf: &mut Leaf, lambda: f64) {
        let times = if self.has(Fault::LambdaAppliedTwice) { 2 } else { 1 };
        for weight in leaf.retired.values_mut() {
            *weight *= lambda.powi(times);
        }
    }

    fn forget_everywhere(&self, node: &mut Node, lambda: f64) {
        match node {
            Tree::Leaf(leaf) => self.forget(leaf, lambda),
            Tree::Split(_, left, right) => {
                self.forget_everywhere(left, lambda);
                self.forget_everywhere(right, lambda);
            }
        }
    }
}

fn first_leaf(node: &mut Node) -> &mut Leaf {
    match node {
        Tree::Leaf(leaf) => leaf,
        Tree::Split(_, left, _) => first_leaf(left),
    }
}

impl Particle {
    pub fn root(value_ix: usize) -> Self {
        Self { root: Tree::Leaf(Leaf::default()), value_ix }
    }

    pub fn value_ix(&self) -> usize {
        self.value_ix
    }

    pub fn carry(&mut self, value_ix: usize) {
        self.value_ix = value_ix;
    }

    /// Log predictive used to weigh the particle.
    pub fn ln_predictive(&self, world: &World, x: &[f64], y: f64) -> f64 {
        world.ln_predictive(self.root.leaf_at(x), x, y)
    }

    /// Log predictive returned to a user.
    pub fn ln_predictive_later(&self, world: &World, x: &[f64], y: f64) -> f64 {
        if world.has(Fault::NanSideDiffers) {
            let other = self.root.map(&|s| Split { nan_left: !s.nan_left, ..*s }, &Leaf::clone);
            return world.ln_predictive(other.leaf_at(x), x, y);
        }
        self.ln_predictive(world, x, y)
    }

    pub fn propagate(&mut self, world: &World, new: usize, rng: &mut Rng) {
        world.propagate(&mut self.root, 0, new, rng);
    }

    pub fn retire(&mut self, world: &World, point: usize) {
        let lambda = world.settings.forgetting.values()[self.value_ix];
        if world.has(Fault::LambdaAppliedToAllLeaves) {
            world.forget_everywhere(&mut self.root, lambda);
        }
        world.retire(&mut self.root, point, lambda);
    }

    pub fn masses(&self) -> Tree<Split, LeafMass> {
        self.root.map(&|split| *split, &|leaf| LeafMass { active: leaf.active.len() as f64, retired: leaf.retired.values().sum() })
    }
}
