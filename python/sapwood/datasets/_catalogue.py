"""The real data sets: task, description and public source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sapwood._options import Task


@dataclass(frozen=True)
class Dataset:
    """A real data set: its task, its description and its public source.

    ``openml_id`` is set only if the table on OpenML has the same columns and rows.
    """

    task: Task
    description: str
    openml_id: int | None = None


DATASETS: Mapping[str, Dataset] = MappingProxyType(
    {
        "spambase": Dataset("classification", "Spam or not, from word frequencies; rows sorted by class", openml_id=44),
        "elec2_paper": Dataset(
            "classification", "Price up or down, New South Wales; the paper's 27,552 rows, 4 inputs"
        ),
        "elec2_full": Dataset("classification", "Price up or down, New South Wales; the full stream", openml_id=151),
        "fraud_handbook_sim": Dataset("classification", "Simulated card transactions with 0.74 % fraud, in time order"),
        "occupancy": Dataset("classification", "Whether a room is occupied, from its sensors, in time order"),
        "powersupply": Dataset("classification", "Hour of the day, from the power supply in that hour"),
        "bike_hour": Dataset("regression", "Hourly bike rentals over two years"),
        "metro_traffic": Dataset("regression", "Hourly traffic volume on an interstate road"),
        "ccpp": Dataset("regression", "Output of a combined-cycle power plant"),
        "kin8nm": Dataset("regression", "Distance of a robot arm's end from a target", openml_id=189),
        "mcycle": Dataset("regression", "Head acceleration in a simulated motorcycle accident, by time"),
        "exp2d": Dataset("regression", "x1 exp(-x1^2 - x2^2) on a grid, with a little noise"),
    }
)
