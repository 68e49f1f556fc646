"""Projections of a symmetric matrix, each stated by what it minimises, and when they happen.

A rule (`EveryUpdate`, `Periodic`, `AtEnd`, `FrankWolfe`) says how an update keeps the metric
within its bounds.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from calipers._core.projections import AtEnd, EveryUpdate, FrankWolfe, Periodic, Rule
from calipers.arrays import FloatArray

__all__ = [
    "AtEnd",
    "EveryUpdate",
    "FrankWolfe",
    "Periodic",
    "Rule",
    "onto_cone",
    "onto_cone_and_ball",
]


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
