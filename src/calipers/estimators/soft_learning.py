"""What NCA and MLKR share: they learn a factor by a loss of soft neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples, in_memory
from calipers.estimators import one_round, validation
from calipers.estimators.inputs import Given
from calipers.estimators.one_round import Examples
from calipers.estimators.rounds import random_streams
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import LinearMap, initial_map, resolved_init
from calipers.solvers.factored import FactoredSolver
from calipers.solvers.lbfgs import DescentSolver
from calipers.solvers.low_rank import SampleBatches, factor_steps, initial_axes
from calipers.solvers.soft_neighbors import AllAnchors, Loss
from calipers.threads import single_threaded_blas


@single_threaded_blas()
def learn_factor(
    estimator: Any, given: Given, loss: Loss, values: FloatArray | None = None
) -> None:
    """Learn L by mini-batches, or from all samples at once if ``batch_size`` is None.

    Sets ``init_``, ``max_iter_``, ``components_`` and what every learner counts. With ``values``,
    classes stand for these targets.
    """
    n, d = given.samples.shape
    rank, has_classes = int(estimator.n_components or d), values is None
    init = estimator.init
    if isinstance(init, str) and init == "auto" and rank < d and has_classes:
        init = "within-class"
    estimator.init_ = resolved_init(init, given.samples, values)
    estimator.max_iter_ = int(estimator.max_iter or factor_steps(n))
    linear = _of_unit_size(initial_map(estimator.init_, given.samples))
    samples = given.samples if linear.matrix is None else given.samples.transformed(linear)
    axes = initial_axes(samples if has_classes else _of_one_class(samples), rank)
    moved, coordinates = given._replace(samples=samples), Coordinates(linear)

    def learned(solver: FactoredSolver | DescentSolver) -> dict[str, Any]:
        L = solver.L if isinstance(solver, FactoredSolver) else solver.value.L
        return {"components_": coordinates.low_rank_components(L, samples)}

    rng = random_streams(estimator.random_state)[0]
    if estimator.batch_size is None:
        dense = in_memory(samples)
        targets = dense.labels if values is None else values[dense.labels]
        X = dense.X.astype(np.float64, copy=False)
        problem = AllAnchors(loss, X, targets, dense.weights)
        solver = DescentSolver(problem, problem.start(axes), tol=float(estimator.tol))
        most = estimator.max_iter_
        one_round.minimise(estimator, moved, solver, max_iter=most, learned=learned)
        return
    batches = SampleBatches(
        samples,
        estimator.max_iter_,
        rng,
        batch_size=int(estimator.batch_size),
        partners=has_classes,
    )
    steps = FactoredSolver(
        axes,
        batches.labels if values is None else values[batches.labels],
        n_examples=len(batches),
        loss=loss,
        weights=samples.weights,
    )
    examples = Examples(batches, [], 0.0, batches.n_index_columns)
    one_round.run(estimator, moved, examples, steps, learned=learned)


def _of_unit_size(linear: LinearMap) -> LinearMap:
    """The map times a power of 2: the scale of the start does not matter, and none overflows."""
    if linear.matrix is None:
        return linear
    exponent = int(np.frexp(np.abs(linear.matrix).max())[1])
    return LinearMap(np.ldexp(linear.matrix, -exponent))


def _of_one_class(samples: Any) -> MemorySamples:
    """The samples without classes, so that their axes are those of most variance."""
    X = in_memory(samples).X
    return MemorySamples(X, np.zeros(len(X), dtype=np.intp))


def check(estimator: Any, given: Given, *, has_labels: bool) -> None:
    """Raise for samples or settings that no factor can be learned with; sets ``notes_``."""
    estimator.notes_ = validation.check_magnitude(given.samples)
    d = given.samples.shape[1]
    validation.check_init_and_components(estimator, d, has_labels=has_labels)
