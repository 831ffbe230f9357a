//! Trees, their prior and their enumeration.

use sapwood_oracle::tree::{Split, SplitPrior, Tree, enumerate};

const PRIOR: SplitPrior = SplitPrior { alpha: 0.95, beta: 2.0 };

#[test]
fn there_are_1_2_5_15_51_188_trees() {
    for (n, expected) in (1..).zip([1, 2, 5, 15, 51, 188]) {
        let mut trees = enumerate(0..n, &[], 0);
        trees.sort();
        trees.dedup();
        assert_eq!(trees.len(), expected);
    }
}

#[test]
fn min_leaf_is_counted_in_points_not_in_integers() {
    let inputs = [0, 0, 1, 3];
    assert_eq!(enumerate(0..4, &inputs, 1).len(), 8);
    // Two points per side: only the boundary after the repeated 0 leaves two on the right.
    assert_eq!(enumerate(0..4, &inputs, 2), [Tree::Leaf(()), Tree::split(1, Tree::Leaf(()), Tree::Leaf(()))]);
    assert!(enumerate(0..4, &inputs, 5).is_empty());
}

#[test]
fn the_prior_is_the_product_over_nodes() {
    let leaf = || Tree::<i64, ()>::Leaf(());
    let tree = Tree::split(1, leaf(), Tree::split(2, leaf(), leaf()));
    let p = |depth: f64| 0.95 / (1.0 + depth).powi(2);
    let expected = p(0.0) * (1.0 - p(1.0)) * p(1.0) * (1.0 - p(2.0)).powi(2);
    assert!((PRIOR.ln_tree(&tree, 0) - expected.ln()).abs() < 1e-14);
    assert_eq!(tree.path_length(0), 5);
}

#[test]
fn cuts_between_the_same_integers_are_one_tree() {
    let tree = |cut: f64| {
        let split = Split { dim: 0, cut, nan_left: true };
        Tree::split(split, Tree::Leaf("left"), Tree::Leaf("right"))
    };
    assert_eq!(tree(1.001).on_line(), tree(2.0).on_line());
    assert_ne!(tree(2.0).on_line(), tree(2.001).on_line());
    assert_eq!(*tree(2.0).leaf_at(&[2.0]), "right");
    assert_eq!(*tree(2.0).leaf_at(&[f64::NAN]), "left");
}
