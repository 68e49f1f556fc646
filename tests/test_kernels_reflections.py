"""Reflections: a matrix and its tridiagonal form are one matrix seen from two sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from calipers.arrays import FloatArray
from calipers.kernels.reflections import reflect_back, tridiagonalise


def tridiagonal(A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """T and Q of ``Q' A Q = T``; the lower triangle of A, which need not be known, is spoilt."""
    d = len(A)
    alpha, beta, weights = np.zeros(d), np.zeros(d), np.zeros(d)
    factors = A.copy()
    factors[np.tril_indices(d, -1)] = np.nan
    tridiagonalise(factors, alpha, beta, weights, np.empty((3, d)))
    Q = np.eye(d)
    for row in Q:
        reflect_back(factors, weights, row)
    return np.diag(alpha) + np.diag(beta[: d - 1], 1) + np.diag(beta[: d - 1], -1), Q.T


def assert_same_matrix(A: FloatArray) -> None:
    T, Q = tridiagonal(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(len(A)), atol=1e-13)
    np.testing.assert_allclose(Q.T @ A @ Q, T, atol=1e-13 * float(np.linalg.norm(A)))


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 42, 97, 180])
@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_any_size_and_scale(d: int, scale: float) -> None:
    A = np.random.default_rng(d).standard_normal((d, d)) * scale
    assert_same_matrix(A + A.T)


@pytest.mark.parametrize("d", [2, 5, 12])
def test_nothing_beside_the_diagonal_needs_no_reflection(d: int) -> None:
    values = np.arange(d) - 2.0
    T, Q = tridiagonal(np.diag(values))
    np.testing.assert_array_equal(T, np.diag(values))
    np.testing.assert_array_equal(Q, np.eye(d))


@given(arrays(float, (6, 6), elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, 1e-9])))
def test_zeros_in_all_places(A: FloatArray) -> None:
    assert_same_matrix(A + A.T)
