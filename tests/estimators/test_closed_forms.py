"""RCA, KISSME and GMML: formulas of all pairs, from labels, from pairs and from a stream."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from sklearn.covariance import oas

from calipers import (
    GMML,
    KISSME,
    RCA,
    Discriminant,
    Scaled,
    TripletSGD,
    WithinClass,
)
from calipers.arrays import FloatArray
from learners import iris, metric_of

X, Y = iris()
SCALED = X / X.std(axis=0)
PAIRS = np.array([*combinations(range(0, 150, 3), 2)])
SIGNS = np.where(Y[PAIRS[:, 0]] == Y[PAIRS[:, 1]], 1, -1)
LEARNERS: list[Any] = [RCA(), KISSME(), GMML(), GMML(t=0.2)]
each = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def shrunk(matrix: FloatArray, n: int) -> FloatArray:
    """By scikit-learn, of samples whose covariance is the matrix."""
    root = np.linalg.cholesky(matrix).T * np.sqrt(n)
    padded = np.vstack([root, np.zeros((n - len(root), len(root)))])
    return np.asarray(oas(padded, assume_centered=True)[0])


def power(matrix: FloatArray, exponent: float) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * values**exponent) @ vectors.T)


def formula(learner: Any, S: FloatArray, D: FloatArray) -> FloatArray:
    if isinstance(learner, KISSME):
        values, vectors = np.linalg.eigh(np.linalg.inv(S) - np.linalg.inv(D))
        return np.asarray((vectors * np.maximum(values, 0)) @ vectors.T)
    half, inverse = power(S, 0.5), power(S, -0.5)
    return inverse @ power(half @ D @ half, learner.t) @ inverse


def plain(learner: Any, Z: FloatArray, pairs: Any, signs: Any, n: Any) -> FloatArray:
    v = Z[pairs[:, 0]] - Z[pairs[:, 1]]
    S, D = (
        shrunk(v[signs == sign].T @ v[signs == sign] / np.sum(signs == sign), n(signs == sign))
        for sign in (1, -1)
    )
    return formula(learner, S, D)


@pytest.mark.parametrize("learner", LEARNERS[1:], ids=str)
def test_labels_are_all_pairs(learner: Any) -> None:
    pairs = np.array([*combinations(range(150), 2)])
    signs = np.where(Y[pairs[:, 0]] == Y[pairs[:, 1]], 1, -1)
    unit = X.std(axis=0)
    expected = plain(learner, SCALED, pairs, signs, lambda of_kind: 150) / np.outer(unit, unit)
    np.testing.assert_allclose(metric_of(learner, X, Y), expected, rtol=1e-7)


@pytest.mark.parametrize("learner", LEARNERS[1:], ids=str)
def test_given_pairs(learner: Any) -> None:
    unit = X.std(axis=0)
    expected = plain(learner, SCALED, PAIRS, SIGNS, np.sum) / np.outer(unit, unit)
    got = learner.fit_pairs(X, PAIRS, SIGNS).get_mahalanobis_matrix()
    np.testing.assert_allclose(got, expected, rtol=1e-7)


def test_rca_is_the_inverse_covariance_within_chunklets() -> None:
    centered = X - np.array([X[c == Y].mean(axis=0) for c in range(3)])[Y]
    expected = np.linalg.inv(centered.T @ centered / 150)
    np.testing.assert_allclose(metric_of(RCA(), X, Y), expected, rtol=1e-7)


def test_rca_joins_pairs_to_chunklets() -> None:
    pairs = np.array([[0, 9], [9, 4], [60, 70], [70, 80], [80, 90], [0, 120]])
    used = [0, 4, 9, 60, 70, 80, 90]
    got = RCA().fit_pairs(X, pairs, [1, 1, 1, 1, 1, -1])
    expected = RCA().fit(X[used], Y[used])
    np.testing.assert_allclose(
        got.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), rtol=1e-7
    )


@each
def test_a_stream_is_one_fit(learner: Any) -> None:
    expected = metric_of(learner, X, Y)
    order = np.random.default_rng(0).permutation(150)
    stream = type(learner)(**learner.get_params())
    for some in np.split(order, [1, 2, 30, 31]):
        stream.partial_fit(X[some], Y[some])
        assert np.isfinite(stream.components_).all()
    np.testing.assert_allclose(stream.get_mahalanobis_matrix(), expected, rtol=1e-8)
    assert stream.classes_.tolist() == [0, 1, 2]
    before = stream.components_.copy()
    with pytest.raises(ValueError, match="NaN"):
        stream.partial_fit(np.full((1, 4), np.nan), [0])
    np.testing.assert_array_equal(stream.components_, before)
    np.testing.assert_allclose(stream.fit(X, Y).get_mahalanobis_matrix(), expected)


def test_labels_that_are_noise_leave_standardised_features() -> None:
    """Similar pairs are farther apart than dissimilar ones, so that inv(S) - inv(D) is below 0."""
    Z = np.random.default_rng(2).standard_normal((500, 5)) * [1, 2, 3, 4, 5]
    noise = np.random.default_rng(0).integers(3, size=500)
    expected = Scaled().fit(Z).get_mahalanobis_matrix()
    np.testing.assert_allclose(metric_of(KISSME(), Z, noise), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("learner", [KISSME, GMML])
def test_standardised_features_until_there_are_two_classes(learner: Any) -> None:
    stream = learner().partial_fit(X[Y == 0], Y[Y == 0])
    expected = Scaled().fit(X[Y == 0]).get_mahalanobis_matrix()
    np.testing.assert_allclose(stream.get_mahalanobis_matrix(), expected, rtol=1e-9, atol=1e-12)
    expected = metric_of(learner(), X[Y < 2], Y[Y < 2])
    stream.partial_fit(X[Y == 1], Y[Y == 1])
    np.testing.assert_allclose(stream.get_mahalanobis_matrix(), expected, rtol=1e-8)


@each
def test_units_of_features_do_not_matter(learner: Any) -> None:
    units = np.array([1e-6, 1.0, 1e3, 1e6])
    expected = metric_of(learner, X, Y) / np.outer(units, units)
    np.testing.assert_allclose(metric_of(learner, X * units, Y), expected, rtol=1e-6)


@pytest.mark.parametrize("learner", [GMML(), KISSME(), RCA()], ids=str)
def test_units_of_pairs_are_of_all_samples(learner: Any) -> None:
    """Samples that an evenly spaced part of 20,000 leaves out have the spread of a feature."""
    rng = np.random.default_rng(1)
    samples = rng.normal(size=(40_001, 3))
    left_out = np.setdiff1d(np.arange(40_001), np.linspace(0, 40_000, 20_000).astype(int))
    samples[:, 2] = 0.0
    samples[left_out, 2] = 1e3 * rng.normal(size=len(left_out))
    pairs = rng.permutation(left_out)[:4000].reshape(-1, 2)
    signs = np.where(abs(np.subtract(*samples[pairs, 0].T)) < 1.0, 1, -1)
    order = rng.permutation(40_001)
    moved = np.argsort(order)[pairs]
    one, other = (
        learner.fit_pairs(*given, signs).get_mahalanobis_matrix()
        for given in ((samples, pairs), (samples[order], moved))
    )
    np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-9 * one.max())


def test_equal_class_means_are_no_metric_of_zeros() -> None:
    """A balanced design with a constant feature: no direction discriminates, and all tie."""
    design = np.array([[a, b, c, 1.0] for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3)
    fitted = Discriminant().fit(design, (design[:, 0] != design[:, 1]).astype(int))
    assert np.ptp(fitted.transform(design)) > 0.1


STREAMS: list[Any] = [
    *(GMML(), Discriminant(), WithinClass()),
    *(Scaled(), Scaled(n_components=2), TripletSGD(random_state=0)),
]


@pytest.mark.parametrize("learner", STREAMS, ids=str)
def test_a_stream_keeps_the_spread_of_its_features(learner: Any) -> None:
    streamed = learner.partial_fit(X[::2], Y[::2]).partial_fit(X[1::2], Y[1::2])
    np.testing.assert_allclose(streamed.feature_scale_, X.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("learner", [GMML(), TripletSGD(random_state=0)], ids=str)
@pytest.mark.parametrize("kind", ["int8", "float32", "U3", "tuples"])
def test_a_stream_has_the_labels_of_a_fit(learner: Any, kind: str) -> None:
    y = np.empty(150, dtype=object)
    if kind == "tuples":
        y[:] = [(int(label), "x") for label in Y]
    else:
        y = Y.astype(kind)
    expected = learner.fit(X, y).classes_
    classes = learner.partial_fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2]).classes_
    assert classes.dtype == expected.dtype
    assert classes.tolist() == expected.tolist()
