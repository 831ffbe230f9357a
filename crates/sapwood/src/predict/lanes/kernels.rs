//! The vectorised sums over the components of a mixture.

use pulp::{Simd, WithSimd};

use super::block::Block;
use super::{Derivatives, MixtureLanes};
use crate::num::lanes::{LANES, Lane};

/// Complete blocks whose components have been filled in.
pub(super) struct Prepare<'a> {
    pub(super) blocks: &'a mut [Block],
    pub(super) n_raised: usize,
}

impl WithSimd for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for block in self.blocks {
            block.prepare(self.n_raised);
        }
    }
}

/// Run `$body` for every lane of every block, with the component of that lane evaluated at `$y`.
macro_rules! for_each_lane {
    ($of:expr, $y:expr, |$block:ident, $lane:ident, $value:ident| $body:block) => {
        for $block in &$of.large_df {
            for $lane in 0..LANES {
                let $value = $block.evaluate::<false>($lane, $y);
                $body
            }
        }
        for $block in &$of.small_df {
            for $lane in 0..LANES {
                let $value = $block.evaluate::<true>($lane, $y);
                $body
            }
        }
    };
}

pub(super) struct CdfTimesSurvival<'a> {
    pub(super) of: &'a MixtureLanes,
    pub(super) y: f64,
}

impl WithSimd for CdfTimesSurvival<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let (mut below, mut above) = ([0.0; LANES], [0.0; LANES]);
        for_each_lane!(self.of, self.y, |block, lane, value| {
            let (lower, upper) = if value.t < 0.0 { (value.tail, 1.0 - value.tail) } else { (1.0 - value.tail, value.tail) };
            below[lane] += block.weight[lane] * lower;
            above[lane] += block.weight[lane] * upper;
        });
        below.iter().sum::<f64>() * above.iter().sum::<f64>()
    }
}

pub(super) struct DerivativesAt<'a> {
    pub(super) of: &'a MixtureLanes,
    pub(super) y: f64,
}

impl WithSimd for DerivativesAt<'_> {
    type Output = Derivatives;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Derivatives {
        // Separate arrays rather than an array of arrays: the compiler keeps each in registers.
        let (mut cdf, mut density, mut slope, mut curvature, mut curvature_bound) =
            ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for_each_lane!(self.of, self.y, |block, lane, value| {
            let (t, rate, df) = (value.t, block.rate[lane], block.df[lane]);
            let decay = (df + 1.0) / df * value.shrink * rate;
            let steep = (df + 2.0) / df * t * t;
            let mass = block.weight[lane] * value.density;
            let bent = mass * decay * value.shrink * rate;
            cdf[lane] += block.weight[lane] * if t < 0.0 { value.tail } else { 1.0 - value.tail };
            density[lane] += mass;
            slope[lane] -= mass * decay * t;
            curvature[lane] += bent * (steep - 1.0);
            curvature_bound[lane] += bent * (steep + 1.0);
        });
        let sum = |lanes: Lane| lanes.iter().sum();
        Derivatives {
            cdf: sum(cdf),
            density: sum(density),
            slope: sum(slope),
            curvature: sum(curvature),
            curvature_bound: sum(curvature_bound),
        }
    }
}

pub(super) struct Densities<'a, const N: usize> {
    pub(super) of: &'a MixtureLanes,
    pub(super) y: &'a [f64; N],
}

impl<const N: usize> WithSimd for Densities<'_, N> {
    type Output = [f64; N];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> [f64; N] {
        let mut out = [0.0; N];
        for (out, y) in out.iter_mut().zip(self.y) {
            let mut sum = [0.0; LANES];
            for block in self.of.large_df.iter().chain(&self.of.small_df) {
                for (lane, sum) in sum.iter_mut().enumerate() {
                    *sum += block.weight[lane] * block.density(lane, *y);
                }
            }
            *out = sum.iter().sum();
        }
        out
    }
}

pub(super) struct MeanDistance<'a> {
    pub(super) of: &'a MixtureLanes,
    pub(super) y: f64,
}

impl WithSimd for MeanDistance<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let mut sum = [0.0; LANES];
        for_each_lane!(self.of, self.y, |block, lane, value| {
            let (rate, df) = (block.rate[lane], block.df[lane]);
            let rest = 2.0 * (value.density / rate) * df / (value.shrink * (df - 1.0)) / rate;
            let distance = (self.y - block.location[lane]).abs() * (1.0 - 2.0 * value.tail) + rest;
            let distance = if df > 1.0 { distance } else { f64::INFINITY };
            // Unused lanes would add 0 times infinity.
            sum[lane] += if block.weight[lane] > 0.0 { block.weight[lane] * distance } else { 0.0 };
        });
        sum.iter().sum()
    }
}
