//! What proposals would do in a small pool where class counts are all that a leaf knows: sets of points are then a few words of bits, and
//! those of a leaf below a cut are counted in a handful of instructions.

use std::hint::select_unpredictable;

use super::{Group, NONE, Outcome, Outcomes, Proposal, place_cut};
use crate::cloud::evidence::Queue;
use crate::cloud::{Cloud, Marks};
use crate::leaf::LeafModel;
use crate::pool::{Pool, RankedColumn, SlotSet};

/// Leaves of up to so many classes: each is counted in a pass of its own.
const FEW: usize = 4;

/// The active points of one step, as sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// None where leaves are not of this kind.
    n_classes: Option<usize>,
    of_class: [SlotSet; FEW],
    columns: Vec<Column>,
    /// By how many points of a leaf are below a cut, the outcome.
    outcome_of: Marks<u32>,
}

/// The points in the order of one input.
#[derive(Clone, Debug, Default)]
struct Column {
    is_made: bool,
    /// First none, then the one with the smallest value, then the two with the smallest, and so on.
    below: Vec<SlotSet>,
}

impl Column {
    /// Made when it is first asked for in a step.
    fn make(&mut self, ranked: &RankedColumn) {
        if std::mem::replace(&mut self.is_made, true) {
            return;
        }
        let n_values = ranked.sorted().len();
        self.below.clear();
        self.below.resize(n_values + 1, SlotSet::default());
        for (slot, &rank) in ranked.ranks().iter().enumerate() {
            // Missing values rank above all others.
            if let Some(set) = self.below.get_mut(rank as usize + 1) {
                set.insert(slot as u32);
            }
        }
        for rank in 0..n_values {
            self.below[rank + 1] = self.below[rank + 1].or(self.below[rank]);
        }
    }
}

impl Counts {
    pub fn begin<M: LeafModel>(&mut self, model: &M, pool: &Pool) {
        let is_small = pool.n_slots() <= SlotSet::ROOM && pool.all_count_once();
        self.n_classes = model.counts_classes().filter(|n_classes| is_small && (2..=FEW).contains(n_classes));
        if self.n_classes.is_some() {
            self.of_class = Default::default();
            pool.active().iter().for_each(|&slot| self.of_class[pool.classes()[slot as usize] as usize].insert(slot));
            self.columns.resize_with(pool.n_inputs(), Column::default);
            self.columns.iter_mut().for_each(|column| column.is_made = false);
        }
    }

    /// Place the cuts of the proposals on some groups of leaves, all with the same points, and put the children of each in line. False if
    /// these leaves have to be divided in another way.
    #[inline(always)]
    pub fn evaluate<'a, M: LeafModel>(
        &mut self,
        cloud: &Cloud<M>,
        groups: impl Iterator<Item = &'a Group> + Clone,
        all: &mut [Proposal],
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) -> bool {
        match self.n_classes {
            Some(2) => self.evaluate_classes::<M, 2, 3>(cloud, groups, all, outcomes, queue),
            Some(3) => self.evaluate_classes::<M, 3, 4>(cloud, groups, all, outcomes, queue),
            Some(4) => self.evaluate_classes::<M, 4, 5>(cloud, groups, all, outcomes, queue),
            _ => false,
        }
    }

    /// The same for a number of classes, and statistics of one entry more.
    #[inline(always)]
    fn evaluate_classes<'a, M: LeafModel, const CLASSES: usize, const STATS: usize>(
        &mut self,
        cloud: &Cloud<M>,
        groups: impl Iterator<Item = &'a Group>,
        all: &mut [Proposal],
        outcomes: &mut Outcomes,
        queue: &mut Queue,
    ) -> bool {
        let mut groups = groups.peekable();
        let &&Group { leaf, dim, .. } = groups.peek().expect("a chain has a group");
        let leaf = cloud.forest.leaf(leaf as usize);
        let Some(ranked) = cloud.pool.ranked(dim as usize) else { return false };
        let Self { of_class, columns, outcome_of, .. } = self;
        let column = &mut columns[dim as usize];
        column.make(ranked);
        let points = leaf.points.set();
        let (sorted, below) = (ranked.sorted(), &column.below[..]);
        let n_below = |rank: usize| points.and(below[rank]).len() as u32;
        let n_points = leaf.n_active() as u32;
        if n_below(sorted.len()) < n_points {
            return false;
        }
        let min_leaf = cloud.settings.min_leaf as u32;
        if n_points / 2 < min_leaf {
            return true;
        }
        // The last that must go left and the first that must not.
        let low_rank = first_rank(0, sorted.len() - 1, |rank| n_below(rank + 1) >= min_leaf);
        let high_rank = first_rank(low_rank, sorted.len(), |rank| n_points - n_below(rank) < min_leaf) - 1;
        let (low, high) = (sorted[low_rank], sorted[high_rank]);
        if low >= high {
            return true;
        }
        for group in groups {
            let leaf = cloud.forest.leaf(group.leaf as usize);
            queue.be_about(&cloud.model, &leaf.origin);
            let active: &[f64; STATS] = leaf.active.first_chunk().expect("as many counts as classes, and their sum");
            outcome_of.begin(SlotSet::ROOM);
            let mut at = group.last;
            while at != NONE {
                let proposal = &mut all[at as usize];
                at = proposal.next;
                let cut = place_cut(proposal.u, low, high);
                let below = below[first_rank(low_rank + 1, high_rank, |rank| sorted[rank] >= cut)];
                let left_points = points.and(below);
                let n_left = left_points.len() as u32;
                proposal.split.cut = cut;
                proposal.split.nan_left = 2 * n_left >= n_points;
                if let Some(outcome) = outcome_of.get(n_left as usize) {
                    proposal.outcome = outcome;
                    continue;
                }
                proposal.outcome = outcomes.all.len() as u32;
                outcome_of.set(n_left as usize, proposal.outcome);
                let mut counts = [0.0; STATS];
                counts[0] = f64::from(n_left);
                let mut n_others = 0;
                for class in 1..CLASSES {
                    let n_class = left_points.and(of_class[class]).len() as u32;
                    counts[1 + class] = f64::from(n_class);
                    n_others += n_class;
                }
                counts[1] = f64::from(n_left - n_others);
                let rest: [f64; STATS] = std::array::from_fn(|entry| active[entry] - counts[entry]);
                let kind = cloud.settings.config.evidence;
                let (left, right) = match leaf.retired.first_chunk::<STATS>() {
                    None => (queue.push_about(&cloud.model, kind, &counts, &[]), queue.push_about(&cloud.model, kind, &rest, &[])),
                    Some(retired) => {
                        let share = f64::from(n_left) / f64::from(n_points);
                        let left_retired = retired.map(|value| share * value);
                        let right_retired: [f64; STATS] = std::array::from_fn(|entry| retired[entry] - left_retired[entry]);
                        (
                            queue.push_about(&cloud.model, kind, &counts, &left_retired),
                            queue.push_about(&cloud.model, kind, &rest, &right_retired),
                        )
                    }
                };
                outcomes.left_active.extend_from_slice(&counts);
                outcomes.push(Outcome { n_left, afresh: false, left, right, ln_evidence: f64::NEG_INFINITY }, left_points);
            }
        }
        true
    }
}

/// The first rank of a range for which something holds that then holds for all after it; the range's end if for none.
#[inline(always)]
fn first_rank(from: usize, to: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut first, mut n) = (from, to - from);
    if n == 0 {
        return from;
    }
    // As many rounds whatever is found, so that the processor need not guess.
    while n > 1 {
        let half = n / 2;
        first = select_unpredictable(holds(first + half), first, first + half);
        n -= half;
    }
    first + usize::from(!holds(first))
}

#[cfg(test)]
mod tests {
    use super::super::divide::Work;
    use super::super::keys::Ranks;
    use super::*;
    use crate::config::{CloudConfig, Evidence, Leaf, Task};
    use crate::leaf::Multinomial;
    use crate::rng::{Purpose, Stream};
    use crate::tree::Split;

    /// Fails if the two ways to divide a leaf differ in a cut, a count, a share of the retired ones or a bit of the evidence.
    #[test]
    fn sets_of_bits_divide_as_keys_do() {
        let mut noise = Stream::new(2, 0, 0, Purpose::Sample);
        let mut n_outcomes = 0;
        for (n_classes, min_leaf, evidence) in [(2, 1, Evidence::Joint), (3, 4, Evidence::Conditional), (4, 2, Evidence::Joint)] {
            let mut config = CloudConfig { n_particles: 30, max_active: Some(127), evidence, ..CloudConfig::new(Leaf::Multinomial) };
            (config.min_leaf, config.forgetting) = (Some(min_leaf), Some(0.9));
            let settings = config.check(Task::Classification, 2).expect("settings");
            let mut cloud = Cloud::new(settings, Multinomial::new(n_classes, None), 4);
            for row in 0..300 {
                // The second input has many ties.
                let x = [noise.uniform(), noise.below(6) as f64];
                let class = (x[0] * n_classes as f64) as usize;
                cloud.observe(&x, if noise.below(4) == 0 { noise.below(n_classes) as f64 } else { class as f64 }, 1.0);
                if row % 20 > 0 {
                    continue;
                }
                for leaf in cloud.forest.live_leaves() {
                    for dim in 0..2 {
                        let proposals: Vec<Proposal> = (0..9)
                            .map(|at: u32| {
                                let split = Split { dim, nan_left: false, cut: 0.0 };
                                let next = if at == 0 { NONE } else { at - 1 };
                                Proposal { split, u: noise.uniform_positive(), next, n_below: 0, outcome: NONE }
                            })
                            .collect();
                        let group = Group { leaf: leaf as u32, dim, last: 8, next: NONE };
                        let groups = std::iter::once(&group);
                        let ([mut all, mut others], [mut found, mut expected]) = ([proposals.clone(), proposals], Default::default());
                        let mut queues = [Queue::default(), Queue::default()];
                        queues.iter_mut().for_each(|queue| queue.begin(&cloud.model));
                        let mut counts = Counts::default();
                        counts.begin(&cloud.model, &cloud.pool);
                        assert!(counts.evaluate(&cloud, groups.clone(), &mut all, &mut found, &mut queues[0]));
                        let column = Ranks::new(cloud.pool.ranked(dim as usize).expect("a small pool keeps its order"));
                        Work::default().evaluate(&column, &cloud, groups, &mut others, &mut expected, &mut queues[1]);
                        queues.iter_mut().for_each(|queue| queue.finish(&cloud.model));
                        check_same([(&all, &found, &queues[0]), (&others, &expected, &queues[1])]);
                        n_outcomes += found.all.len();
                    }
                }
            }
        }
        assert!(n_outcomes > 1000, "{n_outcomes}");
    }

    fn check_same(ways: [(&[Proposal], &Outcomes, &Queue); 2]) {
        for at in 0..ways[0].0.len() {
            let [one, other] = ways.map(|(proposals, outcomes, queue)| {
                let Proposal { split, outcome, .. } = proposals[at];
                let stat_len = outcomes.left_active.len() / outcomes.all.len().max(1);
                outcomes.all.get(outcome as usize).map(|found| {
                    let active = outcomes.left_active[outcome as usize * stat_len..][..stat_len].to_vec();
                    let evidence = [found.left, found.right].map(|ticket| queue.get(ticket).ln_evidence.to_bits());
                    (split, found.n_left, found.afresh, active, evidence)
                })
            });
            assert_eq!(one, other);
        }
    }
}
