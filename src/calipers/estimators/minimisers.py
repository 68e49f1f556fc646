"""What learners share that minimise an objective: of all samples by L-BFGS, or by mini-batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from calipers.arrays import FloatArray
from calipers.data.samples import in_memory
from calipers.estimators.base import Learned, SteppedLearner
from calipers.estimators.checks import (
    AT_LEAST_ONE,
    INITS,
    NOT_NEGATIVE,
    Given,
    check_classes,
    check_components,
    check_init,
    check_varies,
    warn_singletons,
)
from calipers.metric.coordinates import Coordinates, low_rank_components
from calipers.metric.init import LinearMap, initial_map, resolved_init
from calipers.notices import warn_user
from calipers.solvers.lbfgs import Descent
from calipers.solvers.low_rank import (
    BATCH_SIZES,
    FACTOR_BATCH,
    FactorRound,
    factor_steps,
    initial_axes,
)
from calipers.solvers.plan import random_streams
from calipers.solvers.soft_neighbors import AllAnchors, Loss
from calipers.threads import single_threaded_blas


class Minimiser(SteppedLearner):
    """A learner that minimises an objective of all samples by L-BFGS."""

    n_components: int | None
    max_iter: Any
    tol: float

    def _descent(self, given: Given) -> Descent:
        """The objective and where to start; all that most of these learners write."""
        raise NotImplementedError

    @single_threaded_blas()
    def _learn(self, given: Given) -> Learned:
        given = replace(given, samples=in_memory(given.samples))
        notes = check_varies(given)
        check_components(self, given.samples.shape[1])
        if given.pairs is None:
            check_classes(self, given)
            warn_singletons(given)
        return {**self._minimised(given, self._descent(given)), "notes_": notes}

    def _minimised(
        self, given: Given, descent: Descent, components: Callable[[], FloatArray] | None = None
    ) -> Learned:
        """Descend until steps no longer pay; warns if ``max_iter`` were too few."""
        started, whole = perf_counter(), Coordinates(LinearMap())

        def of_metric() -> FloatArray:
            return whole.components(descent.metric, 1.0, given.samples, self.n_components)

        found = components or of_metric
        with self._watched(given, descent.max_iter, found) as watch:
            descent.run(watch.tick)
        if not (descent.converged or watch.stopped):
            warn_user(
                f"{type(self).__name__} stopped after max_iter={descent.max_iter} steps, while the "
                "objective still fell: raise max_iter or tol.",
                ConvergenceWarning,
            )
        return {
            "components_": found(),
            "n_updates_": descent.n_updates,
            "n_iter_": descent.n_updates,
            "objective_": descent.objectives[-1],
            "objective_curve_": np.array(descent.objectives),
            "converged_": descent.converged,
            "interrupted_": watch.interrupted,
            "solve_seconds_": perf_counter() - started,
        }


class FactorLearner(Minimiser):
    """A learner of a factor: by mini-batches, or from all samples if ``batch_size`` is None."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
        "init": INITS,
        "batch_size": [BATCH_SIZES, None],
        "max_iter": [AT_LEAST_ONE, None],
        "tol": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | npt.ArrayLike = "auto",
        batch_size: int | None = FACTOR_BATCH,
        max_iter: int | None = None,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.init: Any = init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @single_threaded_blas()
    def _learned_by(self, given: Given, loss: Loss, values: FloatArray | None = None) -> Learned:
        """Learn L; with ``values``, classes stand for these targets."""
        n, d = given.samples.shape
        notes = check_varies(given)
        check_init(self, given)
        resolved = resolved_init(self.init, given.samples, values)
        init, rank = initial_map(resolved, given.samples), int(self.n_components or d)
        n_steps = int(self.max_iter or factor_steps(n))
        if self.batch_size is None:
            samples = in_memory(given.samples.transformed(init))
            targets = samples.labels if values is None else values[samples.labels]
            problem = AllAnchors(loss, samples.X.astype(np.float64), targets, samples.weights)
            start = problem.start(initial_axes(samples, rank, has_classes=values is None))
            whole = Descent(problem.at, start, tol=float(self.tol), max_iter=n_steps)
            learned = self._minimised(
                given, whole, lambda: low_rank_components(init, whole.value.L, samples)
            )
        else:
            rng = random_streams(self.random_state)[0]
            factored = FactorRound(
                given.samples,
                init,
                rank,
                rng,
                loss=loss,
                values=values,
                batch_size=int(self.batch_size),
                n_steps=n_steps,
            )
            learned, _ = self._trained(given, factored, factored.n_steps, factored.components)
        return {**learned, "init_": resolved, "max_iter_": n_steps, "notes_": notes}
