//! Grow proposals: to whom they are made, what they would do, and what they weigh against a stay.

use pulp::{Arch, WithSimd};

use super::rooms::{Division, Rooms};
use super::{Line, NONE, Visit, difference, sum};
use crate::cloud::Cloud;
use crate::cloud::landing::Spot;
use crate::cloud::propagate::CERTAIN;
use crate::leaf::{LeafModel, Multinomial};
use crate::num::lanes::exp_all;
use crate::num::ln;
use crate::pool::{Pool, SlotSet};
use crate::rng::{FirstBlocks, Purpose, Stream};

/// What rounding may add to a weight, many times over.
const MARGIN: f64 = 1e-9;

/// The proposals of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    random: FirstBlocks,
    /// The particles whose move depends on what is proposed to them, in order.
    pub undecided: Vec<Undecided>,
    pub n_candidates: usize,
    /// How many there were before any was found hopeless.
    n_made: usize,
    /// As many for each of them as there are candidates, and what they would lead to.
    all: Vec<Proposal>,
    /// The left child's place in line, which the right child follows; [`NONE`] where the leaf leaves no room for a cut.
    pub children: Vec<u32>,
    /// The weight of the grow where that of the stay is 1.
    pub grows: Vec<f64>,
    pub rooms: Rooms,
    /// By tree, `ln` of what the evidence of two leaves is multiplied with for the weight of the grow.
    ln_factors: Vec<f64>,
    /// By place in line.
    ceilings: Vec<f32>,
    /// Which of the undecided still are.
    still_open: Vec<u32>,
    /// For tests: to propose to everybody, and find nothing hopeless.
    #[cfg(test)]
    pub asks_everybody: bool,
}

/// A particle whose move depends on what is proposed to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undecided {
    particle: u32,
    pub tree: u32,
    /// What its move will be drawn with.
    pub uniform: f64,
}

/// A cut to be placed.
#[derive(Clone, Copy, Debug)]
struct Proposal {
    /// Where on the range of cuts.
    u: f64,
    dim: u32,
    visit: u32,
}

impl Proposals {
    /// Make a proposal to every particle whose move depends on it.
    ///
    /// A move is drawn with a uniform that is known beforehand, and is a stay if that is below the stay's share of all weights. Where a leaf's
    /// points are all of one class, no grow explains them better than a stay does: `ln Z` is convex in the counts, and zero where there are
    /// none, so that of the two children together does not exceed the leaf's. What is left are the prior's odds, and a uniform that picks
    /// the stay against these picks it against every proposal.
    #[inline(never)]
    pub fn make<M: LeafModel, const K: usize>(&mut self, cloud: &Cloud<M>, spots: &[Spot], visits: &[Visit<K>], odds_of_prune: &[f64]) {
        let Self { random, undecided, n_candidates, n_made, all, ln_factors, .. } = self;
        let (seed, step, n_inputs, min_leaf) = (cloud.seed, cloud.step, cloud.settings.n_inputs, cloud.settings.min_leaf);
        random.draw(seed, step, cloud.n_particles(), Purpose::Propagate);
        *n_candidates = cloud.settings.n_candidates;
        let ln_n_candidates = ln(*n_candidates as f64);
        ln_factors.clear();
        // Who is undecided is anybody's guess, so the processor is not asked to: each is written down as if it were, and counted if it is.
        undecided.resize(random.uniform.len() + 1, Undecided::default());
        let mut n_undecided = 0;
        let mut particle = 0;
        for (ix, ((tree, &Spot { place, number }), prune)) in cloud.trees.iter().zip(spots).zip(odds_of_prune).enumerate() {
            let &Visit { n_points, is_pure, ln_evidence, .. } = &visits[number as usize];
            ln_factors.push(cloud.tree_prior.ln_odds_of_grow(place.depth()) - ln_n_candidates - ln_evidence);
            let most = if n_points as usize / 2 < min_leaf {
                0.0
            } else if is_pure {
                cloud.tree_prior.odds_of_grow(place.depth())
            } else {
                f64::INFINITY
            };
            let limit = (1.0 - MARGIN) / (1.0 + prune + most);
            #[cfg(test)]
            let limit = if self.asks_everybody { 0.0 } else { limit };
            for &uniform in &random.uniform[particle..particle + tree.n_copies as usize] {
                undecided[n_undecided] = Undecided { particle: particle as u32, tree: ix as u32, uniform };
                n_undecided += usize::from(uniform >= limit);
                particle += 1;
            }
        }
        undecided.truncate(n_undecided);
        all.clear();
        for &Undecided { particle, tree, .. } in &*undecided {
            let (at, visit) = (particle as usize, spots[tree as usize].number);
            all.push(Proposal { u: random.positive[at], dim: random.below(at, n_inputs) as u32, visit });
            if *n_candidates > 1 {
                let mut further = Stream::new(seed, step, particle, Purpose::Candidate);
                all.extend((1..*n_candidates).map(|_| {
                    let dim = further.below(n_inputs) as u32;
                    Proposal { u: further.uniform_positive(), dim, visit }
                }));
            }
        }
        *n_made = all.len();
    }

    /// Place the cuts of the proposals, and put the children in line.
    pub fn evaluate<M: LeafModel, const K: usize>(&mut self, cloud: &Cloud<M>, visits: &mut [Visit<K>], line: &mut Line<K>) {
        self.rooms.begin(&cloud.pool, K, cloud.settings.min_leaf, visits.len());
        Arch::new().dispatch(Evaluation { proposals: self, pool: &cloud.pool, visits, line });
    }

    /// Take those out of line again whose particles stay, whatever precisely the evidences are.
    #[inline(never)]
    pub fn screen<const K: usize>(&mut self, model: &Multinomial, odds_of_prune: &[f64], line: &mut Line<K>) {
        #[cfg(test)]
        if self.asks_everybody {
            return;
        }
        if !model.has_ceilings() {
            return;
        }
        let Self { undecided, n_candidates, all, children, ceilings, ln_factors, still_open, .. } = self;
        let n_candidates = *n_candidates;
        model.ln_z_ceilings(line.blocks(), ceilings);
        // All together weigh at most as if each were the best.
        let ln_margin = ln(n_candidates as f64) + MARGIN;
        still_open.resize(undecided.len(), 0);
        let mut n_open = 0;
        for (at, (&Undecided { tree, uniform, .. }, own)) in undecided.iter().zip(children.chunks_exact(n_candidates)).enumerate() {
            let ceiling_of = |&left: &u32| match ceilings.get(left as usize..left as usize + 2) {
                Some(both) => both[0] + both[1],
                None => f32::NEG_INFINITY,
            };
            let highest = own.iter().map(ceiling_of).fold(f32::NEG_INFINITY, |highest, one| if one > highest { one } else { highest });
            let ln_grow = f64::from(highest) + ln_factors[tree as usize] + ln_margin;
            // A stay is what is drawn if `uniform (1 + prune + grow) < 1`.
            let enough = (1.0 - uniform * (1.0 + odds_of_prune[tree as usize])) / uniform;
            let stays = (enough > 0.0) & (ln_grow < floor_of_ln(enough));
            still_open[n_open] = at as u32;
            n_open += usize::from(!stays);
        }
        line.begin();
        for (to, &at) in still_open[..n_open].iter().enumerate() {
            undecided[to] = undecided[at as usize];
            for candidate in 0..n_candidates {
                let (from, to) = (at as usize * n_candidates + candidate, to * n_candidates + candidate);
                all[to] = all[from];
                children[to] = if children[from] == NONE { NONE } else { line.push_two_of_old(children[from]) };
            }
        }
        undecided.truncate(n_open);
        all.truncate(n_open * n_candidates);
        children.truncate(n_open * n_candidates);
    }

    /// What a proposal would do.
    pub fn outcome<const K: usize>(&mut self, pool: &Pool, visit: &Visit<K>, proposal: usize) -> Division {
        let Proposal { u, dim, .. } = self.all[proposal];
        let division = self.rooms.divide(pool, visit.points, visit.n_points, visit.set_number, dim, u);
        division.expect("what had room for a cut still has")
    }

    /// The weights of all proposals relative to their trees' stays.
    #[inline(never)]
    pub fn weigh(&mut self, ln_z: &[f64]) {
        let Self { undecided, n_candidates, children, grows, ln_factors, .. } = self;
        grows.clear();
        for (&Undecided { tree, .. }, own) in undecided.iter().zip(children.chunks_exact(*n_candidates)) {
            let ln_factor = ln_factors[tree as usize];
            grows.extend(own.iter().map(|&left| match ln_z.get(left as usize..left as usize + 2) {
                Some(children) => (ln_factor + (children[0] + children[1])).min(CERTAIN),
                None => f64::NEG_INFINITY,
            }));
        }
        exp_all(grows);
    }

    /// How many proposals there were, and how many that were weighed.
    pub fn sizes(&self) -> (usize, usize) {
        (self.n_made, self.children.iter().filter(|left| **left != NONE).count())
    }
}

/// The loops inside are plain; here they are compiled for the widest instructions of the machine.
struct Evaluation<'a, const K: usize> {
    proposals: &'a mut Proposals,
    pool: &'a Pool,
    visits: &'a mut [Visit<K>],
    line: &'a mut Line<K>,
}

impl<const K: usize> WithSimd for Evaluation<'_, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { proposals: Proposals { all, children, rooms, .. }, pool, visits, line } = self;
        children.clear();
        let of_class: [SlotSet; K] = *rooms.of_class.first_chunk().expect("a set for every class");
        visits.iter_mut().for_each(|visit| visit.set_number = rooms.number(visit.points));
        children.extend(all.iter().map(|&Proposal { u, dim, visit }| {
            let visit = &visits[visit as usize];
            match rooms.divide(pool, visit.points, visit.n_points, visit.set_number, dim, u) {
                Some(division) => visit.line_up_children(&division, &of_class, line),
                None => NONE,
            }
        }));
    }
}

impl<const K: usize> Visit<K> {
    /// Put the leaves in line that a split would lead to; returns the left one's place.
    #[inline(always)]
    fn line_up_children(&self, division: &Division, of_class: &[SlotSet; K], line: &mut Line<K>) -> u32 {
        let left = division.left_counts(of_class);
        let right = difference(self.active, left);
        let share = division.share(self.n_points);
        let left_retired = self.retired.map(|count| share * count);
        let right_retired = difference(self.retired, left_retired);
        line.push_two(sum(left, left_retired), sum(right, right_retired))
    }
}

/// What `ln x` is not below, for positive `x`: the exponent and, in place of the logarithm of the mantissa, its chord.
#[inline(always)]
pub(super) fn floor_of_ln(x: f64) -> f64 {
    const ONE: f64 = (1u64 << 52) as f64;
    const BIAS: f64 = 1023.0;
    (x.to_bits() as i64 as f64 * (1.0 / ONE) - BIAS) * std::f64::consts::LN_2
}

impl Division {
    /// By class, how many points go left.
    #[inline(always)]
    pub fn left_counts<const K: usize>(&self, of_class: &[SlotSet; K]) -> [f64; K] {
        let mut counts = [0.0; K];
        let mut n_others = 0;
        for class in 1..K {
            let n_class = self.left.and(of_class[class]).len() as u32;
            counts[class] = f64::from(n_class);
            n_others += n_class;
        }
        counts[0] = f64::from(self.n_left - n_others);
        counts
    }

    /// The share of a leaf's points that go left; its retired counts are divided like them.
    #[inline(always)]
    pub fn share(&self, n_points: u32) -> f64 {
        f64::from(self.n_left) / f64::from(n_points)
    }
}
