"""L-BFGS on an objective of all samples, by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from calipers.arrays import FloatArray

_WINDOW = 5  # steps over which the change of the objective is averaged
_OPTIONS = {"ftol": 0.0, "gtol": 0.0, "maxcor": 10, "maxls": 50, "maxfun": 10**9}


class Value(NamedTuple):
    """An objective at L, its gradient there, and how many triplets have a hinge above 0."""

    L: FloatArray
    objective: float
    slope: FloatArray
    n_active: int = 0


Objective: TypeAlias = Callable[[FloatArray], Value]


class Descent:
    """Minimise an objective over L by L-BFGS.

    Parameters
    ----------
    objective : callable
        The value at an L.
    start : Value
        The first one.
    tol : float
        Converged once steps lower the objective by less than this share of it, on average over
        five, or by rounding of the first one.
    max_iter : int
        Most steps.
    metric : callable, optional
        M for an L.
    """

    def __init__(
        self,
        objective: Objective,
        start: Value,
        *,
        tol: float,
        max_iter: int,
        metric: Callable[[FloatArray], FloatArray] = lambda L: np.asarray(L.T @ L),
    ) -> None:
        self.objective, self.value, self._metric = objective, start, metric
        self.tol, self.max_iter = tol, max_iter
        self.objectives = [start.objective]
        self.converged = False

    @property
    def n_updates(self) -> int:
        """Number of steps; each lowers the objective."""
        return len(self.objectives) - 1

    @property
    def metric(self) -> FloatArray:
        """The current M."""
        return self._metric(self.value.L)

    def run(self, after_step: Callable[[], bool]) -> None:
        """Take steps until they no longer pay, or until ``after_step`` says True."""
        tried, was_stopped = self.value, False

        def evaluate(x: FloatArray) -> tuple[float, FloatArray]:
            nonlocal tried
            tried = self.objective(unit * x.reshape(tried.L.shape))
            return tried.objective, unit * tried.slope.ravel()

        def look(intermediate_result: OptimizeResult) -> None:  # SciPy asks for this name
            nonlocal was_stopped
            self.value = tried  # a step ends at the last L that was tried
            self.objectives.append(tried.objective)
            self.converged, was_stopped = self._is_flat(), after_step()
            if self.converged or was_stopped:
                raise StopIteration

        options: dict[str, Any] = {**_OPTIONS, "maxiter": self.max_iter}
        # SciPy's first step has length 1: let it be that to where the linear model is 0
        norm = float(np.linalg.norm(self.value.slope))
        unit = self.value.objective / norm if norm * self.value.objective > 0.0 else 1.0
        start = self.value.L.ravel() / unit
        found = minimize(
            evaluate, start, jac=True, method="L-BFGS-B", callback=look, options=options
        )
        if not was_stopped:  # no step was left, or none that lowers the objective
            self.converged |= found.nit < self.max_iter

    def _is_flat(self) -> bool:
        if self.n_updates < _WINDOW:
            return False
        fell = self.objectives[-1 - _WINDOW] - self.objectives[-1]
        rounding = np.finfo(np.float64).eps * self.objectives[0]
        return bool(fell <= _WINDOW * (self.tol * self.objectives[-1] + rounding))
