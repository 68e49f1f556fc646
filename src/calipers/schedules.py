"""How long steps are, and how much of the metric each leaves: the schedule of a walk.

Iteration t (from 1) takes ``kept * M - rate * gradient``. A schedule is a named tuple, so that
compiled code can choose the formula by its type (see :mod:`calipers.kernels.parts`).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Constant(NamedTuple):
    """The paper's: every step has the same length, and M is not shrunk."""

    learning_rate: float = 1.0


class Shrinking(NamedTuple):
    r"""Steps for :math:`\tfrac\lambda2 \|M\|_F^2` plus a loss: rate 1 / (lambda t), kept 1 - 1 / t.

    The first iterate is forgotten at once, and the walk is that of unit steps from zero,
    divided by lambda times the number of steps.
    """

    ridge: float  # lambda


Schedule: TypeAlias = Constant | Shrinking
