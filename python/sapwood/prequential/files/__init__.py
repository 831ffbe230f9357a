"""Files that a run writes: predictions and checkpoints."""
