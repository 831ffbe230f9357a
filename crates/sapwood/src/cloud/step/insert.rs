//! Inserting the new point into the leaves of the particles that survived resampling.

use super::look_up::TreeLeaf;
use super::weigh::WeighedLeaf;
use crate::cloud::Cloud;
use crate::leaf::{ANY_TARGET, LeafModel};

/// The distinct leaves after the new point has been inserted, by their number in the lookup.
#[derive(Clone, Debug, Default)]
pub(super) struct InsertedLeaves {
    leaves: Vec<InsertedLeaf>,
    total: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct InsertedLeaf {
    same_points: u32,
    same_content: u32,
    /// Whether a leaf with the same statistics is known to be near its origin with the new point.
    is_centred: bool,
    has_point: bool,
}

impl InsertedLeaves {
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// One number for all leaves with the same points, and one for those with the same statistics too.
    pub fn dedup_numbers(&self, number: u32) -> (usize, usize) {
        let InsertedLeaf { same_points, same_content, .. } = self.leaves[number as usize];
        (same_points as usize, same_content as usize)
    }
}

impl<M: LeafModel> Cloud<M> {
    /// `weighed` holds the leaves as they were weighed under `weighed_version` of the prior.
    pub(super) fn insert_point(
        &mut self,
        slot: u32,
        tree_leaves: &[TreeLeaf],
        weighed: &[WeighedLeaf],
        weighed_version: u64,
        inserted: &mut InsertedLeaves,
    ) {
        let Self { forest, model, pool, point_stats, version, range, .. } = self;
        let InsertedLeaves { leaves, total } = inserted;
        let prior_changed = *version != weighed_version;
        leaves.clear();
        leaves.extend(weighed.iter().map(|&WeighedLeaf { same_points, same_content, .. }| InsertedLeaf {
            same_points,
            same_content,
            is_centred: false,
            has_point: false,
        }));
        for tree_leaf in tree_leaves {
            let number = tree_leaf.number as usize;
            if std::mem::replace(&mut leaves[number].has_point, true) {
                continue;
            }
            let same_content = leaves[number].same_content as usize;
            let leaf = forest.leaf_mut(tree_leaf.path.leaf());
            leaf.insert_point(model, pool, point_stats, slot);
            if let Some(evidence) = weighed[number].evidence.filter(|_| !prior_changed) {
                leaf.set_evidence(evidence, *version);
            }
            // Leaves with the same statistics are near their origin together.
            let is_centred = !prior_changed && leaves[same_content].is_centred;
            if !is_centred {
                if leaf.recentre_if_far(model, pool, point_stats, total, |origin| model.extent(range, ANY_TARGET).holds(origin))
                    || prior_changed
                {
                    // Recomputed in the leaf's own order, its sums round in their own way.
                    leaves[number].same_content = number as u32;
                } else {
                    leaves[same_content].is_centred = true;
                }
            }
            if leaf.n_tallied > 0 || !leaf.extras.scores.is_empty() {
                leaf.extras.scores.push(0.0);
            }
        }
    }
}
