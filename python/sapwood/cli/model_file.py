"""Reading and writing model files, with errors that name the file."""

from __future__ import annotations

import os

from sapwood import ModelFileError, load
from sapwood._base import DynamicTreeEstimator
from sapwood.prequential.files.writing import writing


def save(path: str | os.PathLike[str], model: DynamicTreeEstimator) -> None:
    """Write a model file."""
    with writing(path):
        model.save(path)


def read(path: str | os.PathLike[str]) -> DynamicTreeEstimator:
    """Read a model file."""
    try:
        return load(path)
    except ModelFileError as error:
        message, code = error.args
        raise ModelFileError(f"{os.fspath(path)}: {message}", code) from error
