"""What an experiment is: jobs that can run in any order and any process, and what is made of their records."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from sapwood.reproduce._claims import Claim

Scale: TypeAlias = Literal["miniature", "quick", "full"]
#: Anything that JSON can hold, by name: settings, arguments of a job, what a job measured.
Record: TypeAlias = dict[str, Any]


class Experiment(ABC):
    """One figure or table of the paper.

    A subclass names its scales: "full" has the paper's repeats, "quick" shows the same in a share of five minutes, and
    "miniature" is small enough for a test.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    shows: ClassVar[str]
    scales: ClassVar[Mapping[Scale, Record]]
    #: Experiments with the longest jobs start first, so that no process is left alone with one at the end.
    longest_job_seconds: ClassVar[float] = 1.0
    #: Said wherever a number of this experiment is shown.
    caution: ClassVar[str] = ""

    @abstractmethod
    def jobs(self, settings: Record) -> dict[str, Record]:
        """Arguments of every job, by a key that is the same in every run."""

    @abstractmethod
    def run(self, arguments: Record, data_home: Path | None) -> Record:
        """Do one job. The result depends on nothing but the arguments (times excepted)."""

    @abstractmethod
    def summarise(self, settings: Record, records: Mapping[str, Record]) -> Record:
        """From the records of all jobs to what the figures and claims need."""

    @abstractmethod
    def claims(self, summary: Record, paper: Record) -> list[Claim]:
        """The paper's numbers and statements beside ours. The summary has the settings too, as `settings`."""

    @abstractmethod
    def draw(self, summary: Record, paper: Record, folder: Path) -> None:
        """Draw the figures into the folder."""

    def choices(self, summary: Record) -> list[tuple[str, str, str]]:
        """What the paper leaves open: the question, an answer (ours first), and the scores that answer gives."""
        return []

    def paper(self) -> Record:
        """The paper's numbers, as they are printed there."""
        text = (files("sapwood.reproduce") / "paper" / f"{self.name}.json").read_text(encoding="utf-8")
        numbers: Record = json.loads(text)
        return numbers
