//! Mean and variance of a mixture, and of a mixture of mixtures.

/// The variance is kept as a sum of parts, each about its own mean, so that a mean far from zero costs no precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    pub mean: f64,
    /// Spread of the components' locations about the mean.
    pub between: f64,
    /// Average variance of the components.
    pub within: f64,
    /// The part of `within` that is noise; the rest is uncertainty about the coefficients of a leaf.
    pub noise: f64,
}

impl Moments {
    /// The moments of a mixture from those of its weighted parts; the weights sum to 1. Parts of weight 0 are skipped, because their
    /// variance may be infinite.
    pub fn mix(parts: impl Iterator<Item = (f64, Moments)> + Clone) -> Self {
        let present = parts.filter(|(weight, _)| *weight > 0.0);
        let mean = present.clone().map(|(weight, part)| weight * part.mean).sum();
        let mut mixed = Self { mean, ..Self::default() };
        for (weight, part) in present {
            let distance = part.mean - mean;
            mixed.between += weight * (part.between + distance * distance);
            mixed.within += weight * part.within;
            mixed.noise += weight * part.noise;
        }
        mixed
    }

    pub fn variance(&self) -> f64 {
        self.within + self.between
    }

    /// The part of the variance that more data would remove: uncertainty about the coefficients of the leaves and about the tree.
    pub fn epistemic(&self) -> f64 {
        if self.within.is_finite() { self.within - self.noise + self.between } else { f64::INFINITY }
    }
}
