"""The solver of LEGO and ITML: each pair updates a positive definite matrix A.

A step changes A by rank one and keeps it positive definite, so there is no projection onto the
cone. :mod:`calipers.solvers.parts` has the two kinds of steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers._core.compiled import run_pairs
from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.parts import PairStep, ProjectionWithSlack, TowardsTarget
from calipers.solvers.sgd import BLOCK_BYTES
from calipers.solvers.training import Point
from calipers.threads import single_threaded_blas


class LogDetSolver:
    """Update A by one pair after the other, from the identity.

    Parameters
    ----------
    step : PairStep
        How much a pair changes A.
    n_features : int
        Size of A.
    """

    def __init__(self, step: PairStep, n_features: int) -> None:
        self.step = step
        self.A = np.eye(n_features)
        self.n_iterations = self.n_updates = 0
        self.curve: list[Point] = []

    def take(
        self, differences: FloatArray, signs: IndexArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Take pairs in order. Returns the squared distance before each step, and which moved A.

        ``differences`` holds the difference of each pair's samples. ``signs`` is +1 for pairs
        that should be near and -1 for pairs that should be far.
        """
        with single_threaded_blas():
            squared, moved = run_pairs(self.A, differences, signs, self.step)
        self.n_updates += int(moved.sum())
        return squared, moved

    @property
    def metric(self) -> FloatArray:
        """The current A."""
        return self.A


class PairSolver(LogDetSolver):
    """Pass once over pairs, in portions; each pair moves A towards its target.

    Parameters
    ----------
    step : TowardsTarget
        How much a pair changes A.
    n_features : int
        Size of A.
    """

    batch_size = 1
    step: TowardsTarget

    def __init__(self, step: TowardsTarget, n_features: int) -> None:
        super().__init__(step, n_features)

    def advance(self, X: FloatArray, pairs: IndexArray) -> npt.NDArray[np.bool_]:
        """Take pairs (a, b, sign) of samples in order. Returns which of them moved A."""
        size = max(1, BLOCK_BYTES // (8 * len(self.A)))
        moved = np.zeros(len(pairs), dtype=np.bool_)
        loss = 0.0
        for first in range(0, len(pairs), size):
            part = slice(first, first + size)
            Z, signs = differences_of(X, pairs[part])
            squared, moved[part] = self.take(Z, signs)
            loss += float(self.step.loss(squared, signs)[moved[part]].sum())
        self.n_iterations += len(pairs)
        loss /= max(1, len(pairs))
        self.curve.append(Point(self.n_iterations, loss, self.n_updates))
        return moved


class CyclicSolver(LogDetSolver):
    """Pass over the same pairs again and again; project onto the constraint of each.

    Parameters
    ----------
    slack_weight : float
        Cost of missing a limit.
    limits : dict
        Squared distance that pairs of each sign should not exceed (+1) or fall below (-1).
    n_features : int
        Size of A.
    tol : float
        Converged once a pass changes the dual variables by at most this share of their size.
    """

    batch_size = 1
    step: ProjectionWithSlack

    def __init__(
        self, slack_weight: float, limits: dict[int, float], n_features: int, *, tol: float = 0.0
    ) -> None:
        super().__init__(ProjectionWithSlack(slack_weight, np.empty(0), np.empty(0)), n_features)
        self.limits, self.tol = limits, tol
        self.change, self.changes = np.inf, list[float]()

    @property
    def converged(self) -> bool:
        """Whether the last pass changed the dual variables by at most ``tol``."""
        return self.change <= self.tol

    def advance(self, X: FloatArray, pairs: IndexArray) -> npt.NDArray[np.bool_]:
        """Pass once over pairs (a, b, sign), the same in every call. Returns which moved A.

        Sets ``change``, the change of the dual variables as a share of their size.
        """
        Z, signs = differences_of(X, pairs)
        limits = np.where(signs > 0, self.limits[1], self.limits[-1])
        if self.n_iterations == 0:
            self.step = ProjectionWithSlack(
                self.step.slack_weight, np.zeros(len(pairs)), limits.copy()
            )
        before = self.step.duals.copy()
        squared, moved = self.take(Z, signs)
        missed = float(np.maximum(0.0, signs * (squared / limits - 1.0)).mean())
        size = float(np.abs(before).sum() + np.abs(self.step.duals).sum())
        changed = float(np.abs(self.step.duals - before).sum())
        self.change = changed / size if size > 0.0 else 0.0
        self.n_iterations += 1
        self.changes.append(self.change)
        self.curve.append(Point(self.n_iterations * len(pairs), missed, self.n_updates))
        return moved


def differences_of(X: FloatArray, pairs: IndexArray) -> tuple[FloatArray, IndexArray]:
    """Return the difference of the samples of each pair (a, b, sign), and the signs."""
    Z = X[pairs[:, 0]].astype(np.float64)
    Z -= X[pairs[:, 1]]
    return Z, np.ascontiguousarray(pairs[:, 2], dtype=np.intp)
