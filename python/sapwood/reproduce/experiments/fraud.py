"""Figure 7 (right) and table 1: card fraud, with a substitute for the paper's private data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from sapwood.reproduce._experiment import Record, Scale
from sapwood.reproduce._models import Floats, loaded
from sapwood.reproduce.experiments._table1 import LAST_LABEL_MODELS, MODELS, REAL_ORDERS, Table1


class Fraud(Table1):
    """Simulated card transactions in time order, 0.74 % of them fraud."""

    name = "fraud"
    title = "FRAUD, on the substitute fraud_handbook_sim"
    shows = "figure 7 (right) and table 1"
    longest_job_seconds = 100.0
    caution = (
        "The paper's FRAUD data are private. Ours are the simulated transactions of fraud_handbook_sim (109,067 rows, "
        "0.74 % fraud): directions can be compared, numbers cannot."
    )
    scales: ClassVar[Mapping[Scale, Record]] = {
        "miniature": {
            "rows": 2000,
            "offline_rows": 1000,
            "n_particles": 40,
            "w": 100,
            "repeats": 1,
            "variants": [],
            "seed": 8,
        },
        "quick": {
            "rows": 30_000,
            "offline_rows": 10_000,
            "n_particles": 100,
            "w": 100,
            "repeats": 1,
            "variants": ["w 25"],
            "models": [*MODELS, "last label"],
            "seed": 8,
        },
        "full": {
            "rows": None,
            "offline_rows": 10_000,
            "n_particles": 1000,
            "w": 100,
            "repeats": 3,
            "variants": ["w 25", "w 1000"],
            "models": [*MODELS, *LAST_LABEL_MODELS],
            "seed": 8,
        },
    }
    variants: ClassVar[Mapping[str, tuple[tuple[str, ...], Record]]] = {
        "w 25": (("lambda=1", "lambda=0.8"), {"w": 25}),
        "w 1000": (("lambda=1", "lambda=0.8"), {"w": 1000}),
    }
    orders = REAL_ORDERS
    stand_in = "The paper's data are private; fraud_handbook_sim has far fewer frauds, of another kind."
    why: ClassVar[Mapping[str, str]] = {
        "forgetting": "What the history of terminals and customers says about fraud changes slowly here, and there are "
        "few frauds to learn from: forgetting them costs as much as it gains.",
        "QDA-AF dominates": "The inputs of the substitute are counts and shares, mostly zero, and the covariance of 16 "
        "inputs must be estimated from few frauds: far from the Gaussians that QDA-AF assumes.",
    }

    def stream(self, arguments: Record, data_home: Path | None) -> tuple[Floats, Floats]:
        found = loaded("fraud_handbook_sim", data_home)
        rows = slice(arguments["rows"])
        return found.X[rows], found.y[rows].astype(np.float64)
