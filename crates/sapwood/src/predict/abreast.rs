//! The Student-t components of a mixture, prepared to be evaluated at many points, eight components abreast.
//!
//! With `a = df/2`, `q = 1 + t^2/df` and `L = ln q`, the substitution `u = exp(-v)` in the incomplete beta function gives the tail beyond `t`
//!
//! `2 P(T > t) = 1/B(a, 1/2) * integral from L of exp(-c v) v^(-1/2) g(v) dv`, with `c = a - 1/4` and `g(v)^2 = (v/2) / sinh(v/2)`.
//!
//! `g` is a power series in `v^2`. Term by term the integrals are incomplete gamma functions, which all come down to one `erfc`:
//!
//! `2 P(T > t) = erfc(sqrt(xi)) + exp(-xi) sqrt(xi/pi) / A * sum_k S_k xi^(2k-2) [1/(1/2)_(2k-1) + xi/(1/2)_(2k)]`, `xi = c L`,
//!
//! where `h_k = g_k (1/2)_(2k) c^(-2k)`, `S_k = h_k + h_(k+1) + ...`, `A = 1 + S_1`, and `(1/2)_j` is the rising factorial. At `t = 0` the same
//! sum is the normaliser: `B(a, 1/2) = A sqrt(pi/c)`. Six terms leave less than 1e-12 from 12 degrees of freedom on. Fewer are brought up by
//! `I_x(a, 1/2) = I_x(a+1, 1/2) + x^a (1-x)^(1/2) / (a B(a, 1/2))`, whose first term is the density times `|t|/a`.
//!
//! Nothing branches on a value, so the compiler makes vector code of it; the instruction set is chosen when the program runs and changes no bit.

use pulp::{Arch, Simd, WithSimd};

use super::Component;
use crate::num::lanes::{LANES, Lane};
use crate::num::{exp_normal, ln_normal};

/// Where the series is good enough, and how many steps bring any smaller number of degrees there.
const SERIES_DF: f64 = 12.0;
const N_STEPS: usize = 6;
const N_TERMS: usize = 6;
/// `g_k (1/2)_(2k)` for `k = 1, 2, ...`
const SERIES: [f64; N_TERMS] = [
    -1.0 / 64.0,
    21.0 / 8192.0,
    -671.0 / 524_288.0,
    180_323.0 / 134_217_728.0,
    -20_898_423.0 / 8_589_934_592.0,
    7_426_362_705.0 / 1_099_511_627_776.0,
];
/// `1/(1/2)_j` for `j = 1, 2, ...`
const RISING: [f64; 2 * N_TERMS] = {
    let mut out = [0.0; 2 * N_TERMS];
    let mut product = 1.0;
    let mut j = 0;
    while j < out.len() {
        product *= 0.5 + j as f64;
        out[j] = 1.0 / product;
        j += 1;
    }
    out
};
const FRAC_1_SQRT_PI: f64 = 0.564_189_583_547_756_3;

/// Eight components. Lanes without one have weight 0.
#[derive(Clone, Debug)]
struct Block {
    weight: Lane,
    location: Lane,
    /// 1 / scale.
    rate: Lane,
    df: Lane,
    /// `c` of the series, after the steps up if there are any.
    c: Lane,
    /// `S_k / A`.
    series: [Lane; N_TERMS],
    /// The normaliser of the density, with the rate in it.
    norm: Lane,
}

impl Block {
    const EMPTY: Self = Self {
        weight: [0.0; LANES],
        location: [0.0; LANES],
        rate: [1.0; LANES],
        df: [SERIES_DF; LANES],
        c: [1.0; LANES],
        series: [[0.0; LANES]; N_TERMS],
        norm: [0.0; LANES],
    };
}

/// What one component says about one point.
struct At {
    t: f64,
    /// Probability beyond `t`, on its side of the location.
    tail: f64,
    density: f64,
    /// `1 / (1 + t^2/df)`.
    shrink: f64,
}

/// `erfc(x) exp(x^2)` for `x >= 0`: `(1 + 2x)` times it is smooth in `(x - K)/(x + K)`; a polynomial of degree 20 leaves 4e-15 of it.
#[inline(always)]
fn scaled_erfc(x: f64) -> f64 {
    const K: f64 = 3.75;
    const C: [f64; 21] = [
        1.237_512_630_837_827_5,
        -0.140_240_598_585_504_64,
        0.003_585_415_485_523_058_6,
        0.082_276_738_487_037_23,
        -0.108_803_930_146_072_08,
        0.092_304_321_227_818_18,
        -0.058_693_398_495_732_24,
        0.028_362_276_745_721_345,
        -0.009_746_580_495_721_479,
        0.001_755_629_561_970_017,
        0.000_293_718_831_582_937_87,
        -0.000_290_166_430_903_196_2,
        5.163_190_106_804_329_4e-05,
        2.241_022_238_149_815_5e-05,
        -1.140_797_962_207_655_9e-05,
        -1.008_530_581_926_420_7e-06,
        1.702_993_401_667_320_9e-06,
        -2.765_709_383_664_068_7e-08,
        -2.175_924_498_662_857_4e-07,
        8.506_913_358_851_907e-09,
        1.820_795_314_421_729_4e-08,
    ];
    let y = (x - K) / (x + K);
    let mut value = C[20];
    let mut k = 20;
    while k > 0 {
        k -= 1;
        value = value * y + C[k];
    }
    value / (1.0 + 2.0 * x)
}

/// Squares beyond this overflow; no probability is left there.
const FAR: f64 = 1e140;
/// `exp(-700)` is nothing yet still a normal number.
const UNDERFLOW: f64 = 700.0;

impl Block {
    #[inline(always)]
    fn density(&self, lane: usize, y: f64) -> f64 {
        let t = ((y - self.location[lane]) * self.rate[lane]).clamp(-FAR, FAR);
        let u = t * t / self.df[lane];
        let q = 1.0 + u;
        // What rounding took from 1 + u.
        let ln_q = ln_normal(q) + (u - (q - 1.0)) / q;
        self.norm[lane] * exp_normal(-((0.5 * self.df[lane] + 0.5) * ln_q).min(UNDERFLOW))
    }

    /// The steps up are taken only where `STEPS` says so: for all lanes or for none.
    #[inline(always)]
    fn at<const STEPS: bool>(&self, lane: usize, y: f64) -> At {
        let df = self.df[lane];
        let a = 0.5 * df;
        let t = ((y - self.location[lane]) * self.rate[lane]).clamp(-FAR, FAR);
        let u = t * t / df;
        let q = 1.0 + u;
        let shrink = 1.0 / q;
        // What rounding took from 1 + u.
        let ln_q = ln_normal(q) + (u - (q - 1.0)) * shrink;
        let xi = (self.c[lane] * ln_q).min(UNDERFLOW);
        let x = xi.sqrt();
        let mut sum = 0.0;
        let mut k = N_TERMS;
        while k > 0 {
            k -= 1;
            sum = sum * (xi * xi) + self.series[k][lane] * (RISING[2 * k] + xi * RISING[2 * k + 1]);
        }
        let mut twice = (exp_normal(-xi) * (scaled_erfc(x) + FRAC_1_SQRT_PI * x * sum)).max(0.0);
        let density = self.norm[lane] * exp_normal(-((a + 0.5) * ln_q).min(UNDERFLOW));
        if STEPS {
            let mut term = density / self.rate[lane] * t.abs() / a;
            for step in 0..N_STEPS {
                twice += term;
                let b = a + step as f64;
                term *= shrink * (b + 0.5) / (b + 1.0);
            }
        }
        At { t, tail: 0.5 * twice.min(1.0), density, shrink }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Abreast {
    /// Components within reach of the series, and the others.
    plain: Vec<Block>,
    stepped: Vec<Block>,
    narrowest: f64,
}

/// The mixture's distribution function at a point and its derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Derivatives {
    pub cdf: f64,
    pub density: f64,
    pub slope: f64,
    pub curvature: f64,
    /// The curvature with every part of it made positive: how much shorter than the density's own scale its details are.
    pub bend: f64,
}

impl Abreast {
    pub fn new(components: &[Component]) -> Self {
        let mut abreast = Self { narrowest: f64::INFINITY, ..Self::default() };
        let (mut n_plain, mut n_stepped) = (0, 0);
        for Component { weight, dist } in components {
            let stepped = dist.df < SERIES_DF;
            let (blocks, count) = if stepped { (&mut abreast.stepped, &mut n_stepped) } else { (&mut abreast.plain, &mut n_plain) };
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
            abreast.narrowest = abreast.narrowest.min(dist.scale);
        }
        Arch::new().dispatch(Prepare { blocks: &mut abreast.plain, n_steps: 0 });
        Arch::new().dispatch(Prepare { blocks: &mut abreast.stepped, n_steps: N_STEPS });
        abreast
    }

    /// Scale of the narrowest component.
    pub fn narrowest(&self) -> f64 {
        self.narrowest
    }

    /// `F (1 - F)`, to the last digits of the smaller factor.
    pub fn spread(&self, y: f64) -> f64 {
        Arch::new().dispatch(Spread { of: self, y })
    }

    pub fn derivatives(&self, y: f64) -> Derivatives {
        Arch::new().dispatch(Derive { of: self, y })
    }

    /// The density at several points.
    pub fn densities<const N: usize>(&self, y: &[f64; N]) -> [f64; N] {
        Arch::new().dispatch(Density { of: self, y })
    }

    /// `E|Y - y|`; infinite if a component has one degree of freedom or fewer.
    pub fn mean_distance(&self, y: f64) -> f64 {
        Arch::new().dispatch(Distance { of: self, y })
    }
}

/// Fill in what depends on the degrees of freedom alone.
struct Prepare<'a> {
    blocks: &'a mut [Block],
    n_steps: usize,
}

impl WithSimd for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for block in self.blocks {
            let df = block.df;
            let c: Lane = std::array::from_fn(|lane| 0.5 * df[lane] + self.n_steps as f64 - 0.25);
            let inverse_square: Lane = std::array::from_fn(|lane| 1.0 / (c[lane] * c[lane]));
            let mut power = [1.0; LANES];
            for (terms, coefficient) in block.series.iter_mut().zip(SERIES) {
                for lane in 0..LANES {
                    power[lane] *= inverse_square[lane];
                    terms[lane] = coefficient * power[lane];
                }
            }
            for k in (1..N_TERMS).rev() {
                for lane in 0..LANES {
                    block.series[k - 1][lane] += block.series[k][lane];
                }
            }
            let normaliser: Lane = std::array::from_fn(|lane| 1.0 + block.series[0][lane]);
            for terms in &mut block.series {
                for lane in 0..LANES {
                    terms[lane] /= normaliser[lane];
                }
            }
            // Gamma(a + 1/2) / Gamma(a), by the recurrence where the series is for a larger a.
            let mut ratio: Lane = std::array::from_fn(|lane| c[lane].sqrt() / normaliser[lane]);
            for step in 0..self.n_steps {
                for lane in 0..LANES {
                    let b = 0.5 * df[lane] + step as f64;
                    ratio[lane] *= b / (b + 0.5);
                }
            }
            block.c = c;
            block.norm = std::array::from_fn(|lane| block.rate[lane] * ratio[lane] * FRAC_1_SQRT_PI / df[lane].sqrt());
        }
    }
}

/// Run `$body` for every lane of every block, with what the component says there.
macro_rules! for_each_lane {
    ($of:expr, $y:expr, |$block:ident, $lane:ident, $at:ident| $body:block) => {
        for $block in &$of.plain {
            for $lane in 0..LANES {
                let $at = $block.at::<false>($lane, $y);
                $body
            }
        }
        for $block in &$of.stepped {
            for $lane in 0..LANES {
                let $at = $block.at::<true>($lane, $y);
                $body
            }
        }
    };
}

struct Spread<'a> {
    of: &'a Abreast,
    y: f64,
}

impl WithSimd for Spread<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let (mut below, mut above) = ([0.0; LANES], [0.0; LANES]);
        for_each_lane!(self.of, self.y, |block, lane, at| {
            let (lower, upper) = if at.t < 0.0 { (at.tail, 1.0 - at.tail) } else { (1.0 - at.tail, at.tail) };
            below[lane] += block.weight[lane] * lower;
            above[lane] += block.weight[lane] * upper;
        });
        below.iter().sum::<f64>() * above.iter().sum::<f64>()
    }
}

struct Derive<'a> {
    of: &'a Abreast,
    y: f64,
}

impl WithSimd for Derive<'_> {
    type Output = Derivatives;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Derivatives {
        // Apart, not in a table: the compiler keeps each in a register.
        let (mut cdf, mut density, mut slope, mut curvature, mut bend) =
            ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for_each_lane!(self.of, self.y, |block, lane, at| {
            let (t, rate, df) = (at.t, block.rate[lane], block.df[lane]);
            let decay = (df + 1.0) / df * at.shrink * rate;
            let steep = (df + 2.0) / df * t * t;
            let mass = block.weight[lane] * at.density;
            let bent = mass * decay * at.shrink * rate;
            cdf[lane] += block.weight[lane] * if t < 0.0 { at.tail } else { 1.0 - at.tail };
            density[lane] += mass;
            slope[lane] -= mass * decay * t;
            curvature[lane] += bent * (steep - 1.0);
            bend[lane] += bent * (steep + 1.0);
        });
        let sum = |lanes: Lane| lanes.iter().sum();
        Derivatives { cdf: sum(cdf), density: sum(density), slope: sum(slope), curvature: sum(curvature), bend: sum(bend) }
    }
}

struct Density<'a, const N: usize> {
    of: &'a Abreast,
    y: &'a [f64; N],
}

impl<const N: usize> WithSimd for Density<'_, N> {
    type Output = [f64; N];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> [f64; N] {
        let mut out = [0.0; N];
        for (out, y) in out.iter_mut().zip(self.y) {
            let mut sum = [0.0; LANES];
            for block in self.of.plain.iter().chain(&self.of.stepped) {
                for (lane, sum) in sum.iter_mut().enumerate() {
                    *sum += block.weight[lane] * block.density(lane, *y);
                }
            }
            *out = sum.iter().sum();
        }
        out
    }
}

struct Distance<'a> {
    of: &'a Abreast,
    y: f64,
}

impl WithSimd for Distance<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f64 {
        let mut sum = [0.0; LANES];
        for_each_lane!(self.of, self.y, |block, lane, at| {
            let (rate, df) = (block.rate[lane], block.df[lane]);
            let rest = 2.0 * (at.density / rate) * df / (at.shrink * (df - 1.0)) / rate;
            let distance = (self.y - block.location[lane]).abs() * (1.0 - 2.0 * at.tail) + rest;
            let distance = if df > 1.0 { distance } else { f64::INFINITY };
            // A lane without a component has no say, and one with an infinite mean has the last word.
            sum[lane] += if block.weight[lane] > 0.0 { block.weight[lane] * distance } else { 0.0 };
        });
        sum.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::student_t_cdf;
    use crate::predict::StudentT;

    const DEGREES: [f64; 16] = [0.05, 0.5, 1.0, 1.5, 2.0, 2.7, 3.0, 5.5, 9.0, 11.99, 12.0, 14.3, 29.0, 100.0, 1e5, 1e15];

    fn alone(df: f64, location: f64, scale: f64) -> (Abreast, StudentT) {
        let dist = StudentT { df, location, scale, noise_share: 1.0 };
        (Abreast::new(&[Component { weight: 1.0, dist }]), dist)
    }

    fn points() -> impl Iterator<Item = f64> {
        (-300..=300).map(|i| {
            let i = f64::from(i) / 30.0;
            i * (1.0 + 0.1 * i * i)
        })
    }

    /// Against the continued fraction, and above 30 degrees against Hill's expansion, whose own error is 2e-12.
    #[test]
    fn distribution_function_and_density_agree_with_the_scalar_ones() {
        for df in DEGREES {
            let (abreast, dist) = alone(df, 0.5, 2.0);
            for t in points() {
                let y = 0.5 + 2.0 * t;
                let at = abreast.derivatives(y);
                assert!((at.cdf - student_t_cdf(t, df)).abs() < 3e-12, "df {df}, t {t}: {} {}", at.cdf, student_t_cdf(t, df));
                // A difference of two logarithms of gamma functions of size x loses x units in the last place, an exponent too.
                let tolerance = 1e-11 + 1e-14 * df;
                if dist.density(y) > 1e-290 && df < 1e6 {
                    assert!((at.density / dist.density(y) - 1.0).abs() < tolerance, "df {df}, t {t}: {} {}", at.density, dist.density(y));
                }
            }
        }
    }

    /// Small arguments, where 1 + t^2/df is 1.
    #[test]
    fn the_middle_keeps_its_digits() {
        for df in DEGREES {
            let (abreast, _) = alone(df, 0.0, 1.0);
            let peak = abreast.derivatives(0.0).density;
            for t in [1e-12, 1e-9, 1e-6, 1e-5] {
                let excess = abreast.derivatives(t).cdf - 0.5;
                // The next term of the series is t^3 (df + 1)/(6 df) times the peak.
                assert!((excess - t * peak).abs() < 1e-12, "df {df}, t {t}: {excess}");
            }
        }
        let normal_peak = 0.5 * FRAC_1_SQRT_PI * std::f64::consts::SQRT_2;
        assert!((alone(1e15, 0.0, 1.0).0.derivatives(0.0).density / normal_peak - 1.0).abs() < 1e-14);
    }

    /// Central differences of the next lower derivative; their own error is a ten-millionth.
    #[test]
    fn derivatives_are_those_of_the_distribution_function() {
        let h = 1e-4;
        for df in DEGREES.into_iter().filter(|df| *df >= 1.0) {
            let (abreast, _) = alone(df, 0.0, 1.0);
            for t in [-4.0, -1.3, -0.2, 0.0, 0.7, 2.5] {
                let (below, at, above) = (abreast.derivatives(t - h), abreast.derivatives(t), abreast.derivatives(t + h));
                let slope = |f: fn(&Derivatives) -> f64| (f(&above) - f(&below)) / (2.0 * h);
                assert!((slope(|d| d.cdf) - at.density).abs() < 1e-7, "df {df}, t {t}");
                assert!((slope(|d| d.density) - at.slope).abs() < 1e-7, "df {df}, t {t}");
                assert!((slope(|d| d.slope) - at.curvature).abs() < 1e-7, "df {df}, t {t}");
                assert!(at.bend >= at.curvature.abs(), "df {df}, t {t}");
            }
        }
    }

    /// Closed form of `E|T - t|` for two degrees of freedom: `sqrt(2 + t^2)`.
    #[test]
    fn mean_distance_closed_form() {
        let (abreast, _) = alone(2.0, 1.0, 3.0);
        for t in points() {
            let want = 3.0 * (2.0 + t * t).sqrt();
            assert!((abreast.mean_distance(1.0 + 3.0 * t) / want - 1.0).abs() < 1e-11, "{t}");
        }
        assert_eq!(alone(1.0, 0.0, 1.0).0.mean_distance(0.0), f64::INFINITY);
    }

    /// A component's lane and its neighbours change nothing but the order of a sum.
    #[test]
    fn mixtures_are_sums_over_components() {
        let components: Vec<Component> = (0..29)
            .map(|i| {
                let i = f64::from(i);
                let dist = StudentT { df: 1.5 + 1.1 * i, location: 0.3 * i, scale: 1.0 + 0.05 * i, noise_share: 1.0 };
                Component { weight: (1.0 + i) / 435.0, dist }
            })
            .collect();
        let all = Abreast::new(&components);
        for y in [-3.0, 0.0, 4.4, 17.0] {
            let one = |c: &Component| Abreast::new(&[Component { weight: 1.0, ..*c }]);
            let sum = |f: &dyn Fn(&Abreast) -> f64| components.iter().map(|c| c.weight * f(&one(c))).sum::<f64>();
            assert!((all.derivatives(y).cdf - sum(&|a| a.derivatives(y).cdf)).abs() < 1e-14);
            assert!((all.mean_distance(y) - sum(&|a| a.mean_distance(y))).abs() < 1e-13);
            let density = all.derivatives(y).density;
            assert!(
                all.densities(&[y, 0.0]).into_iter().zip([density, all.derivatives(0.0).density]).all(|(a, b)| (a / b - 1.0).abs() < 1e-14)
            );
            let cdf = all.derivatives(y).cdf;
            assert!((all.spread(y) - cdf * (1.0 - cdf)).abs() < 1e-14);
        }
    }
}
