//! Boxes, points and sums of the leaves that moves create.

use std::collections::BTreeMap;

use crate::cloud::Cloud;
use crate::config::{CloudConfig, Discard, Leaf, Task};
use crate::leaf::{Gaussian, GaussianPrior, LeafModel};
use crate::rng::{Purpose, Stream};
use crate::tree::NodeId;

type Sides = Vec<(f64, f64)>;

/// The leaves below a node, with the boxes implied by the splits above them.
fn boxes_below<M: LeafModel>(cloud: &Cloud<M>, node: NodeId, sides: &mut Sides, leaves: &mut Vec<(usize, Sides)>) {
    if node.is_leaf() {
        return leaves.push((node.ix(), sides.clone()));
    }
    let branch = cloud.forest.branch(node.ix());
    let dim = branch.split.dim as usize;
    let before = sides[dim];
    sides[dim].1 = branch.split.cut;
    boxes_below(cloud, branch.left, sides, leaves);
    sides[dim] = (branch.split.cut, before.1);
    boxes_below(cloud, branch.right, sides, leaves);
    sides[dim] = before;
}

/// Fails if a particle that shares another's grow gets the other's box, points outside its own, or sums of other points.
#[test]
fn leaves_have_their_own_boxes_and_points() {
    let config = CloudConfig {
        n_particles: 150,
        max_active: Some(60),
        discard: Discard::Alc,
        min_leaf: Some(2),
        ..CloudConfig::new(Leaf::Constant)
    };
    let settings = config.check(Task::Regression, 2).expect("settings");
    let mut cloud = Cloud::new(settings, Gaussian::constant(GaussianPrior::default_for(0)), 4);
    let mut noise = Stream::new(8, 0, 0, Purpose::Sample);
    let mut n_shared = 0;
    for row in 0..200 {
        let x = [noise.uniform(), if noise.below(10) == 0 { f64::NAN } else { noise.uniform() }];
        cloud.observe(&x, f64::from(u8::from(x[0] < 0.5)) + 0.1 * noise.uniform(), 1.0);
        // By points, the boxes of the leaves that hold them.
        let mut boxes: BTreeMap<Vec<u32>, Vec<Sides>> = BTreeMap::new();
        for tree in &cloud.trees {
            let mut leaves = Vec::new();
            boxes_below(&cloud, tree.root, &mut vec![(f64::NEG_INFINITY, f64::INFINITY); 2], &mut leaves);
            for (ix, sides) in leaves {
                let leaf = cloud.forest.leaf(ix);
                let own: Sides = leaf.extras.lower.iter().copied().zip(leaf.extras.upper.iter().copied()).collect();
                assert_eq!(own, sides, "row {row}");
                let mut slots = leaf.points.slots().to_vec();
                assert!(slots.iter().all(|&slot| cloud.forest.find(tree.root, cloud.pool.x(slot)) == ix), "row {row}");
                let mut sums = vec![0.0; leaf.active.len()];
                slots.iter().for_each(|&slot| cloud.model.observe(&mut sums, &leaf.origin, cloud.pool.point(slot), 1.0));
                let agree = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
                assert!(leaf.active.iter().zip(&sums).all(|(own, sum)| agree(*own, *sum)), "row {row}");
                slots.sort_unstable();
                let of_points = boxes.entry(slots).or_default();
                if !of_points.contains(&sides) {
                    of_points.push(sides);
                }
            }
        }
        n_shared += boxes.values().filter(|boxes| boxes.len() > 1).count();
    }
    // Otherwise the test would have checked nothing.
    assert!(n_shared > 200, "{n_shared}");
}
