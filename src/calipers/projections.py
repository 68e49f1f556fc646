"""Projections of a symmetric matrix, each stated by what it minimises, and when they happen.

A rule (`EveryUpdate`, `Periodic`, `AtEnd`, `FrankWolfe`) says how an update keeps the metric within
its bounds; its compiled half is in :mod:`calipers.kernels.moves`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import eigh

from calipers.arrays import FloatArray


def onto_cone(M: FloatArray) -> FloatArray:
    """Nearest positive semi-definite matrix in Frobenius norm: drop negative eigenvalues.

    >>> onto_cone(np.diag([2.0, -1.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    values, vectors = eigh((M + M.T) / 2)
    kept = values > 0
    return np.asarray((vectors[:, kept] * values[kept]) @ vectors[:, kept].T)


def onto_cone_and_ball(M: FloatArray, radius: float) -> FloatArray:
    """Nearest matrix that is positive semi-definite and of Frobenius norm <= ``radius``.

    Proposition 1 of the paper: first the cone, then the ball. The order matters; it is
    exact because the cone is a cone and the ball is centred at zero.

    >>> onto_cone_and_ball(np.diag([3.0, -4.0]), radius=1.0)
    array([[1., 0.],
           [0., 0.]])
    """
    projected = onto_cone(M)
    norm = float(np.linalg.norm(projected))
    return projected if norm <= radius else np.asarray(projected * (radius / norm))


class EveryUpdate(NamedTuple):
    """The paper's rule: every update ends with the projection onto the cone, then the ball."""


class Periodic(NamedTuple):
    """The same after every `period`-th update that changes M; the ball after each.

    In between a few eigenvalues of M may be negative. The mean of the iterates is projected when
    it is used.
    """

    period: int


class AtEnd(NamedTuple):
    r"""One projection, at the end (Mahdavi, Yang, Jin, Zhu and Yi 2012).

    Within the ball the walk minimises loss + dual * g(M), with :math:`g(M) = -\lambda_{min}(M)`
    the constraint: a step adds ``rate * dual * q q'`` for the lowest eigenvector q where its
    value is negative, and ``dual = max(0, (1 - damping) dual + rate * g)``. An update costs
    one eigenpair, O(d^2) a product. The mean of the iterates is projected when it is used.
    """

    damping: float = 0.01
    unit: float = 1.0  # size of the first iterate; the dual grows by rate * g / unit^4


class FrankWolfe(NamedTuple):
    r"""Projection-free (Hazan and Kale 2012): online Frank-Wolfe steps.

    The domain is the positive semi-definite matrices of trace at most `trace`, so that the
    step is one eigenvector: with q that of the lowest eigenvalue of the sum of all gradients
    so far, :math:`M \leftarrow (1 - a) M + a\, trace\, q q'`, or without the last term where no
    eigenvalue is negative, and :math:`a = 1 / \sqrt{1 + t}`. Every iterate is in the domain.
    """

    trace: float


Rule: TypeAlias = EveryUpdate | Periodic | AtEnd | FrankWolfe
