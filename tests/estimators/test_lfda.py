"""LFDA: its scatters by definition, the ratio it maximises, and classes of several clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import load_breast_cancer, load_wine

from calipers import LFDA, Discriminant
from calipers.data.samples import MemorySamples
from calipers.estimators import lfda as module
from calipers.estimators.closed_forms import local_discriminants
from calipers.estimators.lfda import local_scatters
from calipers.evaluation import knn_error
from calipers.metric.moments import moments_of

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 3)) + 5.0, np.arange(40) % 3
K = 4


def by_definition() -> tuple[np.ndarray, np.ndarray]:
    within, between = np.zeros((2, 3, 3))
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    width = [np.sort(distance[i, Y[i] == Y])[K] for i in range(40)]
    for i in range(40):
        for j in range(40):
            outer = np.outer(X[i] - X[j], X[i] - X[j]) / 2.0
            if Y[i] != Y[j]:
                between += outer / 40
                continue
            affinity = np.exp(-(distance[i, j] ** 2) / (width[i] * width[j]))
            within += affinity * outer / np.sum(Y[i] == Y)
            between += affinity * outer * (1 / 40 - 1 / np.sum(Y[i] == Y))
    return within, between


@pytest.mark.parametrize("block", [1, 2**19])
def test_scatters(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AFFINITIES", block)
    samples = MemorySamples(X, Y)
    got = local_scatters(samples, moments_of(samples), K)
    for one, other in zip(got, by_definition(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_directions_have_the_largest_ratios() -> None:
    within, between = by_definition()
    L = local_discriminants(within, between, 1)
    best = (L[0] @ between @ L[0]) / (L[0] @ within @ L[0])
    for v in RNG.standard_normal((200, 3)):
        assert (v @ between @ v) / (v @ within @ v) <= best * (1 + 1e-9)
    np.testing.assert_allclose(L[0] @ within @ L[0], best)


@pytest.mark.parametrize(("load", "k"), [(load_wine, 5), (load_breast_cancer, 8)])
def test_few_components_are_those_of_largest_ratio(load: Any, k: int) -> None:
    samples, labels = load(return_X_y=True)
    unit = samples.std(axis=0)
    scaled = MemorySamples(samples / unit, labels)
    within, between = local_scatters(scaled, moments_of(scaled), 7)
    best = eigh(between, within)[1][:, -k:]
    rows = LFDA(n_components=k).fit(samples, labels).components_ * unit
    np.testing.assert_allclose(subspace_angles(rows.T, best), 0.0, atol=1e-4)


def test_classes_of_two_clusters() -> None:
    """The means of both classes are the same, so Fisher's discriminant sees nothing."""
    rng = np.random.default_rng(1)
    place = np.array([-6.0, -2.0, 2.0, 6.0])[np.arange(200) % 4]
    samples = np.column_stack([10.0 * rng.standard_normal((200, 3)), place + 0.3 * rng.random(200)])
    labels = np.array([0, 1, 1, 0])[np.arange(200) % 4]
    errors = {
        type(learner).__name__: knn_error(Z[:100], labels[:100], Z[100:], labels[100:])
        for learner in (LFDA(1), Discriminant())
        for Z in [learner.fit(samples[:100], labels[:100]).transform(samples)]
    }
    assert errors["LFDA"] < 0.05 < 0.3 < errors["Discriminant"]


def test_bits_are_the_same_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AFFINITIES", 40)
    samples, labels = load_wine(return_X_y=True)
    got = []
    for threads in ("1", "4"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", threads)
        got.append(LFDA().fit(samples, labels).components_)
    np.testing.assert_array_equal(got[0], got[1])


def test_samples_that_repeat_count_nothing() -> None:
    """Their k-th nearest is at distance 0, so that no distance has a scale there."""
    repeated = MemorySamples(np.vstack([X[Y == 0], np.zeros((6, 3))]), np.zeros(20, dtype=np.intp))
    alone = MemorySamples(X[Y == 0], np.zeros(14, dtype=np.intp))
    within = [20 * local_scatters(repeated, moments_of(repeated), K)[0]]
    within.append(14 * local_scatters(alone, moments_of(alone), K)[0])
    np.testing.assert_allclose(within[0], within[1], rtol=1e-9)
