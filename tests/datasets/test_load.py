"""Loading real data sets: from files, and the errors when there is none."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from sapwood.datasets import DATASETS, load

DATA = Path(os.environ.get("SAPWOOD_DATA") or Path(__file__).parents[3] / "shared" / "data")

SHAPES = {
    "spambase": (4601, 57),
    "elec2_paper": (27552, 4),
    "elec2_full": (45312, 8),
    "fraud_handbook_sim": (109067, 16),
    "occupancy": (20560, 8),
    "powersupply": (29928, 2),
    "bike_hour": (17379, 13),
    "metro_traffic": (48204, 10),
    "ccpp": (9568, 4),
    "kin8nm": (8192, 8),
    "mcycle": (133, 1),
    "exp2d": (441, 2),
}


def write(folder, name, text):
    with gzip.open(folder / f"{name}.csv.gz", "wt") as file:
        file.write(text)


def test_every_catalogued_data_set_has_an_expected_shape():
    assert set(SHAPES) == set(DATASETS)


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_real_files_load(name):
    if not (DATA / f"{name}.csv.gz").is_file():
        pytest.skip(f"{name}.csv.gz is not in {DATA}")
    stream = load(name, DATA)
    assert stream.X.shape == SHAPES[name]
    assert stream.X.dtype == np.float64
    assert len(stream.feature_names) == SHAPES[name][1]
    assert stream.truth is None
    assert stream.task == DATASETS[name].task
    assert (stream.y.dtype == np.float64) == (stream.task == "regression")
    assert set(stream.categories) == ({"holiday", "weather_main"} if name == "metro_traffic" else set())


def test_elec2_has_the_paper_s_class_share():
    if not (DATA / "elec2_paper.csv.gz").is_file():
        pytest.skip(f"elec2_paper.csv.gz is not in {DATA}")
    assert round(np.mean(load("elec2_paper", DATA).y == 2), 3) == 0.415


def test_strings_are_coded_in_order_of_first_appearance_and_gaps_are_nan(tmp_path):
    write(tmp_path, "metro_traffic", "a,sky,y\n1,Rain,5\n,Clear,6.5\n3,,7\n4,Rain,8\n")
    stream = load("metro_traffic", tmp_path)
    np.testing.assert_array_equal(stream.X, [[1, 0], [np.nan, 1], [3, np.nan], [4, 0]])
    np.testing.assert_array_equal(stream.y, [5, 6.5, 7, 8])
    assert stream.categories == {"sky": ("Rain", "Clear")}


def test_labels_stay_what_they_were(tmp_path):
    write(tmp_path, "elec2_full", "a,y\n1,UP\n2,DOWN\n")
    write(tmp_path, "elec2_paper", "a,y\n1,2\n2,1\n")
    assert load("elec2_full", tmp_path).y.tolist() == ["UP", "DOWN"]
    assert load("elec2_paper", tmp_path).y.tolist() == [2, 1]


def test_the_environment_names_the_folder_and_the_cache_comes_after_it(tmp_path, monkeypatch):
    cache = tmp_path / ".cache" / "sapwood"
    named = tmp_path / "named"
    cache.mkdir(parents=True)
    named.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SAPWOOD_DATA", str(named))
    write(cache, "mcycle", "times,y\n1,10\n")
    assert load("mcycle").y.tolist() == [10.0]
    write(named, "mcycle", "times,y\n1,20\n")
    assert load("mcycle").y.tolist() == [20.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,y\n1,2,3\n1,2\n", "row 2 has 2 columns; the header has 3"),
        ("a,b\n1,2\n", "the last column is 'b'; it must be the target"),
        ("y\n1\n", "must be the target, called 'y', after the inputs"),
        ("a,y\n", "has 1 rows; it must have a header and at least one row"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, message):
    write(tmp_path, "ccpp", text)
    with pytest.raises(ValueError, match=message) as caught:
        load("ccpp", tmp_path)
    assert "ccpp.csv.gz" in str(caught.value)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"no data set 'iris'; the names are bike_hour, .*spambase"):
        load("iris")


def test_no_file_and_no_public_original(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"mcycle\.csv\.gz does not exist.*SAPWOOD_DATA"):
        load("mcycle", tmp_path)


def test_no_file_and_no_network(tmp_path, monkeypatch):
    def offline(**_):
        raise URLError("unreachable")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(FileNotFoundError, match=r"downloading data set 44 from OpenML failed .*unreachable"):
        load("spambase", tmp_path)


def test_public_original_is_put_into_the_same_shape(tmp_path, monkeypatch):
    def fetch(*, data_id, as_frame, parser):
        assert (data_id, as_frame, parser) == (151, False, "liac-arff")
        return Bunch(
            data=np.array([[0.0, 1.0], [0.5, 0.0]]),
            target=np.array(["UP", "DOWN"], dtype=object),
            feature_names=["date", "day"],
            categories={"day": ["1", "2"], "class": ["UP", "DOWN"]},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    stream = load("elec2_full", tmp_path)
    np.testing.assert_array_equal(stream.X, [[0.0, 2.0], [0.5, 1.0]])
    assert stream.y.tolist() == ["UP", "DOWN"]
    assert stream.feature_names == ("date", "day")
