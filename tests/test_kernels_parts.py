"""Compiled losses, policies and steps against the ones that are written for reading."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from numba import njit

from calipers.arrays import FloatArray
from calipers.kernels import parts
from calipers.losses import Hinge, Loss, SmoothHinge
from calipers.sampling import (
    ByGradientNorm,
    ByRunningNorm,
    BySlope,
    EveryBatch,
    gradient_norm,
    outer_norms,
)
from calipers.steps import ProjectionWithSlack, TowardsTarget

MARGINS = np.concatenate([[-1e308, -1e6, 0.0, 1.0, 1e6, 1e308], np.linspace(-300.0, 300.0, 601)])
slope, value, probability = parts.slope, parts.value, parts.probability
shrinkage = parts.shrinkage


@njit
def slopes_and_values(loss: Any, margins: FloatArray) -> Any:
    slopes, values = np.empty(margins.size), np.empty(margins.size)
    for i in range(margins.size):
        slopes[i], values[i] = slope(loss, margins[i]), value(loss, margins[i])
    return slopes, values


@njit
def chance(policy: Any, batch: Any, uniform: float) -> Any:
    slopes, norms, far, near = batch
    return probability(policy, slopes, norms, far, near, uniform)


@pytest.mark.parametrize(
    "loss", [SmoothHinge(3.0), SmoothHinge(0.01), SmoothHinge(100.0), Hinge(1.0), Hinge(0.0)]
)
def test_losses(loss: Loss) -> None:
    margins = MARGINS if isinstance(loss, Hinge) else MARGINS[np.abs(MARGINS) <= 1e6]
    slopes, values = slopes_and_values(loss, margins)
    np.testing.assert_allclose(slopes, loss.slope(margins), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(values, loss.value(margins), rtol=1e-13, atol=1e-300)
    assert slopes.max() <= 1.0
    assert slopes.min() >= 0.0


def batch(seed: int, size: int = 4) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    far, near = rng.standard_normal((2, size, 5))
    return rng.random(size), outer_norms(far, near), far, near


@pytest.mark.parametrize("seed", range(10))
def test_policies(seed: int) -> None:
    slopes, _, far, near = given = batch(seed)
    norm = gradient_norm(far, near, slopes)
    assert chance(EveryBatch(), given, 0.5) == 1.0
    assert chance(BySlope(), given, 0.5) == slopes[0]
    assert chance(ByGradientNorm(2.0 * norm), given, 0.1) == pytest.approx(0.5)
    assert chance(ByGradientNorm(0.5 * norm), given, 0.1) == 1.0
    assert chance(ByGradientNorm(0.0), given, 0.1) == 0.0


@pytest.mark.parametrize("seed", range(20))
def test_early_no_of_the_gradient_norm_is_never_wrong(seed: int) -> None:
    slopes, norms, far, near = given = batch(seed)
    largest = float(norms.max())
    true = gradient_norm(far, near, slopes) / largest
    for uniform in np.linspace(0.0, 0.999, 50):
        assert (uniform < chance(ByGradientNorm(largest), given, uniform)) == (uniform < true)


def test_running_norm_grows_to_the_largest_met() -> None:
    policy, largest = ByRunningNorm(np.zeros(1)), 0.0
    for seed in range(10):
        slopes, _, far, near = given = batch(seed)
        norm = gradient_norm(far, near, slopes)
        largest = max(largest, norm)
        assert chance(policy, given, 0.5) == pytest.approx(norm / largest)
        assert policy.largest[0] == pytest.approx(largest)
    nothing = (np.zeros(4), np.zeros(4), np.zeros((4, 5)), np.zeros((4, 5)))
    assert chance(ByRunningNorm(np.zeros(1)), nothing, 0.0) == 0.0


@pytest.mark.parametrize("part", [parts.slope, parts.value])
def test_outside_compiled_code_there_is_nothing_to_call(part: Any) -> None:
    with pytest.raises(TypeError, match="compiled code only"):
        part(SmoothHinge(), 0.0)


@njit
def one_shrinkage(step: Any, sign: int, squared: float, usual: float) -> Any:
    return shrinkage(step, 0, sign, squared, usual)


@pytest.mark.parametrize("eta", [1e-12, 1e-3, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("target", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("squared", [1e-9, 0.5, 3.0, 1e5, 1e12])
def test_towards_target_is_the_positive_root(eta: float, target: float, squared: float) -> None:
    """In twice the digits, where the textbook's formula does not cancel."""
    sign = 1 if squared > target else -1
    due, c = one_shrinkage(TowardsTarget(target, target, eta), sign, squared, squared)
    assert due
    with localcontext() as context:
        context.prec = 80
        e, y, yhat = Decimal(eta), Decimal(target), Decimal(squared)
        q = e * y * yhat - 1
        root = (q + (q * q + 4 * e * yhat * yhat).sqrt()) / (2 * e * yhat)
        expected = float((yhat - root) / yhat**2)
    assert c == pytest.approx(expected, rel=1e-9, abs=4e-16 / squared)
    assert not one_shrinkage(TowardsTarget(target, target, eta), -sign, squared, squared)[0]


def test_distances_of_equal_rows_are_passed_over() -> None:
    towards = TowardsTarget(near=1e-30, far=1.0, learning_rate=1.0)
    assert not one_shrinkage(towards, 1, 1e-13, 1e-13)[0]  # below 1e-12
    assert not one_shrinkage(towards, 1, 1e-7, 1e6)[0]  # below 1e-12 of the usual
    assert one_shrinkage(towards, 1, 1e-5, 1e6)[0]
    for squared, usual, due in [(1e-100, 1e-100, True), (1e-113, 1e-100, False), (0.0, 0.0, False)]:
        onto = ProjectionWithSlack(1.0, np.zeros(1), np.array([1.0]))
        assert one_shrinkage(onto, -1, squared, usual)[0] == due
