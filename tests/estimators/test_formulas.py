"""GMML and KISSME meet the equations that define them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import oas

from calipers.arrays import FloatArray
from calipers.estimators.closed_forms import Spectrum, geometric_mean, likelihood_ratio


def positive_definite(seed: int, d: int = 4) -> FloatArray:
    A = np.random.default_rng(seed).standard_normal((3 * d, d))
    return A.T @ A


S, D = positive_definite(0), positive_definite(1)


def gmml(t: float) -> FloatArray:
    L = geometric_mean(Spectrum.of(S), Spectrum.of(D), t)
    return L.T @ L


def test_gmml_minimises_near_plus_far_distances_under_the_inverse() -> None:
    """tr(MS) + tr(inv(M) D) is least where M S M = D."""
    M = gmml(0.5)
    np.testing.assert_allclose(M @ S @ M, D, rtol=1e-9)


def test_gmml_goes_from_the_inverse_of_near_to_far() -> None:
    np.testing.assert_allclose(gmml(0.0), np.linalg.inv(S), rtol=1e-9)
    np.testing.assert_allclose(gmml(1.0), D, rtol=1e-9)


def test_kissme_is_the_nearest_metric_to_the_likelihood_ratio() -> None:
    L = likelihood_ratio(Spectrum.of(S), Spectrum.of(D))
    ratio = np.linalg.inv(S) - np.linalg.inv(D)
    values, vectors = np.linalg.eigh(ratio)
    assert values[0] < 0.0 < values[-1]
    np.testing.assert_allclose(L.T @ L, (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-9)


@pytest.mark.parametrize("n", [5, 50, 5000])
def test_shrinkage_is_the_oracle_approximating_one(n: int) -> None:
    X = np.random.default_rng(2).standard_normal((n, 3)) @ np.diag([1.0, 2.0, 3.0])
    expected, _ = oas(X, assume_centered=True)
    np.testing.assert_allclose(Spectrum.shrunk(X.T @ X / n, n).power(1.0), expected)


def test_nothing_differs() -> None:
    np.testing.assert_array_equal(Spectrum.shrunk(np.zeros((2, 2)), 5).power(-1.0), np.eye(2))
