//! A cloud: its pool, its forest and the trees in it. Points are called by their position in order of arrival.

use super::bytes::{Reader, Writer};
use super::invariants::{check_pool, require};
use super::pool::{read_pool, write_pool};
use crate::cloud::{Cloud, Tree};
use crate::error::{Error, Result};
use crate::leaf::{Fit, LeafModel};
use crate::split::Split;
use crate::tree::{Branch, Forest, LeafNode, MAX_DEPTH, NodeId, Points};

pub fn write_cloud<M: LeafModel>(w: &mut Writer, cloud: &Cloud<M>, write_model: impl Fn(&mut Writer, &M)) {
    write_model(w, &cloud.model);
    w.u64(cloud.seed);
    w.u64(cloud.step);
    w.f64(cloud.ln_evidence);
    w.f64s(cloud.range.iter().map(|(low, _)| *low));
    w.f64s(cloud.range.iter().map(|(_, high)| *high));
    write_pool(w, &cloud.pool);
    let positions = cloud.pool.positions();
    if cloud.uses_scores() {
        w.f64s(cloud.pool.active().iter().map(|&slot| cloud.tally[slot as usize]));
    } else {
        w.f64s([].into_iter());
    }

    let mut order = NodeOrder::new(&cloud.forest);
    let roots: Vec<u32> = cloud.trees.iter().map(|tree| order.visit(&cloud.forest, tree.root)).collect();
    w.u64(order.nodes.len() as u64);
    for &node in &order.nodes {
        if node.is_leaf() {
            w.bool(true);
            write_leaf(w, cloud.forest.leaf(node.ix()), &positions);
        } else {
            let &Branch { split, left, right } = cloud.forest.branch(node.ix());
            w.bool(false);
            w.u32(split.dim);
            w.bool(split.nan_left);
            w.f64(split.cut);
            w.u32(order.number(left));
            w.u32(order.number(right));
        }
    }
    w.u64(cloud.trees.len() as u64);
    for (tree, root) in cloud.trees.iter().zip(roots) {
        w.u32(root);
        w.u32(tree.n_copies);
        w.u8(tree.lambda_ix);
    }
}

fn write_leaf<F: Fit>(w: &mut Writer, leaf: &LeafNode<F>, positions: &[u32]) {
    w.u32s(leaf.points.slots().iter().map(|slot| positions[*slot as usize]));
    w.f64s(leaf.origin.iter().copied());
    w.f64s(leaf.active.iter().copied());
    w.f64s((0..leaf.active.len()).map(|entry| leaf.retired.get(entry).copied().unwrap_or(0.0)));
    w.u32(leaf.n_removed);
    w.f64s(leaf.extras.lower.iter().copied());
    w.f64s(leaf.extras.upper.iter().copied());
    w.f64s(leaf.extras.scores.iter().copied());
    w.u32(leaf.n_tallied);
    w.bool(leaf.scored);
}

/// Nodes numbered in the order of a walk, children first, each once.
struct NodeOrder {
    nodes: Vec<NodeId>,
    branch_numbers: Vec<u32>,
    leaf_numbers: Vec<u32>,
}

impl NodeOrder {
    fn new<F: Fit>(forest: &Forest<F>) -> Self {
        Self {
            nodes: Vec::new(),
            branch_numbers: vec![u32::MAX; forest.n_branch_slots()],
            leaf_numbers: vec![u32::MAX; forest.n_leaf_slots()],
        }
    }

    fn number(&self, node: NodeId) -> u32 {
        if node.is_leaf() { self.leaf_numbers[node.ix()] } else { self.branch_numbers[node.ix()] }
    }

    fn visit<F: Fit>(&mut self, forest: &Forest<F>, node: NodeId) -> u32 {
        if self.number(node) == u32::MAX {
            if !node.is_leaf() {
                let &Branch { left, right, .. } = forest.branch(node.ix());
                self.visit(forest, left);
                self.visit(forest, right);
            }
            let number = self.nodes.len() as u32;
            let numbers = if node.is_leaf() { &mut self.leaf_numbers } else { &mut self.branch_numbers };
            numbers[node.ix()] = number;
            self.nodes.push(node);
        }
        self.number(node)
    }
}

/// Read into a blank cloud of the same configuration.
pub fn read_cloud<M: LeafModel>(
    r: &mut Reader,
    blank: Cloud<M>,
    n_seen: u64,
    read_model: impl Fn(&mut Reader, &M) -> Result<M>,
) -> Result<Cloud<M>> {
    let mut cloud = blank;
    let n_inputs = cloud.settings.n_inputs;
    cloud.model = read_model(r, &cloud.model)?;
    cloud.seed = r.u64()?;
    cloud.step = r.u64()?;
    require(cloud.step == n_seen, "a cloud has not seen as many rows as its bank")?;
    cloud.ln_evidence = r.f64()?;
    let (low, high) = (r.f64s()?, r.f64s()?);
    require(low.len() == n_inputs && high.len() == n_inputs, "the input ranges have the wrong length")?;
    cloud.range = low.into_iter().zip(high).collect();

    cloud.pool = read_pool(r, n_inputs, cloud.model.point_len(), cloud.step)?;
    check_pool(&cloud)?;
    cloud.forgets = cloud.forgets || cloud.step > cloud.pool.len() as u64;
    cloud.rebuild_point_stats();
    cloud.tally = r.f64s()?;
    let expected_tally = if cloud.uses_scores() { cloud.pool.n_slots() } else { 0 };
    require(cloud.tally.len() == expected_tally, "the discard scores do not fit the pool")?;

    let mut forest = Forest::new(cloud.settings.config.max_active, cloud.model.stat_len());
    let nodes = read_nodes(r, &cloud, &mut forest)?;
    let n_trees = r.count(9)?;
    let mut trees = Vec::with_capacity(n_trees);
    let mut n_particles = 0u64;
    for _ in 0..n_trees {
        let (root, n_copies, lambda_ix) = (r.u32()? as usize, r.u32()?, r.u8()?);
        require(root < nodes.len(), "a tree has no root")?;
        require(n_copies > 0, "a tree belongs to no particle")?;
        require((lambda_ix as usize) < cloud.settings.forgetting_values().len(), "a forgetting factor is unknown")?;
        forest.retain(nodes[root].0);
        n_particles += u64::from(n_copies);
        trees.push(Tree { root: nodes[root].0, n_copies, lambda_ix });
    }
    require(n_particles == u64::from(cloud.n_particles()), "the trees do not add up to the number of particles")?;
    require(nodes.iter().all(|(node, _)| forest.refs(*node) > 0), "a node belongs to no tree")?;
    cloud.forest = forest;
    cloud.trees = trees;
    Ok(cloud)
}

/// Nodes with the number of levels below them.
fn read_nodes<M: LeafModel>(r: &mut Reader, cloud: &Cloud<M>, forest: &mut Forest<M::Fit>) -> Result<Vec<(NodeId, usize)>> {
    let n_nodes = r.count(1)?;
    require(n_nodes < 1 << 31, "there are too many nodes")?;
    let mut nodes: Vec<(NodeId, usize)> = Vec::new();
    for _ in 0..n_nodes {
        let node = if r.bool()? {
            let leaf = read_leaf(r, cloud)?;
            let ix = forest.new_leaf();
            *forest.leaf_mut(ix) = leaf;
            (NodeId::leaf(ix), 0)
        } else {
            let split = Split { dim: r.u32()?, nan_left: r.bool()?, cut: r.f64()? };
            require((split.dim as usize) < cloud.settings.n_inputs, "a split is on an input that does not exist")?;
            let (left, right) = (r.u32()? as usize, r.u32()? as usize);
            // Children come first, so what they refer to is known and nothing can be its own ancestor.
            require(left < nodes.len() && right < nodes.len(), "a branch comes before its children")?;
            let height = 1 + nodes[left].1.max(nodes[right].1);
            require(height <= MAX_DEPTH, "a tree is too deep")?;
            (forest.new_branch(Branch { split, left: nodes[left].0, right: nodes[right].0 }), height)
        };
        nodes.push(node);
    }
    Ok(nodes)
}

fn read_leaf<M: LeafModel>(r: &mut Reader, cloud: &Cloud<M>) -> Result<LeafNode<M::Fit>> {
    let stat_len = cloud.model.stat_len();
    let mut leaf = LeafNode::default();
    let points = Points::from_slots(r.u32s()?, &cloud.pool);
    leaf.points = points.ok_or(Error::Inconsistent { what: "a leaf lists a point that does not exist, or one twice" })?;
    leaf.origin = cloud.point_stats.shared(r.finite_f64s(cloud.model.origin().len())?);
    leaf.active = r.finite_f64s(stat_len)?.into();
    let retired = r.finite_f64s(stat_len)?;
    leaf.set_retired(&retired);
    leaf.n_removed = r.u32()?;
    let (lower, upper, scores) = (r.f64s()?, r.f64s()?, r.f64s()?);
    if !(lower.is_empty() && upper.is_empty() && scores.is_empty()) {
        let extras = &mut leaf.extras;
        (extras.lower, extras.upper, extras.scores) = (lower, upper, scores);
    }
    leaf.n_tallied = r.u32()?;
    leaf.scored = r.bool()?;
    Ok(leaf)
}
