"""Predictive quality: the engine against its targets, and the defaults beside the peers.

    python -m benchmarks.quality                      engine, then every missing result of the streams, then the page
    python -m benchmarks.quality engine               the engine's own targets (generated data and ELEC2)
    python -m benchmarks.quality streams              the missing results of the streams
    python -m benchmarks.quality streams --only ours --force     ours again, after a change of the engine or defaults
    python -m benchmarks.quality streams --rows 2000 --only river --stream ccpp      a quick look, nothing stored
    python -m benchmarks.quality page                 docs/benchmarks.md from the stored results

Real streams are read from ``$SAPWOOD_DATA`` (or ``../shared/data``); peers are those of benchmarks/requirements.txt
that are installed.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.quality import engine, page, suite
from benchmarks.quality.methods import missing_libraries
from benchmarks.quality.problems import SUITE


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", choices=["all", "engine", "streams", "page"], default="all")
    parser.add_argument("--only", nargs="+", default=[], help="ours, peers, a library or a method's name")
    parser.add_argument("--stream", nargs="+", default=[], choices=list(SUITE), metavar="NAME", help="these streams")
    parser.add_argument("--force", action="store_true", help="run again what is stored already")
    parser.add_argument("--rows", type=int, help="only so many rows of each stream; nothing is stored")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of the engine's generated data (default: 10)")
    parser.add_argument("--engine", nargs="+", default=list(engine.PARTS), choices=list(engine.PARTS), metavar="PART")
    options = parser.parse_args()
    passed = engine.report(options.seeds, options.engine) if options.part in ("all", "engine") else True
    if options.part in ("all", "streams"):
        if missing_libraries():
            print(f"not installed, so left out: {', '.join(missing_libraries())} (see benchmarks/requirements.txt)")
        suite.run(options.stream, suite.chosen(options.only), force=options.force, n_rows=options.rows)
    if options.part == "page" or (options.part == "all" and options.rows is None):
        print(f"written: {page.write()}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
