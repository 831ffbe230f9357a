"""The prequential loop: forecast every row of a stream, score the forecast, then learn the row.

The package builds on `sapwood.reading`, which does not depend on it. Where things are:

- `evaluation` is the public function, `settings` its arguments as one object;
- `run` connects the source, the loop and the files of one evaluation; `loop` is the loop itself;
- `row_feed`, `late_labels` and `label_queue` decide which row is forecast and which label is learned when;
- `learners` adapt models: Sapwood's own, and for comparison those of scikit-learn and river;
- `scoring`, `run_history` and `result` hold what is measured;
- `files` writes predictions and checkpoints.
"""
