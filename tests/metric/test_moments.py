"""Second moments against sums over all pairs; blocks, batches and clusters give the same."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples
from calipers.metric.moments import Moments, StreamedMoments, mean_outer_product, moments_of

RNG = np.random.default_rng(0)
Y = RNG.integers(4, size=60)
X = RNG.standard_normal((60, 3)) * [1.0, 5.0, 0.1] + Y[:, None] + 100.0
SAMPLES = MemorySamples(X, Y)


def over_pairs(same: bool) -> FloatArray:
    pairs = [(i, j) for i, j in combinations(range(60), 2) if (Y[i] == Y[j]) == same]
    products = [np.outer(X[i] - X[j], X[i] - X[j]) for i, j in pairs]
    return np.asarray(np.mean(products, axis=0))


def assert_moments(got: Moments, expected: Moments) -> None:
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


def test_pairs_of_labels_are_all_pairs() -> None:
    moments = moments_of(SAMPLES)
    np.testing.assert_allclose(moments.similar, over_pairs(True), rtol=1e-10)
    np.testing.assert_allclose(moments.dissimilar, over_pairs(False), rtol=1e-10)
    np.testing.assert_allclose(moments.covariance, np.cov(X.T, bias=True), rtol=1e-10)


def test_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = moments_of(SAMPLES)
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 21)
    assert_moments(moments_of(SAMPLES), expected)


@pytest.mark.parametrize("cuts", [[], [1, 2, 40], range(1, 60)])
def test_batches(cuts: list[int]) -> None:
    stream = StreamedMoments()
    for batch, labels in zip(np.split(X, cuts), np.split(Y, cuts), strict=True):
        stream.add(batch, labels)
    assert_moments(stream.moments(), moments_of(SAMPLES))
    assert stream.classes.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("cuts", [[], [1, 2, 40], range(1, 60)])
def test_batches_of_which_variances_are_kept(cuts: list[int]) -> None:
    stream, weights = StreamedMoments(diagonal=True), RNG.random(60)
    for some in np.split(np.arange(60), cuts):
        stream.add(X[some], np.zeros(len(some)), weights[some])
    expected = np.average((X - np.average(X, axis=0, weights=weights)) ** 2, 0, weights)
    np.testing.assert_allclose(stream.variances, expected, rtol=1e-10)


def test_given_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.metric.moments.PAIRS_AT_ONCE", 7)
    pairs = RNG.integers(60, size=(30, 2))
    v = X[pairs[:, 0]] - X[pairs[:, 1]]
    np.testing.assert_allclose(mean_outer_product(SAMPLES, pairs), v.T @ v / 30, rtol=1e-12)
