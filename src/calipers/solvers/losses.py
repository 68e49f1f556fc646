"""Losses of a triplet's margin: how bad it is, and how steep.

The margin of a triplet is ``far - near``, the squared distance to the negative minus the
squared distance to the positive. Every loss falls as the margin grows; ``slope`` is the size
of its derivative, at most 1 but for the squared hinge.

>>> import numpy as np
>>> SmoothHinge(smoothness=3.0).slope(np.array([-1e6, 1.0, 1e6]))
array([1. , 0.5, 0. ])
>>> Hinge().value(np.array([-1.0, 1.0, 2.0]))
array([2., 0., 0.])
"""

from calipers._core.compiled import Hinge, Loss, SmoothHinge, SquaredHinge

__all__ = ["Hinge", "Loss", "SmoothHinge", "SquaredHinge"]
