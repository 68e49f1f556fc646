"""Exact neighbours and the vote among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.datasets import load
from calipers.evaluation import knn_error, knn_predict, nearest_rows, split_error
from calipers.triplets import search


def plain_neighbors(train: npt.NDArray[Any], row: npt.NDArray[Any], k: int) -> list[int]:
    squared = [sum((a - b) ** 2 for a, b in zip(row, other, strict=True)) for other in train]
    return sorted(range(len(train)), key=lambda index: (squared[index], index))[:k]


def plain_vote(labels: list[int]) -> int:
    most = max(labels.count(label) for label in labels)
    return next(label for label in labels if labels.count(label) == most)


def whole(rows: int) -> st.SearchStrategy[npt.NDArray[Any]]:
    return arrays(np.int64, (rows, 2), elements=st.integers(-3, 3))


@given(train=whole(12), test=whole(3), k=st.integers(1, 12), scale=st.integers(-600, 600))
@settings(deadline=None)
def test_neighbors_are_those_of_brute_force_at_any_scale(
    train: npt.NDArray[Any], test: npt.NDArray[Any], k: int, scale: int
) -> None:
    expected = [plain_neighbors(train, row, k) for row in test]
    for factor in (1.0, 2.0**scale):
        found = nearest_rows(train * factor, test * factor, n_neighbors=k)
        np.testing.assert_array_equal(found, expected)


@given(train=whole(12), test=whole(3), k=st.integers(1, 7), data=st.data())
@settings(deadline=None)
def test_prediction_is_that_of_brute_force(
    train: npt.NDArray[Any], test: npt.NDArray[Any], k: int, data: st.DataObject
) -> None:
    y = data.draw(arrays(np.int64, 12, elements=st.integers(0, 3)))
    expected = [plain_vote([int(y[i]) for i in plain_neighbors(train, row, k)]) for row in test]
    np.testing.assert_array_equal(knn_predict(train, y, test, n_neighbors=k), expected)


@pytest.mark.parametrize("whole_numbers", [True, False])
def test_the_way_of_searching_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, whole_numbers: bool
) -> None:
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(700, 5)), rng.normal(size=(60, 5))
    if whole_numbers:
        train, test = np.rint(2 * train), np.rint(2 * test)
    expected = [plain_neighbors(train, row, 4) for row in test]
    for least_anchors in (1, 1000):  # by a tree, and by products
        monkeypatch.setattr(search, "_TREE_ANCHORS", least_anchors)
        monkeypatch.setattr(search, "_TREE_SHARE", 2.0)
        np.testing.assert_array_equal(nearest_rows(train, test, n_neighbors=4), expected)


def test_far_from_the_origin_rounding_of_the_product_does_not_decide() -> None:
    rng = np.random.default_rng(1)
    train, test = rng.normal(size=(300, 3)) + 1e7, rng.normal(size=(40, 3)) + 1e7
    train[::2] *= -1  # the mean is near 0, so that moving the origin there does not help
    expected = [plain_neighbors(train, row, 10) for row in test]
    np.testing.assert_array_equal(nearest_rows(train, test, n_neighbors=10), expected)


def test_duplicates_tie_exactly_and_the_lowest_index_comes_first() -> None:
    row = np.random.default_rng(2).normal(size=(1, 17))
    train = np.repeat(row, 500, axis=0)
    np.testing.assert_array_equal(nearest_rows(train, row + 0.1, n_neighbors=3), [[0, 1, 2]])


def test_three_different_labels_go_to_the_nearest() -> None:
    assert knn_predict([[3], [2], [1]], [0, 1, 2], [[0]]) == [2]


def test_two_against_two_goes_to_the_class_with_the_nearest_member() -> None:
    train, y = [[1], [2], [3], [4], [5]], [9, 4, 4, 9, 7]
    assert knn_predict(train, y, [[0]], n_neighbors=5) == [9]
    assert knn_predict(train, y, [[0]], n_neighbors=3) == [4]


def test_equal_distances_go_to_the_lower_index() -> None:
    assert knn_predict([[1], [-1]], ["b", "a"], [[0]], n_neighbors=1) == ["b"]


def test_error_is_the_fraction_that_is_wrong() -> None:
    assert knn_error([[0], [9]], [0, 1], [[1], [2], [8], [7]], [0, 1, 1, 1], n_neighbors=1) == 0.25


def test_split_error_applies_the_metric_to_both_parts() -> None:
    class SepalWidth:
        def transform(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            return np.asarray(X * [0, 2, 0, 0])

    data = load("iris")
    expected = knn_error(data.X_train[:, 1:2], data.y_train, data.X_test[:, 1:2], data.y_test)
    assert split_error(data, SepalWidth()) == expected
    assert split_error(data) < expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([[0.0, 1.0]], [0], [[0.0]]), "same features, got 2 and 1 columns."),
        (([[0.0]], [0, 1], [[0.0]]), "each of the 1 rows of X_train, got shape (2,)."),
        (([[0.0]], [0], [[0.0]]), "between 1 and the 1 rows of X_train, got 3."),
        (([[np.nan]], [0], [[0.0]]), "X_train contains NaN or infinity: clean or fill it first."),
        (([[0.0]], [0], [0.0]), "X_test must have two dimensions, got 1."),
    ],
)
def test_bad_input_gets_a_sentence(arguments: tuple[Any, Any, Any], expected: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        knn_predict(*arguments)
    assert str(caught.value).endswith(expected)


def test_error_needs_a_label_for_each_test_row() -> None:
    with pytest.raises(ValueError, match=r"got shape \(2,\) for 1 rows"):
        knn_error([[0.0]], [0], [[0.0]], [0, 1], n_neighbors=1)
