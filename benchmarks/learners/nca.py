"""scikit-learn's NeighborhoodComponentsAnalysis with its defaults, stopped after a while."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from benchmarks.learners.fitted import Fitted
from calipers.arrays import FloatArray, IndexArray

MATRICES = 6  # of n x n numbers that it holds at a time


class _CapReached(Exception):  # noqa: N818  it is no error
    pass


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float) -> Fitted:
    """Fit; its callback stops it at the end of the iteration in which the cap strikes."""
    reached: list[FloatArray] = []

    def watch(components: FloatArray, n_iterations: int) -> None:
        reached.append(np.reshape(components, (-1, X.shape[1])).copy())
        if perf_counter() - started > cap:
            raise _CapReached

    model = NeighborhoodComponentsAnalysis(random_state=seed, callback=watch)
    started = perf_counter()
    try:
        model.fit(X, y)
    except _CapReached:
        return Fitted(reached[-1], perf_counter() - started, len(reached), True)
    seconds = perf_counter() - started
    return Fitted(model.components_, seconds, int(model.n_iter_), False)


def needed_bytes(n_samples: int) -> int:
    """Memory that a fit takes, about."""
    return 8 * MATRICES * n_samples**2
