//! The weights of a particle's moves, and drawing one.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Stay,
    Prune,
    Grow(usize),
}

/// Weights of the moves that all copies of a tree share, relative to the larger of them.
#[derive(Clone, Copy, Debug)]
pub struct Odds {
    pub ln_base: f64,
    pub stay: f64,
    pub prune: f64,
    prune_is_larger: bool,
}

/// A grow this many nats ahead is certain, and its weight would overflow.
pub const CERTAIN: f64 = 700.0;

impl Odds {
    /// Only a stay is possible.
    pub const STAY: Self = Self { ln_base: 0.0, stay: 1.0, prune: 0.0, prune_is_larger: false };

    /// The larger of the two has weight 1. The second value is the log of the other's weight, to be exponentiated and passed to
    /// [`Odds::set_other`]: the caller does so for many at a time.
    pub fn new(ln_stay: f64, ln_prune: f64) -> (Self, f64) {
        let prune_is_larger = ln_stay.is_nan() || ln_stay < ln_prune;
        let ln_base = ln_stay.max(ln_prune);
        let odds = Self { ln_base, stay: 1.0, prune: 1.0, prune_is_larger };
        if ln_base == f64::INFINITY {
            // The improper prior does not support the sibling: only the prune leads to a supported tree. A root has no sibling and stays.
            (Self { prune_is_larger: ln_prune > f64::NEG_INFINITY, ..odds }, f64::NEG_INFINITY)
        } else if ln_base == f64::NEG_INFINITY {
            (Self { ln_base: 0.0, stay: 0.0, prune: 0.0, prune_is_larger }, f64::NEG_INFINITY)
        } else {
            (odds, ln_stay.min(ln_prune) - ln_base)
        }
    }

    pub fn set_other(&mut self, weight: f64) {
        let other = if self.prune_is_larger { &mut self.stay } else { &mut self.prune };
        *other *= weight;
    }

    /// Draw a move; `grows` are the weights of the candidates.
    #[inline]
    pub fn draw(&self, u: f64, grows: &[f64]) -> Move {
        let total = self.stay + self.prune + grows.iter().sum::<f64>();
        let mut left = u * total - self.stay;
        if left < 0.0 {
            return Move::Stay;
        }
        left -= self.prune;
        if left < 0.0 {
            return Move::Prune;
        }
        for (candidate, weight) in grows.iter().enumerate() {
            left -= weight;
            if left < 0.0 {
                return Move::Grow(candidate);
            }
        }
        // Rounding of the sum can leave a sliver beyond the last move; and where no move is supported, the particle stays.
        Move::Stay
    }
}
