//! A coarse approximation of a mixture: components with similar location and scale are merged.

use super::{Component, Mixture, StudentT};

/// Mixtures with no more components than this are not approximated.
const FEW: usize = 32;
/// Side of a cell in units of the components' own scale.
const CELL: f64 = 0.25;

impl Mixture {
    /// One component per cell of similar location and scale; `None` if there are so few components that it would not pay.
    ///
    /// A cell keeps the total weight and the mean of its components, their mean square about it, and the harmonic mean of their degrees of freedom.
    pub(super) fn coarse(&self) -> Option<Vec<Component>> {
        let components = self.components();
        if components.len() <= FEW {
            return None;
        }
        let centre = self.mean();
        let mut by_cell: Vec<((u64, u64, i64), usize)> =
            components.iter().enumerate().map(|(ix, component)| (cell_of(&component.dist, centre), ix)).collect();
        by_cell.sort_unstable();
        let cells = by_cell.chunk_by(|a, b| a.0 == b.0);
        Some(cells.map(|cell| merge(cell.iter().map(|(_, ix)| &components[*ix]))).collect())
    }
}

/// Cells divide each power of two of the scale into sixteen, each power of two of the degrees of freedom into two, and the location into
/// quarters of the scale. Tails depend strongly on small degrees of freedom; large ones are all treated alike.
fn cell_of(dist: &StudentT, centre: f64) -> (u64, u64, i64) {
    /// Keep the exponent of a double and the leading bits of its fraction.
    const SCALE_BITS: u32 = 52 - 4;
    const DF_BITS: u32 = 52 - 1;
    const MANY_DF: f64 = 64.0;
    let level = dist.scale.to_bits() >> SCALE_BITS;
    let side = CELL * f64::from_bits(level << SCALE_BITS);
    (level, dist.df.min(MANY_DF).to_bits() >> DF_BITS, ((dist.location - centre) / side).floor() as i64)
}

fn merge<'a>(cell: impl Iterator<Item = &'a Component> + Clone) -> Component {
    let weight: f64 = cell.clone().map(|c| c.weight).sum();
    let share = |c: &Component| c.weight / weight;
    let location: f64 = cell.clone().map(|c| share(c) * c.dist.location).sum();
    let (mut inverse_df, mut square) = (0.0, 0.0);
    for c in cell {
        let distance = c.dist.location - location;
        inverse_df += share(c) / c.dist.df;
        square += share(c) * (c.dist.scale * c.dist.scale + distance * distance);
    }
    let dist = StudentT { df: 1.0 / inverse_df, location, scale: square.sqrt(), noise_share: 0.0 };
    Component { weight, dist }
}
