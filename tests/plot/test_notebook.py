"""Plots in a notebook: all of them are shown, including the user's own."""

from __future__ import annotations

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = (
    """
import numpy as np
from sapwood import DynamicTreeRegressor
from sapwood.stream import evaluate
x = np.random.default_rng(0).uniform(size=(300, 2))
model = DynamicTreeRegressor(n_particles=20, max_active=[20, 50], random_state=0)
result = evaluate(model, (x, x[:, 0]), ["rmse"], window=50)
model.plot_slices();
""",
    "model.plot_bank();",
    "import matplotlib.pyplot as plt\nplt.subplots()[1].plot([1, 2]);",
    "result",
    "model.plot_slices();",
)


def test_every_figure_of_a_notebook_is_shown() -> None:
    """Without `%matplotlib inline`. Fails if our style restores settings that the notebook's backend has changed."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    shown = [[kind for output in cell.outputs for kind in output.get("data", {})] for cell in notebook.cells]
    assert ["image/png" in kinds for kinds in shown] == [True, True, True, False, True]
    assert "text/html" in shown[3]
