"""Predictive quality: the engine against its targets, and the defaults against the peers.

    python -m benchmarks.quality                      engine, missing stream results, then the page
    python -m benchmarks.quality engine               the engine's own targets (generated data and ELEC2)
    python -m benchmarks.quality streams              the missing stream results
    python -m benchmarks.quality streams --only ours --force     rerun ours, after the engine or the defaults changed
    python -m benchmarks.quality streams --rows 2000 --only river --stream ccpp      a quick check; stores nothing
    python -m benchmarks.quality page                 write docs/benchmarks.md from the stored results

Real streams are read from ``$SAPWOOD_DATA`` (or ``../shared/data``). The peers are listed in
benchmarks/requirements.txt; those that are not installed are skipped.
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
    parser.add_argument("--only", nargs="+", default=[], help="ours, peers, a library or the name of a method")
    parser.add_argument(
        "--stream", nargs="+", default=[], choices=list(SUITE), metavar="NAME", help="only these streams"
    )
    parser.add_argument("--force", action="store_true", help="rerun what is already stored")
    parser.add_argument("--rows", type=int, help="use only the first ROWS rows of each stream and store nothing")
    parser.add_argument(
        "--seeds", type=int, default=10, help="number of seeds for the engine's generated data (default: 10)"
    )
    parser.add_argument("--engine", nargs="+", default=list(engine.PARTS), choices=list(engine.PARTS), metavar="PART")
    options = parser.parse_args()
    passed = engine.report(options.seeds, options.engine) if options.part in ("all", "engine") else True
    if options.part in ("all", "streams"):
        if missing_libraries():
            print(f"not installed, skipped: {', '.join(missing_libraries())} (see benchmarks/requirements.txt)")
        suite.run(options.stream, suite.chosen(options.only), force=options.force, n_rows=options.rows)
    if options.part == "page" or (options.part == "all" and options.rows is None):
        print(f"wrote {page.write()}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
