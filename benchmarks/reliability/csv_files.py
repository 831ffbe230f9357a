"""CSV files that were damaged: structure-aware mutations of valid files, through the reader.

A file is either refused with a SourceError or read, and then to the same rows whatever the size of the pieces in which
it arrives. Nothing else may happen.
"""

from __future__ import annotations

import argparse
import io
import zlib
from functools import cache
from typing import Any

import numpy as np

from benchmarks.reliability import store
from benchmarks.reliability.random_tables import Rng, as_csv, draw_table
from benchmarks.reliability.tables import BrokenPromiseError
from sapwood.reading.readers import csv as csv_reader
from sapwood.stream import SourceError, open_source

NAME = "csv"
DEFAULT_CASES = 1_000_000
N_VALID = 2000
"""Valid files, one of which every case starts from."""

TOKENS = (
    *(
        b'"',
        b'""',
        b"\n",
        b"\r",
        b"\r\n",
        b",",
        b";",
        b"\t",
        b"|",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b" ",
        b"\\",
    ),
    *(b"1e999", b"-0", b"nan", b"inf", b"0x1", b"1_0", b"9" * 400, b"2020-02-30", b"25:00", b"true", b"=1", b"\x1b[2J"),
    *(b"\n\n\n", b'"\n', b'\n"', b'a"b', b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"\x1f\x8b", b"PAR1", b"x" * 5000),
)


@cache
def _valid_file(number: int) -> bytes:
    rng = np.random.default_rng([201, number])
    return as_csv(draw_table(rng, most_rows=8, most_columns=3), rng)


def draw_file(rng: Rng) -> bytes:
    """A small valid file with a few mutations: tokens inserted, pieces cut, doubled, swapped or flipped."""
    data = bytearray(_valid_file(int(rng.integers(N_VALID))))
    for _ in range(int(rng.integers(0, 6))):
        at = int(rng.integers(len(data) + 1))
        end = min(len(data), at + int(rng.choice([1, 1, 2, 5, 50])))
        kind = int(rng.integers(6))
        if kind <= 1:
            data[at:at] = TOKENS[rng.integers(len(TOKENS))]
        elif kind == 2:
            del data[at:end]
        elif kind == 3:
            data[at:at] = data[at:end] * int(rng.integers(1, 4))
        elif kind == 4 and at < len(data):
            data[at] ^= 1 << int(rng.integers(8))
        else:
            lines = bytes(data).split(b"\n")
            rng.shuffle(lines)  # type: ignore[arg-type]
            data = bytearray(b"\n".join(lines))
    return bytes(data)


def one_case(case: int) -> str:
    """Draw a file by its number, read it whole and in pieces."""
    rng = np.random.default_rng([202, case])
    data = draw_file(rng)
    # The encoding is given, since it is guessed from the first piece.
    options: dict[str, Any] = {"on_bad_row": str(rng.choice(["skip", "skip", "error"])), "encoding": "utf-8"}
    if rng.random() < 0.3:
        options["delimiter"] = str(rng.choice([",", ";", "|"]))
    whole = _outcome(io.BytesIO(data), options)
    size = int(rng.choice([1, 2, 7, 20, 50, 100, 200], p=[0.02, 0.03, 0.05, 0.2, 0.3, 0.2, 0.2]))
    pieces = _outcome(io.BytesIO(data), options, size)
    if whole != pieces:
        raise BrokenPromiseError(f"whole: {str(whole)[:150]}; in pieces of {size} bytes: {str(pieces)[:150]}")
    return whole[0]


def _outcome(stream: Any, options: dict[str, Any], size: int = 1 << 20) -> tuple[str, Any]:
    """Read everything, `size` bytes at a time."""
    usual, csv_reader.BLOCK = csv_reader.BLOCK, size
    try:
        with open_source(stream, **options) as source:
            batches = list(source)
            values = b"".join(batch.X.tobytes() + batch.rows.tobytes() for batch in batches)
            return "read", (tuple(source.feature_names), zlib.crc32(values), tuple(sorted(source.bad_reasons.items())))
    except SourceError:
        return "refused", None
    finally:
        csv_reader.BLOCK = usual


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    store.add_case_arguments(parser, DEFAULT_CASES)


def main(options: argparse.Namespace) -> int:
    """Run the cases that are not stored yet."""
    if options.case is not None:
        print(draw_file(np.random.default_rng([202, options.case])))
    return store.run_command(options, NAME, (__doc__ or "").splitlines()[0], one_case)
