use std::collections::{HashMap, HashSet};

use super::proposals::floor_of_ln;
use super::{Counting, Work};
use crate::cloud::{Cloud, Tree};
use crate::config::{CloudConfig, Leaf, Task};
use crate::leaf::{LeafModel, Multinomial};
use crate::rng::{Purpose, Stream};
use crate::tree::{Branch, Forest, Keeping, NodeId, Split};

struct Case {
    n_classes: usize,
    forgetting: Option<f64>,
    min_leaf: usize,
    n_candidates: usize,
}

const CASES: [Case; 5] = [
    Case { n_classes: 2, forgetting: Some(0.8), min_leaf: 1, n_candidates: 1 },
    Case { n_classes: 2, forgetting: None, min_leaf: 3, n_candidates: 1 },
    Case { n_classes: 3, forgetting: Some(0.0), min_leaf: 1, n_candidates: 3 },
    Case { n_classes: 3, forgetting: Some(1.0), min_leaf: 4, n_candidates: 1 },
    Case { n_classes: 4, forgetting: None, min_leaf: 1, n_candidates: 2 },
];

impl Case {
    fn cloud(&self, n_particles: usize, max_active: usize) -> Cloud<Multinomial> {
        let &Self { n_classes, forgetting, min_leaf, n_candidates } = self;
        let mut config = CloudConfig { n_particles, max_active: Some(max_active), forgetting, ..CloudConfig::new(Leaf::Multinomial) };
        (config.min_leaf, config.n_candidates) = (Some(min_leaf), Some(n_candidates));
        let settings = config.check(Task::Classification, 2).expect("settings");
        let cloud = Cloud::new(settings, Multinomial::new(n_classes, None), 4);
        assert_eq!(cloud.counted_classes(), Some(n_classes));
        cloud
    }

    /// An input with missing values and ties, and a class that depends on it and on the time.
    fn row(&self, row: usize, noise: &mut Stream) -> ([f64; 2], f64) {
        let x = [noise.uniform(), if noise.below(12) == 0 { f64::NAN } else { noise.below(9) as f64 }];
        let class = (x[0] * self.n_classes as f64) as usize + row / 200 + usize::from(noise.below(60) == 0);
        (x, (class % self.n_classes) as f64)
    }
}

/// The same cloud with leaves that list their points, so that it takes the general step.
fn in_lists(cloud: &Cloud<Multinomial>) -> Cloud<Multinomial> {
    let mut other = cloud.clone();
    other.forest = Forest::new(Keeping::Lists, cloud.settings.config.max_active, cloud.model.stat_len());
    let root = other.new_root_leaf();
    for Tree { root: old, .. } in &mut other.trees {
        *old = root;
        other.forest.retain(root);
    }
    assert_eq!(other.counted_classes(), None);
    other
}

/// Every node of every tree: its split, or a leaf's number of points and counts.
fn nodes(cloud: &Cloud<Multinomial>) -> (Vec<(u32, Option<Split>)>, Vec<f64>) {
    fn visit(cloud: &Cloud<Multinomial>, node: NodeId, nodes: &mut Vec<(u32, Option<Split>)>, counts: &mut Vec<f64>) {
        if node.is_leaf() {
            let leaf = cloud.forest.leaf(node.ix());
            nodes.push((leaf.n_active() as u32, None));
            let mut total = Vec::new();
            leaf.total(&mut total);
            counts.extend(total);
        } else {
            let branch = cloud.forest.branch(node.ix());
            nodes.push((0, Some(branch.split)));
            visit(cloud, branch.left, nodes, counts);
            visit(cloud, branch.right, nodes, counts);
        }
    }
    let (mut found, mut counts) = (Vec::new(), Vec::new());
    for tree in &cloud.trees {
        found.push((tree.n_copies, None));
        visit(cloud, tree.root, &mut found, &mut counts);
    }
    (found, counts)
}

fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-11 * (1.0 + a.abs())
}

/// Fails if counting differs from the general step in more than rounding: in a weight, a cut, the side that missing values go to, who is
/// offered a proposal, the odds of a move, a share of the retired counts, or the order of the trees.
#[test]
fn counting_finds_the_trees_that_the_general_step_finds() {
    for case in CASES {
        // As many points as have room in a set: a last one is there while the next comes in.
        let mut counted = case.cloud(150, 127);
        let mut general = in_lists(&counted);
        let mut noise = Stream::new(8, 0, 0, Purpose::Sample);
        let mut n_grown = 0;
        for row in 0..500 {
            let (x, y) = case.row(row, &mut noise);
            let mut forecasts = [[0.0; 4]; 2];
            for (cloud, forecast) in [&mut counted, &mut general].into_iter().zip(&mut forecasts) {
                if row % 3 > 0 {
                    cloud.settle_at(&x);
                }
                cloud.add_class_probabilities(&x, 1.0, &mut Default::default(), &mut forecast[..case.n_classes]);
            }
            assert!(forecasts[0].iter().zip(&forecasts[1]).all(|(a, b)| agree(*a, *b)), "row {row}: {forecasts:?}");
            let ln_weights = [&mut counted, &mut general].map(|cloud| cloud.observe(&x, y, 1.0));
            assert!(agree(ln_weights[0], ln_weights[1]), "row {row}: {ln_weights:?}");
            if row % 100 == 50 {
                [&mut counted, &mut general].into_iter().for_each(|cloud| cloud.retire_at(row % 37));
            }
            if row == 250 {
                [&mut counted, &mut general].into_iter().for_each(Cloud::rejuvenate);
            }
            let [(own, own_counts), (others, other_counts)] = [&counted, &general].map(nodes);
            assert!(own == others, "row {row}: other trees");
            assert!(own_counts.iter().zip(&other_counts).all(|(a, b)| agree(*a, *b)), "row {row}");
            n_grown = n_grown.max(own.iter().filter(|(_, split)| split.is_some()).count());
        }
        // Otherwise there was nothing to find.
        assert!(n_grown > 100, "{n_grown}");
    }
}

/// Fails if the limit is below what some proposal weighs, or the ceiling of its evidence: odds of another depth, a leaf taken for one of one
/// class, a particle that prunes taken for one that stays, or a margin that rounding exceeds.
#[test]
fn who_is_not_asked_would_have_stayed() {
    fn check<const K: usize>(case: &Case)
    where
        Counting: AsMut<Work<K>>,
    {
        let mut screened = case.cloud(200, 60);
        let mut asked = screened.clone();
        asked.scratch.counting.as_mut().proposals.asks_everybody = true;
        let mut noise = Stream::new(3, 0, 0, Purpose::Sample);
        let mut n_proposals = [0; 2];
        for row in 0..500 {
            let (x, y) = case.row(row, &mut noise);
            let ln_weights = [&mut screened, &mut asked].map(|cloud| cloud.observe(&x, y, 1.0).to_bits());
            assert_eq!(ln_weights[0], ln_weights[1], "row {row}");
            assert!(nodes(&screened) == nodes(&asked), "row {row}: other trees");
            n_proposals[0] += screened.step_sizes().proposals;
            n_proposals[1] += asked.step_sizes().proposals;
        }
        assert!(4 * n_proposals[0] < 3 * n_proposals[1], "{n_proposals:?}");
    }
    for case in CASES {
        match case.n_classes {
            2 => check::<2>(&case),
            3 => check::<3>(&case),
            _ => check::<4>(&case),
        }
    }
}

#[test]
fn the_floor_of_a_logarithm_is_below_it_and_not_far() {
    let mut x = 1e-300;
    while x < 1e300 {
        let above = crate::num::ln(x) - floor_of_ln(x);
        assert!(above > -1e-10 && above < 0.06, "{x}: {above}");
        x *= 1.03;
    }
    assert!(floor_of_ln(f64::INFINITY) > 700.0);
}

/// The nodes of all trees, and the leaves that differ in what is above them or in what has been retired in them.
fn count_nodes(cloud: &Cloud<Multinomial>) -> (HashMap<NodeId, u32>, usize) {
    fn visit(
        cloud: &Cloud<Multinomial>,
        node: NodeId,
        above: &mut Vec<u64>,
        n_refs: &mut HashMap<NodeId, u32>,
        contents: &mut HashSet<Vec<u64>>,
    ) {
        let first_time = !n_refs.contains_key(&node);
        *n_refs.entry(node).or_default() += 1;
        if !first_time {
            return;
        }
        if node.is_leaf() {
            let retired = cloud.forest.leaf(node.ix()).retired.iter().map(|count| count.to_bits());
            contents.insert(above.iter().copied().chain(retired).collect());
            return;
        }
        let &Branch { split, left, right } = cloud.forest.branch(node.ix());
        for (child, side) in [(left, 0), (right, 1)] {
            above.extend([u64::from(split.dim), split.cut.to_bits(), side]);
            visit(cloud, child, above, n_refs, contents);
            above.truncate(above.len() - 3);
        }
    }
    let (mut n_refs, mut contents) = (HashMap::new(), HashSet::new());
    for tree in &cloud.trees {
        visit(cloud, tree.root, &mut Vec::new(), &mut n_refs, &mut contents);
    }
    (n_refs, contents.len())
}

/// Fails if pruned trees do not share what is there already, or if one that does leaves a reference too many or too few.
#[test]
fn what_is_there_already_is_shared() {
    for case in CASES {
        let mut cloud = case.cloud(200, 60);
        let mut noise = Stream::new(3, 0, 0, Purpose::Sample);
        let (mut n_leaves, mut n_contents) = (0, 0);
        for row in 0..500 {
            let (x, y) = case.row(row, &mut noise);
            cloud.observe(&x, y, 1.0);
            let (n_refs, contents) = count_nodes(&cloud);
            let expected: HashSet<usize> = n_refs.keys().filter(|node| node.is_leaf()).map(|node| node.ix()).collect();
            assert_eq!(cloud.forest.live_leaves().collect::<HashSet<_>>(), expected, "row {row}");
            assert!(n_refs.iter().all(|(node, n_refs)| cloud.forest.refs(*node) == *n_refs), "row {row}");
            n_leaves += expected.len();
            n_contents += contents;
        }
        // Trees that forget at different rates do not share, and without a memory leaves become alike that were not.
        if case.forgetting.is_some_and(|forgetting| forgetting > 0.0) {
            assert!(50 * n_leaves < 51 * n_contents, "{n_leaves} leaves, {n_contents} different ones");
        }
    }
}

/// Fails if what was found of the classes when an input landed is believed after a class has been added.
#[test]
fn a_class_that_is_added_is_forecast() {
    let mut cloud = CASES[0].cloud(20, 30);
    for row in 0..40 {
        cloud.observe(&[f64::from(row % 7), 0.5], f64::from(row % 2), 1.0);
    }
    cloud.settle_at(&[0.5, 0.5]);
    cloud.add_classes(3);
    let (mut known, mut afresh) = ([0.0; 3], [0.0; 3]);
    cloud.add_class_probabilities(&[0.5, 0.5], 1.0, &mut Default::default(), &mut known);
    cloud.settle_at(&[0.5, 0.5]);
    cloud.add_class_probabilities(&[0.5, 0.5], 1.0, &mut Default::default(), &mut afresh);
    assert!(known[2] > 0.0 && known.iter().zip(&afresh).all(|(a, b)| agree(*a, *b)), "{known:?} {afresh:?}");
    assert!(agree(known.iter().sum(), 1.0));
    cloud.observe(&[0.5, 0.5], 2.0, 1.0);
}
