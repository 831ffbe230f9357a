"""Figures and the page ``paper.md`` from the results in a folder; nothing is computed here."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sapwood.reproduce import _figures
from sapwood.reproduce._claims import Claim
from sapwood.reproduce._experiment import Experiment, Record
from sapwood.reproduce.experiments import EXPERIMENTS

_HEAD = """# The paper, reproduced

Every number and statement of *Dynamic trees for streaming and massive data contexts* (Anagnostopoulos and Gramacy,
2012) that an experiment can give, beside ours. This page is written by `sapwood reproduce`; each section names the
command that made its numbers. Where the paper leaves a setting open, the README in the experiment's folder says what
was chosen and how much it matters.

- **paper**: what is printed there.
- **paper's setting**: Sapwood with the paper's leaf priors (`prior="reference"`, Dirichlet 1), its division of retired
  knowledge (`division="proportional"`) and one proposed split a step.
- **defaults**: where the row names an estimator of the paper, the same with Sapwood's own priors; otherwise the
  estimator with no parameter set.
- **verdict**: *reproduced* if ours in the paper's setting is within the tolerance written in the experiment's code or
  inside the paper's 5 % to 95 % band, *better* beyond that on the good side, *not reproduced* otherwise, with the
  reason. Rows marked "beyond it" are not in the paper and are *better* or *not better*; numbers from a stand-in for
  private data are *not comparable*.
"""


def results_of(experiment: Experiment, folder: Path) -> Record | None:
    """The results in an experiment's folder: those of a full run if there is one."""
    for scale in ("full", "quick", "miniature"):
        path = folder / experiment.name / f"results-{scale}.json"
        if path.exists():
            results: Record = json.loads(path.read_text(encoding="utf-8"))
            return results
    return None


def seen_in(results: Record) -> Record:
    """What figures and claims are made of: the summary and the settings."""
    return {"settings": results["settings"], **results["summary"]}


def draw_figures(folder: Path) -> None:
    """Draw the figures of every experiment that has results, in place of those that are there."""
    for experiment, results in _found(folder):
        home = folder / experiment.name
        for old in home.glob("*.png"):
            old.unlink()
        with _figures.style():
            experiment.draw(seen_in(results), experiment.paper(), home)


def page_text(folder: Path, page: Path) -> str:
    """The page that shows every experiment that has results.

    Parameters
    ----------
    folder : Path
        Where the experiments' folders are, with their figures.
    page : Path
        Where the page will be: figures are linked relative to it.
    """
    found = _found(folder)
    claims = [experiment.claims(seen_in(results), experiment.paper()) for experiment, results in found]
    sections = [
        _section(experiment, results, rows, folder, page)
        for (experiment, results), rows in zip(found, claims, strict=True)
    ]
    return "\n".join([_HEAD, _tally([claim for rows in claims for claim in rows]), *sections])


def write_report(folder: Path, page: Path) -> None:
    """Draw the figures and write the page."""
    draw_figures(folder)
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(page_text(folder, page), encoding="utf-8")


def _found(folder: Path) -> list[tuple[Experiment, Record]]:
    found = [(experiment, results_of(experiment, folder)) for experiment in EXPERIMENTS.values()]
    return [(experiment, results) for experiment, results in found if results is not None]


def _tally(claims: list[Claim]) -> str:
    counts = {kind: sum(claim.verdict.startswith(kind) for claim in claims) for kind in _KINDS}
    return f"Of {len(claims)} rows: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()) + ".\n"


_KINDS = ("reproduced", "better", "not reproduced", "not better", "not comparable")


def _section(experiment: Experiment, results: Record, claims: list[Claim], folder: Path, page: Path) -> str:
    home = folder / experiment.name
    where = Path(os.path.relpath(home, page.parent)).as_posix()
    pictures = [f"![{experiment.title}: {path.stem}]({where}/{path.name})" for path in sorted(home.glob("*.png"))]
    made = (
        f"`{results['command']}`, seed {results['seed']}, {results['date']}, version {results['version']}. "
        f"Settings, choices and code: `experiments/{experiment.name}/README.md`."
    )
    parts = [
        f"## {experiment.title}",
        f"The paper's {experiment.shows}. Made by {made}",
        *([f"**{experiment.caution}**"] if experiment.caution else []),
        *pictures,
        _table(claims),
        *_reasons(claims),
        *_choices(experiment.choices(seen_in(results))),
    ]
    return "\n\n".join(parts) + "\n"


def _table(claims: list[Claim]) -> str:
    head = "| where | what | paper | paper's setting | defaults | verdict |\n|---|---|---|---|---|---|"
    columns = ("where", "what", "paper", "ours", "defaults", "verdict")
    rows = ["| " + " | ".join(getattr(claim, column) for column in columns) + " |" for claim in claims]
    return "\n".join([head, *rows])


def _choices(rows: list[tuple[str, str, str]]) -> list[str]:
    if not rows:
        return []
    head = "What the paper leaves open, and how much it matters:\n\n| open | answer | scores |\n|---|---|---|\n"
    return [head + "\n".join(f"| {question} | {answer} | {scores} |" for question, answer, scores in rows)]


def _reasons(claims: list[Claim]) -> list[str]:
    """Reasons once each, with the rows they explain."""
    explained: dict[str, list[str]] = {}
    for claim in claims:
        if claim.why:
            explained.setdefault(claim.why, []).append(claim.what)
    if not explained:
        return []
    return ["Why not:\n\n" + "\n".join(f"- *{'; '.join(whats)}*: {why}" for why, whats in explained.items())]
