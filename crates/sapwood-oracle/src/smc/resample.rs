//! Resampling schemes as pure functions: weights and random numbers in, ancestors out.
//!
//! Both give particle `i` on average `N W_i` offspring, which is all that unbiasedness requires.

use crate::rng::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Systematic,
    Residual,
}

/// Ancestors at `(offset + i) / n` of the cumulative weights; `offset` is uniform on `[0, 1)`.
pub fn systematic(weights: &[f64], offset: f64) -> Vec<usize> {
    let n = weights.len();
    let mut ancestors = Vec::with_capacity(n);
    let (mut ix, mut cumulative) = (0, weights[0] * n as f64);
    for slot in 0..n {
        let position = slot as f64 + offset;
        while position >= cumulative && ix + 1 < n {
            ix += 1;
            cumulative += weights[ix] * n as f64;
        }
        ancestors.push(ix);
    }
    ancestors
}

/// `floor(N W_i)` copies of each; the rest is drawn independently in proportion to the remainders.
pub fn residual(weights: &[f64], rng: &mut Rng) -> Vec<usize> {
    let n = weights.len();
    let mut ancestors = Vec::with_capacity(n);
    let mut rests = Vec::with_capacity(n);
    for (ix, weight) in weights.iter().enumerate() {
        let expected = weight * n as f64;
        ancestors.extend(std::iter::repeat_n(ix, expected.floor() as usize));
        rests.push(expected - expected.floor());
    }
    while ancestors.len() < n {
        ancestors.push(rng.choose(&rests));
    }
    ancestors.truncate(n);
    ancestors
}
