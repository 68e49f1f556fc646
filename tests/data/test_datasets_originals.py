"""Data sets from original files: what is read, what is refused, which form is taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_matrix

import original_files as write_as
from calipers.paper import datasets
from calipers.paper.datasets import originals, paper, reduce
from calipers.paper.datasets.remote.homes import HOMES, Home
from calipers.paper.datasets.table1 import SIZES, Size
from file_server import FileServer, serving
from original_files import write
from unix_compress import compress

rng = np.random.default_rng(0)


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Size]:
    """Table 1 for small files."""
    small = {
        "semeion": Size(10, 256, 21, 9),
        "letter": Size(26, 16, 40, 12),
        "isolet": Size(3, 617, 4, 3),
        "connect4": Size(3, 42, 7, 3),
        "poker": Size(3, 10, 6, 4),
        "tdt30": Size(3, 2, 7, 3),
        "rcv20": Size(2, 2, 6, 3),
    }
    for name, size in small.items():
        monkeypatch.setitem(SIZES, name, size)
    monkeypatch.setattr(reduce, "N_COMPONENTS", 2)
    monkeypatch.setattr(originals, "N_TERMS", 5)
    originals.tdt30.cache_clear()
    originals.rcv20.cache_clear()
    return small


def table(n: int, d: int, n_classes: int, *, high: int = 2) -> tuple[Any, Any]:
    return rng.integers(0, high, (n, d)), np.arange(n) % n_classes


def load(name: str, folder: Path, split: int = 0) -> datasets.Split:
    return datasets.load(name, data_dir=folder, split=split)


def refused(name: str, folder: Path) -> str:
    with pytest.raises(datasets.DatasetError) as caught:
        load(name, folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def joined(data: datasets.Split) -> tuple[Any, Any]:
    return np.vstack([data.X_train, data.X_test]), np.concatenate([data.y_train, data.y_test])


def assert_same_examples(data: datasets.Split, X: Any, y: Any) -> None:
    """Both parts hold the given examples, in any order."""
    found_X, found_y = joined(data)
    found, given = np.c_[found_X, found_y], np.c_[X, y]
    np.testing.assert_array_equal(found[np.lexsort(found.T)], given[np.lexsort(given.T)])


def test_semeion_and_connect4_are_cut_by_number(tmp_path: Path, sizes: dict[str, Size]) -> None:
    X, y = table(30, 256, 10)
    write(tmp_path / "semeion.data", write_as.semeion_data(X, y))
    assert_same_examples(load("semeion", tmp_path), X, y)
    assert (load("semeion", tmp_path, 1).y_test != load("semeion", tmp_path, 2).y_test).any()
    X, y = 1 + rng.integers(0, 3, (10, 42)), np.arange(10) % 3
    write(tmp_path / "connect-4.data.Z", write_as.connect4_data(X, y))
    assert_same_examples(load("connect4", tmp_path), X, y)


def test_letter_is_scaled_and_cut_in_order(tmp_path: Path, sizes: dict[str, Size]) -> None:
    X, y = table(52, 16, 26, high=16)
    write(tmp_path / "letter-recognition.data", write_as.letter_data(X, y))
    data = load("letter", tmp_path)
    np.testing.assert_array_equal(data.X_train, X[:40] / 7.5 - 1)
    np.testing.assert_array_equal(data.y_test, y[40:])


def test_isolet_and_poker_have_two_files(tmp_path: Path, sizes: dict[str, Size]) -> None:
    X, y = rng.integers(-9999, 9999, (7, 617)) / 10_000, 1 + np.arange(7) % 3
    members = {
        "isolet1+2+3+4.data.Z": compress(write_as.isolet_data(X[:4], y[:4])),
        "isolet5.data.Z": compress(write_as.isolet_data(X[4:], y[4:])),
    }
    (tmp_path / "isolet.zip").write_bytes(write_as.zipped(members))
    data = load("isolet", tmp_path)
    np.testing.assert_array_equal(data.X_train, X[:4])
    np.testing.assert_array_equal(data.y_test, y[4:])
    X, y = table(10, 10, 3, high=14)
    write(tmp_path / "poker-hand-testing.data", write_as.poker_data(X[:6], y[:6]))
    write(tmp_path / "poker-hand-training-true.data", write_as.poker_data(X[6:], y[6:]))
    data = load("poker", tmp_path)
    np.testing.assert_array_equal(data.X_train, X[:6])
    assert data.note == "the complete files of UCI"


@pytest.mark.parametrize("name", ["dna", "protein", "sensit", "pendigits"])
def test_files_of_libsvm(name: str, tmp_path: Path) -> None:
    size = SIZES.get(name, originals.PENDIGITS)
    X = np.zeros((size.n_train + size.n_test, size.n_features))
    X[np.arange(len(X)), np.arange(len(X)) % size.n_features] = 0.25
    y = np.arange(len(X)) % size.n_classes
    for file, part in zip(
        paper.SETS[name].original.files,
        (slice(size.n_train), slice(size.n_train, None)),
        strict=True,
    ):
        write(tmp_path / f"{file}.bz2", write_as.libsvm_data(X[part], y[part]))
    data = load(name, tmp_path)
    np.testing.assert_array_equal(joined(data)[0], X)
    np.testing.assert_array_equal(joined(data)[1], y)
    assert len(data.y_train) == size.n_train
    assert datasets.has_standard_split(name)


def test_tdt30_is_reduced(tmp_path: Path, sizes: dict[str, Size]) -> None:
    X, y = table(10, 6, 3, high=5)
    savemat(tmp_path / "TDT2.mat", {"fea": csc_matrix(X.astype(float)), "gnd": y[:, None]})
    found, classes = joined(load("tdt30", tmp_path))
    order = np.random.default_rng(0).permutation(10)
    centred = (X - X.mean(axis=0))[order]
    U, S, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(found @ found.T, (U[:, :2] * S[:2] ** 2) @ U[:, :2].T, atol=1e-9)
    np.testing.assert_array_equal(classes, y[order])


def test_rcv20_keeps_the_largest_classes_and_says_so(
    tmp_path: Path, sizes: dict[str, Size]
) -> None:
    X = rng.integers(1, 9, (12, 5))
    y = np.array([7, 7, 4, 4, 7, 1, 4, 9, 4, 7, 4, 1])  # 1 and 9 are the small ones
    write(tmp_path / "rcv1_test.multiclass.bz2", write_as.libsvm_data(X[:8], y[:8]))
    write(tmp_path / "rcv1_train.multiclass.bz2", write_as.libsvm_data(X[8:], y[8:]))
    data = load("rcv20", tmp_path)
    np.testing.assert_array_equal(data.y_train, [7, 7, 4, 4, 7, 4])
    np.testing.assert_array_equal(data.y_test, [4, 7, 4])
    assert data.X_train.shape == (6, 2)
    assert data.note == (
        "assumed: the 20 largest classes of LIBSVM's rcv1 multiclass, its test file as the "
        "training part, PCA on both parts; sizes as in Table 1"
    )


def test_rcv20_says_when_the_sizes_are_others(sizes: dict[str, Size]) -> None:
    note = originals._rcv20_note(np.array([True, True, False]))
    assert note.endswith("; this gives 2 + 1 rows, Table 1 has 6 + 3")


def test_a_wrong_line_is_blamed(tmp_path: Path) -> None:
    (tmp_path / "letter-recognition.data").write_text("A" + ",1" * 16 + "\nB,2\n")
    assert refused("letter", tmp_path) == (
        "letter-recognition.data, line 2: 17 values are expected, got 2 "
        f"(in {str(tmp_path / 'letter-recognition.data')!r})."
    )
    (tmp_path / "dna.scale").write_text("1 1:1\n1 2\n")
    (tmp_path / "dna.scale.t").write_text("")
    assert refused("dna", tmp_path).startswith("dna.scale, line 2: '2' is not of the form")
    (tmp_path / "dna.scale").write_text("1 1:1\n" * 2000)
    assert refused("dna", tmp_path).startswith(f"{str(tmp_path / 'dna.scale.t')!r} holds 0")
    (tmp_path / "TDT2.mat").write_text("no" * 100)
    assert refused("tdt30", tmp_path).startswith("TDT2.mat: it is no MATLAB file (")


@pytest.mark.parametrize(
    ("n", "d", "n_classes", "reason"),
    [
        (51, 16, 26, "holds 11 test rows where 12 are expected"),
        (30, 16, 26, "holds 30 training rows where 40 are expected"),
        (52, 16, 25, "holds 25 classes where 26 are expected"),
    ],
)
def test_files_of_another_size_are_refused(
    tmp_path: Path, sizes: dict[str, Size], n: int, d: int, n_classes: int, reason: str
) -> None:
    path = tmp_path / "letter-recognition.data"
    write(path, write_as.letter_data(*table(n, d, n_classes, high=16)))
    assert refused("letter", tmp_path) == (
        f"{str(path)!r} {reason}: delete the file and load the data set again."
    )


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """The homes of poker and letter on loopback, and downloads allowed."""
    monkeypatch.delenv("CALIPERS_OFFLINE")
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    with serving() as server:
        for file in ("poker-hand-testing.data", "poker-hand-training-true.data"):
            monkeypatch.setitem(HOMES, file, Home(file, (server.url("poker.zip"),)))
        yield server


def write_poker_stand_in(folder: Path) -> None:
    X, y = table(4, 10, 3, high=14)
    np.savez(folder / "poker_sim.npz", X=X, y=y)
    np.savez(folder / "poker.npz", X_test=X, y_test=y)


def poker_archive() -> bytes:
    X, y = table(10, 10, 3, high=14)
    return write_as.zipped(
        {
            "poker-hand-testing.data": write_as.poker_data(X[:6], y[:6]),
            "poker-hand-training-true.data": write_as.poker_data(X[6:], y[6:]),
        }
    )


def test_a_data_set_that_is_nowhere_is_downloaded_once(
    online: FileServer, sizes: dict[str, Size]
) -> None:
    online.behaviour.files["poker.zip"] = poker_archive()
    seen: list[tuple[str, int, int | None]] = []
    first = datasets.load("poker", report=lambda *now: seen.append(now))
    again = datasets.load("poker")
    np.testing.assert_array_equal(first.X_train, again.X_train)
    assert len(online.behaviour.asked) == 1  # both files are in one archive
    assert seen[-1][0] == "poker.zip"
    assert datasets.require("poker", download=False) == datasets.require("poker")


def test_only_the_file_that_is_not_here_is_downloaded(
    online: FileServer, sizes: dict[str, Size], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table(10, 10, 3, high=14)
    file = "poker-hand-testing.data"
    write(tmp_path / file, write_as.poker_data(X[:6], y[:6]))
    monkeypatch.setitem(HOMES, file, Home(file, (online.url("gone"),)))
    online.behaviour.files["poker.zip"] = poker_archive()
    np.testing.assert_array_equal(load("poker", tmp_path).X_train, X[:6])
    assert [path for path, _ in online.behaviour.asked] == ["/poker.zip"]


def test_a_stand_in_will_do_until_the_original_is_here(
    online: FileServer, sizes: dict[str, Size], tmp_path: Path
) -> None:
    write_poker_stand_in(tmp_path)
    online.behaviour.files["poker.zip"] = poker_archive()
    assert "simulated stand-in" in load("poker", tmp_path).note
    assert "simulated" in datasets.load("poker", data_dir=tmp_path, download=False).note
    assert online.behaviour.asked == []
    asked = datasets.load("poker", data_dir=tmp_path, download=True)
    assert asked.note == "the complete files of UCI"
    assert load("poker", tmp_path).note == "the complete files of UCI"


@pytest.mark.parametrize("download", [False, True, None])
def test_downloads_can_be_forbidden(
    online: FileServer, monkeypatch: pytest.MonkeyPatch, download: bool | None
) -> None:
    if download is not False:
        monkeypatch.setenv("CALIPERS_OFFLINE", "1")
    with pytest.raises(datasets.DatasetError, match="CALIPERS_OFFLINE forbids"):
        datasets.load("poker", download=download)
    assert online.behaviour.asked == []


def test_npz_files_come_first_where_they_are_complete(
    tmp_path: Path, sizes: dict[str, Size]
) -> None:
    X, y = table(52, 16, 26, high=16)
    write(tmp_path / "letter-recognition.data", write_as.letter_data(X, y))
    stored = {"X_train": X[:1], "y_train": y[:1], "X_test": X[:1], "y_test": y[:1]}
    np.savez(tmp_path / "letter.npz", **stored)
    assert len(load("letter", tmp_path).y_train) == 1


def test_all_ten_of_table_1_can_be_downloaded() -> None:
    assert [name for name in paper.SETS if name in SIZES] == list(SIZES)
    files = [file for described in paper.SETS.values() for file in described.original.files]
    assert sorted(files) == sorted(HOMES)
