//! A bank's account: how members are weighted, and how their average is calibrated.

use std::f64::consts::PI;

use crate::special::{ln_gamma, ln_sum_exp, softmax};

#[derive(Clone, Copy, Debug)]
pub struct StudentT {
    pub df: f64,
    pub location: f64,
    pub scale: f64,
}

impl StudentT {
    pub fn ln_density(&self, y: f64) -> f64 {
        let t = (y - self.location) / self.scale;
        ln_gamma((self.df + 1.0) / 2.0)
            - ln_gamma(self.df / 2.0)
            - 0.5 * (self.df * PI).ln()
            - self.scale.ln()
            - (self.df + 1.0) / 2.0 * (1.0 + t * t / self.df).ln()
    }

    pub fn variance(&self) -> f64 {
        if self.df > 2.0 { self.scale * self.scale * self.df / (self.df - 2.0) } else { f64::INFINITY }
    }
}

/// Weighted components.
pub type Mixture = Vec<(f64, StudentT)>;

pub fn mean(mixture: &Mixture) -> f64 {
    mixture.iter().map(|(weight, part)| weight * part.location).sum()
}

pub fn variance(mixture: &Mixture) -> f64 {
    let mean = mean(mixture);
    mixture.iter().map(|(weight, part)| weight * (part.variance() + (part.location - mean).powi(2))).sum()
}

pub fn ln_density(mixture: &Mixture, y: f64) -> f64 {
    ln_sum_exp(&mixture.iter().map(|(weight, part)| weight.ln() + part.ln_density(y)).collect::<Vec<_>>())
}

fn width(mixture: &Mixture) -> f64 {
    let mean = mean(mixture);
    mixture.iter().map(|(weight, part)| weight * (part.scale + (part.location - mean).abs())).sum()
}

/// Weights at two levels, kept as logarithms.
#[derive(Clone, Debug)]
pub struct Mixing {
    /// By rate, then by member.
    ln_weights: Vec<Vec<f64>>,
    ln_top: Vec<f64>,
}

const RATES: [f64; 4] = [0.8, 0.95, 0.99, 0.999];
const TOP_RATE: f64 = 0.99;

impl Mixing {
    pub fn new(n_members: usize) -> Self {
        Self {
            ln_weights: vec![vec![-(n_members as f64).ln(); n_members]; RATES.len()],
            ln_top: vec![-(RATES.len() as f64).ln(); RATES.len()],
        }
    }

    pub fn weights(&self) -> Vec<f64> {
        let top = softmax(&self.ln_top);
        let by_rate: Vec<Vec<f64>> = self.ln_weights.iter().map(|own| softmax(own)).collect();
        (0..by_rate[0].len()).map(|member| top.iter().zip(&by_rate).map(|(v, w)| v * w[member]).sum()).collect()
    }

    /// Learn from what every member gave to the target, to the power of the row's weight.
    pub fn learn(&mut self, ln_densities: &[f64]) {
        let forecasts: Vec<f64> = self
            .ln_weights
            .iter()
            .map(|own| ln_sum_exp(&softmax(own).iter().zip(ln_densities).map(|(w, d)| w.ln() + d).collect::<Vec<_>>()))
            .collect();
        let normalised = |logs: Vec<f64>| -> Vec<f64> { logs.iter().map(|log| log - ln_sum_exp(&logs)).collect() };
        self.ln_top = normalised(self.ln_top.iter().zip(forecasts).map(|(v, forecast)| TOP_RATE * v + forecast).collect());
        for (own, rate) in self.ln_weights.iter_mut().zip(RATES) {
            *own = normalised(own.iter().zip(ln_densities).map(|(w, d)| rate * w + d).collect());
        }
    }
}

/// How the average is sharpened and shifted, from every row that said something about it.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// `ln` densities under each factor, oldest first, each with its row's weight.
    densities: Vec<([f64; 5], f64)>,
    /// Errors of the mean in widths, at most four, with weights.
    errors: Vec<(f64, f64)>,
    targets: Vec<f64>,
}

fn factor_of(ix: usize) -> f64 {
    1.3_f64.powf(ix as f64 - 2.0)
}

impl Calibration {
    pub fn sharpness(&self) -> f64 {
        let n = self.densities.len();
        let ln_posterior = |ix: usize| {
            let sum: f64 = self.densities.iter().enumerate().map(|(at, (own, w))| 0.999_f64.powi((n - 1 - at) as i32) * w * own[ix]).sum();
            sum - 0.5 * (factor_of(ix).ln() / 0.15).powi(2)
        };
        let logs: Vec<f64> = (0..5).map(ln_posterior).collect();
        let best = (1..5).fold(0, |best, ix| if logs[ix] > logs[best] { ix } else { best });
        if best == 0 || best == 4 {
            return factor_of(best);
        }
        let (below, at, above) = (logs[best - 1], logs[best], logs[best + 1]);
        factor_of(best) * 1.3_f64.powf(0.5 * (above - below) / (2.0 * at - above - below))
    }

    pub fn lag(&self) -> f64 {
        let n_rows = self.errors.len();
        let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
            self.errors.iter().enumerate().map(|(at, (e, w))| 0.98_f64.powi((n_rows - 1 - at) as i32) * w * f(*e)).sum()
        };
        let n = sum(&|_| 1.0);
        if n == 0.0 {
            return 0.0;
        }
        let (mean, square) = (sum(&|e| e) / n, sum(&|e| e * e) / n);
        if mean == 0.0 { 0.0 } else { mean * (1.0 - 2.0 * square / (n * mean * mean)).max(0.0) }
    }

    /// Locations within the range of the targets, widened by its length; from row 32 on.
    pub fn held(&self, mixture: &Mixture) -> Mixture {
        let low = self.targets.iter().copied().fold(f64::INFINITY, f64::min);
        let high = self.targets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if self.targets.len() < 32 || high <= low {
            return mixture.clone();
        }
        let hold = |part: &StudentT| StudentT { location: part.location.clamp(2.0 * low - high, 2.0 * high - low), ..*part };
        mixture.iter().map(|(weight, part)| (*weight, hold(part))).collect()
    }

    fn sharpened(mixture: &Mixture, lag: f64, k: f64) -> Mixture {
        let (mean, width) = (mean(mixture), width(mixture));
        let part =
            |part: &StudentT| StudentT { df: part.df, location: mean + lag * width + (part.location - mean) / k, scale: part.scale / k };
        mixture.iter().map(|(weight, own)| (*weight, part(own))).collect()
    }

    pub fn applied(&self, mixture: &Mixture) -> Mixture {
        Self::sharpened(&self.held(mixture), self.lag(), self.sharpness())
    }

    /// Learn what came where this average had been forecast.
    pub fn learn(&mut self, average: &Mixture, y: f64, weight: f64) {
        let held = self.held(average);
        let lag = self.lag();
        let error = ((y - mean(&held)) / width(&held)).clamp(-4.0, 4.0);
        // An error counts as at most four widths here too: as if the target had come no further away.
        let counted = mean(&held) + error * width(&held);
        let under = |ix: usize| ln_density(&Self::sharpened(&held, lag, factor_of(ix)), counted);
        self.densities.push((std::array::from_fn(under), weight));
        self.errors.push((error, weight));
    }

    pub fn see_target(&mut self, y: f64) {
        self.targets.push(y);
    }

    pub fn applied_to_classes(&self, probabilities: &[f64]) -> Vec<f64> {
        let k = self.sharpness();
        softmax(&probabilities.iter().map(|p| k * p.ln()).collect::<Vec<_>>())
    }

    pub fn learn_class(&mut self, average: &[f64], class: usize, weight: f64) {
        let under = |ix: usize| softmax(&average.iter().map(|p| factor_of(ix) * p.ln()).collect::<Vec<_>>())[class].ln();
        self.densities.push((std::array::from_fn(under), weight));
    }
}
