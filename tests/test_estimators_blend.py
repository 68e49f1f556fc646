"""The mean of metrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.arrays import FloatArray
from calipers.estimators.blend import MEANS, Blend, covariance

RNG = np.random.default_rng(0)


def a_metric(d: int = 3) -> FloatArray:
    L = RNG.standard_normal((d, d))
    return L.T @ L


def test_metrics_count_by_their_distances() -> None:
    X = RNG.standard_normal((50, 3)) * [1.0, 10.0, 0.1]
    C, M, start, one, two = covariance(X), *(a_metric() for _ in range(4))

    def distances(M: FloatArray) -> float:
        """Mean square over all pairs of rows."""
        differences = X[:, None] - X[None]
        return float(np.einsum("ijk,kl,ijl->", differences, M, differences) / len(X) ** 2)

    blended = Blend(C, 0.5, [(0.3, start), (0.1, one), (0.1, two)]).of(M)
    expected = 0.5 * M / distances(M) + 0.3 * start / distances(start)
    expected += 0.1 * (one / distances(one) + two / distances(two))
    np.testing.assert_allclose(blended, expected * distances(M), rtol=1e-12)
    assert distances(blended) == pytest.approx(distances(M))


@given(st.floats(1e-70, 1e70), st.floats(1e-70, 1e70), st.floats(1e-70, 1e70))
def test_units_do_not_matter(of_rows: float, of_start: float, of_other: float) -> None:
    X, M, start, other = RNG.standard_normal((20, 3)), *(a_metric() for _ in range(3))
    expected = Blend(covariance(X), 0.5, [(0.2, start), (0.3, other)]).of(M)
    others = [(0.2, of_start * start), (0.3, of_other * other)]
    blend = Blend(covariance(of_rows * X), 0.5, others)
    np.testing.assert_allclose(blend.of(M), expected, rtol=1e-9)


def test_what_sees_no_distance_is_left_alone() -> None:
    M, C = a_metric(), covariance(RNG.standard_normal((20, 3)))
    blind = np.zeros((3, 3))
    np.testing.assert_array_equal(Blend(C, 0.5, [(0.4, a_metric()), (0.1, blind)]).of(M), M)
    np.testing.assert_array_equal(Blend(C, 0.5, [(0.5, M)]).of(blind), blind)
    np.testing.assert_array_equal(covariance(np.ones((5, 3))), np.zeros((3, 3)))


def test_shares_make_a_whole() -> None:
    for shares in MEANS:
        assert sum(shares) == pytest.approx(1.0)
