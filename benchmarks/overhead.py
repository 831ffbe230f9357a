"""Share of the time of ``evaluate`` spent in the engine, on ELEC2 with the default model.

    python -m benchmarks.overhead                  the first 10,000 rows of elec2_paper
    python -m benchmarks.overhead --rows 27552     all of them

The rest is Python: reading, encoding, and scoring the model and two baselines with every metric. The target is 85 %
in the engine; the exit code is 0 if it is met. The data are read from the folder in the environment variable
SAPWOOD_DATA.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import sys

from sapwood import DynamicTreeClassifier
from sapwood.datasets import load
from sapwood.stream import evaluate

TARGET = 0.85


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--profile", action="store_true", help="profile the rest")
    options = parser.parse_args()
    stream, model = load("elec2_paper"), DynamicTreeClassifier(random_state=0)
    profiler = cProfile.Profile(builtins=False)
    if options.profile:
        profiler.enable()
    timings = evaluate(model, stream, max_rows=options.rows).timings
    if options.profile:
        profiler.disable()
        pstats.Stats(profiler).sort_stats("tottime").print_stats(15)
    share = timings.engine / timings.total
    print(f"{timings.rows_per_second:,.0f} rows/s, {share:.1%} of {timings.total:.1f} s in the engine")
    return int(share < TARGET)


if __name__ == "__main__":
    sys.exit(main())
