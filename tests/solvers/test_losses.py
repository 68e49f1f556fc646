"""Losses: bounds, convexity and derivatives, for any margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.solvers.parts import Hinge, Loss, SmoothHinge, SquaredHinge

EPS = np.finfo(float).eps

margins = st.floats(-1e6, 1e6)
smoothnesses = st.floats(0.01, 100.0)
losses = st.one_of(st.builds(SmoothHinge, smoothnesses), st.builds(Hinge, st.floats(-10.0, 10.0)))


def at(loss: Loss, margin: float) -> tuple[float, float]:
    z = np.array([margin])
    return float(loss.value(z)[0]), float(loss.slope(z)[0])


@given(losses, st.floats(-1e300, 1e300))
def test_value_and_slope_are_finite_and_in_range(loss: Loss, margin: float) -> None:
    value, slope = at(loss, margin)
    assert np.isfinite(value)
    assert value >= 0.0
    assert 0.0 <= slope <= 1.0


@given(smoothnesses, margins)
def test_smooth_hinge_lies_on_the_hinge(smoothness: float, margin: float) -> None:
    smooth, hinge = at(SmoothHinge(smoothness), margin)[0], at(Hinge(1.0), margin)[0]
    rounding = 4 * EPS * max(1.0, abs(margin))
    assert hinge - rounding <= smooth <= hinge + np.log(2.0) / smoothness + rounding


@given(losses, margins, margins, st.floats(0.0, 1.0))
def test_convex(loss: Loss, left: float, right: float, share: float) -> None:
    middle = share * left + (1 - share) * right
    chord = share * at(loss, left)[0] + (1 - share) * at(loss, right)[0]
    assert at(loss, middle)[0] <= chord + 8 * EPS * max(1.0, abs(left), abs(right))


@given(smoothnesses, st.floats(-20.0, 20.0))
def test_slope_is_minus_the_derivative(smoothness: float, margin: float) -> None:
    loss, h = SmoothHinge(smoothness), 1e-5 / smoothness
    numerical = (at(loss, margin + h)[0] - at(loss, margin - h)[0]) / (2 * h)
    assert -numerical == pytest.approx(at(loss, margin)[1], abs=1e-6 + 100 * EPS / h)


def test_hinge_is_steep_up_to_and_including_its_threshold() -> None:
    assert Hinge(2.0).slope(np.array([1.9, 2.0, 2.1])).tolist() == [1.0, 1.0, 0.0]
    assert Hinge(2.0).value(np.array([1.0, 2.0, 3.0])).tolist() == [1.0, 0.0, 0.0]


@given(st.integers(0, 2**32 - 1))
def test_gradient_in_the_metric_is_minus_slope_times_outer_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    far, near = rng.standard_normal((2, 3))
    A = np.outer(far, far) - np.outer(near, near)
    M, direction = rng.standard_normal((2, 3, 3))
    loss, h = SmoothHinge(3.0), 1e-6

    def value(matrix: np.ndarray) -> float:
        return at(loss, float(np.sum(matrix * A)))[0]

    numerical = (value(M + h * direction) - value(M - h * direction)) / (2 * h)
    slope = at(loss, float(np.sum(M * A)))[1]
    assert numerical == pytest.approx(-slope * np.sum(A * direction), rel=1e-5, abs=1e-6)


@given(st.floats(-10.0, 10.0), margins)
def test_the_squared_hinge_is_as_steep_as_the_hinge_is_high(m: float, margin: float) -> None:
    hinge = at(Hinge(m), margin)[0]
    assert at(SquaredHinge(m), margin) == (0.5 * hinge * hinge, hinge)
