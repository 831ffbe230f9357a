"""Read a real data set from a folder, or fetch its public original."""

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

    The file ``<name>.csv.gz`` (header row, target last and called ``y``) is looked for in ``data_home``; without
    that, in the folder named by the environment variable ``SAPWOOD_DATA`` and then in ``~/.cache/sapwood``. If it is
    not there and the public original is on OpenML, that is fetched with scikit-learn (and kept in its own cache).

    Parameters
    ----------
    name : str
        One of ``sapwood.datasets.DATASETS``.
    data_home : path-like, optional
        The only folder to look in, if given.

    Returns
    -------
    Stream
        ``truth`` is None. A column of strings is encoded 0, 1, ... in the order in which its values first appear;
        ``categories`` holds the values. An empty cell is a missing value (NaN).

    Raises
    ------
    ValueError
        The name is not known, or the file is not as described.
    FileNotFoundError
        There is no such file, and no public original that could be fetched.

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
    places = [folder / f"{name}.csv.gz" for folder in _folders(data_home)]
    for path in places:
        if path.is_file():
            return _from_file(path, dataset)
    absent = f"{' and '.join(map(str, places))} do{'es' if len(places) == 1 else ''} not exist"
    remedy = f"name the folder of {name}.csv.gz with data_home= or the environment variable SAPWOOD_DATA"
    if dataset.openml_id is None:
        raise FileNotFoundError(f"{absent}, and {name} has no public original that can be fetched; {remedy}.")
    try:
        return _from_openml(dataset.openml_id, dataset)
    except OSError as error:
        raise FileNotFoundError(
            f"{absent}, and fetching data set {dataset.openml_id} from OpenML failed ({error}); {remedy}, or try again "
            f"with a network."
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
    # A nominal column arrives as positions in its list of values: numbers are turned back into themselves.
    for column, values in original.categories.items():
        if column in original.feature_names:
            j = original.feature_names.index(column)
            x[:, j] = np.array(values, dtype=np.float64)[x[:, j].astype(np.intp)]
    y = _target([str(label) for label in original.target], dataset)
    return Stream(x, y, None, tuple(original.feature_names), dataset.task, dataset.description)
