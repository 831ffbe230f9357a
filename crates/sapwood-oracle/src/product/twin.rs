//! A cloud of one particle under the default prior: the same particle again, slowly.
//!
//! The twin does not draw. It says what the engine's particle must be, and with what probability it makes each move; then it is told which
//! tree the engine has, and follows.

use super::bank::StudentT;
use super::scale::Scale;
use crate::leaf::{Datum, Discriminant, GaussianPrior, LeafModel, gaussian};
use crate::settings::{Evidence, Settings};
use crate::special::softmax;
use crate::tree::{Split, SplitPrior, Tree};

/// The leaf models of the product, with priors that follow the stream.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Constant,
    Linear,
    Multinomial { n_classes: usize },
    Discriminant { n_classes: usize, by_class: bool },
}

/// What the twin needs to know of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub kind: Kind,
    pub n_inputs: usize,
    pub min_leaf: usize,
    pub evidence: Evidence,
    pub split_prior: SplitPrior,
}

#[derive(Clone, Debug)]
struct Row {
    x: Vec<f64>,
    /// The inputs as the leaf's line or Gaussians saw them when the row came.
    seen: Vec<f64>,
    y: f64,
    weight: f64,
}

/// Rows by number; retired ones with what is left of their weight.
#[derive(Clone, Debug, Default)]
pub struct Leaf {
    pub active: Vec<usize>,
    pub retired: Vec<(usize, f64)>,
}

type Node = Tree<Split, Leaf>;

/// A grow with probability `p`: a cut in `(low, high]`, with missing values on the left or not.
#[derive(Clone, Copy, Debug)]
pub struct Grow {
    pub dim: usize,
    pub low: f64,
    pub high: f64,
    pub nan_left: bool,
    /// Whether the leaf has missing values there, so that a coin decided their side.
    pub by_coin: bool,
    pub p: f64,
}

/// The probabilities of the moves of one step, and what kind of prune there was to weigh.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    pub stay: f64,
    pub prune: f64,
    pub grows: Vec<Grow>,
    pub depth: usize,
    /// Whether the sibling was a subtree, and whether anything was retired on its side.
    pub sibling_is_subtree: bool,
    pub sibling_has_retired: bool,
    pub has_retired: bool,
}

/// What the engine's particle did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Made {
    Stay,
    Prune,
    Grow(Split),
}

#[derive(Clone, Debug)]
pub struct Twin {
    options: Options,
    settings: Settings,
    scale: Scale,
    rows: Vec<Row>,
    /// The active pool, oldest first.
    pub active: Vec<usize>,
    pub tree: Node,
    /// Smallest and largest known value of each input.
    range: Vec<(f64, f64)>,
}

impl Twin {
    pub fn new(options: Options) -> Self {
        let n_columns = match options.kind {
            Kind::Constant => 1,
            Kind::Linear => options.n_inputs + 1,
            Kind::Multinomial { .. } => 0,
            Kind::Discriminant { .. } => options.n_inputs,
        };
        let scale = Scale::new(n_columns);
        let leaf = leaf_model(&options, &scale);
        let n_coefficients = match options.kind {
            Kind::Constant => 1.0,
            Kind::Linear => (options.n_inputs + 1) as f64,
            _ => 0.0,
        };
        // The bonus belongs to the joint evidence.
        let ln_retired_bonus = if options.evidence == Evidence::Joint { 1.5 * n_coefficients } else { 0.0 };
        let settings = Settings {
            evidence: options.evidence,
            split_prior: options.split_prior,
            ln_retired_bonus,
            ..Settings::new(options.n_inputs, leaf, options.min_leaf)
        };
        let range = vec![(f64::INFINITY, f64::NEG_INFINITY); options.n_inputs];
        Self { options, settings, scale, rows: Vec::new(), active: Vec::new(), tree: Tree::Leaf(Leaf::default()), range }
    }

    /// The inputs as a leaf sees them now.
    fn seen(&self, x: &[f64]) -> Vec<f64> {
        match self.options.kind {
            Kind::Constant | Kind::Multinomial { .. } => x.to_vec(),
            Kind::Linear => x.iter().enumerate().map(|(i, value)| self.scale.seen(i, *value)).collect(),
            Kind::Discriminant { .. } => {
                let has_unit = |i: usize| self.scale.n() == 0.0 || self.scale.variance(i) > 0.0;
                x.iter().enumerate().map(|(i, v)| if has_unit(i) { self.scale.seen(i, *v) } else { self.scale.mean(i) }).collect()
            }
        }
    }

    /// Whether targets have a unit, so that a density can be stated.
    pub fn has_unit(&self) -> bool {
        match self.options.kind {
            Kind::Constant => self.scale.variance(0) > 0.0,
            Kind::Linear => self.scale.variance(self.options.n_inputs) > 0.0,
            _ => true,
        }
    }

    fn datum(&self, row: usize, share: f64) -> Datum<'_> {
        let Row { seen, y, weight, .. } = &self.rows[row];
        Datum { x: seen, y: *y, weight: share * weight }
    }

    fn active_data(&self, leaf: &Leaf) -> Vec<Datum<'_>> {
        leaf.active.iter().map(|row| self.datum(*row, 1.0)).collect()
    }

    fn retired_data(&self, leaf: &Leaf) -> Vec<Datum<'_>> {
        leaf.retired.iter().map(|(row, share)| self.datum(*row, *share)).collect()
    }

    fn all_data(&self, leaf: &Leaf) -> Vec<Datum<'_>> {
        let mut data = self.active_data(leaf);
        data.extend(self.retired_data(leaf));
        data
    }

    fn ln_evidence(&self, leaf: &Leaf) -> f64 {
        self.settings.ln_leaf_evidence(&self.active_data(leaf), &self.retired_data(leaf))
    }

    /// `ln` of the density that the particle gives to a row, to the power of its weight.
    pub fn ln_weight(&self, x: &[f64], y: f64, weight: f64) -> f64 {
        if !self.has_unit() {
            return 0.0;
        }
        let data = self.all_data(self.tree.leaf_at(x));
        let seen = self.seen(x);
        match &self.settings.leaf {
            LeafModel::Discriminant(model) => {
                let counts = LeafModel::Multinomial { n_classes: model.n_classes, baseline: model.baseline };
                let by_counts = |weight| ln_ratio(&counts, &data, Datum { x: &seen, y, weight });
                by_counts(weight) + weight * (model.ln_predictive(&data, &seen, y) - by_counts(1.0))
            }
            leaf => ln_ratio(leaf, &data, Datum { x: &seen, y, weight }),
        }
    }

    /// `ln` predictive of a row of weight 1.
    pub fn ln_predictive(&self, x: &[f64], y: f64) -> f64 {
        let data = self.all_data(self.tree.leaf_at(x));
        self.settings.leaf.ln_predictive(&data, &self.seen(x), y).expect("the default priors are proper")
    }

    /// The predictive of a Gaussian leaf.
    pub fn student_t(&self, x: &[f64]) -> StudentT {
        let (LeafModel::Constant(prior) | LeafModel::Linear(prior)) = &self.settings.leaf else { panic!("not a leaf of numbers") };
        let data = self.all_data(self.tree.leaf_at(x));
        let rows: Vec<gaussian::Row> = data.iter().map(|d| gaussian::Row { z: self.design(d.x), y: d.y, weight: d.weight }).collect();
        gaussian::student_t(prior, &rows, &self.design(&self.seen(x))).expect("the default priors are proper")
    }

    fn design(&self, seen: &[f64]) -> Vec<f64> {
        match self.options.kind {
            Kind::Linear => std::iter::once(1.0).chain(seen.iter().copied()).collect(),
            _ => vec![1.0],
        }
    }

    /// Learn a row: it joins its leaf under the prior that includes it. Returns the probabilities of the moves.
    pub fn learn(&mut self, x: &[f64], y: f64, weight: f64) -> Moves {
        let row = self.rows.len();
        self.rows.push(Row { x: x.to_vec(), seen: self.seen(x), y, weight });
        self.active.push(row);
        for (range, value) in self.range.iter_mut().zip(x).filter(|(_, value)| !value.is_nan()) {
            *range = (range.0.min(*value), range.1.max(*value));
        }
        let columns: Vec<f64> = match self.options.kind {
            Kind::Constant => vec![y],
            Kind::Linear => x.iter().copied().chain([y]).collect(),
            Kind::Multinomial { .. } => Vec::new(),
            Kind::Discriminant { .. } => x.to_vec(),
        };
        if !columns.is_empty() && self.scale.learn(&columns, weight) {
            self.settings.leaf = leaf_model(&self.options, &self.scale);
        }
        leaf_at_mut(&mut self.tree, x).active.push(row);
        self.moves(x)
    }

    /// Prior times evidence of a subtree, as a logarithm.
    fn ln_subtree(&self, node: &Node, depth: usize) -> f64 {
        let prior = self.options.split_prior;
        match node {
            Tree::Leaf(leaf) => prior.ln_leaf(depth) + self.ln_evidence(leaf),
            Tree::Split(_, left, right) => prior.ln_split(depth) + self.ln_subtree(left, depth + 1) + self.ln_subtree(right, depth + 1),
        }
    }

    fn moves(&self, x: &[f64]) -> Moves {
        let (mut node, mut depth, mut above) = (&self.tree, 0, None);
        while let Tree::Split(split, left, right) = node {
            let goes_left = split.goes_left(x);
            above = Some((node, if goes_left { &**right } else { &**left }));
            node = if goes_left { left } else { right };
            depth += 1;
        }
        let Tree::Leaf(leaf) = node else { unreachable!("the descent ends at a leaf") };
        // As whole subtrees of the parent, or of the root.
        let sibling = above.map_or(0.0, |(_, sibling)| self.options.split_prior.ln_split(depth - 1) + self.ln_subtree(sibling, depth));
        let ln_stay = sibling + self.ln_subtree(node, depth);
        let ln_prune = above.map_or(f64::NEG_INFINITY, |(parent, _)| self.ln_subtree(&Tree::Leaf(merged(parent)), depth - 1));
        let mut moves = Moves { depth, has_retired: !leaf.retired.is_empty(), ..Moves::default() };
        if let Some((_, other)) = above {
            moves.sibling_is_subtree = matches!(other, Tree::Split(..));
            moves.sibling_has_retired = other.leaves().iter().any(|leaf| !leaf.retired.is_empty());
        }
        let mut p_proposed = 0.0;
        for (share, grow, divided) in self.proposals(leaf) {
            let p = softmax(&[ln_stay, ln_prune, sibling + self.ln_subtree(&divided, depth)]);
            moves.stay += share * p[0];
            moves.prune += share * p[1];
            moves.grows.push(Grow { p: share * p[2], ..grow });
            p_proposed += share;
        }
        let p = softmax(&[ln_stay, ln_prune]);
        moves.stay += (1.0 - p_proposed) * p[0];
        moves.prune += (1.0 - p_proposed) * p[1];
        moves
    }

    /// Every way to split a leaf, with its probability of being proposed.
    fn proposals(&self, leaf: &Leaf) -> Vec<(f64, Grow, Node)> {
        let mut all = Vec::new();
        let k = self.options.min_leaf;
        for dim in 0..self.options.n_inputs {
            let mut known: Vec<f64> = leaf.active.iter().map(|row| self.rows[*row].x[dim]).filter(|value| !value.is_nan()).collect();
            known.sort_by(f64::total_cmp);
            let n = known.len();
            if n < 2 * k || known[k - 1] == known[n - k] {
                continue;
            }
            let (lowest, highest) = (known[k - 1], known[n - k]);
            let by_coin = n < leaf.active.len();
            known.dedup();
            for ends in known.windows(2).filter(|ends| ends[0] >= lowest && ends[1] <= highest) {
                let chance = (ends[1] - ends[0]) / (highest - lowest) / self.options.n_inputs as f64;
                let n_left = leaf.active.iter().filter(|row| self.rows[**row].x[dim] <= ends[0]).count();
                // Without missing values, the side of later ones is that with more points, the left one among equals.
                let sides = if by_coin { vec![false, true] } else { vec![n_left >= n - n_left] };
                for nan_left in &sides {
                    let grow = Grow { dim, low: ends[0], high: ends[1], nan_left: *nan_left, by_coin, p: 0.0 };
                    let split = Split { dim, cut: ends[1], nan_left: *nan_left };
                    all.push((chance / sides.len() as f64, grow, self.divided(leaf, split)));
                }
            }
        }
        all
    }

    /// A leaf divided by a split, the retired in proportion to the active points.
    fn divided(&self, leaf: &Leaf, split: Split) -> Node {
        let (left, right): (Vec<usize>, Vec<usize>) = leaf.active.iter().partition(|row| split.goes_left(&self.rows[**row].x));
        let share = left.len() as f64 / leaf.active.len() as f64;
        let part = |active, share: f64| Leaf { active, retired: leaf.retired.iter().map(|(row, rest)| (*row, share * rest)).collect() };
        Tree::split(split, Tree::Leaf(part(left, share)), Tree::Leaf(part(right, 1.0 - share)))
    }

    /// Make the move that leads to the engine's tree.
    ///
    /// # Panics
    ///
    /// If no single move at the leaf of `x` leads there.
    pub fn follow<L>(&mut self, x: &[f64], engine: &Tree<Split, L>) -> Made {
        let mut tree = std::mem::replace(&mut self.tree, Tree::Leaf(Leaf::default()));
        let made = self.follow_below(&mut tree, x, engine, true);
        self.tree = tree;
        made
    }

    fn follow_below<L>(&self, own: &mut Node, x: &[f64], engine: &Tree<Split, L>, holds_x: bool) -> Made {
        match (&mut *own, engine) {
            (Tree::Leaf(_), Tree::Leaf(_)) => Made::Stay,
            (Tree::Leaf(leaf), Tree::Split(split, left, right)) => {
                assert!(holds_x && left.leaves().len() == 1 && right.leaves().len() == 1, "a leaf elsewhere has been split");
                *own = self.divided(leaf, *split);
                Made::Grow(*split)
            }
            (Tree::Split(..), Tree::Leaf(_)) => {
                assert!(holds_x, "a leaf elsewhere has been pruned");
                *own = Tree::Leaf(merged(own));
                Made::Prune
            }
            (Tree::Split(a, own_left, own_right), Tree::Split(b, left, right)) => {
                assert_eq!(a, b, "a split has changed");
                let goes_left = a.goes_left(x);
                let below = self.follow_below(own_left, x, left, holds_x && goes_left);
                let other = self.follow_below(own_right, x, right, holds_x && !goes_left);
                assert!(below == Made::Stay || other == Made::Stay, "two moves in one step");
                if below == Made::Stay { other } else { below }
            }
        }
    }

    /// Retire the point at a position of the pool.
    pub fn retire(&mut self, position: usize, lambda: f64) {
        let row = self.active.remove(position);
        let x = self.rows[row].x.clone();
        let leaf = leaf_at_mut(&mut self.tree, &x);
        leaf.active.retain(|other| *other != row);
        leaf.retired.iter_mut().for_each(|(_, share)| *share *= lambda);
        leaf.retired.retain(|(_, share)| *share > 0.0);
        leaf.retired.push((row, 1.0));
    }

    /// A row of the pool: inputs, target and weight.
    pub fn row(&self, row: usize) -> (&[f64], f64, f64) {
        let Row { x, y, weight, .. } = &self.rows[row];
        (x, *y, *weight)
    }

    /// Total weight of what a leaf has retired.
    pub fn retired_mass(&self, leaf: &Leaf) -> f64 {
        leaf.retired.iter().map(|(row, share)| share * self.rows[*row].weight).sum()
    }

    /// The discard score of every active point: entropy for classes, ALC for numbers.
    pub fn scores(&self) -> Vec<f64> {
        self.active.iter().map(|row| self.score(*row)).collect()
    }

    fn score(&self, row: usize) -> f64 {
        let x = &self.rows[row].x;
        let (mut node, unbounded) = (&self.tree, (f64::NEG_INFINITY, f64::INFINITY));
        let mut sides = vec![unbounded; self.options.n_inputs];
        while let Tree::Split(split, left, right) = node {
            let goes_left = split.goes_left(x);
            let side = &mut sides[split.dim];
            *side = if goes_left { (side.0, split.cut) } else { (split.cut, side.1) };
            node = if goes_left { left } else { right };
        }
        let Tree::Leaf(leaf) = node else { unreachable!("the descent ends at a leaf") };
        let data = self.all_data(leaf);
        match &self.settings.leaf {
            LeafModel::Constant(prior) | LeafModel::Linear(prior) => self.alc(prior, &data, row, &sides),
            LeafModel::Multinomial { n_classes, .. } | LeafModel::Discriminant(Discriminant { n_classes, .. }) => {
                let counts = LeafModel::Multinomial { n_classes: *n_classes, baseline: 1.0 / *n_classes as f64 };
                let ln_p = |class: usize| counts.ln_predictive(&data, &[], class as f64).expect("a proper prior");
                (0..*n_classes).map(|class| -ln_p(class) * ln_p(class).exp()).sum()
            }
        }
    }

    /// Over the box clipped to the range of the inputs and measured relative to it.
    fn alc(&self, prior: &GaussianPrior, data: &[Datum], row: usize, sides: &[(f64, f64)]) -> f64 {
        let clipped: Vec<(f64, f64)> = sides
            .iter()
            .zip(&self.range)
            .map(
                |(side, range)| {
                    if range.0 <= range.1 { (side.0.clamp(range.0, range.1), side.1.clamp(range.0, range.1)) } else { (0.0, 0.0) }
                },
            )
            .collect();
        let lengths = clipped.iter().zip(&self.range).filter(|(_, range)| range.1 > range.0);
        let volume: f64 = lengths.map(|(side, range)| (side.1 - side.0) / (range.1 - range.0)).product();
        let rows: Vec<gaussian::Row> = data.iter().map(|d| gaussian::Row { z: self.design(d.x), y: d.y, weight: d.weight }).collect();
        let z = self.design(&self.rows[row].seen);
        let (lower, upper): (Vec<f64>, Vec<f64>) = clipped[..z.len() - 1].iter().copied().unzip();
        volume * gaussian::mean_alc(prior, &rows, &z, &lower, &upper).expect("a proper prior")
    }
}

fn leaf_model(options: &Options, scale: &Scale) -> LeafModel {
    match options.kind {
        Kind::Constant => LeafModel::Constant(GaussianPrior::Nig(scale.gaussian_prior(0))),
        Kind::Linear => LeafModel::Linear(GaussianPrior::Nig(scale.gaussian_prior(options.n_inputs))),
        Kind::Multinomial { n_classes } => LeafModel::Multinomial { n_classes, baseline: 1.0 / n_classes as f64 },
        Kind::Discriminant { n_classes, by_class } => LeafModel::Discriminant(Discriminant {
            n_classes,
            baseline: 1.0 / n_classes as f64,
            ridge: scale.ridge(),
            by_class,
            diagonal: false,
            mistake: None,
        }),
    }
}

/// `ln Z` with a datum minus `ln Z` without it.
fn ln_ratio(leaf: &LeafModel, data: &[Datum], datum: Datum) -> f64 {
    let ln_z = |data: &[Datum]| leaf.ln_evidence(data).expect("the default priors are proper");
    let mut with = data.to_vec();
    with.push(datum);
    ln_z(&with) - ln_z(data)
}

fn leaf_at_mut<'a>(node: &'a mut Node, x: &[f64]) -> &'a mut Leaf {
    match node {
        Tree::Leaf(leaf) => leaf,
        Tree::Split(split, left, right) => leaf_at_mut(if split.goes_left(x) { left } else { right }, x),
    }
}

/// Everything below a node in one leaf.
fn merged(node: &Node) -> Leaf {
    let mut all = Leaf::default();
    for leaf in node.leaves() {
        all.active.extend(&leaf.active);
        for (row, share) in &leaf.retired {
            match all.retired.iter_mut().find(|(other, _)| other == row) {
                Some((_, sum)) => *sum += share,
                None => all.retired.push((*row, *share)),
            }
        }
    }
    all
}
