"""Figure 5: trees grow when the function becomes complex; only with forgetting do they shrink again afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sapwood import DynamicTreeRegressor
from sapwood.datasets import height
from sapwood.reproduce import _figures
from sapwood.reproduce._claims import Claim, improvement, statement
from sapwood.reproduce._experiment import Experiment, Record, Scale
from sapwood.reproduce._models import PAPER_REGRESSION, Floats, start

_MODELS: dict[str, dict[str, Any]] = {
    "FULL": {"max_active": None, "forgetting": 1.0, "discard": "oldest"},
    "lambda=1": {"forgetting": 1.0, "discard": "oldest"},
    "lambda=0.9": {"forgetting": 0.9, "discard": "oldest"},
}
#: The paper does not state the leaf model of the figure. Constant leaves show what it describes, linear ones do not.
_SETTINGS: dict[str, dict[str, Any]] = {
    "paper, constant": {"leaf": "constant", **PAPER_REGRESSION},
    "paper, linear": {"leaf": "linear", **PAPER_REGRESSION},
    "ours": {"leaf": "linear"},
}
_MAIN = "paper, constant"


class Height(Experiment):
    """Average height of the trees over time."""

    name = "height"
    title = "Complexity that rises and falls"
    shows = "figure 5"
    longest_job_seconds = 20.0
    scales: ClassVar[Mapping[Scale, Record]] = {
        "miniature": {"stretch": 1500, "n_particles": 100, "w": 100, "looks": 30, "repeats": 1, "seed": 5},
        "quick": {"stretch": 10_000, "n_particles": 100, "w": 100, "looks": 150, "repeats": 1, "seed": 5},
        "full": {"stretch": 10_000, "n_particles": 1000, "w": 100, "looks": 300, "repeats": 10, "seed": 5},
    }

    def jobs(self, settings: Record) -> dict[str, Record]:
        common = {name: settings[name] for name in ("stretch", "n_particles", "w", "looks")}
        models = [(setting, model) for setting in _SETTINGS for model in _MODELS] + [("defaults", "defaults")]
        return {
            f"{setting}/{model}/{repeat}": {
                "setting": setting,
                "model": model,
                "seed": settings["seed"] + repeat,
                **common,
            }
            for setting, model in models
            for repeat in range(settings["repeats"])
        }

    def run(self, arguments: Record, data_home: Path | None) -> Record:
        stretch = arguments["stretch"]
        stream = height(3 * stretch, rise=stretch, fall=2 * stretch, seed=arguments["seed"])
        model = start(_estimator(arguments), n_inputs=stream.X.shape[1])
        ends = np.linspace(0, len(stream), arguments["looks"] + 1).astype(int)
        heights = []
        for begin, end in pairwise(ends):
            model.learn(stream.X[begin:end], stream.y[begin:end])
            clouds = [np.mean(model.tree_stats(member).height) for member in range(model.n_members)]
            heights.append(float(model.weights() @ clouds))
        return {"t": ends[1:].tolist(), "height": heights}

    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        groups: dict[str, list[Record]] = {}
        for key, record in records.items():
            groups.setdefault(key.rsplit("/", 1)[0], []).append(record)
        paths = {}
        for group, found in groups.items():
            mean = np.mean([record["height"] for record in found], axis=0)
            levels = _levels(np.array(found[0]["t"]), mean, settings["stretch"])
            paths[group] = {"t": found[0]["t"], "height": mean.tolist(), "levels": levels}
        return {"paths": paths}

    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        levels = {group: path["levels"] for group, path in summary["paths"].items()}

        def shown(group: str) -> str:
            return " → ".join(f"{level:.1f}" for level in levels[group])

        claims = []
        for name in _MODELS:
            first, middle, last = levels[f"{_MAIN}/{name}"]
            falls = name == "lambda=0.9"
            holds = middle > first and (last - first < 0.5 * (middle - first)) == falls
            what = f"height of {name} at the end of the simple, the complex and the second simple segment"
            said = "rises, returns" if falls else "rises, stays"
            ours = shown(f"ours/{name}")
            claims.append(statement("fig. 5", what, said, shown(f"{_MAIN}/{name}"), holds, ours))
        what = "a pool of 100 limits the height: FULL and lambda=1 at the end of the complex segment"
        full, capped = (levels[f"{_MAIN}/{name}"][1] for name in ("FULL", "lambda=1"))
        full_ours, capped_ours = (levels[f"ours/{name}"][1] for name in ("FULL", "lambda=1"))
        claims.append(
            statement(
                "fig. 5",
                what,
                "FULL is higher",
                f"{full:.1f}, {capped:.1f}",
                full > capped,
                f"{full_ours:.1f}, {capped_ours:.1f}",
            )
        )
        first, middle, last = levels["defaults/defaults"]
        what = "height of our defaults (mean over the bank) rises and returns"
        returns = middle > first and last - first < 0.5 * (middle - first)
        claims.append(improvement(what, "–", shown("defaults/defaults"), returns))
        return claims

    def choices(self, summary: Record) -> list[tuple[str, str, str]]:
        rows = []
        for setting in ("paper, constant", "paper, linear"):
            levels = {name: summary["paths"][f"{setting}/{name}"]["levels"] for name in _MODELS}
            shown = (f"{name} " + " → ".join(f"{level:.1f}" for level in found) for name, found in levels.items())
            rows.append(("leaves of the trees", setting.split(", ")[1], "; ".join(shown)))
        return rows

    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        titles = {
            "paper, constant": "the paper's setting, constant leaves",
            "paper, linear": "the paper's setting, linear leaves",
            "ours": "our prior, linear leaves",
        }
        figure, axes = _figures.panels(1, len(titles), 13.0, 4.0, sharex=True)
        for axis, (setting, title) in zip(axes[0], titles.items(), strict=True):
            groups = [(f"{setting}/{model}", model) for model in _MODELS]
            if setting == "ours":
                groups.append(("defaults/defaults", "defaults"))
            for group, model in groups:
                path = summary["paths"][group]
                axis.plot(path["t"], path["height"], color=_figures.COLOURS[model], label=_figures.label(model))
            for at in (1, 2):
                axis.axvline(at * summary["settings"]["stretch"], color="#999999", ls=":", lw=1)
            axis.set_title(title)
            axis.set_xlabel("t (complex between the dotted lines)")
            axis.set_ylim(bottom=0)
            axis.legend(fontsize=8)
        axes[0][0].set_ylabel("average height of the trees")
        _figures.save(figure, folder / "height.png")


def _levels(t: Floats, heights: Floats, stretch: int) -> list[float]:
    """Mean height over the last fifth of each of the three segments."""
    return [float(np.mean(heights[(t > (end - 0.2) * stretch) & (t <= end * stretch)])) for end in (1.0, 2.0, 3.0)]


def _estimator(arguments: Record) -> DynamicTreeRegressor:
    if arguments["model"] == "defaults":
        return DynamicTreeRegressor(random_state=arguments["seed"])
    return DynamicTreeRegressor(
        n_particles=arguments["n_particles"],
        random_state=arguments["seed"],
        **{"max_active": arguments["w"], **_MODELS[arguments["model"]], **_SETTINGS[arguments["setting"]]},
    )
