"""The vote among the nearest samples, and its error."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.evaluation import knn_error, knn_predict


def plain_neighbors(train: npt.NDArray[Any], sample: npt.NDArray[Any], k: int) -> list[int]:
    squared = ((train - sample) ** 2).sum(axis=1)
    return sorted(range(len(train)), key=lambda index: (squared[index], index))[:k]


WHOLE = st.integers(-3, 3)


def plain_vote(labels: list[int]) -> int:
    most = max(labels.count(label) for label in labels)
    return next(label for label in labels if labels.count(label) == most)


@given(
    train=arrays(np.int64, (12, 2), elements=WHOLE),
    test=arrays(np.int64, (3, 2), elements=WHOLE),
    k=st.integers(1, 7),
    data=st.data(),
)
@settings(deadline=None)
def test_prediction_is_that_of_brute_force(
    train: npt.NDArray[Any], test: npt.NDArray[Any], k: int, data: st.DataObject
) -> None:
    y = data.draw(arrays(np.int64, 12, elements=st.integers(0, 3)))
    expected = [
        plain_vote([int(y[i]) for i in plain_neighbors(train, sample, k)]) for sample in test
    ]
    np.testing.assert_array_equal(knn_predict(train, y, test, n_neighbors=k), expected)


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


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([[0.0, 1.0]], [0], [[0.0]]), "same features, got 2 and 1."),
        (([[0.0]], [0, 1], [[0.0]]), "each of the 1 samples of X_train, got shape (2,)."),
        (([[0.0]], [0], [[0.0]]), "between 1 and the 1 samples of X_train, got 3."),
        (([[np.nan]], [0], [[0.0]]), "X_train contains NaN or infinity: clean or fill it first."),
        (([[0.0]], [0], [0.0]), "X_test must have two dimensions, got 1."),
    ],
)
def test_bad_input_gets_a_sentence(arguments: tuple[Any, Any, Any], expected: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        knn_predict(*arguments)
    assert str(caught.value).endswith(expected)


def test_error_needs_a_label_for_each_test_sample() -> None:
    with pytest.raises(ValueError, match=r"got shape \(2,\) for 1 samples"):
        knn_error([[0.0]], [0], [[0.0]], [0, 1], n_neighbors=1)
