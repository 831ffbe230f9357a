//! Dividing retired statistics at a grow.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;

fn split(dim: u32, cut: f64) -> Split {
    Split { dim, nan_left: true, cut }
}

/// Whether a Cholesky factor exists after adding a ridge of `tolerance` times the diagonal.
fn is_semi_definite(stats: &[f64], order: usize, diagonal: &[f64], tolerance: f64) -> bool {
    let mut ridged = stats.to_vec();
    for i in 0..order {
        ridged[packed_ix(i, i)] += tolerance * diagonal[packed_ix(i, i)];
    }
    factor_leading(&mut ridged, order, order)
}

/// The division must agree with the actual parts of 200,000 simulated Gaussian points, up to sampling error: 0.3 % of a standard deviation for
/// a mean of 10^5 points, about twice that for a second moment. Fails if the truncation is on the wrong side, a shrink has the wrong sign, or
/// a covariance is not carried along.
#[test]
fn the_gaussian_division_cuts_a_gaussian_in_two() {
    let n = 200_000;
    let model = Gaussian::linear(2, GaussianPrior::Reference);
    let origin = vec![2.0, 5.0, 1.0];
    let sample: Vec<Vec<f64>> =
        normals(81, 3 * n).chunks(3).map(|z| vec![3.0 + z[0], 4.0 + 0.8 * z[0] + 0.6 * z[1], 2.0 * z[0] - z[1] + 0.5 * z[2]]).collect();
    let all = stats_of(&model, &origin, &sample, 1.0);
    for (dim, cut) in [(0, 3.0), (0, 2.0), (0, 4.3), (1, 3.1), (1, 5.2)] {
        let left: Vec<Vec<f64>> = sample.iter().filter(|p| p[dim as usize] < cut).cloned().collect();
        let want = stats_of(&model, &origin, &left, 1.0);
        let mut got = vec![0.0; all.len()];
        model.divide(Division::Gaussian, &all, &origin, &split(dim, cut), 0.5, &mut got);
        for i in 0..4 {
            for j in 0..=i {
                let size = (all[packed_ix(i, i)] * all[packed_ix(j, j)]).sqrt();
                let (got, want) = (got[packed_ix(i, j)], want[packed_ix(i, j)]);
                assert!((got - want).abs() < 0.01 * size, "entry {i}, {j} at {dim} < {cut}: {got} {want}");
            }
        }
    }
}

/// Proportional shares are exact, and leaves without moments of the inputs are always divided proportionally.
#[test]
fn the_proportional_division_is_a_share() {
    let few = points(2, 20, 91);
    let linear = Gaussian::linear(2, GaussianPrior::Reference);
    let origin = vec![3.0, 4.0, 5.0];
    let stats = stats_of(&linear, &origin, &few, 1.0);
    let mut left = vec![0.0; stats.len()];
    linear.divide(Division::Proportional, &stats, &origin, &split(0, 3.0), 0.25, &mut left);
    assert!(left.iter().zip(&stats).all(|(l, s)| *l == 0.25 * s));
    let constant = Gaussian::constant(GaussianPrior::Reference);
    let mut left = [0.0; 3];
    constant.divide(Division::Gaussian, &[4.0, 2.0, 8.0], &[0.0], &split(1, 3.0), 0.5, &mut left);
    assert_eq!(left, [2.0, 1.0, 4.0]);
}

/// Where the inputs have no spread along the split, or the cut is far from them, everything goes to one side.
#[test]
fn mass_that_cannot_be_cut_goes_to_one_side() {
    let model = Gaussian::linear(1, GaussianPrior::Reference);
    let origin = vec![0.0, 0.0];
    let same = stats_of(&model, &origin, &vec![vec![2.0, 1.0]; 5], 1.0);
    let spread = stats_of(&model, &origin, &[vec![1.0, 1.0], vec![3.0, 2.0]], 1.0);
    for (stats, cut, all_left) in [(&same, 2.5, true), (&same, 1.5, false), (&spread, 1e6, true), (&spread, -1e6, false)] {
        let mut left = vec![f64::NAN; stats.len()];
        model.divide(Division::Gaussian, stats, &origin, &split(0, cut), 0.5, &mut left);
        let want: Vec<f64> = stats.iter().map(|s| if all_left { *s } else { 0.0 }).collect();
        assert_eq!(left, want);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    /// After repeated divisions every part has a non-negative count and a positive semi-definite moment matrix. Fails if a part gets more
    /// variance than there is.
    #[test]
    fn divided_parts_are_valid_moments(
        n_points in 1usize..30,
        seed in 0u64..10_000,
        cuts in prop::collection::vec((0u32..2, 0.0..9.0f64), 1..8),
        gaussian in any::<bool>(),
    ) {
        let model = Gaussian::linear(2, GaussianPrior::Reference);
        let origin = vec![2.0, 3.0, 4.0];
        let all = stats_of(&model, &origin, &points(2, n_points, seed), 1.0);
        let division = if gaussian { Division::Gaussian } else { Division::Proportional };
        let mut whole = all.clone();
        for (dim, cut) in cuts {
            if whole[0] <= 0.0 {
                break;
            }
            let mut left = vec![0.0; whole.len()];
            model.divide(division, &whole, &origin, &split(dim, cut), 0.4, &mut left);
            let right: Vec<f64> = whole.iter().zip(&left).map(|(w, l)| w - l).collect();
            for part in [&left, &right] {
                prop_assert!(part[0] >= 0.0 && part[0] <= whole[0]);
                // Subtraction leaves rounding errors relative to the whole, about a thousand times 2e-16.
                prop_assert!(is_semi_definite(part, 4, &all, 1e-12), "{dim} < {cut}: {part:?}");
            }
            whole = if left[0] > right[0] { left } else { right };
        }
    }
}
