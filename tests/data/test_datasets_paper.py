"""The paper's data sets as they are in the data folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_matrix

import original_files as write_as
from calipers.paper import datasets
from calipers.paper.datasets import originals, paper, stored
from calipers.paper.datasets.remote.homes import HOMES
from calipers.paper.protocol import split_error
from calipers.paper.published import SIZES
from data_folder import FOLDER, needs_data

pytestmark = needs_data

COMPLETE = ["semeion", "dna", "isolet", "tdt30", "letter", "connect4", "poker"]


@pytest.mark.parametrize("name", COMPLETE)
def test_sizes_are_those_of_table_1(name: str) -> None:
    data = datasets.load(name, data_dir=FOLDER)
    size = SIZES[name]
    assert data.X_train.shape == (size.n_train, size.n_features)
    assert data.X_test.shape == (size.n_test, size.n_features)
    assert len(np.unique(data.y_train)) == size.n_classes
    assert datasets.has_standard_split(name) == (name not in {"semeion", "tdt30", "connect4"})


def test_poker_says_that_it_is_simulated() -> None:
    assert "simulated" in datasets.load("poker", data_dir=FOLDER).note


def test_tdt30_is_reduced_once_per_process() -> None:
    first, second = (datasets.load("tdt30", data_dir=FOLDER, split=s) for s in (0, 1))
    np.testing.assert_array_equal(
        np.sort(np.r_[first.X_train[:, 0], first.X_test[:, 0]]),
        np.sort(np.r_[second.X_train[:, 0], second.X_test[:, 0]]),
    )


@pytest.mark.parametrize(
    ("name", "error"), [("dna", 20.40), ("isolet", 8.98), ("letter", 4.62), ("pendigits", 2.86)]
)
def test_euclidean_error(name: str, error: float) -> None:
    found = 100 * split_error(datasets.load(name, data_dir=FOLDER))
    assert found == pytest.approx(error, abs=0.005)


def originals_of(name: str) -> dict[str, bytes]:
    """The original files of a data set, written anew from the data folder."""
    with np.load(FOLDER / f"{name}.npz") as file:
        arrays = {key: file[key] for key in file.files}
    if name == "semeion":
        return {"semeion.data": write_as.semeion_data(arrays["X"], arrays["y"])}
    if name == "connect4":
        codes = np.select([arrays["X"] == 0, arrays["X"] == -1], [1, 2], default=3)
        return {"connect-4.data": write_as.connect4_data(codes, arrays["y"])}
    if name == "poker":
        content = write_as.poker_data(arrays["X_test"], arrays["y_test"])
        return {"poker-hand-training-true.data": content}
    parts = [(arrays[f"X_{part}"], arrays[f"y_{part}"]) for part in ("train", "test")]
    if name == "letter":
        X, y = (np.concatenate(both) for both in zip(*parts, strict=True))
        return {"letter-recognition.data": write_as.letter_data(X, y)}
    form = write_as.isolet_data if name == "isolet" else write_as.libsvm_data
    files = paper.SETS[name].original.files
    return {file: form(*part) for file, part in zip(files, parts, strict=True)}


@pytest.mark.parametrize("name", ["semeion", "letter", "connect4", "poker"])
def test_the_folder_holds_the_published_files(name: str) -> None:
    """Written anew as its home has it, each file has the checksum that is known of it."""
    for file, content in originals_of(name).items():
        assert hashlib.sha256(content).hexdigest() == HOMES[file].sha256


@pytest.mark.parametrize("name", ["semeion", "letter", "connect4", "dna", "isolet", "pendigits"])
def test_original_files_give_the_same_data(name: str, tmp_path: Path) -> None:
    for file, content in originals_of(name).items():
        (tmp_path / file).write_bytes(content)
    ours, theirs = (datasets.load(name, data_dir=folder) for folder in (tmp_path, FOLDER))
    np.testing.assert_allclose(ours.X_train, theirs.X_train, rtol=0, atol=1e-7)
    np.testing.assert_allclose(ours.X_test, theirs.X_test, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(ours.y_train, theirs.y_train)
    np.testing.assert_array_equal(ours.y_test, theirs.y_test)


def test_tdt30_from_its_original_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the counts are compared: their reduction is the same code and takes ten seconds."""
    for module in (originals, stored):
        monkeypatch.setattr(module, "principal_components", lambda X: X[:, :200].toarray())
        monkeypatch.setattr(module, "tdt30", module.tdt30.__wrapped__)
    with np.load(FOLDER / "tdt30.npz") as file:
        parts = (file["data"].astype(float), file["indices"], file["indptr"])
        counts = csr_matrix(parts, shape=tuple(file["shape"].tolist()))
        savemat(tmp_path / "TDT2.mat", {"fea": counts, "gnd": file["y"][:, None]})
    ours, theirs = originals.tdt30(tmp_path / "TDT2.mat"), stored.tdt30(FOLDER / "tdt30.npz")
    np.testing.assert_array_equal(ours.X, theirs.X)
    np.testing.assert_array_equal(ours.y, theirs.y)
