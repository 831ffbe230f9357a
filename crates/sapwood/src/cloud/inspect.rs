//! Read-only views of a cloud.

use super::Cloud;
use crate::leaf::{ClassificationLeaf, LeafModel};
use crate::tree::{Branch, LeafNode, NodeId};

/// A point of the active pool.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivePoint {
    pub x: Vec<f64>,
    pub y: f64,
    pub weight: f64,
    /// Number of observations learned since.
    pub age: u64,
    /// Discard score; NaN for rules that do not score.
    pub score: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParticleStats {
    pub height: u32,
    pub n_leaves: u32,
    /// Means over the particle's leaves.
    pub active_per_leaf: f64,
    pub retired_per_leaf: f64,
    pub forgetting: f64,
}

/// A node of one tree; nodes are listed in preorder.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeNode {
    /// The split and the positions of the children; `None` for a leaf.
    pub split: Option<(crate::split::Split, usize, usize)>,
    pub n_active: f64,
    pub n_retired: f64,
    /// A leaf's prediction; see [`LeafModel::value_at_centre`].
    pub value: Vec<f64>,
}

/// The amount of work in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepSizes {
    /// Distinct leaves at the input, those that hold different points, and those that differ in their statistics.
    pub leaves: usize,
    pub sets_of_points: usize,
    pub contents: usize,
    /// Grow proposals, the groups of them that share what depends on points and dimension, and the pairs of children that are weighed.
    pub proposals: usize,
    pub chains: usize,
    pub outcomes: usize,
    /// Number of possible prunes.
    pub prunes: usize,
}

impl<M: LeafModel> Cloud<M> {
    /// A rough, unitless estimate of the cost of a step: the evidences of the last one, each counted once per entry of its statistics, and the
    /// points of the pool.
    pub fn relative_cost(&self) -> usize {
        let StepSizes { contents, outcomes, prunes, .. } = self.step_sizes();
        (self.trees.len() + contents + 2 * outcomes + prunes) * (8 + self.model.stat_len()) + self.pool.len() * self.pool.n_inputs()
    }

    pub fn n_distinct_trees(&self) -> usize {
        self.trees.len()
    }

    /// The active pool, oldest first.
    pub fn active(&self) -> Vec<ActivePoint> {
        if self.uses_scores() {
            // Updating the tally would change its rounding, so a query works on a copy.
            let mut copy = self.clone();
            copy.update_scores();
            return copy.scored_points();
        }
        self.scored_points()
    }

    fn scored_points(&self) -> Vec<ActivePoint> {
        let n_particles = f64::from(self.n_particles());
        self.pool
            .active()
            .iter()
            .map(|&slot| ActivePoint {
                x: self.pool.x(slot).to_vec(),
                y: self.pool.y(slot),
                weight: self.pool.weight(slot),
                age: self.step - self.pool.arrival(slot),
                score: if self.uses_scores() { self.tally[slot as usize] / n_particles } else { f64::NAN },
            })
            .collect()
    }

    pub fn n_active(&self) -> usize {
        self.pool.len()
    }

    /// The allowed forgetting factors and the share of particles that carry each.
    pub fn forgetting(&self) -> Vec<(f64, f64)> {
        let values = self.settings.forgetting_values();
        if !self.forgets {
            // No factor has been selected yet.
            return values.iter().map(|value| (*value, 1.0 / values.len() as f64)).collect();
        }
        let mut shares: Vec<(f64, f64)> = values.iter().map(|value| (*value, 0.0)).collect();
        for tree in &self.trees {
            shares[tree.lambda_ix as usize].1 += f64::from(tree.n_copies) / f64::from(self.n_particles());
        }
        shares
    }

    /// One entry per particle.
    pub fn particle_stats(&self) -> Vec<ParticleStats> {
        let mut all = Vec::new();
        for tree in &self.trees {
            let (mut height, mut n_leaves, mut n_active, mut n_retired) = (0, 0, 0.0, 0.0);
            self.forest.for_each_leaf(tree.root, 0, &mut |ix, depth| {
                let leaf = self.forest.leaf(ix);
                height = height.max(depth);
                n_leaves += 1;
                n_active += leaf.n_active() as f64;
                n_retired += leaf.n_retired();
            });
            let stats = ParticleStats {
                height: height as u32,
                n_leaves,
                active_per_leaf: n_active / f64::from(n_leaves),
                retired_per_leaf: n_retired / f64::from(n_leaves),
                forgetting: self.lambda(tree),
            };
            all.extend(std::iter::repeat_n(stats, tree.n_copies as usize));
        }
        all
    }

    /// Average over particles of the number of splits on each input.
    pub fn split_use(&self) -> Vec<f64> {
        let mut used = vec![0.0; self.settings.n_inputs()];
        for tree in &self.trees {
            let share = f64::from(tree.n_copies) / f64::from(self.n_particles());
            let mut stack = vec![tree.root];
            while let Some(node) = stack.pop() {
                if !node.is_leaf() {
                    let &Branch { split, left, right } = self.forest.branch(node.ix());
                    used[split.dim as usize] += share;
                    stack.extend([left, right]);
                }
            }
        }
        used
    }

    /// The tree of one particle.
    pub fn tree(&self, particle: usize) -> Option<Vec<TreeNode>> {
        let mut first = 0;
        let tree = self.trees.iter().find(|tree| {
            first += tree.n_copies as usize;
            particle < first
        })?;
        let mut nodes = Vec::new();
        self.dump(tree.root, &mut nodes);
        Some(nodes)
    }

    fn leaf_value(&self, leaf: &LeafNode<M::Fit>) -> Vec<f64> {
        let mut total = Vec::new();
        leaf.total(&mut total);
        self.with_fit(leaf, |fit| self.model.value_at_centre(fit, &total, &leaf.origin))
    }

    fn dump(&self, node: NodeId, nodes: &mut Vec<TreeNode>) -> usize {
        let at = nodes.len();
        if node.is_leaf() {
            let leaf = self.forest.leaf(node.ix());
            let (n_active, n_retired) = (leaf.n_active() as f64, leaf.n_retired());
            nodes.push(TreeNode { split: None, n_active, n_retired, value: self.leaf_value(leaf) });
        } else {
            let &Branch { split, left, right } = self.forest.branch(node.ix());
            nodes.push(TreeNode { split: None, n_active: 0.0, n_retired: 0.0, value: Vec::new() });
            let left = self.dump(left, nodes);
            let right = self.dump(right, nodes);
            nodes[at].split = Some((split, left, right));
            nodes[at].n_active = nodes[left].n_active + nodes[right].n_active;
            nodes[at].n_retired = nodes[left].n_retired + nodes[right].n_retired;
        }
        at
    }
}

/// Queries of clouds with classification leaves.
impl<M: ClassificationLeaf> Cloud<M> {
    pub fn n_classes(&self) -> usize {
        self.model.n_classes()
    }

    /// Allow labels up to `n_classes - 1` from now on; no leaf has points of the new classes.
    pub fn add_classes(&mut self, n_classes: usize) {
        self.scratch.lookup.invalidate();
        self.model.set_n_classes(n_classes);
        let stat_len = self.model.stat_len();
        self.forest.for_each_live_leaf_mut(|leaf| {
            leaf.active.resize(stat_len, 0.0);
            if !leaf.retired.is_empty() {
                leaf.retired.resize(stat_len, 0.0);
            }
            leaf.invalidate();
        });
        self.rebuild_point_stats();
    }
}
