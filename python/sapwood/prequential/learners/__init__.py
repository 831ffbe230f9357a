"""Adapters that let the loop drive a model: Sapwood's own, scikit-learn's and river's."""
