//! Rounding errors in the sums of a leaf as points are added and removed.

use sapwood::leaf::{FixedPrior, Gaussian, GaussianFit, GaussianPrior, LeafModel};
use sapwood::pool::{PointStats, Pool};
use sapwood::tree::LeafNode;

use crate::common::Noise;

/// A leaf and a pool through which points pass, as in a cloud.
struct Window {
    model: Gaussian,
    pool: Pool,
    leaf: LeafNode<GaussianFit>,
    arrival: u64,
    total: Vec<f64>,
}

impl Window {
    /// The prior is centred on zero, so only the leaf itself can move its origin to the data.
    fn new() -> Self {
        let prior = FixedPrior { precision: vec![0.1], mean: vec![0.0], nu0: 1.0, s0: 1.0 };
        let model = Gaussian::constant(GaussianPrior::fixed(&prior));
        let mut leaf = LeafNode::default();
        leaf.reset(&model, &model.origin().into());
        Self { pool: Pool::new(1, model.point_len()), model, leaf, arrival: 0, total: Vec::new() }
    }

    fn add(&mut self, y: f64) {
        self.arrival += 1;
        let slot = self.pool.insert(&[0.0], y, 1.0, self.arrival, |point| point[0] = y);
        self.leaf.insert_point(&self.model, &self.pool, &PointStats::default(), slot);
        self.leaf.recentre_if_far(&self.model, &self.pool, &PointStats::default(), &mut self.total, |_| true);
    }

    fn remove_oldest(&mut self) {
        let slot = self.pool.active()[0];
        self.leaf.remove_point(&self.model, &self.pool, &PointStats::default(), slot);
        self.pool.remove(0);
    }

    /// Relative error of the sum of squares about the mean, against two passes over the points.
    fn error(&self) -> f64 {
        let points = || self.pool.active().iter().map(|&slot| self.pool.y(slot) - self.leaf.origin[0]);
        let n = self.pool.len() as f64;
        let mean = points().sum::<f64>() / n;
        let want: f64 = points().map(|d| (d - mean) * (d - mean)).sum();
        let [count, sum, squares] = self.leaf.active[..] else { unreachable!("a constant leaf holds three sums") };
        assert_eq!(count, n);
        ((squares - sum * sum / count) / want - 1.0).abs()
    }
}

/// Sums are about an origin within a few thousand standard deviations of the data, so an addition rounds by 1e-16 of at most 1e6 to 1e7
/// variances, and they are recomputed every two windows, so at most a few hundred such errors accumulate: 1e-9 leaves a margin. Raw sums
/// about zero lose 1e-4 at once (1e12 a point, 200 points, 1e-16), and without recomputation the error grows with the square root of 10^7.
#[test]
fn ten_million_changes_around_a_far_mean() {
    let mut window = Window::new();
    let mut noise = Noise::new(61);
    let draws: Vec<f64> = (0..1009).map(|_| noise.normal()).collect();
    let mut worst: f64 = 0.0;
    for step in 0..5_000_000usize {
        // A thousand and nine draws against windows of two hundred: so there is no period over which errors could cancel. The mean drifts as well.
        window.add(1e6 + draws[step % draws.len()] + 3.0 * (step as f64 * 1e-5).sin());
        if window.pool.len() > 200 {
            window.remove_oldest();
        }
        if step % 9973 == 0 && step > 200 {
            worst = worst.max(window.error());
        }
    }
    assert!(worst < 1e-9, "{worst:e}");
}

#[test]
fn a_window_around_a_billion() {
    let mut window = Window::new();
    let mut noise = Noise::new(62);
    for step in 0..20_000 {
        window.add(1e9 + noise.normal());
        if step >= 200 {
            window.remove_oldest();
            if step % 97 == 0 {
                assert!(window.error() < 1e-9, "{:e}", window.error());
            }
        }
    }
}

/// A point with a huge square must not be removed by subtraction: (1e12)^2 would leave an error of 1e8 in a sum of 200.
#[test]
fn an_outlier_leaves_nothing_behind() {
    let mut noise = Noise::new(63);
    for size in [1e5, 1e8, 1e12] {
        let mut window = Window::new();
        for step in 0..500 {
            window.add(if step == 250 { size } else { noise.normal() });
            if step >= 200 {
                window.remove_oldest();
            }
            if step == 450 || step == 499 {
                assert!(window.error() < 1e-6, "{size:e}: {:e}", window.error());
            }
        }
    }
}
