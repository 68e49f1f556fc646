"""Steps of a pair: how far one pair of rows moves the metric, and whether it does.

A pair that should be near has the sign +1, one that should be far the sign -1. A step
changes A to ``A - c (Az)(Az)'`` with z the difference of the two rows; from the present
squared distance ``z'Az`` it finds c so that A stays positive definite.

A step is a named tuple, so that compiled code can take it as an argument and choose the
formula by its type (see :mod:`calipers.kernels.parts`).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from calipers.arrays import FloatArray, IndexArray


class TowardsTarget(NamedTuple):
    r"""LEGO's step for a pair that is too far apart or too close.

    .. math:: A_{t+1} = \arg\min_A D_{ld}(A, A_t) + \tfrac\eta2 (z'Az - y)^2

    With :math:`\hat y = z'A_tz` the new squared distance :math:`\bar y` is the positive root of
    :math:`\eta\hat y w^2 + (1 - \eta y\hat y) w - \hat y`, which lies between
    :math:`\hat y` and y, and :math:`c = (\hat y - \bar y) / \hat y^2`.

    >>> step = TowardsTarget(near=1.0, far=4.0, learning_rate=1.0)
    >>> step.loss(np.array([3.0, 0.5, 3.0]), np.array([1, 1, -1]))
    array([2. , 0. , 0.5])
    """

    near: float  # pairs with sign +1 should have at most this squared distance
    far: float  # pairs with sign -1 at least this
    learning_rate: float  # eta

    def loss(self, squared: FloatArray, signs: IndexArray) -> FloatArray:
        """Half the square of what is too much or too little; 0 where nothing is."""
        excess = np.where(signs > 0, squared - self.near, self.far - squared)
        return np.asarray(0.5 * np.maximum(excess, 0.0) ** 2)


class ProjectionWithSlack(NamedTuple):
    r"""ITML's step: project onto a pair's constraint, with a dual variable and a slack.

    With :math:`p = z'Az` and :math:`\delta` the sign::

        alpha = min(dual, delta gamma / (gamma + 1) (1 / p - 1 / slack))
        dual -= alpha;  1 / slack += delta alpha / gamma;  c = -delta alpha / (1 - delta alpha p)
    """

    slack_weight: float  # gamma
    duals: FloatArray  # (n_pairs,), changed by the steps
    slacks: FloatArray  # (n_pairs,), changed by the steps; squared distances


PairStep: TypeAlias = TowardsTarget | ProjectionWithSlack
