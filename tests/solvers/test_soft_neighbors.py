"""Losses of soft neighbours: scikit-learn's NCA, definitions, finite differences, blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import softmax
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from calipers.arrays import FloatArray
from calipers.solvers import soft_neighbors
from calipers.solvers.soft_neighbors import (
    AllAnchors,
    expected_errors,
    squared_errors,
)

RNG = np.random.default_rng(0)
X, LABELS = RNG.standard_normal((70, 5)), np.arange(70) % 3
TARGETS = X[:, 0] + 0.1 * RNG.standard_normal(70)
L = RNG.standard_normal((2, 5))
LOSSES: dict[str, tuple[Any, npt.NDArray[Any]]] = {
    "NCA": (expected_errors, LABELS),
    "MLKR": (squared_errors, TARGETS),
}
each_loss = pytest.mark.parametrize("name", LOSSES)


def probabilities(L: FloatArray) -> FloatArray:
    squared = np.sum((X[:, None] @ L.T - X @ L.T) ** 2, axis=2)
    np.fill_diagonal(squared, np.inf)
    return np.asarray(softmax(-squared, axis=1))


def by_definition(name: str, L: FloatArray) -> float:
    p = probabilities(L)
    if name == "MLKR":
        return float(np.sum((p @ TARGETS - TARGETS) ** 2))
    of_class = np.sum(p * (LABELS[:, None] == LABELS), axis=1)
    return float(np.sum(1.0 - of_class))


@each_loss
@pytest.mark.parametrize("block", [1, 2**19])
def test_value_and_gradient(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_neighbors, "_BLOCK_DISTANCES", block)
    loss, targets = LOSSES[name]
    value = AllAnchors(loss, X, targets).at(L)
    assert np.isclose(value.objective, by_definition(name, L), rtol=1e-12)
    for place in np.ndindex(L.shape):
        up, down = L.copy(), L.copy()
        up[place] += 1e-5
        down[place] -= 1e-5
        slope = (by_definition(name, up) - by_definition(name, down)) / 2e-5
        assert np.isclose(value.slope[place], slope, rtol=1e-5, atol=1e-7)


def test_the_objective_is_that_of_scikit_learns_nca() -> None:
    theirs = NeighborhoodComponentsAnalysis()
    theirs.n_iter_ = 0
    is_same = LABELS[:, None] == LABELS
    minus_sum, gradient = theirs._loss_grad_lbfgs(L.ravel(), X, is_same, -1.0)
    value = AllAnchors(expected_errors, X, LABELS).at(L)
    assert abs((value.objective - len(X)) - minus_sum) < 1e-8
    np.testing.assert_allclose(value.slope.ravel(), gradient, rtol=1e-8, atol=1e-8)


@each_loss
def test_samples_far_from_all_others(name: str) -> None:
    loss, targets = LOSSES[name]
    value = AllAnchors(loss, 1e3 * X, targets).at(L)
    assert np.isfinite(value.objective)
    assert np.isfinite(value.slope).all()


def test_anchors_without_a_positive_or_a_negative_have_no_gradient() -> None:
    squared, classes = RNG.random((3, 4)), np.array([0, 0, 1, 1])
    squared[:2, 2:] = np.inf
    weights, values = expected_errors(squared, np.array([0, 1, 0]), classes)
    np.testing.assert_array_equal(weights[:2], 0.0)
    assert weights[2].any()
    alone = expected_errors(squared[2:], np.array([0]), classes)
    np.testing.assert_allclose(values, [0.0, 1.0, alone[1][0]])
