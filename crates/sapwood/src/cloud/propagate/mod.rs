//! Moves: after the new point is in its leaf, every particle stays, prunes or grows there.
//!
//! The probabilities are proportional to prior times evidence of the part of the tree that changes. Written relative to leaving the
//! sibling's side as it is, with `D` the depth of the leaf:
//!
//! - stay: `(1 - p(D)) Z(leaf)`
//! - grow: `p(D) (1 - p(D+1))^2 Z(left) Z(right)`
//! - prune: `(1 - p(D-1)) Z(parent) / [p(D-1) * prior and evidence of the sibling subtree]`
//!
//! Stay and prune are the same for all copies of a tree. Every evidence that the draws need is put in one queue.

mod odds;
mod prunes;

pub(super) use self::odds::{CERTAIN, Move, Odds};
use self::prunes::Prunes;
use super::evidence::Queue;
use super::landing::Spot;
use super::propose::{Outcome, Proposals};
use super::{Cloud, Tree};
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;
use crate::num::ln;
use crate::tree::{Branch, LeafExtras, NodeId, Place};

/// Working space that is kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    proposals: Proposals,
    queue: Queue,
    prunes: Prunes,
    /// By tree, the weights of staying and pruning, and the `ln` and then the weight of the lesser one.
    odds: Vec<Odds>,
    others: Vec<f64>,
    /// By proposal, the weight of the grow.
    grows: Vec<f64>,
    grown: Vec<usize>,
    left_retired: Vec<f64>,
    right_retired: Vec<f64>,
}

impl Scratch {
    /// How many proposals, chains of groups of them, outcomes, and prunes there were.
    pub fn sizes(&self) -> (usize, usize, usize, usize) {
        let (proposals, chains, outcomes) = self.proposals.sizes();
        (proposals, chains, outcomes, self.prunes.all.len())
    }
}

impl<M: LeafModel> Cloud<M> {
    pub(super) fn propagate(&mut self, spots: &[Spot], x: &[f64]) {
        let mut scratch = std::mem::take(&mut self.scratch.propagate);
        let visits = std::mem::take(&mut self.scratch.visits);
        let Scratch { proposals, queue, prunes, odds, others, grows, .. } = &mut scratch;
        queue.begin(&self.model);
        self.consider_prunes(spots, prunes, queue);
        proposals.draw(self, spots, &visits);
        proposals.evaluate(self, queue);
        queue.finish(&self.model);
        self.weigh_prunes(prunes, queue);
        self.weigh_stays(spots, prunes, odds, others);
        proposals.collect(queue);
        self.weigh_grows(spots, proposals, odds, grows);

        self.scratch.visits = visits;
        self.move_all(spots, x, &mut scratch);
        self.scratch.propagate = scratch;
    }

    /// `ln` of the prior of two leaves in place of one at `depth`, without what is around them.
    fn ln_prior_of_grow(&self, depth: usize) -> f64 {
        self.tree_prior.ln_split(depth) + 2.0 * self.tree_prior.ln_stop(depth + 1)
    }

    /// Whether a leaf has points enough for two.
    pub(super) fn can_grow(&self, leaf_ix: usize) -> bool {
        self.forest.leaf(leaf_ix).n_active() / 2 >= self.settings.min_leaf
    }

    /// The weights of staying and pruning for every tree.
    fn weigh_stays(&self, spots: &[Spot], prunes: &Prunes, odds: &mut Vec<Odds>, others: &mut Vec<f64>) {
        odds.clear();
        others.clear();
        for Spot { place, .. } in spots {
            let ln_prune = prunes.ln_weight(place);
            let (tree_odds, ln_other) = if ln_prune == f64::NEG_INFINITY && !self.can_grow(place.leaf()) {
                (Odds::STAY, f64::NEG_INFINITY)
            } else {
                Odds::new(self.tree_prior.ln_stop(place.depth()) + self.ln_evidence_of(place.leaf()), ln_prune)
            };
            odds.push(tree_odds);
            others.push(ln_other);
        }
        exp_all(others);
        for (odds, other) in odds.iter_mut().zip(others) {
            odds.set_other(*other);
        }
    }

    /// The weights of all grows that are proposed, relative to their tree's other moves.
    fn weigh_grows(&self, spots: &[Spot], proposals: &Proposals, odds: &[Odds], grows: &mut Vec<f64>) {
        let ln_n_candidates = ln(self.settings.n_candidates as f64);
        grows.clear();
        let mut first_particle = 0;
        for ((tree, Spot { place, .. }), odds) in self.trees.iter().zip(spots).zip(odds) {
            let particles = first_particle..first_particle + tree.n_copies as usize;
            first_particle = particles.end;
            let ln_grow = self.ln_prior_of_grow(place.depth()) - ln_n_candidates;
            let weight = |proposal| (ln_grow + proposals.ln_evidence(proposal) - odds.ln_base).min(CERTAIN);
            grows.extend(proposals.of_particles(particles).map(weight));
        }
        exp_all(grows);
    }

    /// Draw every particle's move and build the trees that result.
    fn move_all(&mut self, spots: &[Spot], x: &[f64], scratch: &mut Scratch) {
        let mut first_particle = 0;
        for (ix, &Spot { place, .. }) in spots.iter().enumerate() {
            let tree = self.trees[ix];
            let particles = first_particle..first_particle + tree.n_copies as usize;
            first_particle = particles.end;
            let Scratch { proposals, odds, grows, grown, .. } = &mut *scratch;
            let odds = odds[ix];
            let mut n_prune = 0;
            grown.clear();
            for particle in particles {
                let own = proposals.of_particles(particle..particle + 1);
                match odds.draw(proposals.uniforms()[particle], &grows[own.clone()]) {
                    Move::Stay => {}
                    Move::Prune => n_prune += 1,
                    Move::Grow(candidate) => grown.push(own.start + candidate),
                }
            }
            let Scratch { proposals, queue, prunes, grown, left_retired, right_retired, .. } = &mut *scratch;
            let merge = |cloud: &mut Self| cloud.merged_leaf(&place, &mut prunes.subtree);
            let grow = |cloud: &mut Self, proposal| cloud.grown_branch(&place, proposal, proposals, queue, left_retired, right_retired);
            self.move_tree(ix, &place, x, n_prune, grown, merge, grow);
        }
        self.trees.retain(|tree| tree.n_copies > 0);
    }

    /// Move particles of one tree: some prune, to the leaf that `merge` makes, and those in `grown` grow, each to the branch that `grow` makes.
    /// Where none is left the tree has no copies; its root has then been taken over.
    #[expect(clippy::too_many_arguments, reason = "a tree, and what becomes of it")]
    pub(super) fn move_tree(
        &mut self,
        ix: usize,
        place: &Place,
        x: &[f64],
        n_prune: u32,
        grown: &[usize],
        merge: impl FnOnce(&mut Self) -> NodeId,
        mut grow: impl FnMut(&mut Self, usize) -> NodeId,
    ) {
        let tree = self.trees[ix];
        let n_stay = tree.n_copies - n_prune - grown.len() as u32;
        if n_stay == tree.n_copies {
            return;
        }
        // Every new tree but the last that the old one is needed for shares what it can with it; the last takes it over.
        let mut n_needed = n_stay.min(1) as usize + n_prune.min(1) as usize + grown.len();
        let mut moved = |cloud: &mut Self, depth: usize, replacement: NodeId, n_copies: u32| {
            n_needed -= 1;
            let root = cloud.replace(tree.root, x, depth, replacement, n_needed == 0);
            cloud.trees.push(Tree { root, n_copies, ..tree });
        };
        if n_prune > 0 {
            let merged = merge(self);
            moved(self, place.depth() - 1, merged, n_prune);
        }
        for &proposal in grown {
            let branch = grow(self, proposal);
            moved(self, place.depth(), branch, 1);
        }
        self.trees[ix].n_copies = n_stay;
    }

    /// The tree in which `replacement` stands where the path of `x` reaches `depth`. Its root is returned with one reference, which is the old
    /// root's if that is not needed any more.
    fn replace(&mut self, root: NodeId, x: &[f64], depth: usize, replacement: NodeId, take_over: bool) -> NodeId {
        if !take_over {
            let root = self.forest.replace(root, x, depth, replacement);
            self.forest.retain(root);
            return root;
        }
        // What belongs to this tree alone is changed in place, and the rest of the path copied.
        let (owned, rest, depth) = self.forest.owned_path(root, x, depth);
        let changed = self.forest.replace(rest, x, depth, replacement);
        self.forest.retain(changed);
        self.release(rest);
        match owned {
            Some((branch, left)) => {
                self.forest.set_child(branch, left, changed);
                root
            }
            None => changed,
        }
    }

    /// What the leaf is when it has been split.
    fn grown_branch(
        &mut self,
        place: &Place,
        candidate: usize,
        proposals: &mut Proposals,
        queue: &Queue,
        left_retired: &mut Vec<f64>,
        right_retired: &mut Vec<f64>,
    ) -> NodeId {
        let split = proposals.all[candidate].split;
        // Leaves with the same statistics, divided alike, have the same children but for their boxes.
        let children = match proposals.children_alike(candidate) {
            Some(others) => others.map(|other| self.forest.copy_leaf(other)),
            None => {
                let children = self.new_children(place, candidate, proposals, queue, left_retired, right_retired);
                proposals.set_children(candidate, children);
                children
            }
        };
        for (child_ix, is_left) in children.into_iter().zip([true, false]) {
            let (parent, child) = self.forest.two_leaves_mut(place.leaf(), child_ix);
            let LeafExtras { lower, upper, .. } = &*parent.extras;
            if !lower.is_empty() {
                let further = &mut child.extras;
                further.lower.clone_from(lower);
                further.upper.clone_from(upper);
                let bound = if is_left { &mut further.upper } else { &mut further.lower };
                bound[split.dim as usize] = split.cut;
            }
        }
        let [left, right] = children.map(NodeId::leaf);
        self.forest.new_branch(Branch { split, left, right })
    }

    /// The two leaves of a split, without boxes.
    fn new_children(
        &mut self,
        place: &Place,
        candidate: usize,
        proposals: &Proposals,
        queue: &Queue,
        left_retired: &mut Vec<f64>,
        right_retired: &mut Vec<f64>,
    ) -> [usize; 2] {
        let split = proposals.all[candidate].split;
        let (outcome, left_active) = proposals.outcome(candidate, self.model.stat_len());
        let Outcome { n_left, afresh, .. } = outcome;
        self.divide_retired(self.forest.leaf(place.leaf()), &split, n_left, left_retired, right_retired);
        let children = [self.forest.new_leaf(), self.forest.new_leaf()];
        let [parent, left, right] = self.forest.three_leaves_mut([place.leaf(), children[0], children[1]]);
        parent.points.divide(&self.pool, &split, &mut left.points, &mut right.points);
        left.active.extend_from_slice(left_active);
        left.set_retired(left_retired);
        right.active.extend(parent.active.iter().zip(left_active).map(|(whole, left)| whole - left));
        right.set_retired(right_retired);
        for (child, ticket) in [(left, outcome.left), (right, outcome.right)] {
            child.origin.clone_from(&parent.origin);
            child.n_forgotten = parent.n_forgotten.saturating_add((parent.n_active() - child.n_active()) as u32);
            if afresh {
                child.sum_afresh(&self.model, &self.pool, &self.point_stats);
            }
            // The same statistics, so the same evidence, to the bit.
            child.set_evidence(queue.get(ticket), self.version);
        }
        children
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::cloud::Cloud;
    use crate::config::{CloudConfig, Discard, Leaf, Task};
    use crate::leaf::{Gaussian, GaussianPrior, LeafModel};
    use crate::rng::{Purpose, Stream};
    use crate::tree::NodeId;

    type Sides = Vec<(f64, f64)>;

    /// The leaves below a node with the boxes that the splits above them leave.
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

    /// Fails if a particle that grows as another did gets the other's box, points that do not fall there, or sums of other points.
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
        let mut n_alike = 0;
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
            n_alike += boxes.values().filter(|boxes| boxes.len() > 1).count();
        }
        // Otherwise there was nothing to tell apart.
        assert!(n_alike > 200, "{n_alike}");
    }
}
