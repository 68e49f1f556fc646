"""The factor of a metric."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers.arrays import FloatArray
from calipers.metric.coordinates import factor


def positive(seed: int, d: int, rank: int) -> FloatArray:
    root = np.random.default_rng(seed).standard_normal((d, rank))
    return np.asarray(root @ root.T)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 8))
def test_factor_times_itself_is_the_metric(seed: int, d: int, rank: int) -> None:
    M = positive(seed, d, min(rank, d))
    L = factor(M)
    assert L.shape == (d, d)
    np.testing.assert_allclose(L.T @ L, M, atol=1e-10 * (1 + float(np.linalg.norm(M))))


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_rows_fall_in_length_and_their_largest_entry_is_positive(seed: int, d: int) -> None:
    L = factor(positive(seed, d, d))
    lengths = np.linalg.norm(L, axis=1)
    assert (np.diff(lengths) <= 1e-12 * lengths[0]).all()
    largest = np.take_along_axis(L, np.abs(L).argmax(axis=1)[:, None], axis=1)
    assert (largest >= 0).all()
    gram = L @ L.T
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-10 * lengths[0] ** 2)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8))
def test_fewer_rows_are_the_first_ones(seed: int, d: int, n_components: int) -> None:
    M = positive(seed, d, d)
    n_components = min(n_components, d)
    np.testing.assert_array_equal(factor(M, n_components), factor(M)[:n_components])


def test_negative_rounding_is_cut_and_no_zero_is_negative() -> None:
    L = factor(np.diag([1.0, -1e-17]))
    np.testing.assert_array_equal(L, [[1.0, 0.0], [0.0, 0.0]])
    assert not np.signbit(L).any()


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(1, 8))
def test_features_of_unlike_units_keep_their_digits(seed: int, d: int, rank: int) -> None:
    """Millions beside thousandths, and worse: the metric is what it is in units that are alike."""
    M, rng = positive(seed, d, min(rank, d)), np.random.default_rng(seed)
    units = np.ldexp(1.0, rng.permutation(np.linspace(-60, 60, d).astype(int)))
    graded = units * M * units[:, None]
    L, usual = factor(graded), np.sqrt(np.diag(M))
    alike = L / units / usual
    np.testing.assert_allclose(alike.T @ alike, M / usual / usual[:, None], atol=1e-12)
    lengths = np.linalg.norm(L, axis=1)
    assert (np.diff(lengths) <= 0.0).all()
    seen = L[lengths > 1e-6 * units.min()] / lengths[lengths > 1e-6 * units.min(), None]
    np.testing.assert_allclose(seen @ seen.T, np.eye(len(seen)), atol=1e-10)
    np.testing.assert_array_equal(factor(graded, 1), L[:1])


@pytest.mark.parametrize("smallest", [0.0, 1e-26])
def test_rounding_is_no_feature_of_small_units(smallest: float) -> None:
    M = 1e30 * np.array([[1.0, 1e-16, 0.0], [1e-16, smallest, 0.0], [0.0, 0.0, 1e-10]])
    M[0, 1] = M[1, 0] = 1e-10 * M[0, 0] if smallest else M[0, 1]
    L = factor(M)
    np.testing.assert_allclose(L.T @ L, M, rtol=1e-12, atol=1e21)
    np.testing.assert_allclose((L.T @ L)[2, 2], 1e20, rtol=1e-5)
