//! A small random generator, keyed by what the numbers are for.

/// What a stream of random numbers decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Resample = 1,
    Propagate = 2,
    Discard = 3,
    Mutate = 4,
}

/// SplitMix64: a counter passed through a mixing function.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    /// The stream of one particle at one step for one purpose.
    pub fn stream(seed: u64, step: u64, particle: u64, purpose: Purpose) -> Self {
        let key = [step, particle, purpose as u64].into_iter().fold(mix(seed), |key, part| mix(key ^ mix(part)));
        Self { state: key }
    }

    pub fn next_u64(&mut self) -> u64 {
        let out = mix(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        out
    }

    /// Uniform on `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform on `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.uniform() * n as f64) as usize).min(n - 1)
    }

    /// An index drawn in proportion to `probabilities`.
    pub fn choose(&mut self, probabilities: &[f64]) -> usize {
        let mut left = self.uniform() * probabilities.iter().sum::<f64>();
        for (ix, p) in probabilities.iter().enumerate() {
            if left < *p {
                return ix;
            }
            left -= p;
        }
        probabilities.iter().rposition(|p| *p > 0.0).unwrap_or(0)
    }
}
