//! A mixture's Student-t components in SIMD lanes, prepared for evaluation at many points.
//!
//! The lane code does not branch on values, so it compiles to vector instructions. The instruction set is chosen at run time and does not
//! affect the results, not even their last bits.

mod block;
mod kernels;
#[cfg(test)]
mod tests;

use pulp::Arch;

use self::block::{Block, N_RAISED, SERIES_DF};
use self::kernels::{CdfTimesSurvival, Densities, DerivativesAt, MeanDistance, Prepare};
use super::Component;
use crate::num::lanes::LANES;

#[derive(Clone, Debug, Default)]
pub struct MixtureLanes {
    /// Components to which the series applies directly.
    large_df: Vec<Block>,
    /// Components whose degrees of freedom are raised first.
    small_df: Vec<Block>,
    smallest_scale: f64,
}

/// The mixture's distribution function at a point and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Derivatives {
    pub cdf: f64,
    pub density: f64,
    pub slope: f64,
    pub curvature: f64,
    /// An upper bound of the curvature's magnitude: the sum of the absolute values of its terms.
    pub curvature_bound: f64,
}

impl MixtureLanes {
    pub fn new(components: &[Component]) -> Self {
        let mut lanes = Self { smallest_scale: f64::INFINITY, ..Self::default() };
        let (mut n_large, mut n_small) = (0, 0);
        for Component { weight, dist } in components {
            let is_small = dist.df < SERIES_DF;
            let (blocks, count) = if is_small { (&mut lanes.small_df, &mut n_small) } else { (&mut lanes.large_df, &mut n_large) };
            let lane = *count % LANES;
            if lane == 0 {
                blocks.push(Block::EMPTY);
            }
            *count += 1;
            let block = blocks.last_mut().expect("a block was just added");
            block.weight[lane] = *weight;
            block.location[lane] = dist.location;
            block.rate[lane] = 1.0 / dist.scale;
            block.df[lane] = dist.df;
            lanes.smallest_scale = lanes.smallest_scale.min(dist.scale);
        }
        Arch::new().dispatch(Prepare { blocks: &mut lanes.large_df, n_raised: 0 });
        Arch::new().dispatch(Prepare { blocks: &mut lanes.small_df, n_raised: N_RAISED });
        lanes
    }

    pub fn smallest_scale(&self) -> f64 {
        self.smallest_scale
    }

    /// `F (1 - F)`, with full relative precision in both factors.
    pub fn cdf_times_survival(&self, y: f64) -> f64 {
        Arch::new().dispatch(CdfTimesSurvival { of: self, y })
    }

    pub fn derivatives(&self, y: f64) -> Derivatives {
        Arch::new().dispatch(DerivativesAt { of: self, y })
    }

    /// The density at several points.
    pub fn densities<const N: usize>(&self, y: &[f64; N]) -> [f64; N] {
        Arch::new().dispatch(Densities { of: self, y })
    }

    /// `E|Y - y|`; infinite if a component has one degree of freedom or fewer.
    pub fn mean_distance(&self, y: f64) -> f64 {
        Arch::new().dispatch(MeanDistance { of: self, y })
    }
}
