//! Many leaves at once give what each gives alone.

use super::*;

/// Fails if lanes are mixed up, the end of the batch is left out, or an unsupported leaf is accepted.
#[test]
fn a_batch_gives_the_evidence_of_each_leaf() {
    for model in models() {
        let origin = vec![1.5; model.point_len()];
        let all = points(model.n_regressors, 60, 51);
        for n_rows in [0, 1, 2, 7, 8, 9, 33] {
            // Starting with no points, which the reference prior does not support.
            let leaves: Vec<Vec<f64>> = (0..n_rows).map(|row| stats_of(&model, &origin, &all[..(7 * row) % 60], 1.0)).collect();
            let want: Vec<f64> = leaves.iter().map(|stats| ln_z(&model, stats, &origin)).collect();
            let got = ln_z_of_each(&model, &leaves, &origin);
            assert_eq!(got.len(), n_rows);
            for (got, want) in got.iter().zip(&want) {
                if *want == f64::NEG_INFINITY {
                    assert_eq!(*got, *want);
                } else {
                    assert_close(*got, *want, 1e-11);
                }
            }
        }
    }
}

/// Fails if the evidence of a leaf depends, even in the last bit, on the other leaves of the batch, which differ in a restored model.
#[test]
fn evidence_does_not_depend_on_the_rest_of_the_batch() {
    for model in models() {
        let origin = vec![1.5; model.point_len()];
        // Very different units, so that some products of pivots are extreme.
        let leaves: Vec<Vec<f64>> = (0..8)
            .map(|row| {
                let unit = 10f64.powi(30 * (row % 4));
                let few: Vec<Vec<f64>> = points(model.n_regressors, 20, 55).iter().map(|p| p.iter().map(|v| unit * v).collect()).collect();
                stats_of(&model, &origin, &few, 1.0)
            })
            .collect();
        let together = ln_z_of_each(&model, &leaves, &origin);
        for (stats, beside) in leaves.iter().zip(&together) {
            assert_eq!(ln_z(&model, stats, &origin).to_bits(), beside.to_bits());
        }
    }
}

/// Fails if the posterior of a leaf in a batch is not bit-identical to that of the leaf alone: lanes mixed up, or the fallback prior left out.
#[test]
fn a_batch_gives_the_posterior_of_each_leaf() {
    for model in models() {
        let all = points(model.n_regressors, 60, 57);
        for n_leaves in [1, 8, 11] {
            let origins: Vec<Vec<f64>> = (0..n_leaves).map(|leaf| vec![0.5 + leaf as f64; model.point_len()]).collect();
            // Starting with no points, which the reference prior does not support.
            let totals: Vec<Vec<f64>> = (0..n_leaves).map(|leaf| stats_of(&model, &origins[leaf], &all[..5 * leaf], 1.0)).collect();
            let mut fits = vec![GaussianFit::default(); n_leaves];
            let mut supported = vec![true; n_leaves];
            model.fit_rows(&totals.concat(), &origins.concat(), &mut Vec::new(), &mut fits, &mut supported);
            for leaf in 0..n_leaves {
                let mut alone = GaussianFit::default();
                assert_eq!(supported[leaf], model.fit(&totals[leaf], &origins[leaf], &mut alone));
                let bits = |fit: &GaussianFit| {
                    [&fit.factor[..], &[fit.df, fit.sum_of_squares]].concat().iter().map(|v| v.to_bits()).collect::<Vec<u64>>()
                };
                assert_eq!(bits(&fits[leaf]), bits(&alone));
            }
        }
    }
}
