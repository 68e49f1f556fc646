"""The paper's five algorithms and SPML, each a few parts put together.

>>> as_sgd(radius=100.0).batch_size
1
"""

from __future__ import annotations

from math import inf
from typing import Any

from calipers.losses import Hinge
from calipers.sampling import ByGradientNorm, ByRunningNorm, BySlope, EveryBatch
from calipers.solver import Recipe


def sgd(**parts: Any) -> Recipe:
    """SGD: one triplet at a time, an update at every one."""
    return Recipe(policy=EveryBatch(), batch_size=1, **parts)


def mini_sgd(*, batch_size: int = 10, **parts: Any) -> Recipe:
    """Mini-SGD (Algorithm 1): an update at every batch."""
    return Recipe(policy=EveryBatch(), batch_size=batch_size, **parts)


def as_sgd(**parts: Any) -> Recipe:
    """AS-SGD (Algorithm 2): one triplet at a time, an update with probability slope."""
    return Recipe(policy=BySlope(), batch_size=1, **parts)


def hr_sgd(*, batch_size: int = 10, **parts: Any) -> Recipe:
    """HR-SGD (Algorithm 3): batches, an update with the slope of one triplet drawn."""
    return Recipe(policy=BySlope(), batch_size=batch_size, **parts)


def ha_sgd(*, policy: ByGradientNorm | ByRunningNorm, batch_size: int = 10, **parts: Any) -> Recipe:
    """HA-SGD (Algorithm 3): batches, an update with probability gradient norm / largest."""
    return Recipe(policy=policy, batch_size=batch_size, **parts)


def spml(*, ridge: float, margin: float, batch_size: int = 10) -> Recipe:
    """SPML: hinge loss with a ridge, the sum over the violated triplets of every batch."""
    return Recipe(
        loss=Hinge(margin),
        policy=EveryBatch(),
        batch_size=batch_size,
        ridge=ridge,
        radius=inf,
        sum_over_batch=True,
    )
