"""Nearest samples, their vote and rejection of far ones, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from calipers.evaluation import knn_error, knn_predict, nearest_samples, rejection_scores


def plain_neighbors(train: npt.NDArray[Any], sample: npt.NDArray[Any], k: int) -> list[int]:
    squared = [sum((a - b) ** 2 for a, b in zip(sample, other, strict=True)) for other in train]
    return sorted(range(len(train)), key=lambda index: (squared[index], index))[:k]


def plain_vote(labels: list[int]) -> int:
    most = max(labels.count(label) for label in labels)
    return next(label for label in labels if labels.count(label) == most)


def whole(n_samples: int) -> st.SearchStrategy[npt.NDArray[Any]]:
    return arrays(np.int64, (n_samples, 2), elements=st.integers(-3, 3))


@given(whole(12), whole(3), st.integers(1, 7), st.integers(-600, 600), st.data())
@settings(deadline=None)
def test_neighbors_and_votes_are_those_of_brute_force_at_any_scale(
    train: Any, test: Any, k: int, exponent: int, data: st.DataObject
) -> None:
    y = data.draw(arrays(np.int64, 12, elements=st.integers(0, 3)))
    near = [plain_neighbors(train, sample, k) for sample in test]
    votes = [plain_vote(y[row].tolist()) for row in near]
    for factor in (1.0, 2.0**exponent):
        scaled = train * factor, test * factor
        np.testing.assert_array_equal(nearest_samples(*scaled, n_neighbors=k), near)
        np.testing.assert_array_equal(knn_predict(scaled[0], y, scaled[1], n_neighbors=k), votes)


def test_far_from_the_origin_rounding_of_the_product_does_not_decide() -> None:
    rng = np.random.default_rng(1)
    train, test = rng.normal(size=(300, 3)) + 1e7, rng.normal(size=(40, 3)) + 1e7
    train[::2] *= -1  # the mean is near 0, so that moving the origin there does not help
    expected = [plain_neighbors(train, sample, 10) for sample in test]
    np.testing.assert_array_equal(nearest_samples(train, test, n_neighbors=10), expected)


def test_ties_by_hand() -> None:
    train, y = [[1], [2], [3], [4], [5]], [9, 4, 4, 9, 7]
    assert knn_predict(train, y, [[0]], n_neighbors=5) == [9]  # two against two
    assert knn_predict([[3], [2], [1]], [0, 1, 2], [[0]]) == [2]  # all three differ
    assert knn_predict([[1], [-1]], ["b", "a"], [[0]], n_neighbors=1) == ["b"]  # equally far


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (([[0.0, 1.0]], [0], [[0.0]], [0]), "size 2 .* size 1"),
        (([[0.0]], [0], [[0.0]], [0, 1]), "inconsistent numbers of samples"),
        (([[0.0]], [0], [[0.0]], [0], 3), "between 1 and the 1 samples of X_train, got 3"),
        (([[np.nan]], [0], [[0.0]], [0]), "X_train contains NaN"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[Any, ...], expected: str) -> None:
    given, k = arguments[:4], (*arguments, 1)[4]
    with pytest.raises(ValueError, match=expected):
        knn_error(*given, n_neighbors=k)


def plain_scores(
    train: Any, y: Any, test: Any, truth: Any, outside: Any, rate: float
) -> tuple[float, float, float]:
    """Take the smallest distance of a test sample beyond which no more than the rate is."""

    def far(sample: Any) -> float:
        return min(float(np.linalg.norm(sample - other)) for other in train)

    allowed = [
        t for t in map(far, test) if sum(far(s) > t for s in test) <= rate * len(test) + 1e-9
    ]
    limit = min(allowed)
    predicted = knn_predict(train, y, test)
    accepted = [predicted[i] == truth[i] for i, sample in enumerate(test) if far(sample) <= limit]
    rejected = [far(sample) > limit for sample in outside]
    return limit, sum(accepted) / len(accepted), sum(rejected) / len(rejected)


@pytest.mark.parametrize("n", [1, 2, 10, 29])
def test_rejection_is_that_of_a_loop(n: int) -> None:
    rng = np.random.default_rng(n)
    train, test, outside = (
        rng.integers(-reach, reach + 1, (size, 2)).astype(float)
        for reach, size in ((3, 8), (6, n), (9, 5))
    )
    y, truth = rng.integers(3, size=8), rng.integers(3, size=n)
    rates = (0.0, 0.1, 0.29, 0.5, 0.99)
    found = rejection_scores(train, y, test, truth, outside, rates=rates)
    plain = [plain_scores(train, y, test, truth, outside, rate) for rate in rates]
    rows = np.column_stack([found.thresholds, found.accuracy, found.outside_rejected])
    np.testing.assert_allclose(rows, plain, rtol=1e-12)


def test_rejected_shares_are_counted_in_whole_samples() -> None:
    test = np.arange(100.0)[:, None]
    scores = rejection_scores(
        [[0.0]], [0], test, np.zeros(100), [[70.5]], rates=[0.29], n_neighbors=1
    )
    assert scores.thresholds == [70.0]
    assert scores.outside_rejected == [1.0]
    with pytest.raises(ValueError, match=r"rates must be shares .* got \[1.0\]."):
        rejection_scores([[0.0]], [0], test, np.zeros(100), [[70.5]], rates=[1.0], n_neighbors=1)
