"""Model files: what goes in comes out, damage is noticed, and an interrupted write harms nothing."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from sapwood import DynamicTreeClassifier, DynamicTreeRegressor, ModelFileError, _disk, load
from sapwood._core import Model
from sapwood._files import from_bytes, to_bytes


@pytest.fixture(scope="module")
def small_file() -> bytes:
    """About the smallest model that has trees, retired knowledge, classes and names."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(14, 1))
    model = DynamicTreeClassifier(n_particles=3, max_active=6, random_state=0)
    return to_bytes(model.fit(X, np.where(X[:, 0] > 0.5, "high", "low")))


@pytest.mark.parametrize("name", ["regressor", "classifier"])
def test_a_loaded_model_is_the_same_model(name, request, tmp_path):
    model = request.getfixturevalue(name)
    X, y = request.getfixturevalue("regression_data" if name == "regressor" else "class_data")
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    assert to_bytes(loaded) == to_bytes(model) == (tmp_path / "model").read_bytes()
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert to_bytes(loaded.partial_fit(X, y)) == to_bytes(model.partial_fit(X, y))


def test_parameters_of_every_kind_come_back(regression_data, tmp_path):
    X, y = regression_data
    params = {
        "max_active": np.array([10, 20]),
        "forgetting": np.float32(0.5),
        "n_particles": np.int64(7),
        "random_state": np.random.default_rng(0),
        "n_jobs": 2,
    }
    DynamicTreeRegressor(**params).fit(X, y).save(str(tmp_path / "model"))
    loaded = load(str(tmp_path / "model"))
    assert loaded.max_active == [10, 20]
    assert loaded.forgetting == 0.5
    assert loaded.n_particles == 7
    assert loaded.random_state is None
    assert loaded.n_jobs is None


def test_a_model_that_has_not_started_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        DynamicTreeRegressor().save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# ---- damage ----


def test_every_truncation_is_noticed(small_file):
    for length in range(len(small_file)):
        with pytest.raises(ModelFileError):
            Model.load(small_file[:length])


def test_every_flipped_bit_is_noticed(small_file):
    """Would catch a byte that no checksum covers."""
    for position in range(8 * len(small_file)):
        damaged = bytearray(small_file)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(ModelFileError):
            Model.load(bytes(damaged))


def test_bytes_after_the_end_are_noticed(small_file):
    for extra in (b"\0", small_file):
        with pytest.raises(ModelFileError):
            Model.load(small_file + extra)


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"PK\x03\x04 not a model", b"\xff" * 4096])
def test_files_of_something_else(content, tmp_path):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


def test_a_missing_file_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


def _description(**changes: object) -> bytes:
    classes = {"codes": [1, 0], "dtype": "<U4", "values": ["high", "low"]}
    whole = {"version": 1, "task": "classification", "params": {}, "feature_names": None, "classes": classes}
    return json.dumps({**whole, **changes}).encode()


@pytest.mark.parametrize(
    "meta",
    [
        b"",
        b"\xff\xfe",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"[" * 100_000,
        b'{"version": ' + b"9" * 5000 + b"}",
        _description(version=2),
        _description(version="1"),
        _description(task="regression"),
        _description(task="__import__"),
        _description(task=[]),
        _description(params=[]),
        _description(params={"n_jobs": 10**9}),
        _description(params={"no_such": 1}),
        _description(params={"self": 1}),
        _description(feature_names=["a", "b"]),
        _description(feature_names=[1]),
        _description(feature_names="a"),
        _description(classes=None),
        _description(classes=[]),
        _description(classes={"codes": [0], "dtype": "<U4", "values": ["low"]}),
        _description(classes={"codes": [0, 0], "dtype": "<U4", "values": ["high", "low"]}),
        _description(classes={"codes": [0, "1"], "dtype": "<U4", "values": ["high", "low"]}),
        _description(classes={"codes": [0, 1], "dtype": "<U4", "values": ["low", "high"]}),
        _description(classes={"codes": [0, 1], "dtype": "<U4", "values": ["low", "low"]}),
        _description(classes={"codes": [0, 1], "dtype": "<U4", "values": [["high"], "low"]}),
        _description(classes={"codes": [0, 1], "dtype": "|V9", "values": ["high", "low"]}),
        _description(classes={"codes": [0, 1], "dtype": "i4,i4", "values": [1, 2]}),
        _description(classes={"codes": [0, 1], "dtype": "no such type", "values": [1, 2]}),
        _description(classes={"codes": [0, 1], "dtype": "|i1", "values": [1, 10**30]}),
        _description(classes={"codes": [0, 1], "dtype": "|i1", "values": [1, 1000]}),
        _description(classes={"codes": [0, 1], "dtype": "<i8", "values": [0.5, 1]}),
        _description(classes={"codes": [0, 1], "dtype": "<f8", "values": [float("nan"), 1]}),
    ],
    ids=lambda meta: meta[:60].decode("latin1"),
)
def test_hostile_descriptions(meta, small_file, tmp_path):
    """The container is sound, the description inside is not. Nothing in it may run or be believed."""
    model, _ = Model.load(small_file)
    (tmp_path / "model").write_bytes(model.save(meta))
    with pytest.raises(ModelFileError, match="description"):
        load(tmp_path / "model")


def test_a_label_width_in_the_file_cannot_ask_for_memory(small_file, tmp_path):
    classes = {"codes": [1, 0], "dtype": "<U500000000", "values": ["high", "low"]}
    model, _ = Model.load(small_file)
    (tmp_path / "model").write_bytes(model.save(_description(classes=classes)))
    assert load(tmp_path / "model").classes_.dtype == np.dtype("<U4")


# ---- writing ----


def test_the_description_says_what_the_model_is(small_file):
    _, meta = Model.load(small_file)
    description = json.loads(meta)
    assert description["task"] == "classification"
    assert description["params"]["max_active"] == 6
    assert "n_jobs" not in description["params"]
    assert description["classes"]["values"] == ["high", "low"]


def test_a_failed_write_leaves_the_old_file(regressor, tmp_path, monkeypatch):
    """The disk is full at the moment of the flush."""
    regressor.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_disk.system, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        regressor.partial_fit(np.zeros((1, 3)), [0.0]).save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]


def test_saving_over_a_link_keeps_the_link(regressor, tmp_path):
    (tmp_path / "store").mkdir()
    link = tmp_path / "latest"
    link.symlink_to(tmp_path / "store" / "model")
    regressor.save(link)
    assert link.is_symlink()
    assert load(tmp_path / "store" / "model").n_seen_ == regressor.n_seen_


def test_the_file_is_as_readable_as_any_other(regressor, tmp_path):
    regressor.save(tmp_path / "model")
    (tmp_path / "plain").write_bytes(b"")
    modes = [stat.S_IMODE(Path(tmp_path / name).stat().st_mode) for name in ("model", "plain")]
    assert modes[0] == modes[1]


def test_a_folder_that_is_not_there(regressor, tmp_path):
    with pytest.raises(FileNotFoundError):
        regressor.save(tmp_path / "nowhere" / "model")


def test_the_width_of_text_labels_is_not_part_of_a_model() -> None:
    """The same rows give the same bytes, also after loading. Fails if the width of the array given is kept."""
    x = np.zeros((2, 1))
    saved = []
    for dtype in ("<U1", "<U30", object):
        model = DynamicTreeClassifier(n_particles=2, random_state=0)
        saved.append(to_bytes(model.partial_fit(x, np.array(["a", "b"], dtype=dtype))))
    assert saved[0] == saved[1]
    assert to_bytes(from_bytes(saved[1], {"classification": DynamicTreeClassifier})) == saved[1]
