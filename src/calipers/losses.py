"""Losses of a triplet's margin: how bad it is, and how steep.

The margin of a triplet is ``far - near``, the squared distance to the row that should be
far minus the squared distance to the row that should be near. Every loss falls as the
margin grows; ``slope`` is the size of its derivative, in [0, 1].

A loss is a named tuple of its parameters, so that compiled code can take it as an
argument and choose the formula by its type (see :mod:`calipers.kernels.parts`).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit

from calipers.arrays import FloatArray


class SmoothHinge(NamedTuple):
    r"""Smooth approximation of the hinge (equation 2 of the paper).

    .. math:: \ell(z) = \tfrac1L \log(1 + e^{-L (z - 1)})

    ``hinge <= value <= hinge + log(2) / smoothness`` and ``slope <= smoothness * value``.

    >>> loss = SmoothHinge(smoothness=3.0)
    >>> loss.slope(np.array([-1e6, 1.0, 1e6]))
    array([1. , 0.5, 0. ])
    """

    smoothness: float = 3.0

    def value(self, margin: FloatArray) -> FloatArray:
        """Loss at each margin, without overflow at either end."""
        return np.asarray(np.logaddexp(0.0, -self.smoothness * (margin - 1.0)) / self.smoothness)

    def slope(self, margin: FloatArray) -> FloatArray:
        """Size of the derivative at each margin."""
        return np.asarray(expit(-self.smoothness * (margin - 1.0)))


class Hinge(NamedTuple):
    r"""The hinge, :math:`\max(0, m - z)`, with the kink at ``m = threshold``.

    >>> Hinge().value(np.array([-1.0, 1.0, 2.0]))
    array([2., 0., 0.])
    """

    threshold: float = 1.0

    def value(self, margin: FloatArray) -> FloatArray:
        """Loss at each margin."""
        return np.asarray(np.maximum(0.0, self.threshold - margin))

    def slope(self, margin: FloatArray) -> FloatArray:
        """1 up to and including the threshold, else 0."""
        return np.asarray(margin <= self.threshold, dtype=np.float64)


Loss: TypeAlias = SmoothHinge | Hinge
