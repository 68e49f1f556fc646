"""Factors of a matrix, and whether there are any."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray
from calipers.kernels import cholesky

SIZES = [2, 5, 42, 96, 97, 130]  # by hand up to 96, by LAPACK from there


def with_spectrum(values: FloatArray) -> FloatArray:
    d = len(values)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((d, d)))[0]
    M = (Q * values) @ Q.T
    return np.asarray((M + M.T) / 2)


@pytest.mark.parametrize("d", SIZES)
def test_is_positive_by_hand_and_by_lapack(d: int) -> None:
    room = np.empty((d, d))
    M = with_spectrum(np.linspace(0.5, 2.0, d))
    before = M.copy()
    assert cholesky.is_positive(M, 0.0, room)
    assert cholesky.is_positive(M, -0.499, room)
    assert not cholesky.is_positive(M, -0.501, room)
    assert not cholesky.is_positive(with_spectrum(np.linspace(-1e-6, 2.0, d)), 0.0, room)
    assert not cholesky.is_positive(np.zeros((d, d)), 0.0, room)
    np.testing.assert_array_equal(M, before)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 11, 42, 96, 97, 130])
def test_factors_multiply_to_the_matrix(d: int) -> None:
    M = with_spectrum(np.linspace(0.5, 2.0, d))
    factors = np.empty((d, d))
    assert cholesky.factors_of(M - 0.1 * np.eye(d), 0.1, factors)
    upper = np.triu(factors)
    np.testing.assert_allclose(
        (upper / np.diag(upper)[:, None]).T @ upper, M, rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 11, 42, 130])
def test_solve(d: int) -> None:
    M, x = with_spectrum(np.linspace(0.5, 2.0, d)), np.arange(1.0, d + 1)
    factors, solution = np.empty((d, d)), x.copy()
    assert cholesky.factors_of(M, 0.0, factors)
    cholesky.solve(factors, solution)
    np.testing.assert_allclose(M @ solution, x, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 11, 42, 96])
def test_negative_eigenvalues_are_counted(d: int) -> None:
    for below in range(min(d, 4) + 1):
        values = np.linspace(0.5, 2.0, d)
        values[:below] = -np.linspace(1e-3, 1.0, max(below, 1))[:below]
        M, factors = with_spectrum(values), np.empty((d, d))
        norm = float(np.linalg.norm(values))
        assert cholesky.count_negative(M, 0.0, norm, factors) == below
        assert cholesky.count_negative(M, 1.1, norm + 1.1, factors) == 0


def test_pivots_that_vanish_or_grow_are_told() -> None:
    factors = np.empty((2, 2))
    nil, small = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1e-9, 1.0], [1.0, 0.0]])
    assert cholesky.count_negative(nil, 0.0, 1.0, factors) == -1
    assert cholesky.count_negative(small, 0.0, 1.0, factors) == -1
    assert cholesky.count_negative(small, 0.5, 1.0, factors) == 1
