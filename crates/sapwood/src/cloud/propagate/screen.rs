//! Which particles stay whatever is proposed to them: their proposals need not be made.
//!
//! A move is drawn with a uniform that is known beforehand. Where the weight of a grow has an upper limit, a uniform that picks the stay
//! against the limit picks it against every proposal.

use super::odds::{CERTAIN, Odds};
use crate::cloud::Cloud;
use crate::cloud::evidence::{Queue, Ticket};
use crate::cloud::landing::Spot;
use crate::cloud::weigh::Visits;
use crate::config::Evidence;
use crate::leaf::LeafModel;
use crate::num::lanes::exp_all;

/// What rounding may add to a weight, many times over.
const MARGIN: f64 = 1e-9;

/// For fewer trees it takes longer to work off two queues than to propose to everybody.
const FEW: usize = 64;

/// Working space that is kept between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Screen {
    /// By number of the leaf's statistics.
    best_children: Vec<BestChildren>,
    total: Vec<f64>,
    child: Vec<f64>,
    /// By tree, the most that its grows can weigh, and then the limit.
    limits: Vec<f64>,
    /// For tests: to propose to everybody.
    #[cfg(test)]
    pub is_off: bool,
}

/// The children of a leaf that no others can surpass.
#[derive(Clone, Copy, Debug)]
enum BestChildren {
    NotAsked,
    NotKnown,
    InLine([Ticket; 2]),
}

impl Screen {
    /// Put in line the children that limit the grows of some of the visited leaves.
    ///
    /// Points that are one to a leaf are divided, like what it has retired, in some share. `ln Z` is convex in the statistics, so that of both
    /// children together is convex in the share, and largest at the end of its range.
    /// False if there is nothing to be gained.
    pub fn consider<M: LeafModel>(&mut self, cloud: &Cloud<M>, spots: &[Spot], visits: &Visits, queue: &mut Queue) -> bool {
        let Self { best_children, total, child, .. } = self;
        best_children.clear();
        let is_joint = cloud.settings.config.evidence == Evidence::Joint;
        let has_limits = cloud.model.counts_classes().is_some() && is_joint && cloud.pool.all_count_once();
        if !has_limits || spots.len() < FEW {
            return false;
        }
        #[cfg(test)]
        if self.is_off {
            return false;
        }
        best_children.resize(visits.len(), BestChildren::NotAsked);
        for &Spot { place, number } in spots {
            let best = &mut best_children[visits.alike(number).1];
            if !matches!(best, BestChildren::NotAsked) {
                continue;
            }
            let leaf = cloud.forest.leaf(place.leaf());
            if !cloud.can_grow(place.leaf()) || !cloud.model.points_are_alike(&leaf.active) {
                *best = BestChildren::NotKnown;
                continue;
            }
            let share = cloud.settings.min_leaf as f64 / leaf.n_active() as f64;
            leaf.total(total);
            queue.be_about(&cloud.model, &leaf.origin);
            *best = BestChildren::InLine([share, 1.0 - share].map(|share| {
                child.clear();
                child.extend(total.iter().map(|entry| share * entry));
                queue.push_whole(&cloud.model, Evidence::Joint, child, &[])
            }));
        }
        true
    }

    /// By tree, the uniforms below which its particles stay in any case.
    pub fn weigh<M: LeafModel>(&mut self, cloud: &Cloud<M>, spots: &[Spot], visits: &Visits, odds: &[Odds], queue: &Queue) -> &[f64] {
        let Self { best_children, limits, .. } = self;
        limits.clear();
        limits.extend(spots.iter().zip(odds).map(|(&Spot { place, number }, odds)| {
            let BestChildren::InLine(best) = best_children[visits.alike(number).1] else { return CERTAIN };
            let ln_evidence: f64 = best.map(|child| queue.get(child).ln_evidence).iter().sum();
            (cloud.ln_prior_of_grow(place.depth()) + ln_evidence - odds.ln_base).min(CERTAIN)
        }));
        exp_all(limits);
        for (limit, odds) in limits.iter_mut().zip(odds) {
            *limit = (1.0 - MARGIN) * odds.stay / (odds.stay + odds.prune + *limit);
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use crate::cloud::Cloud;
    use crate::config::{CloudConfig, Leaf, Task};
    use crate::leaf::Multinomial;
    use crate::rng::{Purpose, Stream};

    /// Fails if the limit is below what some proposal weighs: a wrong share, the prior of another depth, or the content of another leaf.
    #[test]
    fn who_is_not_asked_would_have_stayed() {
        for (n_classes, min_leaf, n_candidates, forgetting) in [(2, 1, 1, Some(0.8)), (3, 4, 3, None), (6, 2, 1, Some(1.0))] {
            let mut config = CloudConfig { n_particles: 200, max_active: Some(60), forgetting, ..CloudConfig::new(Leaf::Multinomial) };
            (config.min_leaf, config.n_candidates) = (Some(min_leaf), Some(n_candidates));
            let settings = config.check(Task::Classification, 2).expect("settings");
            let mut screened = Cloud::new(settings, Multinomial::new(n_classes, None), 9);
            let mut asked = screened.clone();
            asked.scratch.propagate.screen.is_off = true;
            let mut noise = Stream::new(3, 0, 0, Purpose::Sample);
            let mut n_proposals = [0; 2];
            for row in 0..500 {
                let x = [noise.uniform(), if noise.below(20) == 0 { f64::NAN } else { noise.uniform() }];
                let y = ((x[0] * n_classes as f64) as usize + row / 200 + usize::from(noise.below(60) == 0)) % n_classes;
                let ln_weights = [&mut screened, &mut asked].map(|cloud| cloud.observe(&x, y as f64, 1.0).to_bits());
                assert_eq!(ln_weights[0], ln_weights[1], "row {row}");
                let particles = [&screened, &asked].map(|cloud| cloud.trees.iter().map(|tree| tree.n_copies).collect::<Vec<u32>>());
                assert_eq!(particles[0], particles[1], "row {row}");
                n_proposals[0] += screened.step_sizes().proposals;
                n_proposals[1] += asked.step_sizes().proposals;
            }
            assert!(4 * n_proposals[0] < 3 * n_proposals[1], "{n_proposals:?}");
        }
    }
}
