"""Pictures as methods of a model."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sapwood import DynamicTreeRegressor, plot
from sapwood.plot.mixin import PlotMethods


class Model(DynamicTreeRegressor, PlotMethods):
    pass


@pytest.mark.parametrize("name", sorted(name for name in vars(PlotMethods) if name.startswith("plot_")))
def test_each_method_draws_its_picture(name: str, rng: np.random.Generator) -> None:
    X = rng.uniform(size=(60, 2))
    model = Model(n_particles=20, max_active=40, random_state=0).fit(X, X[:, 0])
    display = getattr(model, name)()
    assert type(display).__name__ in plot.__all__
    assert display.ax_.get_title(loc="left") or display.figure_.get_suptitle()


def test_everything_promised_is_there() -> None:
    assert all(getattr(plot, name).__name__ == name for name in plot.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'PieDisplay'"):
        plot.PieDisplay  # noqa: B018


def test_the_methods_load_no_picture() -> None:
    code = "import sys, sapwood.plot.mixin; sys.exit('sapwood.plot._trees' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
