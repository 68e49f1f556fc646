"""Compiled halves of losses, sampling policies and steps, chosen by type when compiling.

``slope(loss, margin)``, ``value(loss, margin)``, ``probability(policy, ...)``,
``rate(schedule, t)``, ``kept(schedule, t)`` and ``shrinkage(step, ...)`` are resolved by numba
from the type of their first argument, so the compiled loops hold no switch. To add a loss, a
policy, a schedule or a step, add its named tuple and one branch here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from calipers.kernels.algebra import dot, gradient_norm
from calipers.losses import Hinge, SmoothHinge
from calipers.sampling import ByGradientNorm, ByRunningNorm, BySlope, EveryBatch
from calipers.schedules import Constant, Shrinking
from calipers.steps import ProjectionWithSlack, TowardsTarget

ROUNDING = 1e-12  # squared distances below this share of the usual are those of equal rows


def slope(loss: Any, margin: float) -> float:
    """Size of the loss's derivative at one margin (compiled code only)."""
    raise TypeError("compiled code only")


def value(loss: Any, margin: float) -> float:
    """Loss at one margin (compiled code only)."""
    raise TypeError("compiled code only")


def probability(policy: Any, slopes: Any, norms: Any, far: Any, near: Any, uniform: float) -> float:
    """Probability of an update, given the slopes of the batch's scouts (compiled code only).

    May return 0 early where ``uniform`` is sure not to fall below the true probability.
    """
    raise TypeError("compiled code only")


def rate(schedule: Any, t: int) -> float:
    """Length of step t, from 1 (compiled code only)."""
    raise TypeError("compiled code only")


def kept(schedule: Any, t: int) -> float:
    """Share of the metric that step t leaves (compiled code only)."""
    raise TypeError("compiled code only")


def shrinkage(step: Any, pair: int, sign: int, squared: float, usual: float) -> tuple[bool, float]:
    """Whether a pair moves A, and c of ``A - c (Az)(Az)'`` (compiled code only).

    ``squared`` is z'Az, ``usual`` what it would be if A were a multiple of the identity.
    """
    raise TypeError("compiled code only")


def _is(part: Any, kind: type) -> bool:
    return isinstance(part, types.BaseNamedTuple) and getattr(part, "instance_class", None) is kind


@overload(slope, strict=False)
def _slope(loss: Any, margin: Any) -> Any:
    if _is(loss, SmoothHinge):

        def smooth_hinge(loss: Any, margin: Any) -> Any:
            exponent = loss.smoothness * (margin - 1.0)
            if exponent >= 0.0:
                small = np.exp(-exponent)
                return small / (1.0 + small)
            return 1.0 / (1.0 + np.exp(exponent))

        return smooth_hinge
    if _is(loss, Hinge):
        return lambda loss, margin: 1.0 if margin <= loss.threshold else 0.0
    return None


@overload(value, strict=False)
def _value(loss: Any, margin: Any) -> Any:
    if _is(loss, SmoothHinge):

        def smooth_hinge(loss: Any, margin: Any) -> Any:
            exponent = -loss.smoothness * (margin - 1.0)
            tail = np.log1p(np.exp(-abs(exponent)))
            return (max(0.0, exponent) + tail) / loss.smoothness

        return smooth_hinge
    if _is(loss, Hinge):
        return lambda loss, margin: max(0.0, loss.threshold - margin)
    return None


@overload(rate, strict=False)
def _rate(schedule: Any, t: Any) -> Any:
    if _is(schedule, Constant):
        return lambda schedule, t: schedule.learning_rate
    if _is(schedule, Shrinking):
        return lambda schedule, t: 1.0 / (schedule.ridge * t)
    return None


@overload(kept, strict=False)
def _kept(schedule: Any, t: Any) -> Any:
    if _is(schedule, Constant):
        return lambda schedule, t: 1.0
    if _is(schedule, Shrinking):
        return lambda schedule, t: 1.0 - 1.0 / t
    return None


@overload(probability, strict=False)
def _probability(policy: Any, slopes: Any, norms: Any, far: Any, near: Any, uniform: Any) -> Any:
    if _is(policy, EveryBatch):
        return lambda policy, slopes, norms, far, near, uniform: 1.0
    if _is(policy, BySlope):
        return lambda policy, slopes, norms, far, near, uniform: slopes[0]
    if _is(policy, ByGradientNorm):

        def by_gradient_norm(
            policy: Any, slopes: Any, norms: Any, far: Any, near: Any, uniform: Any
        ) -> Any:
            if policy.largest <= 0.0:
                return 0.0
            bound = (1.0 + 1e-9) * dot(slopes, norms) / slopes.size
            if uniform * policy.largest >= bound:
                return 0.0
            return min(1.0, gradient_norm(far, near, slopes) / policy.largest)

        return by_gradient_norm
    if _is(policy, ByRunningNorm):

        def by_running_norm(
            policy: Any, slopes: Any, norms: Any, far: Any, near: Any, uniform: Any
        ) -> Any:
            norm = gradient_norm(far, near, slopes)
            policy.largest[0] = max(policy.largest[0], norm)
            return norm / policy.largest[0] if policy.largest[0] > 0.0 else 0.0

        return by_running_norm
    return None


@overload(shrinkage, strict=False)
def _shrinkage(step: Any, pair: Any, sign: Any, squared: Any, usual: Any) -> Any:
    if _is(step, TowardsTarget):

        def towards_target(step: Any, pair: Any, sign: Any, squared: Any, usual: Any) -> Any:
            target = step.near if sign > 0 else step.far
            if squared <= ROUNDING * max(1.0, usual) or sign * (squared - target) <= 0.0:
                return False, 0.0
            eta = step.learning_rate
            # the positive root, in the form that does not subtract equals
            q = eta * target * squared - 1.0
            s = np.hypot(q, 2.0 * np.sqrt(eta) * squared)
            root = (q + s) / (2.0 * eta * squared) if q >= 0.0 else 2.0 * squared / (s - q)
            return True, (squared - root) / squared / squared

        return towards_target
    if _is(step, ProjectionWithSlack):

        def projection_with_slack(step: Any, pair: Any, sign: Any, squared: Any, usual: Any) -> Any:
            if squared <= ROUNDING * usual:
                return False, 0.0
            gamma, slack = step.slack_weight, step.slacks[pair]
            violation = sign * gamma / (gamma + 1.0) * (1.0 / squared - 1.0 / slack)
            alpha = min(step.duals[pair], violation)
            if alpha == 0.0:
                return False, 0.0
            step.duals[pair] -= alpha
            step.slacks[pair] = 1.0 / (1.0 / slack + sign * alpha / gamma)
            return True, -sign * alpha / (1.0 - sign * alpha * squared)

        return projection_with_slack
    return None
