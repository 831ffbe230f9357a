//! The scores of active discarding.

use super::*;

/// ALC is the predictive variance that a point removes, integrated over the box. Three Gauss-Legendre nodes per dimension integrate it exactly.
/// Fails if a term of the closed form is missing.
#[test]
fn alc_is_the_variance_that_a_point_removes() {
    const NODES: [(f64, f64); 3] = [(-0.774_596_669_241_483_4, 5.0 / 18.0), (0.0, 8.0 / 18.0), (0.774_596_669_241_483_4, 5.0 / 18.0)];
    let model = Gaussian::linear(2, GaussianPrior::fixed(&nig(2)));
    let origin = vec![2.0, 3.0, 4.0];
    let stats = stats_of(&model, &origin, &points(2, 12, 71), 1.0);
    let before = fit_of(&model, &stats, &origin);
    let (lo, hi, volume) = ([1.0, 2.5], [4.0, 6.0], 0.3);
    // More points than lanes.
    let asked = points(2, 11, 72);
    let (values, slots): (Vec<f64>, Vec<u32>) = (asked.concat(), (0..11).collect());
    let encoded = EncodedPoints::new(&values, model.point_len(), &slots);
    let bounds = Bounds { lower: lo.to_vec(), upper: hi.to_vec(), volume };
    let mut scores = Vec::new();
    model.discard_scores(&before, &[], &origin, &bounds, encoded, &mut scores);
    assert_eq!(scores.len(), asked.len());
    for (point, score) in asked.iter().zip(scores) {
        let mut more = stats.clone();
        model.observe(&mut more, &origin, point, 1.0);
        let after = fit_of(&model, &more, &origin);
        let mut reduction = 0.0;
        for (u, weight_u) in NODES {
            for (v, weight_v) in NODES {
                let at = [0.5 * (lo[0] + hi[0]) + 0.5 * (hi[0] - lo[0]) * u, 0.5 * (lo[1] + hi[1]) + 0.5 * (hi[1] - lo[1]) * v, 0.0];
                let leverage = |fit: &GaussianFit| 1.0 / model.student_t(fit, &origin, &at).noise_share - 1.0;
                reduction += weight_u * weight_v * (leverage(&before) - leverage(&after));
            }
        }
        let variance = before.sum_of_squares / (before.df - 2.0);
        let want = variance * reduction * volume;
        assert!((score / want - 1.0).abs() < 1e-9);
    }
}
