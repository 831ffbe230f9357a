//! A cloud: its pool, its trees and what they say of each other.

use super::leaf::{LeafLimits, check_leaf};
use super::{is_within, require};
use crate::cloud::Cloud;
use crate::error::{MAX_MAGNITUDE, MAX_WEIGHT, MIN_WEIGHT, Result};
use crate::leaf::{LeafModel, MAX_MEAN};
use crate::tree::{Branch, MAX_DEPTH, NodeId};

/// `targets` are the smallest and the largest target of the stream; infinite if they are not known.
pub fn check_cloud<M: LeafModel>(cloud: &Cloud<M>, targets: (f64, f64)) -> Result<()> {
    require(!cloud.ln_evidence.is_nan() && cloud.ln_evidence < f64::INFINITY, "the evidence is not a logarithm")?;
    check_ranges(cloud)?;
    check_pool(cloud)?;
    require(cloud.tally.iter().all(|score| score.is_finite()), "a discard score is not a number")?;
    let extent = cloud.model.extent(&cloud.range, targets);
    require(cloud.model.is_possible(&extent), "a leaf prior or its scale could not come from any stream")?;
    let limits = LeafLimits::new(cloud, extent);
    for leaf_ix in cloud.forest.live_leaves() {
        check_leaf(cloud, cloud.forest.leaf(leaf_ix), &limits)?;
    }
    check_trees(cloud)?;
    if cloud.settings.config.discard.uses_boxes() {
        let mut sides = vec![(f64::NEG_INFINITY, f64::INFINITY); cloud.settings.n_inputs];
        let mut roots = cloud.trees.iter().map(|tree| tree.root);
        let boxes_ok = roots.all(|root| has_implied_boxes(cloud, root, &mut sides));
        require(boxes_ok, "a leaf's box is not what the splits above it imply")?;
    }
    Ok(())
}

/// Whether the leaves below a node have the boxes that the splits above them imply; `sides` is that of the node.
fn has_implied_boxes<M: LeafModel>(cloud: &Cloud<M>, node: NodeId, sides: &mut [(f64, f64)]) -> bool {
    if node.is_leaf() {
        let extras = &cloud.forest.leaf(node.ix()).extras;
        return sides.iter().zip(extras.lower.iter().zip(&extras.upper)).all(|(side, (lower, upper))| *side == (*lower, *upper));
    }
    let &Branch { split, left, right } = cloud.forest.branch(node.ix());
    let dim = split.dim as usize;
    let whole = sides[dim];
    if !(whole.0 < split.cut && split.cut <= whole.1) {
        return false;
    }
    sides[dim] = (whole.0, split.cut);
    let left_ok = has_implied_boxes(cloud, left, sides);
    sides[dim] = (split.cut, whole.1);
    let both_ok = left_ok && has_implied_boxes(cloud, right, sides);
    sides[dim] = whole;
    both_ok
}

fn check_ranges<M: LeafModel>(cloud: &Cloud<M>) -> Result<()> {
    let sound = |&(low, high): &(f64, f64)| {
        let nothing_seen = low == f64::INFINITY && high == f64::NEG_INFINITY;
        nothing_seen || (low <= high && is_within(low, MAX_MAGNITUDE) && is_within(high, MAX_MAGNITUDE))
    };
    require(cloud.range.iter().all(sound), "an input range is not one")
}

pub fn check_pool<M: LeafModel>(cloud: &Cloud<M>) -> Result<()> {
    let pool = &cloud.pool;
    require(cloud.settings.config.max_active.is_none_or(|max| pool.len() <= max), "the pool is larger than allowed")?;
    for &slot in pool.active() {
        let in_range = |(x, range): (&f64, &(f64, f64))| x.is_nan() || (range.0 <= *x && *x <= range.1);
        require(pool.x(slot).iter().zip(&cloud.range).all(in_range), "an active input is outside the range of its column")?;
        require(is_within(pool.y(slot), MAX_MAGNITUDE), "an active target is out of range")?;
        require(pool.point(slot).iter().all(|value| is_within(*value, MAX_MEAN)), "an active point is out of range")?;
        require((MIN_WEIGHT..=MAX_WEIGHT).contains(&pool.weight(slot)), "an active weight is out of range")?;
        require(cloud.model.could_encode(pool.point(slot), pool.y(slot)), "an active point does not match its target")?;
    }
    Ok(())
}

/// Every tree holds every active point exactly once, in the leaf that its splits lead to, and no leaf twice.
fn check_trees<M: LeafModel>(cloud: &Cloud<M>) -> Result<()> {
    const LOST: &str = "a leaf does not hold the points that fall in it";
    let n_active = cloud.pool.len();
    let mut home = vec![u32::MAX; cloud.pool.n_slots()];
    let mut met_in = vec![usize::MAX; cloud.forest.n_leaf_slots()];
    for (tree_ix, tree) in cloud.trees.iter().enumerate() {
        for &slot in cloud.pool.active() {
            home[slot as usize] = cloud.forest.find(tree.root, cloud.pool.x(slot)) as u32;
        }
        let (mut n_listed, mut all_home) = (0, true);
        let mut stack = vec![(tree.root, 0)];
        while let Some((node, depth)) = stack.pop() {
            require(depth <= MAX_DEPTH, "a tree is too deep")?;
            if !node.is_leaf() {
                let &Branch { split, left, right } = cloud.forest.branch(node.ix());
                require(split.cut.is_finite(), "a cut is not a number")?;
                stack.extend([(left, depth + 1), (right, depth + 1)]);
                continue;
            }
            let leaf_ix = node.ix();
            // A tree that shares a branch with itself ends here, at the first leaf of it.
            require(std::mem::replace(&mut met_in[leaf_ix], tree_ix) != tree_ix, "a tree holds a leaf twice")?;
            for &slot in cloud.forest.leaf(leaf_ix).points.slots() {
                n_listed += 1;
                // Taken once met, so that a point listed twice does not count twice.
                all_home &= std::mem::replace(&mut home[slot as usize], u32::MAX) == leaf_ix as u32;
            }
        }
        require(all_home && n_listed == n_active, LOST)?;
    }
    Ok(())
}
