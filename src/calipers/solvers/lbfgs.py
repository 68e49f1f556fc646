"""L-BFGS for objectives of all samples, one step at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.solvers.large_margin import Frame, LargeMargin, Value
from calipers.solvers.training import Point

_MEMORY = 10  # pairs (step, change of the gradient) that L-BFGS keeps
_MOST_TRIALS = 50  # of step lengths along one direction
_WINDOW = 5  # iterations over which the change of the objective is averaged


def _best_multiple(problem: LargeMargin, frame: Frame) -> tuple[Value, float]:
    """Return the lowest value among M = 4^m c I, and that multiple of I.

    With c the mean squared distance of targets is 1.
    """
    scale = 1.0 / float(np.trace(frame.identity.T @ frame.identity))
    value = problem.at(np.sqrt(scale) * frame.identity)
    factor_of_4 = 4.0 if np.vdot(problem.gradient(value), value.L) < 0.0 else 0.25
    while True:
        other = problem.at(np.sqrt(factor_of_4 * scale) * frame.identity)
        if not other.objective < value.objective:
            return value, scale
        value, scale = other, factor_of_4 * scale


def descend(problem: Any, init: Any, *, tol: float) -> Iterator[tuple[Any, bool]]:
    """Minimise by L-BFGS in L; yield the value after each step, and whether it has converged.

    Bisection finds steps that meet the weak Wolfe conditions. It also works where the objective
    has kinks (Lewis and Overton 2013).
    """
    value, slope = init, problem.gradient(init)
    steps: list[tuple[FloatArray, FloatArray]] = []
    curve = [value.objective]
    while slope.any():
        direction = -_times_inverse_hessian(steps, slope, value.objective)
        found = _search_line(problem, value, slope, direction)
        if found is None:
            if not steps:
                return  # steepest descent fails too: at a kink, or at the limit of rounding
            steps.clear()
            continue
        lower, lower_slope = found
        steps.append((lower.L - value.L, lower_slope - slope))
        del steps[:-_MEMORY]
        value, slope = lower, lower_slope
        curve.append(value.objective)
        fell = curve[-1 - _WINDOW] - curve[-1] if len(curve) > _WINDOW else np.inf
        rounding = np.finfo(np.float64).eps * curve[0]
        yield value, bool(fell <= _WINDOW * (tol * curve[-1] + rounding))


def _times_inverse_hessian(
    steps: list[tuple[FloatArray, FloatArray]], slope: FloatArray, objective: float
) -> FloatArray:
    """Apply L-BFGS's two loops; without memory, step to where the linear model is 0."""
    result, shares = slope.copy(), []
    for step, change in reversed(steps):
        shares.append(float(np.vdot(step, result) / np.vdot(step, change)))
        result -= shares[-1] * change
    if not steps:
        return np.asarray(result * (objective / np.vdot(slope, slope)))
    step, change = steps[-1]
    result *= np.vdot(step, change) / np.vdot(change, change)
    for (step, change), share in zip(steps, reversed(shares), strict=True):
        result += step * (share - np.vdot(change, result) / np.vdot(step, change))
    return result


def _search_line(
    problem: Any, value: Any, slope: FloatArray, direction: FloatArray
) -> tuple[Any, FloatArray] | None:
    """Return a lower value along the direction and its gradient, or None if the search fails."""
    descent = float(np.vdot(slope, direction))
    shortest, longest, length = 0.0, np.inf, 1.0
    best: tuple[Any, FloatArray] | None = None
    for _ in range(_MOST_TRIALS):
        tried = problem.at(value.L + length * direction)
        if not tried.objective < value.objective + 1e-4 * length * descent:
            longest = length
        else:
            tried_slope = problem.gradient(tried)
            best = tried, tried_slope
            if np.vdot(tried_slope, direction) >= 0.9 * descent:
                return best
            shortest = length
        length = 2.0 * shortest if longest == np.inf else 0.5 * (shortest + longest)
    # bisection ended at a kink: take the lower value if the gradient's change along the step
    # gives a positive curvature
    if best is None or np.vdot(best[1] - slope, direction) <= 0.0:
        return None
    return best


class DescentSolver:
    """Minimise an objective of all samples over L, one step of L-BFGS at a time.

    Parameters
    ----------
    problem : LargeMargin or AllAnchors
        The objective: its value ``at`` an L, and its ``gradient`` there.
    init : Value
        The objective at the first L.
    tol : float
        Converged once steps lower the objective by less than this share of it, on average over
        five, or by rounding of the first one.
    """

    batch_size = 1

    def __init__(self, problem: Any, init: Any, *, tol: float) -> None:
        self.value = init
        self.objectives: list[float] = [init.objective]
        self.curve: list[Point] = []
        self.n_iterations = 0
        self.converged = False
        self._descent = descend(problem, init, tol=tol)

    @property
    def n_updates(self) -> int:
        """Number of steps that lowered the objective."""
        return len(self.objectives) - 1

    @property
    def metric(self) -> FloatArray:
        """The current M."""
        return np.asarray(self.value.L.T @ self.value.L)

    def advance(self, X: Any, portion: Any, /) -> None:
        """Take one step; the samples are those of the problem."""
        lower, self.converged = next(self._descent, (None, True))
        self.n_iterations += 1
        if lower is not None:
            self.value = lower
            self.objectives.append(lower.objective)
        self.curve.append(
            Point(lower.n_active if lower else 0, self.objectives[-1], self.n_updates)
        )


class LargeMarginSolver(DescentSolver):
    """Minimise LMNN's objective in the coordinates of its `Frame`, which the problem changes to."""

    def __init__(self, problem: LargeMargin, *, tol: float) -> None:
        self.frame = Frame.of(problem)
        problem.change_coordinates(self.frame.T)
        value, self.scale = _best_multiple(problem, self.frame)
        super().__init__(problem, value, tol=tol)

    @property
    def metric(self) -> FloatArray:
        """The current M."""
        return self.frame.metric(self.value.L, self.scale)
