"""pyarrow is an extra: it is imported here, when a source needs it, and nowhere else."""

from __future__ import annotations

import importlib
from typing import Any

from sapwood.stream.errors import SourceError


def pyarrow(purpose: str, submodule: str | None = None) -> Any:
    """The module `pyarrow`, or one of its submodules; `purpose` completes "... needs pyarrow"."""
    try:
        return importlib.import_module(f"pyarrow.{submodule}" if submodule else "pyarrow")
    except ImportError as error:
        raise SourceError(
            f"{purpose} needs pyarrow, which is not installed; install it with: pip install 'sapwood[stream]'"
        ) from error
