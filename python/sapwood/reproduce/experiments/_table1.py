"""The common part of the three streams of table 1: models, prequential scores and comparison."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

import numpy as np

from sapwood import DynamicTreeClassifier
from sapwood.baselines import OLDAALR, QDAAF
from sapwood.metrics import auc, h_measure, log_loss
from sapwood.reproduce import _figures
from sapwood.reproduce._claims import Claim, improvement, not_comparable, number, statement
from sapwood.reproduce._experiment import Experiment, Record
from sapwood.reproduce._models import PAPER_CLASSIFICATION, Floats, class_probability, start

#: Rows of the paper's table, then ours. The table has lambda=0.8, the text 0.9: both are run.
FORGETTING = {"lambda=1": 1.0, "lambda=0.9": 0.9, "lambda=0.8": 0.8}
COMPETITORS = {"QDA-AF": QDAAF, "OLDA-ALR": OLDAALR}
MODELS = ("OFFLINE", *FORGETTING, *COMPETITORS, "defaults")
#: For streams whose labels come in runs: the last label as the forecast, or as an input of our model.
LAST_LABEL_MODELS = ("last label", "defaults, last label")
#: The paper's statements about both real streams.
REAL_ORDERS = (
    ("QDA-AF dominates", "QDA-AF", "lambda=0.8"),
    ("forgetting outperforms OLDA-ALR", "lambda=0.8", "OLDA-ALR"),
    ("the offline tree is among the lowest", "lambda=0.8", "OFFLINE"),
)
_MEASURES = {"auc": "AUC", "h": "H", "ccr": "CCR"}
_TOLERANCE = {"auc": 0.03, "h": 0.06, "ccr": 0.02}
#: The rate is recorded for this many parts of the stream, and drawn as a running mean over a few of them.
_N_CURVE, _N_SMOOTH = 60, 4


def scale(rows: int, offline_rows: int, n_particles: int, repeats: int, seed: int, **more: Any) -> Record:
    """The settings of a stream of table 1; pools have 100 active points."""
    variants = more.pop("variants", [])
    size = {"rows": rows, "offline_rows": offline_rows, "n_particles": n_particles, "w": 100}
    return {**size, "repeats": repeats, "variants": variants, **more, "seed": seed}


class Table1(Experiment):
    """One stream of table 1, evaluated prequentially.

    Subclasses provide the stream, its variants and the reasons for differences.
    """

    #: Alternatives where the paper leaves a choice: the models to run, and the arguments to change.
    variants: ClassVar[Mapping[str, tuple[tuple[str, ...], Record]]] = {}
    #: Statements of the text: the statement, the model whose AUC must be larger, and the other one.
    orders: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    #: If the paper's data are not public: why our numbers cannot be compared with the paper's.
    stand_in: ClassVar[str] = ""
    #: Reasons for what is not reproduced, by model or statement.
    why: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def stream(self, arguments: Record, data_home: Path | None) -> tuple[Floats, Floats]:
        """Inputs and class codes 0 and 1."""

    def jobs(self, settings: Record) -> dict[str, Record]:
        common = {name: settings[name] for name in ("rows", "n_particles", "w", "offline_rows")}
        jobs = {}
        for repeat in range(settings["repeats"]):
            seeded = {**common, "seed": settings["seed"] + repeat}
            for model in settings.get("models", MODELS):
                jobs[f"{model}/{repeat}"] = {**seeded, "model": model}
            for variant in settings["variants"]:
                models, change = self.variants[variant]
                for model in models:
                    jobs[f"{variant}: {model}/{repeat}"] = {**seeded, "model": model, **change}
        return jobs

    def run(self, arguments: Record, data_home: Path | None) -> Record:
        x, y = self.stream(arguments, data_home)
        began = process_time()
        proba = _forecast(arguments, x, y)
        seconds = process_time() - began
        hits = (proba > 0.5) == (y == 1.0)
        return {
            "auc": auc(y, proba),
            "h": h_measure(y, proba),
            "ccr": float(np.mean(hits)),
            "log_loss": log_loss(y, np.clip(proba, 1e-6, 1.0 - 1e-6)),
            "rows_a_second": len(y) / seconds,
            "curve": [float(np.mean(part)) for part in np.array_split(hits, _N_CURVE)],
            "rows": len(y),
            "share_of_class_1": float(np.mean(y)),
        }

    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        groups: dict[str, list[Record]] = {}
        for key, record in records.items():
            groups.setdefault(key.rsplit("/", 1)[0], []).append(record)
        return {
            "scores": {
                group: {
                    **{name: float(np.mean([r[name] for r in found])) for name in found[0] if name != "curve"},
                    "curve": np.mean([r["curve"] for r in found], axis=0).tolist(),
                }
                for group, found in groups.items()
            }
        }

    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        scores = summary["scores"]
        claims = []
        for model, printed in paper["scores"].items():
            for measure, named in _MEASURES.items():
                claims.append(
                    number(
                        "table 1",
                        f"{named} of {model}",
                        printed[measure],
                        scores[model][measure],
                        scores["defaults"][measure] if model == "lambda=0.8" else None,
                        better="higher",
                        tolerance=_TOLERANCE[measure],
                        why=self.why.get(model, ""),
                    )
                )
        if self.stand_in:
            claims = [not_comparable(claim, self.stand_in) for claim in claims]
        claims.append(_forgetting_helps(scores, paper, self.why))
        claims.extend(_order(scores, paper, *order, why=self.why.get(order[0], "")) for order in self.orders)
        return [*claims, _beats_qda(scores, self.why)]

    def choices(self, summary: Record) -> list[tuple[str, str, str]]:
        scores, chosen = summary["scores"], summary["settings"]["variants"]

        def shown(models: Iterable[str], prefix: str = "") -> str:
            return "; ".join(f"{model} {_triple(scores[prefix + model])}" for model in models)

        varied = dict.fromkeys(model for variant in chosen for model in self.variants[variant][0])
        others = [("AUC / H / CCR", variant, shown(self.variants[variant][0], f"{variant}: ")) for variant in chosen]
        return [("AUC / H / CCR", "as chosen", shown(varied)), *others]

    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        figure, axes = _figures.panels(1, 2, 12.0, 4.4, gridspec_kw={"width_ratios": [3, 2]})
        figure.suptitle(self.title)
        self.draw_curves(axes[0][0], summary)
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
        _draw_table(axes[0][1], summary["scores"], paper["scores"])
        _figures.save(figure, folder / "table1.png")

    def draw_curves(self, axis: Any, summary: Record) -> None:
        """Correct classification rate over time."""
        shown = ("OFFLINE", "lambda=1", "lambda=0.8", "QDA-AF", "OLDA-ALR", "defaults")
        for model in shown:
            found = summary["scores"][model]
            smooth = np.convolve(found["curve"], np.full(_N_SMOOTH, 1.0 / _N_SMOOTH), mode="valid")
            t = (np.arange(len(smooth)) + 0.5 * _N_SMOOTH) * found["rows"] / len(found["curve"])
            width = 2.0 if model == "defaults" else 1.2
            axis.plot(t, smooth, color=_figures.COLOURS[model], lw=width, label=_figures.label(model))
        axis.set_xlabel("rows")
        axis.set_ylabel("correct classification rate, running mean")


def _forecast(arguments: Record, x: Floats, y: Floats) -> Floats:
    """Probability of class 1 for each row before it is learned."""
    model, seed = arguments["model"], arguments["seed"]
    if model in COMPETITORS:
        competitor = COMPETITORS[model](**arguments.get("parameters", {}))
        return competitor.forecast_then_learn(x, y, classes=[0.0, 1.0])[:, 1]
    if model == "last label":
        return np.concatenate([[0.5], y[:-1]])
    if model.startswith("defaults"):
        estimator = DynamicTreeClassifier(lags=1 if model.endswith("last label") else 0, random_state=seed)
        return class_probability(start(estimator, x.shape[1], 2), x, y)
    offline = model == "OFFLINE"
    estimator = DynamicTreeClassifier(
        n_particles=arguments["n_particles"],
        max_active=None if offline else arguments["w"],
        discard="oldest",
        forgetting=FORGETTING.get(model, 1.0),
        random_state=seed,
        **PAPER_CLASSIFICATION,
    )
    learned = arguments["offline_rows"] if offline else None
    return class_probability(start(estimator, x.shape[1], 2), x, y, learned)


def _triple(scores: Record) -> str:
    return " / ".join(f"{scores[measure]:.3f}" for measure in _MEASURES)


def _forgetting_helps(scores: Record, paper: Record, why: Mapping[str, str]) -> Claim:
    printed = paper["scores"]
    return statement(
        "sec. 5.2",
        "lambda=0.8 beats lambda=1 in AUC / H / CCR",
        f"{_triple(printed['lambda=0.8'])} against {_triple(printed['lambda=1'])}",
        f"{_triple(scores['lambda=0.8'])} against {_triple(scores['lambda=1'])}",
        all(scores["lambda=0.8"][measure] > scores["lambda=1"][measure] for measure in _MEASURES),
        why=why.get("forgetting", ""),
    )


def _order(scores: Record, paper: Record, claimed: str, higher: str, lower: str, *, why: str) -> Claim:
    ours, printed = (f"{found[higher]['auc']:.3f} > {found[lower]['auc']:.3f}" for found in (scores, paper["scores"]))
    holds = scores[higher]["auc"] > scores[lower]["auc"]
    return statement("sec. 5.2", f"{claimed} (AUC of {higher}, of {lower})", printed, ours, holds, why=why)


def _beats_qda(scores: Record, why: Mapping[str, str]) -> Claim:
    last_label = scores.get("defaults, last label")
    informed = "" if last_label is None else f"; with the last label as an input {_triple(last_label)}"
    return improvement(
        "our defaults are at least as good as QDA-AF in AUC and CCR (AUC / H / CCR)",
        f"our QDA-AF {_triple(scores['QDA-AF'])}",
        _triple(scores["defaults"]) + informed,
        all(scores["defaults"][measure] >= scores["QDA-AF"][measure] for measure in ("auc", "ccr")),
        why=why.get("defaults", ""),
    )


def _draw_table(axis: Any, scores: Record, printed: Record) -> None:
    """AUC of every model, ours and the paper's."""
    models = [model for model in (*MODELS, *LAST_LABEL_MODELS) if model in scores]
    for at, model in enumerate(reversed(models)):
        colour = _figures.COLOURS.get(model, _figures.COLOURS["defaults"])
        axis.barh(at, scores[model]["auc"], height=0.6, color=colour, alpha=0.85)
        axis.annotate(f"{scores[model]['auc']:.3f}", (1.05, at), ha="right", va="center", size=9)
        if model in printed:
            axis.plot([printed[model]["auc"]] * 2, [at - 0.38, at + 0.38], color="black", lw=2)
    axis.set_yticks(range(len(models)), [_figures.label(model) for model in reversed(models)])
    axis.set_xlim(0.45, 1.06)
    axis.set_xlabel("AUC (numbers: ours; black bar: printed in the paper)")
    axis.grid(axis="y", visible=False)
