"""CSV at constant memory, with every column read as text.

Arrow's own streaming reader fixes types from its first block and fails if a column changes later. Here a file is split
into blocks at record boundaries, Arrow parses each block into text columns, and text becomes numbers later, by rules
that do not depend on the block boundaries. Records with too few or too many fields, or that are not UTF-8 text, are
rejected; only blocks that contain one are processed record by record.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np

from sapwood.encoding.columns import MISSING_TEXT
from sapwood.reading._arrow import pyarrow
from sapwood.reading.chunk import Chunk, Place, Reject, skip_rows
from sapwood.reading.errors import SourceError
from sapwood.reading.readers.bytes import ByteFeed
from sapwood.reading.readers.record_ends import RecordEnds
from sapwood.reading.readers.text_encoding import TextEncoding

BLOCK = 1 << 20
MAX_RECORD = 16 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True)
class TextForm:
    """What the user said about a text file; None: find out.

    `delimiter` is the field separator, else whichever of comma, semicolon, tab and bar occurs most often in the header.
    `encoding` is that of the text, else that which the first bytes show.
    """

    delimiter: str | None = None
    encoding: str | None = None


class CsvReader:
    """Reads one CSV file or stream, plain or compressed.

    Parameters
    ----------
    stream : binary file
    label : str
        Its name in errors.
    form : TextForm
    live : bool
        Whether the stream is a feed, whose bytes arrive over time.
    continues : list of str or None
        The columns of an earlier file that this one continues: its header may then be missing.
    """

    n_rows: int | None = None

    def __init__(
        self,
        stream: BinaryIO | io.RawIOBase,
        label: str,
        form: TextForm,
        *,
        live: bool = False,
        continues: list[str] | None = None,
    ) -> None:
        self._pa = pyarrow("reading CSV files")
        self._csv = pyarrow("reading CSV files", "csv")
        self.label = label
        self._stream = stream
        self._feed = ByteFeed(stream, label, live=live)
        self._encoding = TextEncoding(label, form.encoding)
        if self._feed.format not in ("text", "gzip", "zstd"):
            raise SourceError(
                f"{label}: {self._feed.format} data cannot be read from a pipe; save it as a file", file=label
            )
        self._held = b""  # a trailing carriage return, until the next read shows whether a newline follows
        self._line = 1
        header, after_header = self._read_header(form.delimiter)
        self._delimiter = form.delimiter or max(DELIMITERS, key=header.count)
        fields = self._split_header(header)
        if continues is not None and not set(continues) & {name.strip() for name in fields}:
            self.names = continues
            self._line -= header.count("\n") + 1
            after_header = f"{header}\n".encode() + after_header
        else:
            self.names = self._check_names(fields)
        self._whole: deque[bytes] = deque()  # records that were read but not yet yielded
        self._begun: list[bytes] = []  # the beginning of a record whose end has not been read yet
        self._n_begun = 0
        self._ends = RecordEnds(self._delimiter.encode())
        self._at_end = False
        if after_header:
            self._add(after_header)

    def chunks(self, skip: int, columns: list[str]) -> Iterator[Chunk]:
        """Yield the rows after the first `skip`, one block at a time."""
        return skip_rows((self._parse(block, columns) for block in self._blocks()), skip)

    def fraction(self) -> float | None:
        """Return how much of the file has been read."""
        return self._feed.fraction()

    def notes(self) -> list[str]:
        """Return a note on the encoding, if it was found out."""
        return self._encoding.notes()

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()

    def _read_header(self, delimiter: str | None) -> tuple[str, bytes]:
        """Read the first record; return it and what was read after it."""
        parts: list[bytes] = []
        n_bytes, end = 0, 0
        ends = RecordEnds((delimiter or "".join(DELIMITERS)).encode())
        data = self._first_bytes()
        while data:
            end = ends.first(data)
            parts.append(data[:end] if end else data)
            n_bytes += len(data)
            if b"\0" in (parts[-1] if _is_utf8(parts[-1]) else data):
                raise SourceError(
                    f"{self.label}: holds binary data, not CSV text; give a CSV (UTF-8), Parquet or Arrow file",
                    file=self.label,
                )
            if end:
                break
            if n_bytes > MAX_RECORD:
                raise self._unsplittable_header(f"it does not end within {MAX_RECORD >> 20} MB")
            data = self._read()
        header = b"".join(parts)
        if not header:
            raise SourceError(f"{self.label}: is empty; a header line with column names is needed", file=self.label)
        self._line += header.count(b"\n")
        try:
            return header.decode().rstrip("\n"), data[end:]
        except UnicodeDecodeError:
            raise SourceError(
                f"{self.label}, line 1: is not UTF-8 text; name its encoding with encoding=, or give a CSV, Parquet or "
                "Arrow file",
                file=self.label,
                line=1,
            ) from None

    def _first_bytes(self) -> bytes:
        """Read until something is there besides a byte order mark and empty lines, which are left out."""
        data = self._read()
        while 0 < len(data) < len(_BYTE_ORDER_MARK) and (more := self._read()):
            data += more
        data = data.removeprefix(_BYTE_ORDER_MARK)
        while True:
            begun = data.lstrip(b"\n")
            self._line += len(data) - len(begun)
            if begun or not (data := self._read()):
                return begun

    def _split_header(self, header: str) -> list[str]:
        try:
            return next(csv.reader([header], delimiter=self._delimiter))
        except csv.Error as error:
            raise self._unsplittable_header(str(error)) from error

    def _unsplittable_header(self, why: str) -> SourceError:
        return SourceError(
            f"{self.label}: its header line cannot be read ({why}); correct its quotes, or give a CSV file",
            file=self.label,
            line=1,
        )

    def _check_names(self, names: list[str]) -> list[str]:
        names = [name.strip() or f"column{i}" for i, name in enumerate(names, 1)]
        if all(_is_number(name) for name in names):
            raise SourceError(
                f"{self.label}, line 1: holds numbers where the names of the columns should be; add a header line",
                file=self.label,
                line=1,
            )
        return names

    def _read(self) -> bytes:
        """Read more bytes, in UTF-8 and with line endings normalised to newlines."""
        data = self._encoding.as_utf8(lambda: self._feed.read(BLOCK))
        if self._held or b"\r" in data:
            at_end = not data
            data = self._held + data
            self._held = b""
            if data.endswith(b"\r") and not at_end:
                data, self._held = data[:-1], b"\r"
                if not data:
                    return self._read()
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return data

    def _blocks(self) -> Iterator[Block]:
        """Yield blocks of whole records, of about `BLOCK` bytes."""
        while True:
            while not self.has_record():
                self.read_more()
            if not self._whole:
                return
            block = Block(self._whole.popleft(), self._line, self._delimiter)
            self._line += block.data.count(b"\n")
            if block.data.strip(b"\n"):
                yield block

    def has_record(self) -> bool:
        """Whether the next block, or the end, is there without reading more."""
        while self._whole and self._whole[0].count(b"\n") == len(self._whole[0]):  # empty lines
            self._line += len(self._whole.popleft())
        return bool(self._whole) or self._at_end

    def has_rows(self) -> bool:
        """Whether any are left of what was read."""
        return bool(self._whole)

    def read_more(self) -> None:
        """Read more, and find out where its last whole record ends."""
        data = self._read()
        if data:
            self._add(data)
            return
        self._at_end = True
        if any(self._begun):
            self._whole.append(b"".join(self._begun))
            self._begun = []

    def _add(self, data: bytes) -> None:
        end = self._ends.last(data)
        if end:
            self._whole.append(b"".join([*self._begun, data[:end]]))
            self._begun, self._n_begun = [], 0
        self._begun.append(data[end:])
        self._n_begun += len(data) - end
        if self._n_begun > MAX_RECORD:
            if self._ends.inside_quotes:
                fault = "a quoted field that starts here or soon after is never closed; correct the quotes"
            else:
                fault = f"is longer than {MAX_RECORD >> 20} MB; is it a CSV file?"
            line = self._line + sum(block.count(b"\n") for block in self._whole)
            raise SourceError(f"{self.label}, line {line}: {fault}", file=self.label, line=line)

    def _parse(self, block: Block, columns: list[str]) -> Chunk:
        def place(offset: int) -> Place:
            return Place(self.label, "line", self._records(block)[offset].line)

        def text(offset: int) -> str:
            return self._records(block)[offset].text.decode("utf-8", "backslashreplace")

        table = self._split(block.data, columns) if _is_text(block.data) else None
        if table is not None:
            return Chunk({name: table.column(name) for name in columns}, table.num_rows, place, text)
        faults = [self._fault(offset, record) for offset, record in enumerate(self._records(block))]
        kept = np.array([offset for offset, fault in enumerate(faults) if fault is None], dtype=np.int64)
        table = self._split(b"\n".join(block.records[offset].text for offset in kept), columns)
        if table is None or table.num_rows != len(kept):
            raise self._unsplittable(block, "quotes do not match")
        rejects = tuple(fault for fault in faults if fault is not None)
        found = {name: table.column(name) for name in columns}
        return Chunk(found, len(block.records), place, text, kept, rejects)

    def _records(self, block: Block) -> list[Record]:
        try:
            return block.records
        except csv.Error as error:
            raise self._unsplittable(block, str(error)) from error

    def _split(self, data: bytes, columns: list[str]) -> Any:
        """Parse into one record batch of text columns; None if some record has the wrong number of fields."""
        ragged = []

        def skip(row: Any) -> str:
            ragged.append(row)
            return "skip"

        types = {name: self._pa.string() for name in columns}
        if not data.strip(b"\n"):
            return self._pa.RecordBatch.from_arrays([self._pa.array([], t) for t in types.values()], names=columns)
        if data.startswith(_BYTE_ORDER_MARK):
            data = b"\n" + data  # Arrow leaves the mark out at the start of every block
        try:
            table = self._csv.read_csv(
                self._pa.BufferReader(data),
                read_options=self._csv.ReadOptions(
                    column_names=self.names, use_threads=False, block_size=len(data) + 1
                ),
                parse_options=self._csv.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=b'"' in data, invalid_row_handler=skip
                ),
                convert_options=self._csv.ConvertOptions(
                    include_columns=columns,
                    column_types=types,
                    null_values=list(MISSING_TEXT),
                    strings_can_be_null=True,
                ),
            )
        except self._pa.ArrowInvalid:
            return None
        return None if ragged else table.combine_chunks().to_batches()[0]

    def _unsplittable(self, block: Block, why: str) -> SourceError:
        return SourceError(
            f"{self.label}, line {block.first_line} or after: cannot be split into columns ({why}); correct the quotes",
            file=self.label,
            line=block.first_line,
        )

    def _fault(self, offset: int, record: Record) -> Reject | None:
        if b"\0" in record.text:
            return Reject(offset, "not text", "the line holds a zero byte, which is not text")
        if not _is_utf8(record.text):
            return Reject(
                offset,
                "not UTF-8",
                "the line is not UTF-8 text",
                "convert the file to UTF-8, or name its encoding with encoding=",
            )
        if record.n_fields == len(self.names):
            return None
        plural = "" if record.n_fields == 1 else "s"
        quote = " (a quote in it may not be closed)" if record.text.count(b'"') % 2 else ""
        detail = f"the line has {record.n_fields} field{plural}; the header has {len(self.names)}{quote}"
        return Reject(offset, "wrong number of fields", detail)


@dataclass(frozen=True)
class Record:
    """One record: the line it starts on, its text and its number of fields."""

    line: int
    text: bytes
    n_fields: int


@dataclass(frozen=True)
class Block:
    """Whole records of a file, the line the first one starts on, and the field separator."""

    data: bytes
    first_line: int
    delimiter: str

    @cached_property
    def records(self) -> list[Record]:
        """The individual records, without empty lines. Computed lazily, only if one of them is bad."""
        lines = self.data.split(b"\n")
        # Latin-1 decodes any bytes, and leaves quotes and delimiters in place.
        fields = csv.reader((line.decode("latin-1") + "\n" for line in lines), delimiter=self.delimiter)
        records, start = [], 0
        for row in fields:
            if row:
                text = b"\n".join(lines[start : fields.line_num])
                records.append(Record(self.first_line + start, text, len(row)))
            start = fields.line_num
        return records


def _is_text(data: bytes) -> bool:
    return b"\0" not in data and _is_utf8(data)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
