"""Rows in a mapped file: the same metric as from memory, and the same refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.datasets import load_digits

from calipers import ITML, LEGO, OASIS, SPML, TripletSGD
from calipers import mapped as blocks
from calipers.estimators import coordinates, given
from calipers.triplets import RowsInMemory, RowsOnDisk, disk, rows

X, Y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).random(X.shape)
TRIPLETS = np.random.default_rng(1).permuted(np.tile(np.arange(len(X)), (900, 1)), axis=1)[:, :3]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every mapped file is read by blocks, of 100 rows."""
    monkeypatch.setattr(blocks, "LARGEST_READ", 0)
    monkeypatch.setattr(given, "_LABELS_AT_ONCE", 100)
    monkeypatch.setattr(blocks, "BLOCK_ELEMENTS", 6400)
    monkeypatch.setattr(disk, "_ROWS_AT_ONCE", 64)


def mapped(folder: Path, values: npt.NDArray[Any], mode: Any = "r") -> npt.NDArray[Any]:
    np.save(folder / "X.npy", values)
    loaded: npt.NDArray[Any] = np.load(folder / "X.npy", mmap_mode=mode)
    return loaded


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("start", ["auto", "identity", "features", "classes"])
def test_fit_on_a_mapped_file_gives_the_same_bits(tmp_path: Path, dtype: Any, start: Any) -> None:
    values = X.astype(dtype)
    settings: dict[str, Any] = {"n_triplets": 2000, "start": start, "random_state": 0}
    expected = TripletSGD(**settings).fit(values, Y)
    got = TripletSGD(**settings).fit(mapped(tmp_path, values), Y)
    np.testing.assert_array_equal(got.components_, expected.components_)
    assert (got.start_, got.n_updates_, got.n_features_in_) == (
        expected.start_,
        expected.n_updates_,
        64,
    )


@pytest.mark.parametrize("learner", [ITML, LEGO, OASIS, SPML])
def test_other_learners_take_mapped_files_too(tmp_path: Path, learner: Any) -> None:
    settings: dict[str, Any] = {"n_triplets": 200, "random_state": 0}
    if learner is ITML:
        settings |= {"n_triplets": 20, "tol": 0.1}
    expected = learner(**settings).fit(X, Y)
    got = learner(**settings).fit(mapped(tmp_path, X), Y)
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_given_triplets_of_a_mapped_file(tmp_path: Path) -> None:
    expected = TripletSGD(random_state=0).fit_triplets(X, TRIPLETS)
    got = TripletSGD(random_state=0).fit_triplets(mapped(tmp_path, X), TRIPLETS)
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_columns_and_every_other_row_of_a_mapped_file(tmp_path: Path) -> None:
    """Views of a map are read as they are, whatever their strides."""
    view = mapped(tmp_path, X)[::2, 3:40]
    expected = TripletSGD(n_triplets=500, random_state=0).fit(np.array(view), Y[::2])
    got = TripletSGD(n_triplets=500, random_state=0).fit(view, Y[::2])
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_a_mapped_file_is_never_held_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    read = RowsOnDisk._read

    def spy(self: RowsOnDisk, block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        seen.append(len(block))
        return read(self, block)

    monkeypatch.setattr(RowsOnDisk, "_read", spy)
    monkeypatch.setattr(rows, "nearest_same_and_other", None)
    TripletSGD(n_triplets=200, random_state=0).fit(mapped(tmp_path, X), Y)
    assert max(seen) == 100


def test_what_only_this_process_changed_is_kept(tmp_path: Path) -> None:
    """Pages of a copy-on-write map must not be given back: that would undo the change."""
    values = mapped(tmp_path, X, mode="c")
    values[0, 0] = 77.0
    TripletSGD(n_triplets=100, random_state=0).fit(values, Y)
    assert values[0, 0] == 77.0


def test_small_mapped_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LARGEST_READ", X.nbytes)
    found, _ = given.given_rows(TripletSGD(), mapped(tmp_path, X))
    assert isinstance(found, RowsInMemory)


def test_the_first_value_that_is_not_finite_is_named(tmp_path: Path) -> None:
    values = X.copy()
    values[205, 7] = np.nan
    with pytest.raises(ValueError, match=r"^Input X contains .*: nan in row 205, feature 7;"):
        TripletSGD().fit(mapped(tmp_path, values), Y)


def test_labels_must_fit_the_rows(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^y has 10 labels for the 1797 rows of X: give one"):
        TripletSGD().fit(mapped(tmp_path, X), Y[:10])
    with pytest.raises(ValueError, match=r"requires y to be passed"):
        TripletSGD().fit(mapped(tmp_path, X), None)
    with pytest.raises(ValueError, match=r"Input y contains NaN"):
        TripletSGD().fit(mapped(tmp_path, X), np.where(Y == 3, np.nan, Y))


def test_a_mapped_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^TripletSGD needs X of shape \(n_samples, n_features\)"):
        TripletSGD().fit(mapped(tmp_path, X.reshape(-1, 8, 8)), Y)


@pytest.mark.parametrize("kind", [int, str, float])
def test_labels_are_encoded_as_numpy_does(kind: Any) -> None:
    labels = (Y * 3 - 5).astype(kind)
    for got, expected in zip(
        given.encoded(labels), np.unique(labels, return_inverse=True), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 16, 37, 64, 257, 617])
def test_the_image_of_a_row_does_not_depend_on_those_beside_it(d: int, dtype: Any) -> None:
    rng = np.random.default_rng(d)
    values, L = rng.normal(size=(700, d)).astype(dtype), rng.normal(size=(d, d))
    whole = coordinates.images(values, L)
    np.testing.assert_allclose(whole, values @ L.T, rtol=1e-4, atol=1e-4)
    for some in (slice(1, 2), slice(3, 302), slice(500, 700), slice(0, 256)):
        np.testing.assert_array_equal(coordinates.images(values[some], L), whole[some])
