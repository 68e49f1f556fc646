"""Rejection of far queries against a plain loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calipers.evaluation import knn_predict, rejection_scores


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


@given(st.integers(0, 10_000), st.integers(1, 30))
@settings(deadline=None, max_examples=40)
def test_scores_are_those_of_a_loop(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
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
    np.testing.assert_array_equal(found.rates, rates)


def test_a_share_is_counted_in_whole_samples() -> None:
    test = np.arange(100.0)[:, None]
    scores = rejection_scores(
        [[0.0]], [0], test, np.zeros(100), [[70.5]], rates=[0.29], n_neighbors=1
    )
    assert scores.thresholds == [70.0]
    assert scores.outside_rejected == [1.0]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"rates": [1.0]}, r"rates must be shares from 0 to less than 1, got \[1.0\]."),
        ({"rates": [np.nan]}, r"rates must be shares from 0 to less than 1"),
        ({"rates": 0.1}, r"rates must be shares from 0 to less than 1, got 0.1."),
        ({"y_test": [0, 1]}, r"y_test must have one label .* got shape \(2,\) for 1 samples."),
        ({"X_outside": np.empty((0, 1))}, "X_outside must have at least one sample, got none."),
        ({"X_outside": [[np.inf]]}, "X_outside contains NaN or infinity: clean or fill it first."),
    ],
)
def test_mistakes_are_told(how: dict[str, Any], sentence: str) -> None:
    given = {"y_test": [0], "X_outside": [[1.0]], "n_neighbors": 1, **how}
    with pytest.raises(ValueError, match=sentence):
        rejection_scores([[0.0]], [0], [[0.0]], **given)
