"""What NCA and MLKR share: they learn a factor by a loss of soft neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import in_memory
from calipers.estimators import one_round, validation
from calipers.estimators.inputs import Given
from calipers.estimators.one_round import Examples
from calipers.estimators.rounds import random_streams
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import initial_map, resolved_init
from calipers.solvers.lbfgs import Descent
from calipers.solvers.low_rank import FactorRound, factor_steps, initial_axes
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
    estimator.init_ = resolved_init(estimator.init, given.samples, values)
    estimator.max_iter_ = int(estimator.max_iter or factor_steps(n))
    init, rank = initial_map(estimator.init_, given.samples), int(estimator.n_components or d)
    if estimator.batch_size is None:
        samples = in_memory(given.samples.transformed(init))
        targets = samples.labels if values is None else values[samples.labels]
        problem = AllAnchors(loss, samples.X.astype(np.float64), targets, samples.weights)
        start = problem.start(initial_axes(samples, rank, has_classes=values is None))
        whole = Descent(problem.at, start, tol=float(estimator.tol), max_iter=estimator.max_iter_)
        moved, coordinates = given._replace(samples=samples), Coordinates(init)
        one_round.minimise(
            estimator,
            moved,
            whole,
            learned=lambda solver: {
                "components_": coordinates.low_rank_components(solver.value.L, samples)
            },
        )
        return
    factored = FactorRound(
        given.samples,
        init,
        rank,
        random_streams(estimator.random_state)[0],
        loss=loss,
        values=values,
        batch_size=int(estimator.batch_size),
        n_steps=estimator.max_iter_,
    )
    source = factored.round.source
    examples = Examples(source, [], 0.0, factored.round.n_index_columns)
    one_round.run(
        estimator,
        given._replace(samples=factored.samples),
        examples,
        factored.solver,
        learned=lambda _: {"components_": factored.components()},
    )


def check(estimator: Any, given: Given, *, has_labels: bool) -> None:
    """Raise for samples or settings that no factor can be learned with; sets ``notes_``."""
    estimator.notes_ = validation.check_magnitude(given.samples)
    d = given.samples.shape[1]
    validation.check_init_and_components(estimator, d, has_labels=has_labels)
