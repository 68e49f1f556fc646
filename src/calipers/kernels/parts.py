"""Compiled halves of the losses and sampling policies, chosen by type when compiling.

``slope(loss, margin)``, ``value(loss, margin)`` and ``probability(policy, ...)`` are
resolved by numba from the type of their first argument, so the compiled loop holds no
switch. To add a loss or a policy, add its named tuple and one branch here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from calipers.kernels.algebra import gradient_norm
from calipers.losses import Hinge, SmoothHinge
from calipers.sampling import ByGradientNorm, ByRunningNorm, BySlope, EveryBatch


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
            bound = (1.0 + 1e-9) * np.dot(slopes, norms) / slopes.size
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
