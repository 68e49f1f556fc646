"""Drawn triplets: who may be drawn, how often, and from which random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray, IndexArray
from calipers.triplets import (
    DrawnTriplets,
    GivenTriplets,
    RowsInMemory,
    n_usable,
    nearest_same_and_other,
    rows,
    usable,
)


def blobs(n: int = 60, n_classes: int = 3) -> tuple[FloatArray, IndexArray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)), np.arange(n) % n_classes


def drawn(X: FloatArray, labels: IndexArray, n: int, *, n_neighbors: int, seed: int) -> IndexArray:
    rng = np.random.default_rng(seed)
    source = DrawnTriplets(RowsInMemory(X, labels), n, n_neighbors=n_neighbors, rng=rng)
    return np.concatenate(list(source.portions(n)))


def test_usable_anchors_leave_out_classes_of_one_row() -> None:
    some = RowsInMemory(np.zeros((6, 1)), np.array([2, 0, 2, 1, 4, 4]))
    assert usable(some, np.arange(n_usable(some))).tolist() == [0, 2, 4, 5]


def test_one_neighbour_gives_the_nearest_rows_of_uniform_anchors() -> None:
    X, labels = blobs()
    triplets = drawn(X, labels, 500, n_neighbors=1, seed=7)
    anchors = np.random.default_rng(7).spawn(3)[0].integers(60, size=500)
    same, other = nearest_same_and_other(X, labels, np.arange(60), n_same=1, n_other=1)
    expected = np.column_stack([anchors, same[anchors, 0], other[anchors, 0]])
    np.testing.assert_array_equal(triplets, expected)
    assert triplets.dtype == np.intp
    assert triplets.flags.c_contiguous


def test_anchors_near_and_far_rows_have_a_stream_each() -> None:
    X, labels = blobs()
    triplets = drawn(X, labels, 80, n_neighbors=4, seed=1)
    anchor_rng, near_rng, far_rng = np.random.default_rng(1).spawn(3)
    anchors = anchor_rng.integers(60, size=80)
    same, other = nearest_same_and_other(X, labels, anchors, n_same=4, n_other=4)
    rows = np.arange(80)
    near = same[rows, near_rng.integers(np.full(80, 4))]
    far = other[rows, far_rng.integers(np.full(80, 4))]
    np.testing.assert_array_equal(triplets, np.column_stack([anchors, near, far]))


def test_choices_are_uniform_among_the_neighbours_that_exist() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    labels = np.array([0, 0, 0, 1, 1])
    triplets = drawn(X, labels, 6000, n_neighbors=3, seed=2)
    assert (np.abs(np.bincount(triplets[:, 0]) - 1200) < 150).all()
    of_first = triplets[triplets[:, 0] == 0]
    assert set(of_first[:, 1]) == {1, 2}
    assert abs(np.mean(of_first[:, 1] == 1) - 0.5) < 0.06
    of_last = triplets[triplets[:, 0] == 4]
    assert set(of_last[:, 1]) == {3}
    assert (np.abs(np.bincount(of_last[:, 2]) / len(of_last) - 1 / 3) < 0.06).all()


def test_classes_of_one_row_are_never_anchors_but_may_be_far() -> None:
    X = np.array([[0.0], [1.0], [0.4]])
    triplets = drawn(X, np.array([1, 1, 0]), 20, n_neighbors=1, seed=0)
    assert {tuple(triplet) for triplet in triplets.tolist()} == {(0, 1, 2), (1, 0, 2)}


def test_only_distinct_anchors_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def spy(
        X: FloatArray, labels: IndexArray, anchors: IndexArray, **sizes: int
    ) -> tuple[IndexArray, IndexArray]:
        searched.append(anchors)
        return nearest_same_and_other(X, labels, anchors, **sizes)

    monkeypatch.setattr(rows, "nearest_same_and_other", spy)
    X, labels = blobs()
    triplets = drawn(X, labels, 30, n_neighbors=2, seed=3)
    assert len(searched) == 1
    np.testing.assert_array_equal(searched[0], np.unique(triplets[:, 0]))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_portions_do_not_change_the_triplets(size: int) -> None:
    X, labels = blobs()
    source = DrawnTriplets(RowsInMemory(X, labels), 90, n_neighbors=3, rng=np.random.default_rng(4))
    portions = list(source.portions(size))
    assert [len(p) for p in portions[:-1]] == [size] * (len(portions) - 1)
    np.testing.assert_array_equal(
        np.concatenate(portions), drawn(X, labels, 90, n_neighbors=3, seed=4)
    )


def test_given_triplets_come_in_order() -> None:
    triplets = np.arange(21).reshape(7, 3)
    portions = list(GivenTriplets(triplets).portions(3))
    assert [len(p) for p in portions] == [3, 3, 1]
    np.testing.assert_array_equal(np.concatenate(portions), triplets)
