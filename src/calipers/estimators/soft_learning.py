"""What NCA and MLKR share: they learn a factor by a loss of soft neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import in_memory
from calipers.estimators.base import Learned
from calipers.estimators.checks import Given, check_init, check_varies
from calipers.estimators.stepped import Minimiser
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import initial_map, resolved_init
from calipers.solvers.lbfgs import Descent
from calipers.solvers.low_rank import FactorRound, factor_steps, initial_axes
from calipers.solvers.rounds import random_streams
from calipers.solvers.soft_neighbors import AllAnchors, Loss
from calipers.threads import single_threaded_blas


class FactorLearner(Minimiser):
    """A learner of a factor: by mini-batches, or from all samples if ``batch_size`` is None."""

    n_components: int | None
    init: Any
    batch_size: int | None
    max_iter: int | None
    tol: float
    random_state: Any

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
            coordinates = Coordinates(init)
            learned = self._minimised(
                given, whole, lambda: coordinates.low_rank_components(whole.value.L, samples)
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
        return learned.also(init_=resolved, max_iter_=n_steps, notes_=notes)
