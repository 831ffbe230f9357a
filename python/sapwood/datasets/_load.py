"""Read a real data set from a folder, or download it from its public source."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sapwood.datasets._catalogue import DATASETS, Dataset
from sapwood.datasets._csv import encode, read_table
from sapwood.datasets._stream import Stream


def load(name: str, data_home: str | os.PathLike[str] | None = None) -> Stream:
    """Load a real data set, rows in their original order.

    The file ``<name>.csv.gz`` (with a header; the last column is the target, ``y``) is read from ``data_home`` or, if
    that is not given, from the folder in the environment variable ``SAPWOOD_DATA`` or ``~/.cache/sapwood``. If
    it is not found and the data set is on OpenML, it is downloaded with scikit-learn, which keeps it in its own cache.

    Parameters
    ----------
    name : str
        One of ``sapwood.datasets.DATASETS``.
    data_home : path-like, optional
        Folder to read from, instead of the default folders.

    Returns
    -------
    Stream
        ``truth`` is None. String columns are encoded as 0, 1, ... in order of first appearance; ``categories`` holds
        the values. Empty cells are missing values (NaN).

    Raises
    ------
    ValueError
        If the name is unknown, or the file does not have the format above.
    FileNotFoundError
        If there is no such file and the data set cannot be downloaded.

    Examples
    --------
    >>> from sapwood.datasets import load
    >>> stream = load("mcycle")  # doctest: +SKIP
    >>> stream.X.shape  # doctest: +SKIP
    (133, 1)
    """
    if name not in DATASETS:
        raise ValueError(f"there is no data set {name!r}; the names are {', '.join(sorted(DATASETS))}.")
    dataset = DATASETS[name]
    paths = [folder / f"{name}.csv.gz" for folder in _folders(data_home)]
    for path in paths:
        if path.is_file():
            return _from_file(path, dataset)
    missing = f"{' and '.join(map(str, paths))} do{'es' if len(paths) == 1 else ''} not exist"
    remedy = f"give the folder of {name}.csv.gz with data_home= or the environment variable SAPWOOD_DATA"
    if dataset.openml_id is None:
        raise FileNotFoundError(f"{missing}, and {name} cannot be downloaded; {remedy}.")
    try:
        return _from_openml(dataset.openml_id, dataset)
    except OSError as error:
        raise FileNotFoundError(
            f"{missing}, and downloading data set {dataset.openml_id} from OpenML failed ({error}); {remedy}, or try "
            f"again with a network connection."
        ) from error


def _folders(given: str | os.PathLike[str] | None) -> list[Path]:
    if given is not None:
        return [Path(given).expanduser()]
    named = os.environ.get("SAPWOOD_DATA")
    return [Path(folder).expanduser() for folder in (named, "~/.cache/sapwood") if folder]


def _target(cells: list[str], dataset: Dataset) -> NDArray[np.float64] | NDArray[np.int64] | NDArray[np.str_]:
    if dataset.task == "regression":
        return np.array(cells, dtype=np.float64)
    try:
        return np.array(cells, dtype=np.int64)
    except ValueError:
        return np.array(cells, dtype=np.str_)


def _from_file(path: Path, dataset: Dataset) -> Stream:
    header, columns = read_table(path)
    *names, target = header
    if target != "y" or not names:
        raise ValueError(f"{path}: the last column is {target!r}; it must be the target, called 'y', after the inputs.")
    x, categories = encode(names, columns[:-1])
    return Stream(x, _target(columns[-1], dataset), None, tuple(names), dataset.task, dataset.description, categories)


def _from_openml(openml_id: int, dataset: Dataset) -> Stream:
    from sklearn.datasets import fetch_openml

    original = fetch_openml(data_id=openml_id, as_frame=False, parser="liac-arff")
    x = np.array(original.data, dtype=np.float64)
    # Nominal columns arrive as indices into their list of values: map them back to the numbers they stand for.
    for column, values in original.categories.items():
        if column in original.feature_names:
            j = original.feature_names.index(column)
            x[:, j] = np.array(values, dtype=np.float64)[x[:, j].astype(np.intp)]
    y = _target([str(label) for label in original.target], dataset)
    return Stream(x, y, None, tuple(original.feature_names), dataset.task, dataset.description)
