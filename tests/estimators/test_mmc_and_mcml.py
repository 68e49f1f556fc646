"""MMC and MCML: exact objectives, the conditions of an optimum, and other implementations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.datasets import load_iris, load_wine

from calipers import MCML, MMC
from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.soft_neighbors import Collapse, Separation
from learners import noise
from reference.pairs_by_definition import mcml_divergence, mmc_ratio

X, Y = noise(24, 3)
PAIRS = np.array([(i, j) for i in range(24) for j in range(i)])
SIGNS = np.where(Y[PAIRS[:, 0]] == Y[PAIRS[:, 1]], 1, -1)


def standardised(load: Callable[..., Any]) -> tuple[FloatArray, IndexArray]:
    samples, labels = load(return_X_y=True)
    return (samples - samples.mean(axis=0)) / samples.std(axis=0), labels


@pytest.mark.parametrize(
    ("objective", "start"),
    [
        (Collapse(X, Y), np.eye(3)),
        (Separation(X, Y, diagonal=False), np.eye(3)),
        (Separation(X[:12] - X[12:], diagonal=False), np.eye(3)),
        (Separation(X, Y, diagonal=True), np.diag([1.0, 2.0, 3.0])),
    ],
)
def test_gradients_are_those_of_finite_differences(objective: Any, start: FloatArray) -> None:
    L = start if getattr(objective, "diagonal", False) else start + 0.1 * X[:3]
    found = objective.at(L).slope
    expected = approx_fprime(
        L.ravel(), lambda flat: objective.at(flat.reshape(3, 3)).objective, 1e-7
    ).reshape(3, 3)
    if getattr(objective, "diagonal", False):
        expected = np.diag(np.diag(expected))
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("learner", [MMC(), MMC(diagonal=True), MCML()], ids=str)
def test_the_objective_is_the_definition_and_no_other_start_is_lower(learner: Any) -> None:
    fitted = learner.set_params(tol=1e-9).fit(X, Y)
    define = mcml_divergence if isinstance(learner, MCML) else mmc_ratio
    M = fitted.get_mahalanobis_matrix()
    assert fitted.objective_ == pytest.approx(define(X, Y, M), rel=1e-8)
    if isinstance(learner, MMC):
        near = [(X[i] - X[j]) @ M @ (X[i] - X[j]) for i, j in PAIRS[SIGNS == 1]]
        assert np.mean(near) == pytest.approx(1.0)
    size = 3 if getattr(learner, "diagonal", False) else 9

    def value(flat: FloatArray) -> float:
        L = np.diag(flat) if size == 3 else flat.reshape(3, 3)
        return define(X, Y, L.T @ L)

    other = minimize(value, np.random.default_rng(0).uniform(0.5, 1.5, size), tol=1e-9)
    assert fitted.objective_ <= other.fun * (1 + 1e-6)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_optimality_on_known_data(load: Callable[..., Any]) -> None:
    """Where the objective is convex in M, its gradient G has <G, M> = 0 and no negative value."""
    samples, labels = standardised(load)
    mcml = MCML(tol=1e-9).fit(samples, labels)
    M = mcml.get_mahalanobis_matrix()
    squared = np.array([[(a - b) @ M @ (a - b) for b in samples] for a in samples])
    np.fill_diagonal(squared, np.inf)
    p = np.exp(squared.min(axis=1)[:, None] - squared)
    same = (labels[:, None] == labels) & np.isfinite(squared)
    W = same / same.sum(axis=1)[:, None] - p / p.sum(axis=1)[:, None]
    W = (W + W.T) / len(samples)
    G = samples.T @ (np.diag(W.sum(axis=1)) - W) @ samples
    scale = np.linalg.norm(M)
    assert abs(np.sum(G * M)) < 1e-3 * mcml.objective_
    assert np.linalg.eigvalsh(G)[0] * scale > -1e-2 * mcml.objective_
    mmc = MMC(tol=1e-10).fit(samples, labels)
    M = mmc.get_mahalanobis_matrix()
    B = np.zeros_like(M)
    G = np.zeros_like(M)
    n_same = 0
    for i in range(len(samples)):
        differences = samples[i] - samples
        near, far = differences[labels == labels[i]], differences[labels != labels[i]]
        B, n_same = B + near.T @ near, n_same + len(near) - 1
        G += (far / np.sqrt(np.einsum("ij,jk,ik->i", far, M, far))[:, None]).T @ far
    B /= n_same
    highest = max(np.linalg.eigvals(np.linalg.solve(B, G)).real)
    assert np.sum(G * M) == pytest.approx(highest * np.sum(B * M), rel=1e-3)


def test_all_pairs_are_the_labels() -> None:
    by_pairs, by_labels = MMC(tol=1e-9).fit_pairs(X, PAIRS, SIGNS), MMC(tol=1e-9).fit(X, Y)
    assert by_pairs.objective_ == pytest.approx(by_labels.objective_, rel=1e-6)
    for sign, kind in ((1, "near"), (-1, "far")):
        kept = np.flatnonzero(-sign == SIGNS)
        with pytest.raises(ValueError, match=rf"MMC needs pairs that should be {kind} "):
            MMC().fit_pairs(X, PAIRS[kept], SIGNS[kept])


def test_a_diagonal_metric_is_diagonal() -> None:
    M = MMC(diagonal=True).fit(X, Y).get_mahalanobis_matrix()
    np.testing.assert_allclose(M, np.diag(np.diag(M)), atol=1e-12 * np.trace(M))
