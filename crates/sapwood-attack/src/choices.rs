//! Decisions taken from bytes.

/// The bytes that decide a case. Once they are used up, every decision is for the first alternative.
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

/// The bytes that a seed stands for: SplitMix64, which the engine does not use.
pub fn bytes_of_seed(seed: u64, n: usize) -> Vec<u8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    std::iter::repeat_with(next).flat_map(u64::to_le_bytes).take(n).collect()
}

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// From 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        let drawn = if n <= 1 << 8 { u32::from(self.byte()) } else { u32::from_le_bytes(std::array::from_fn(|_| self.byte())) };
        drawn as usize % n.max(1)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub fn pick<T: Clone>(&mut self, alternatives: &[T]) -> T {
        alternatives[self.below(alternatives.len())].clone()
    }

    /// On [0, 1), in steps of 2^-16.
    pub fn uniform(&mut self) -> f64 {
        f64::from(u16::from_le_bytes([self.byte(), self.byte()])) / 65536.0
    }
}
