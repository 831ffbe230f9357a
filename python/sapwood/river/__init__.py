"""Dynamic trees as river models, for single dictionaries or small tables.

They follow river's conventions: predictions before anything is learned, features that come and go, labels of any
type, pipelines, cloning, and evaluation with ``evaluate.progressive_val_score``.

Examples
--------
>>> from river import datasets, evaluate, metrics
>>> from sapwood.river import DynamicTreeClassifier
>>> model = DynamicTreeClassifier(n_particles=50, seed=0)
>>> score = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
>>> bool(score.get() > 0.75)
True
"""

try:
    import river  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "sapwood.river needs river, which is not installed; install it with: pip install 'sapwood[river]'", name="river"
    ) from error

from sapwood.river._classifier import DynamicTreeClassifier
from sapwood.river._regressor import DynamicTreeRegressor

__all__ = ["DynamicTreeClassifier", "DynamicTreeRegressor"]
