//! Random numbers keyed by what they are for, not by when they are drawn.
//!
//! Every draw is a pure function of `(seed, step, particle, purpose, index)`, computed by the Philox 4x32-10 block cipher (Salmon,
//! Moraes, Dror & Shaw 2011). There is no generator state to carry, save or share between threads, so the order of work cannot
//! change a result.

use pulp::{Arch, WithSimd};

/// What a draw is for. Different purposes never share random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    Resample = 0,
    Propagate = 1,
    /// Candidates of a grow beyond the first.
    Candidate = 2,
    Discard = 3,
    Mutate = 4,
    Rejuvenate = 5,
    Sample = 6,
    Member = 7,
}

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for round in 0..ROUNDS {
        if round > 0 {
            key[0] = key[0].wrapping_add(WEYL[0]);
            key[1] = key[1].wrapping_add(WEYL[1]);
        }
        let a = u64::from(MULTIPLIER[0]) * u64::from(counter[0]);
        let b = u64::from(MULTIPLIER[1]) * u64::from(counter[2]);
        counter = [(b >> 32) as u32 ^ counter[1] ^ key[0], b as u32, (a >> 32) as u32 ^ counter[3] ^ key[1], a as u32];
    }
    counter
}

/// [`philox`] with its 32-bit words in 64-bit lanes: vector instruction sets multiply the low halves of such lanes, and the compiler uses that.
#[inline(always)]
fn philox_wide(counter: [u64; 4], mut key: [u32; 2]) -> [u64; 4] {
    const WORD: u64 = u32::MAX as u64;
    let [mut a, mut b, mut c, mut d] = counter;
    for round in 0..ROUNDS {
        if round > 0 {
            key[0] = key[0].wrapping_add(WEYL[0]);
            key[1] = key[1].wrapping_add(WEYL[1]);
        }
        let left = u64::from(MULTIPLIER[0]) * (a & WORD);
        let right = u64::from(MULTIPLIER[1]) * (c & WORD);
        a = right >> 32 ^ b ^ u64::from(key[0]);
        b = right & WORD;
        c = left >> 32 ^ d ^ u64::from(key[1]);
        d = left & WORD;
    }
    [a, b, c, d]
}

/// The random numbers of one particle at one step for one purpose, in order.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    /// Step (low word), particle, and step (high 16 bits) with the purpose; the first word counts blocks.
    counter: [u32; 4],
    block: [u32; 4],
    n_used: usize,
}

impl Stream {
    /// `step` must stay below 2^48, which a stream of a million rows per second reaches after nine years.
    pub fn new(seed: u64, step: u64, particle: u32, purpose: Purpose) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, step as u32, particle, ((step >> 32) as u32) << 8 | purpose as u32],
            block: [0; 4],
            n_used: 4,
        }
    }

    fn next_u64(&mut self) -> u64 {
        if self.n_used == 4 {
            self.block = philox(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.n_used = 0;
        }
        let low = u64::from(self.block[self.n_used]);
        let high = u64::from(self.block[self.n_used + 1]);
        self.n_used += 2;
        high << 32 | low
    }

    /// A seed for a part of the model that has streams of its own.
    pub fn seed(&mut self) -> u64 {
        self.next_u64()
    }

    /// Uniform on [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on (0, 1], 53 bits: safe to take the logarithm of.
    pub fn uniform_positive(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on {0, ..., n-1}; the bias of the multiply-shift is below n / 2^64.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }
}

/// A fair coin from the last of the 53 bits of a uniform, which is too small to matter to other uses of the uniform.
pub fn coin(uniform: f64) -> bool {
    ((uniform * (1u64 << 53) as f64) as u64) & 1 == 1
}

/// The first block of each particle's stream as two uniforms of 53 bits, with 22 bits left over: enough for most particles in one step. Computed
/// for many particles at once.
#[derive(Clone, Debug, Default)]
pub struct FirstBlocks {
    /// On (0, 1].
    pub positive: Vec<f64>,
    /// On [0, 1).
    pub uniform: Vec<f64>,
    rest: Vec<u32>,
}

impl FirstBlocks {
    pub fn draw(&mut self, seed: u64, step: u64, n_particles: u32, purpose: Purpose) {
        self.positive.resize(n_particles as usize, 0.0);
        self.uniform.resize(n_particles as usize, 0.0);
        self.rest.resize(n_particles as usize, 0);
        Arch::new().dispatch(Filling { blocks: self, of_particle_0: Stream::new(seed, step, 0, purpose) });
    }

    /// Uniform on {0, ..., n-1}, from the remaining 22 bits; the bias is below n / 2^22.
    pub fn below(&self, particle: usize, n: usize) -> usize {
        ((u64::from(self.rest[particle]) * n as u64) >> 22) as usize
    }
}

struct Filling<'a> {
    blocks: &'a mut FirstBlocks,
    of_particle_0: Stream,
}

impl WithSimd for Filling<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        let Self { blocks, of_particle_0 } = self;
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        let [block, step, _, purpose] = of_particle_0.counter.map(u64::from);
        // A plain loop over particles, which vectorises.
        let n_particles = blocks.positive.len();
        let (positive, uniform, rest) = (&mut blocks.positive[..], &mut blocks.uniform[..n_particles], &mut blocks.rest[..n_particles]);
        for particle in 0..n_particles {
            let [a, b, c, d] = philox_wide([block, step, particle as u64, purpose], of_particle_0.key);
            positive[particle] = ((a << 21 | b >> 11) as f64 + 1.0) * UNIT;
            uniform[particle] = (c << 21 | d >> 11) as f64 * UNIT;
            rest[particle] = ((b & 0x7FF) << 11 | (d & 0x7FF)) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors published with the Random123 library.
    #[test]
    fn philox_known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    /// Fails if a particle gets another particle's numbers, or if 64-bit lanes carry where 32-bit words would wrap.
    #[test]
    fn first_blocks_are_those_of_the_streams() {
        let (seed, step) = (0x1234_5678_9ABC_DEF0, 77 + (1 << 33));
        let mut blocks = FirstBlocks::default();
        for n_particles in [1, 8, 21] {
            blocks.draw(seed, step, n_particles, Purpose::Propagate);
            for particle in 0..n_particles {
                let stream = Stream::new(seed, step, particle, Purpose::Propagate);
                let [a, b, c, d] = philox(stream.counter, stream.key).map(u64::from);
                let at = particle as usize;
                assert_eq!(blocks.positive[at], ((a << 21 | b >> 11) as f64 + 1.0) / (1u64 << 53) as f64);
                assert_eq!(blocks.uniform[at], (c << 21 | d >> 11) as f64 / (1u64 << 53) as f64);
                assert_eq!(blocks.below(at, 1 << 22), ((b & 0x7FF) << 11 | (d & 0x7FF)) as usize);
            }
        }
    }

    #[test]
    fn streams_differ_in_every_part_of_the_key() {
        let first = |seed, step, particle, purpose| Stream::new(seed, step, particle, purpose).next_u64();
        let base = first(1, 2, 3, Purpose::Candidate);
        assert_ne!(base, first(2, 2, 3, Purpose::Candidate));
        assert_ne!(base, first(1, 3, 3, Purpose::Candidate));
        assert_ne!(base, first(1, 2 + (1 << 32), 3, Purpose::Candidate));
        assert_ne!(base, first(1, 2, 4, Purpose::Candidate));
        assert_ne!(base, first(1, 2, 3, Purpose::Propagate));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut counts = [0usize; 7];
        let mut stream = Stream::new(9, 0, 0, Purpose::Discard);
        for _ in 0..70_000 {
            counts[stream.below(7)] += 1;
        }
        // 10000 expected per cell, sd 92.6; a deviation of six sd is a false alarm once in 10^8.
        assert!(counts.iter().all(|&c| (c as f64 - 10_000.0).abs() < 556.0), "{counts:?}");
    }
}
