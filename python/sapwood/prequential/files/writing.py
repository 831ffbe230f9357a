"""Write errors that name the file and the remedy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


class WriteError(OSError):
    """A file of a run cannot be written. The message is one sentence that names the file and the remedy.

    Examples
    --------
    >>> from sapwood.prequential.files.writing import WriteError
    >>> raise WriteError(28, "No space left on device", "out.csv")
    Traceback (most recent call last):
        ...
    sapwood.prequential.files.writing.WriteError: out.csv: cannot be written (No space left on device); make room or ...
    """

    def __str__(self) -> str:
        return (
            f"{self.filename}: cannot be written ({self.strerror}); make room or name another place, and resume the "
            "run if it had a checkpoint"
        )


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Add the file name to write errors, since those of a full disk lack it."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        raise WriteError(error.errno, error.strerror, os.fspath(path)) from error
