"""Attacks on Sapwood. Each stores its result; a stopped one goes on from there.

python -m benchmarks.reliability endurance --model light     a long run, with memory and cost per row
python -m benchmarks.reliability endurance --model default
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.reliability import checkpoints, csv_files, endurance, page, tables

COMMANDS = {"tables": tables, "csv": csv_files, "checkpoints": checkpoints, "endurance": endurance, "page": page}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        module.add_arguments(commands.add_parser(name, help=(module.__doc__ or "").splitlines()[0]))
    options = parser.parse_args()
    return COMMANDS[options.command].main(options)


if __name__ == "__main__":
    sys.exit(main())
