"""Data sets by name: from scikit-learn, from compact files, from the original ones."""

from __future__ import annotations

import bz2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

from calipers.paper import datasets
from calipers.paper.datasets import DatasetError, Split
from calipers.paper.published import SIZES
from data_folder import FOLDER, needs_data

EMBEDDED = {"digits": (1797, 64), "iris": (150, 4), "wine": (178, 13), "breast_cancer": (569, 30)}


@pytest.fixture(autouse=True)
def _no_other_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CALIPERS_DATA", raising=False)


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_sets_are_whole_and_cut_seventy_to_thirty(name: str) -> None:
    n, d = EMBEDDED[name]
    data = datasets.load(name)
    assert data.X_train.shape == (7 * n // 10, d)
    assert len(data.X_train) + len(data.X_test) == n
    assert [data.X_train.dtype.name, data.y_train.dtype.name] == ["float64", "int64"]


def test_a_split_is_a_partition_that_its_number_fixes() -> None:
    X, y = np.arange(100).reshape(50, 2), np.arange(50)
    first, again, other = (datasets.numbered_split(X, y, number) for number in (0, 0, 1))
    np.testing.assert_array_equal(np.sort(np.r_[first.y_train, first.y_test]), y)
    np.testing.assert_array_equal(first.X_train[:, 0], 2 * first.y_train)
    np.testing.assert_array_equal(first.y_train, again.y_train)
    assert (first.y_train != other.y_train).any()


def test_the_folder_is_an_argument_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.arange(16, dtype=np.uint8).reshape(4, 4)
    parts = {"X_train": values, "X_test": values[:1], "y_train": values[0], "y_test": values[0][:1]}
    np.savez(tmp_path / "letter.npz", **parts)
    data = datasets.load("letter", data_dir=tmp_path)
    assert (data.X_train.min(), data.X_train.max()) == (-1.0, 1.0)
    monkeypatch.setenv("CALIPERS_DATA", str(tmp_path))
    np.testing.assert_array_equal(datasets.load("letter").X_train, data.X_train)
    assert datasets.require("letter") == [tmp_path / "letter.npz"]


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("iriss", {}, "Unknown data set 'iriss': did you mean 'iris'?"),
        ("x", {}, "Unknown data set 'x': known are digits, iris"),
        ("dna", {"split": 1}, "'dna' has one standard split, number 0, got 1"),
        ("dna", {}, r"needs dna\.npz or dna\.scale \+ dna\.scale\.t, which is not in"),
        ("dna", {"data_dir": "nowhere"}, "The data folder 'nowhere' does not exist"),
    ],
)
def test_mistakes_are_one_sentence(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError, match=said.replace("?", r"\?")):
        datasets.load(name, **options)


def test_a_stand_in_serves_where_the_original_is_not_here(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "protein_val.npz", X=rng.integers(100, size=(10, 357)), y=np.arange(10) % 3)
    data = datasets.load("protein", data_dir=tmp_path)
    assert data.X_train.max() < 1
    assert datasets.is_stand_in("protein", data.note)
    for file in ("protein.bz2", "protein.t.bz2"):
        (tmp_path / file).write_bytes(bz2.compress(b"1 1:1\n"))
    with pytest.raises(DatasetError, match="hold protein with 357 features and 1 \\+ 1 samples"):
        datasets.load("protein", data_dir=tmp_path)


def test_rcv20_keeps_the_largest_classes_of_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "principal_components", lambda X: X[:, :1].toarray())
    classes = np.repeat(np.arange(21), 3)[:-1]  # of the last there are two
    for file in ("rcv1_test.multiclass.bz2", "rcv1_train.multiclass.bz2"):
        plain = tmp_path / "plain"
        with plain.open("wb") as stream:
            dump_svmlight_file(np.ones((62, 2)), classes, stream, zero_based=False)
        (tmp_path / file).write_bytes(bz2.compress(plain.read_bytes()))
    data = datasets.load("rcv20", data_dir=tmp_path)
    assert len(data.y_train) == len(data.y_test) == 60
    assert data.note.startswith("assumed")


@needs_data
@pytest.mark.parametrize("name", ["semeion", "dna", "isolet", "letter", "connect4"])
def test_sizes_are_those_of_table_1(name: str) -> None:
    data = datasets.load(name, data_dir=FOLDER)
    size = SIZES[name]
    assert data.X_train.shape == (size.n_train, size.n_features)
    assert data.X_test.shape == (size.n_test, size.n_features)
    assert len(np.unique(data.y_train)) == size.n_classes


# The original files, written anew


def write_semeion(folder: Path, arrays: Any) -> None:
    marks = np.eye(10)[arrays["y"]]
    form = [*["%.4f"] * 256, *["%d"] * 10]
    np.savetxt(folder / "semeion.data", np.c_[arrays["X"], marks], fmt=form, newline=" \r\n")


def write_letter(folder: Path, arrays: Any) -> None:
    X, y = (np.concatenate([arrays[f"{a}_train"], arrays[f"{a}_test"]]) for a in "Xy")
    rows = [f"{chr(65 + label)},{','.join(map(str, x))}\n" for x, label in zip(X, y, strict=True)]
    (folder / "letter-recognition.data").write_text("".join(rows))


def write_connect4(folder: Path, arrays: Any) -> None:
    squares = np.array(["b", "x", "o"])[arrays["X"]]  # 0, 1 and -1
    outcomes = np.array(["draw", "loss", "win"])[arrays["y"]]
    rows = [",".join(row) + "\n" for row in np.c_[squares.astype("U4"), outcomes]]
    (folder / "connect-4.data").write_text("".join(rows))


def write_dna(folder: Path, arrays: Any) -> None:
    for part, file in (("train", "dna.scale"), ("test", "dna.scale.t")):
        X, y = arrays[f"X_{part}"], arrays[f"y_{part}"]
        dump_svmlight_file(X.astype(float), y, str(folder / file), zero_based=False)


@needs_data
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("semeion", write_semeion),
        ("letter", write_letter),
        ("connect4", write_connect4),
        ("dna", write_dna),
    ],
)
def test_original_files_give_the_same_data(name: str, write: Any, tmp_path: Path) -> None:
    with np.load(FOLDER / f"{name}.npz") as arrays:
        write(tmp_path, arrays)
    same(datasets.load(name, data_dir=tmp_path), datasets.load(name, data_dir=FOLDER))


def same(ours: Split, theirs: Split) -> None:
    for part in ("X_train", "y_train", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


@needs_data
def test_tdt30_from_its_original_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the counts are compared: their reduction is the same code and takes ten seconds."""
    monkeypatch.setattr(datasets, "principal_components", lambda X: X[:, :200].toarray())
    with np.load(FOLDER / "tdt30.npz") as file:
        parts = (file["data"].astype(float), file["indices"], file["indptr"])
        counts = csr_matrix(parts, shape=tuple(file["shape"].tolist()))
        savemat(tmp_path / "TDT2.mat", {"fea": counts, "gnd": file["y"][:, None]})
    ours = datasets._tdt30.__wrapped__(tmp_path / "TDT2.mat")
    theirs = datasets._stored_tdt30.__wrapped__(FOLDER / "tdt30.npz")
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(own, other)


def test_the_class_of_isolet_and_poker_is_last(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0.5, 1., 3.\n0, 1, 2\n")
    (tmp_path / "b").write_text("1,2,1\r\n")
    data = datasets._class_last(tmp_path / "a", tmp_path / "b")
    same(data, datasets._as_split([[0.5, 1], [0, 1]], [3, 2], [[1, 2]], [1]))
