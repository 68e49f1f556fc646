"""The catalogue: names, numbered splits, sources and their sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calipers.paper import datasets
from calipers.paper.datasets.split import Table, features, labels, numbered_split

EMBEDDED = {"digits": (1797, 64), "iris": (150, 4), "wine": (178, 13), "breast_cancer": (569, 30)}


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_are_whole_and_cut_seventy_to_thirty(name: str) -> None:
    n, d = EMBEDDED[name]
    data = datasets.load(name)
    assert data.X_train.shape == (7 * n // 10, d)
    assert len(data.X_train) + len(data.X_test) == n
    assert [data.X_train.dtype.name, data.y_train.dtype.name] == ["float64", "int64"]
    assert data.note == ""


def test_a_split_is_a_partition_that_its_number_fixes() -> None:
    table = Table(features(np.arange(100).reshape(50, 2)), labels(np.arange(50)))
    first, again, other = (numbered_split(table, number) for number in (0, 0, 1))
    np.testing.assert_array_equal(np.sort(np.r_[first.y_train, first.y_test]), np.arange(50))
    np.testing.assert_array_equal(first.X_train[:, 0], 2 * first.y_train)
    np.testing.assert_array_equal(first.y_train, again.y_train)
    assert (first.y_train != other.y_train).any()


@pytest.mark.parametrize(("n", "n_train"), [(1593, 1115), (9394, 6575), (67557, 47289)])
def test_split_sizes_are_those_of_table_1(n: int, n_train: int) -> None:
    table = Table(features(np.zeros((n, 1))), labels(np.zeros(n)))
    assert len(numbered_split(table, 0).y_train) == n_train


def write_standard(folder: Path, name: str) -> None:
    values = np.arange(16, dtype=np.uint8).reshape(4, 4)
    parts = {"X_train": values, "X_test": values[:1], "y_train": values[0], "y_test": values[0][:1]}
    np.savez(folder / f"{name}.npz", **parts)


def test_the_folder_is_an_argument_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_standard(tmp_path, "dna")
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    by_argument = datasets.load("dna", data_dir=tmp_path)
    monkeypatch.setenv("CALIPERS_DATA", str(tmp_path))
    np.testing.assert_array_equal(datasets.load("dna").X_train, by_argument.X_train)


def test_letter_is_scaled_to_plus_minus_one(tmp_path: Path) -> None:
    write_standard(tmp_path, "letter")
    X = datasets.load("letter", data_dir=tmp_path).X_train
    assert (X.min(), X.max()) == (-1.0, 1.0)


def test_connect4_squares_are_numbered_b_o_x(tmp_path: Path) -> None:
    stored = np.array([[0, -1, 1]] * 10, dtype=np.int8)
    np.savez(tmp_path / "connect4.npz", X=stored, y=np.zeros(10, np.uint8))
    X = datasets.load("connect4", data_dir=tmp_path).X_train
    np.testing.assert_array_equal(np.unique(X, axis=0), [[1, 2, 3]])


def test_protein_gets_its_decimals_back(tmp_path: Path) -> None:
    np.savez(tmp_path / "protein_val.npz", X=np.full((10, 1), 7, np.uint8), y=np.zeros(10))
    data = datasets.load("protein", data_dir=tmp_path)
    assert data.X_train[0, 0] == 0.07
    assert "2,871 of 24,387" in data.note


def sentence(name: str, data_dir: Path | None = None, split: int = 0) -> str:
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.load(name, data_dir=data_dir, split=split)
    return str(caught.value)


def test_an_unknown_name_gets_the_nearest() -> None:
    assert sentence("semion") == "Unknown data set 'semion': did you mean 'semeion'?"
    assert sentence("zzz").startswith("Unknown data set 'zzz': known are digits, iris,")


def test_files_that_are_nowhere_while_downloads_are_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = str(tmp_path / "no-cache")
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    assert sentence("dna") == (
        f"Data set 'dna' needs dna.npz or dna.scale + dna.scale.t, which is not in {cache!r}: "
        "put it there, name its folder with --data-dir (data_dir= in Python) or in the variable "
        "CALIPERS_DATA, or allow the download, which download=False or CALIPERS_OFFLINE forbids."
    )
    assert f"which is not in {str(tmp_path)!r} or {cache!r}: put" in sentence("dna", tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert sentence("dna", nowhere) == f"The data folder {str(nowhere)!r} does not exist."


def test_splits_that_do_not_exist(tmp_path: Path) -> None:
    write_standard(tmp_path, "dna")
    assert sentence("dna", tmp_path, 2) == (
        "Data set 'dna' has one standard split, number 0, got split=2."
    )
    assert sentence("digits", split=-1) == "Splits are numbered from 0, got split=-1."
