"""Eigenvalues and vectors of tridiagonal matrices against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.arrays import FloatArray
from calipers.kernels import tridiagonal


def dense(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    off = beta[: len(alpha) - 1]
    return np.asarray(np.diag(alpha) + np.diag(off, 1) + np.diag(off, -1))


def random(seed: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Two arrays of length n; the last of ``beta`` is not part of the matrix."""
    rng = np.random.default_rng(seed)
    alpha = rng.choice([-1.0, 0.0, 1.0], size=n) + 10.0 ** rng.integers(-8, 1) * rng.random(n)
    return alpha, 10.0 ** rng.integers(-6, 1) * rng.uniform(-1.0, 1.0, n)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.floats(-2, 2))
def test_count_below(seed: int, n: int, x: float) -> None:
    alpha, beta = random(seed, n)
    every = np.linalg.eigvalsh(dense(alpha, beta))
    count = tridiagonal.count_below(alpha, beta, n, x)
    assert np.sum(every < x - 1e-13) <= count <= np.sum(every < x + 1e-13)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_nothing_lies_below_all(seed: int, n: int) -> None:
    alpha, beta = random(seed, n)
    lowest = np.linalg.eigvalsh(dense(alpha, beta))[0]
    assert tridiagonal.below_all(alpha, beta, n) <= lowest + 1e-14


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_nth_lowest_is_the_nth(seed: int, n: int) -> None:
    """Also where others are as near as rounding."""
    alpha, beta = random(seed, n)
    T = dense(alpha, beta)
    every, low = np.linalg.eigvalsh(T), tridiagonal.below_all(alpha, beta, n)
    for nth in range(np.count_nonzero(every < -1e-6)):
        vector, room = np.empty(n), np.empty((2, n))
        found = tridiagonal.nth_lowest(alpha, beta, n, nth, low - 1e-9, -1e-9, 1e-15, vector, room)
        assert found == pytest.approx(every[nth], abs=1e-13)
        assert np.linalg.norm(vector) == pytest.approx(1.0)
        np.testing.assert_allclose(T @ vector, found * vector, atol=1e-10)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_twisted_converges_to_a_pair(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    alpha, beta = np.arange(1.0, n + 1), 0.3 * rng.random(n)
    T = dense(alpha, beta)
    x, vector, room = 1.1, np.empty(n), np.empty((2, n))
    for _ in range(8):
        x += tridiagonal.twisted(alpha, beta, n, x, vector, room)
    np.testing.assert_allclose(T @ vector, x * vector, atol=1e-12)
