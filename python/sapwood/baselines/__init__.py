"""The streaming classifiers that the paper compares dynamic trees with.

Both are scikit-learn classifiers with ``partial_fit``; new labels may appear at any time. ``forecast_then_learn`` runs
the prequential loop over many rows and validates the input once.
"""

from sapwood.baselines._olda_alr import OLDAALR
from sapwood.baselines._qda_af import QDAAF

__all__ = ["OLDAALR", "QDAAF"]
