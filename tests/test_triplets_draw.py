"""Drawn triplets: who may be drawn, how often, and from which random numbers."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray, IndexArray
from calipers.triplets import draw, draw_triplets, nearest_same_and_other, usable_anchors


def blobs(n: int = 60, n_classes: int = 3) -> tuple[FloatArray, IndexArray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)), np.arange(n) % n_classes


def test_usable_anchors_leave_out_classes_of_one_row() -> None:
    assert usable_anchors(np.array([2, 0, 2, 1, 4, 4])).tolist() == [0, 2, 4, 5]


def test_one_neighbour_gives_the_nearest_rows_of_uniform_anchors() -> None:
    X, labels = blobs()
    triplets = draw_triplets(X, labels, 500, n_neighbors=1, rng=np.random.default_rng(7))
    anchors = np.random.default_rng(7).integers(60, size=500)
    same, other = nearest_same_and_other(X, labels, np.arange(60), n_same=1, n_other=1)
    expected = np.column_stack([anchors, same[anchors, 0], other[anchors, 0]])
    np.testing.assert_array_equal(triplets, expected)
    assert triplets.dtype == np.intp
    assert triplets.flags.c_contiguous


def test_one_neighbour_draws_no_random_number_beyond_the_anchors() -> None:
    X, labels = blobs()
    rng, twin = np.random.default_rng(7), np.random.default_rng(7)
    draw_triplets(X, labels, 50, n_neighbors=1, rng=rng)
    twin.integers(60, size=50)
    assert rng.random() == twin.random()


def test_random_numbers_are_taken_for_anchors_then_near_then_far() -> None:
    X, labels = blobs()
    triplets = draw_triplets(X, labels, 80, n_neighbors=4, rng=np.random.default_rng(1))
    rng = np.random.default_rng(1)
    anchors = rng.integers(60, size=80)
    same, other = nearest_same_and_other(X, labels, anchors, n_same=4, n_other=4)
    rows = np.arange(80)
    near = same[rows, rng.integers(np.full(80, 4))]
    far = other[rows, rng.integers(np.full(80, 4))]
    np.testing.assert_array_equal(triplets, np.column_stack([anchors, near, far]))


def test_choices_are_uniform_among_the_neighbours_that_exist() -> None:
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]])
    labels = np.array([0, 0, 0, 1, 1])
    triplets = draw_triplets(X, labels, 6000, n_neighbors=3, rng=np.random.default_rng(2))
    assert (np.abs(np.bincount(triplets[:, 0]) - 1200) < 150).all()
    of_first = triplets[triplets[:, 0] == 0]
    assert set(of_first[:, 1]) == {1, 2}
    assert abs(np.mean(of_first[:, 1] == 1) - 0.5) < 0.06
    of_last = triplets[triplets[:, 0] == 4]
    assert set(of_last[:, 1]) == {3}
    assert (np.abs(np.bincount(of_last[:, 2]) / len(of_last) - 1 / 3) < 0.06).all()


def test_classes_of_one_row_are_never_anchors_but_may_be_far() -> None:
    X = np.array([[0.0], [1.0], [0.4]])
    triplets = draw_triplets(
        X, np.array([1, 1, 0]), 20, n_neighbors=1, rng=np.random.default_rng(0)
    )
    assert {tuple(triplet) for triplet in triplets.tolist()} == {(0, 1, 2), (1, 0, 2)}


def test_only_distinct_anchors_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    def spy(
        X: FloatArray, labels: IndexArray, anchors: IndexArray, **sizes: int
    ) -> tuple[IndexArray, IndexArray]:
        searched.append(anchors)
        return nearest_same_and_other(X, labels, anchors, **sizes)

    monkeypatch.setattr(draw, "nearest_same_and_other", spy)
    X, labels = blobs()
    triplets = draw_triplets(X, labels, 30, n_neighbors=2, rng=np.random.default_rng(3))
    assert len(searched) == 1
    np.testing.assert_array_equal(searched[0], np.unique(triplets[:, 0]))


@pytest.mark.parametrize(
    ("labels", "n_neighbors", "message"),
    [
        (
            [0, 0, 0],
            1,
            "^Triplets need rows of at least 2 classes, got 1: "
            r"pass labels with more than one class\.$",
        ),
        (
            [2, 1, 0],
            1,
            "^Triplets need a class with at least 2 rows, but each of the 3 rows has a class of "
            r"its own: pass labels that repeat \(classes, not targets or ids\)\.$",
        ),
        ([0, 1, 0], 0, r"^n_neighbors must be at least 1, got 0\.$"),
    ],
)
def test_refusals(labels: list[int], n_neighbors: int, message: str) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        draw_triplets(np.eye(3), np.array(labels), 5, n_neighbors=n_neighbors, rng=rng)
