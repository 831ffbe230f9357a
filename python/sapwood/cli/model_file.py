"""Model files that also remember how the columns of their source were read, so that another source is read alike."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sapwood import ModelFileError, load
from sapwood._base import DynamicTreeEstimator
from sapwood._core import Model
from sapwood._files import to_bytes, write_atomically
from sapwood.prequential.files.writing import writing

_SCHEMA = "schema"


def save(path: str | os.PathLike[str], model: DynamicTreeEstimator, schema: dict[str, Any]) -> None:
    """Write a model file that :func:`sapwood.load` reads like any other, with the schema of its source in it."""
    core, meta = Model.load(to_bytes(model))
    description = {**json.loads(meta), _SCHEMA: schema}
    text = json.dumps(description, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    with writing(path):
        write_atomically(path, core.save(text.encode("ascii")))


def read(path: str | os.PathLike[str]) -> tuple[DynamicTreeEstimator, dict[str, Any] | None]:
    """The model, and the schema of its source; None for a model that Python saved."""
    try:
        model = load(path)
        _, meta = Model.load(Path(path).read_bytes())
    except ModelFileError as error:
        message, code = error.args
        raise ModelFileError(f"{os.fspath(path)}: {message}", code) from error
    return model, json.loads(meta).get(_SCHEMA)
