//! Points that come and go: how probable each particle made the class of a new one, putting it in its leaves, and retiring it from them.

use super::{Counting, NONE, Visit, Work, active, retired, sum};
use crate::cloud::landing::{Landing, Spot};
use crate::cloud::{Cloud, Scratch};
use crate::leaf::LeafModel;
use crate::num::ln;

impl<M: LeafModel> Cloud<M> {
    /// Find the probabilities of the classes in the leaves of the landing: what is forecast there, and then what particles are weighed by.
    #[inline(never)]
    pub(in crate::cloud) fn predict_counts<const K: usize>(&mut self)
    where
        Counting: AsMut<Work<K>>,
    {
        let Self { forest, model, scratch, .. } = self;
        let Scratch { landing, counting, .. } = scratch;
        let model = model.only_counts().expect("leaves that only count");
        let probabilities = &mut counting.as_mut().probabilities;
        probabilities.clear();
        probabilities.extend(landing.leaves.iter().map(|&(leaf, _)| {
            let leaf = forest.leaf(leaf);
            model.probabilities(sum(active(leaf), retired(leaf)))
        }));
    }

    /// The probabilities of the classes at the landing, where they have been found, added to `out` with a weight.
    pub(in crate::cloud) fn add_counted_probabilities<const K: usize>(&self, weight: f64, out: &mut [f64])
    where
        Counting: AsRef<Work<K>>,
    {
        let share = weight / f64::from(self.n_particles());
        let mut sums = [0.0; K];
        for ((_, n_copies), probabilities) in self.scratch.landing.leaves.iter().zip(&self.scratch.counting.as_ref().probabilities) {
            let own_share = share * f64::from(*n_copies);
            (0..K).for_each(|class| sums[class] += own_share * probabilities[class]);
        }
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
    }

    /// Each tree's mass becomes copies times predictive weight; returns the `ln` of the mean weight over particles.
    #[inline(never)]
    pub(in crate::cloud) fn weigh_counts<const K: usize>(&mut self, landing: &Landing, slot: u32) -> f64
    where
        Counting: AsMut<Work<K>>,
    {
        let Self { pool, trees, scratch, settings, .. } = self;
        let Scratch { masses, counting, .. } = scratch;
        let class = pool.classes()[slot as usize] as usize;
        let probabilities = &counting.as_mut().probabilities;
        masses.clear();
        let mass = |(spot, tree): (&Spot, &crate::cloud::Tree)| probabilities[spot.number as usize][class] * f64::from(tree.n_copies);
        masses.extend(landing.spots.iter().zip(&*trees).map(mass));
        let sum: f64 = masses.iter().sum();
        if sum <= 0.0 {
            // A class that no leaf can tell from impossible: all are kept as they are.
            masses.iter_mut().zip(trees).for_each(|(mass, tree)| *mass = f64::from(tree.n_copies));
            return f64::MIN;
        }
        ln(sum / settings.config.n_particles as f64)
    }

    /// Retire a point from all leaves that hold it.
    #[inline(never)]
    pub(in crate::cloud) fn retire_count<const K: usize>(&mut self, slot: u32, lambda: f64) {
        let Self { forest, pool, scratch, .. } = self;
        let class = pool.classes()[slot as usize] as usize;
        let holders = &mut scratch.counting.holders;
        forest.list_live_leaves(holders, |leaf| leaf.points.set().contains(slot));
        for &leaf in &*holders {
            forest.leaf_mut(leaf as usize).count_out::<K>(pool, slot, class, lambda);
        }
    }

    /// Put the new point in the leaves of the particles that have survived, and the leaves in line. From now on spots number the visits.
    #[inline(never)]
    pub(super) fn take_in_counts<const K: usize>(&mut self, spots: &mut [Spot], slot: u32, work: &mut Work<K>) {
        let Work { line, probabilities, visit_of, visits, .. } = work;
        let Self { forest, pool, trees, .. } = self;
        let class = pool.classes()[slot as usize] as usize;
        visits.clear();
        visit_of.clear();
        visit_of.resize(probabilities.len(), NONE);
        for (ix, spot) in spots.iter_mut().enumerate() {
            let visit = &mut visit_of[spot.number as usize];
            if *visit == NONE {
                *visit = visits.len() as u32;
                let leaf = forest.leaf_mut(spot.place.leaf());
                let (active, retired, n_points) = (leaf.count_in(pool, slot, class), retired(leaf), leaf.n_active() as u32);
                line.push(sum(active, retired));
                visits.push(Visit {
                    points: leaf.points.set(),
                    active,
                    retired,
                    ln_evidence: f64::NAN,
                    leaf: spot.place.leaf() as u32,
                    tree: ix as u32,
                    n_points,
                    set_number: NONE,
                    is_pure: active[class] == f64::from(n_points),
                });
            } else if trees[ix].n_copies > trees[visits[*visit as usize].tree as usize].n_copies {
                visits[*visit as usize].tree = ix as u32;
            }
            spot.number = *visit;
        }
    }
}
