"""Losses, policies, schedules, rules and steps: formulas, and how they compare and copy."""

from __future__ import annotations

import copy
import pickle
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from calipers.arrays import FloatArray
from calipers.solvers.parts import (
    AtEnd,
    ByGradientNorm,
    ByRunningNorm,
    BySlope,
    Constant,
    EveryBatch,
    EveryUpdate,
    FrankWolfe,
    FrankWolfeSteps,
    Hinge,
    Loss,
    PassiveAggressive,
    Periodic,
    Policy,
    ProjectionWithSlack,
    Shrinking,
    SmoothHinge,
    SquaredHinge,
    TowardsTarget,
    gradient_norm,
)
from reference.plain import outer_norms

MARGINS = np.concatenate([[-1e308, -1e6, 0.0, 1.0, 1e6, 1e308], np.linspace(-300.0, 300.0, 601)])
PARTS = [
    SmoothHinge(2.0),
    Hinge(0.5),
    SquaredHinge(0.5),
    EveryBatch(),
    BySlope(),
    ByGradientNorm(1.5),
    ByRunningNorm(0.25),
    PassiveAggressive(0.1),
    Constant(0.1),
    Shrinking(1e-3),
    FrankWolfeSteps(),
    EveryUpdate(),
    Periodic(7),
    AtEnd(0.02, 3.0),
    FrankWolfe(9.0, 2.0, 0.5),
    TowardsTarget(1.0, 4.0, 0.5),
]


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_parts_compare_copy_pickle_and_print(part: Any) -> None:
    for twin in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert type(twin) is type(part)
        assert twin == part
        assert hash(twin) == hash(part)
    assert eval(repr(part)) == part
    assert sum(part == other for other in PARTS) == 1


def test_parts_of_other_parameters_differ() -> None:
    assert SmoothHinge(2.0) != SmoothHinge(3.0)
    assert repr(SmoothHinge(3.0)) == "SmoothHinge(smoothness=3.0)"
    assert repr(EveryUpdate()) == "EveryUpdate()"


def test_a_step_with_arrays_copies_them() -> None:
    step = ProjectionWithSlack(1.0, np.zeros(2), np.ones(2))
    twin = pickle.loads(pickle.dumps(step))
    assert twin == step
    twin.duals[0] = 1.0
    assert twin != step


def test_a_slack_is_a_positive_squared_distance() -> None:
    with pytest.raises(ValueError, match="larger than 0"):
        ProjectionWithSlack(1.0, np.zeros(2), np.array([1.0, 0.0]))


@pytest.mark.parametrize("part", [SmoothHinge, Hinge, ByGradientNorm, Periodic, FrankWolfe])
def test_parameters_must_be_numbers(part: Any) -> None:
    with pytest.raises(TypeError):
        part("a")


@pytest.mark.parametrize("smoothness", [0.01, 3.0, 100.0])
def test_smooth_hinge(smoothness: float) -> None:
    loss, margins = SmoothHinge(smoothness), MARGINS[np.abs(MARGINS) <= 1e6]
    exponents = -smoothness * (margins - 1.0)
    np.testing.assert_allclose(loss.slope(margins), expit(exponents), rtol=1e-13, atol=1e-300)
    expected = np.logaddexp(0.0, exponents) / smoothness
    np.testing.assert_allclose(loss.value(margins), expected, rtol=1e-13, atol=1e-300)
    assert loss.slope(margins.reshape(-1, 1)).shape == (len(margins), 1)


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_hinge(threshold: float) -> None:
    loss, margins = Hinge(threshold), MARGINS[np.abs(MARGINS) <= 1e6]
    height = np.maximum(0.0, threshold - MARGINS)
    np.testing.assert_array_equal(loss.slope(MARGINS), threshold >= MARGINS)
    np.testing.assert_array_equal(loss.value(MARGINS), height)
    height = np.maximum(0.0, threshold - margins)
    np.testing.assert_array_equal(SquaredHinge(threshold).slope(margins), height)
    np.testing.assert_array_equal(SquaredHinge(threshold).value(margins), 0.5 * height * height)


@pytest.mark.parametrize("loss", [part for part in PARTS if isinstance(part, Loss)], ids=repr)
def test_a_loss_is_convex_and_its_slope_is_minus_its_derivative(loss: Loss) -> None:
    margins, h = np.linspace(-20.0, 20.0, 400), 1e-6
    change = loss.value(margins - h) - loss.value(margins + h)
    np.testing.assert_allclose(change / (2 * h), loss.slope(margins), atol=1e-6)
    assert (np.diff(loss.slope(margins)) <= 0.0).all()
    assert (loss.value(margins) >= 0.0).all()


def test_schedules() -> None:
    assert (Constant(0.3).rate(5), Constant(0.3).kept(5)) == (0.3, 1.0)
    assert (Shrinking(0.5).rate(4), Shrinking(0.5).kept(4)) == (0.5, 0.75)
    assert Shrinking(0.5).kept(1) == FrankWolfeSteps().kept(1) == 0.0
    assert (FrankWolfeSteps().rate(4), FrankWolfeSteps().kept(4)) == (0.5, 0.5)


def chance(policy: Policy, batch: Any, uniform: float) -> float:
    slopes, norms, far, near = batch
    return policy.probability(slopes, norms, far, near, uniform)


def batch(seed: int, size: int = 4) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    far, near = rng.standard_normal((2, size, 5))
    return rng.random(size), outer_norms(far, near), far, near


@pytest.mark.parametrize("seed", range(5))
def test_policies(seed: int) -> None:
    slopes, _, far, near = given = batch(seed)
    norm = gradient_norm(far, near, slopes)
    assert chance(EveryBatch(), given, 0.5) == 1.0
    assert chance(BySlope(), given, 0.5) == slopes[0]
    assert chance(ByGradientNorm(2.0 * norm), given, 0.1) == pytest.approx(0.5)
    assert chance(ByGradientNorm(0.5 * norm), given, 0.1) == 1.0
    assert chance(ByGradientNorm(0.0), given, 0.1) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_early_no_of_the_gradient_norm_is_never_wrong(seed: int) -> None:
    slopes, norms, far, near = given = batch(seed)
    largest = float(norms.max())
    true = gradient_norm(far, near, slopes) / largest
    for uniform in np.linspace(0.0, 0.999, 50):
        assert (uniform < chance(ByGradientNorm(largest), given, uniform)) == (uniform < true)


def test_running_norm_grows_to_the_largest_met() -> None:
    policy, largest = ByRunningNorm(), 0.0
    for seed in range(10):
        slopes, _, far, near = given = batch(seed)
        norm = gradient_norm(far, near, slopes)
        largest = max(largest, norm)
        assert chance(policy, given, 0.5) == pytest.approx(norm / largest)
        assert policy.largest == pytest.approx(largest)
    nothing = (np.zeros(4), np.zeros(4), np.zeros((4, 5)), np.zeros((4, 5)))
    assert chance(ByRunningNorm(), nothing, 0.0) == 0.0


@pytest.mark.parametrize("eta", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("target", [1e-3, 1e6])
@pytest.mark.parametrize("squared", [1e-9, 3.0, 1e12])
def test_towards_target_is_the_positive_root(eta: float, target: float, squared: float) -> None:
    """In twice the digits, where the textbook's formula does not cancel."""
    sign = 1 if squared > target else -1
    c = TowardsTarget(target, target, eta).coefficient(0, sign, squared, squared)
    with localcontext() as context:
        context.prec = 80
        e, y, yhat = Decimal(eta), Decimal(target), Decimal(squared)
        q = e * y * yhat - 1
        root = (q + (q * q + 4 * e * yhat * yhat).sqrt()) / (2 * e * yhat)
        expected = float((yhat - root) / yhat**2)
    assert c == pytest.approx(expected, rel=1e-9, abs=4e-16 / squared)
    assert TowardsTarget(target, target, eta).coefficient(0, -sign, squared, squared) is None


def test_distances_of_equal_rows_are_passed_over() -> None:
    towards = TowardsTarget(near=1e-30, far=1.0, learning_rate=1.0)
    assert towards.coefficient(0, 1, 1e-13, 1e-13) is None  # below 1e-12
    assert towards.coefficient(0, 1, 1e-7, 1e6) is None  # below 1e-12 of the usual
    assert towards.coefficient(0, 1, 1e-5, 1e6) is not None
    for squared, usual, due in [(1e-100, 1e-100, True), (1e-113, 1e-100, False), (0.0, 0.0, False)]:
        onto = ProjectionWithSlack(1.0, np.zeros(1), np.array([1.0]))
        assert (onto.coefficient(0, -1, squared, usual) is not None) == due
