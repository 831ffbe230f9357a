"""The interface of an experiment: jobs that can run in any order and any process, and the use of their records."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from sapwood.reproduce._claims import Claim

Scale: TypeAlias = Literal["miniature", "quick", "full"]
#: A JSON object: settings, arguments of a job, measurements of a job.
Record: TypeAlias = dict[str, Any]


class Experiment(ABC):
    """One figure or table of the paper.

    A subclass defines its scales: "full" has as many repeats as the paper, "quick" takes its share of five minutes, and
    "miniature" is small enough for a test.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    shows: ClassVar[str]
    scales: ClassVar[Mapping[Scale, Record]]
    #: Experiments with the longest jobs start first, so that no long job runs alone at the end.
    longest_job_seconds: ClassVar[float] = 1.0
    #: A warning printed with the numbers of this experiment.
    caution: ClassVar[str] = ""

    @abstractmethod
    def jobs(self, settings: Record) -> dict[str, Record]:
        """Arguments of every job, by a key that does not change between runs."""

    @abstractmethod
    def run(self, arguments: Record, data_home: Path | None) -> Record:
        """Run one job. The result depends only on the arguments, except for times."""

    @abstractmethod
    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        """Condense the records of all jobs into what the figures and claims need."""

    @abstractmethod
    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        """The paper's numbers and statements compared with ours. The summary also holds the `settings`."""

    @abstractmethod
    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        """Draw the figures into the folder."""

    def choices(self, summary: Record) -> list[tuple[str, str, str]]:
        """What the paper leaves open: the question, an answer (ours first), and the scores with that answer."""
        return []

    def paper(self) -> Record:
        """The numbers printed in the paper."""
        text = (files("sapwood.reproduce") / "paper" / f"{self.name}.json").read_text(encoding="utf-8")
        numbers: Record = json.loads(text)
        return numbers
