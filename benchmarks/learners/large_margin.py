"""Calipers' LMNN with its defaults, stopped after a while."""

from __future__ import annotations

import warnings
from time import perf_counter

from sklearn.exceptions import ConvergenceWarning

from benchmarks.learners.fitted import Fitted
from benchmarks.solvers.lmnn_ours import Stopwatch
from calipers import LMNN
from calipers.arrays import FloatArray, IndexArray


class _Cap(Stopwatch):
    """A callback that ends the fit at the first step after the cap."""

    capped = False

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def on_fit_task_end(self, estimator: object, context: object) -> bool:
        """Whether to stop."""
        super().on_fit_task_end(estimator, context)
        self.capped = self.times[-1] > self.seconds
        return self.capped


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float) -> Fitted:
    """Fit; the seed means nothing to it."""
    watch = _Cap(cap)
    started = perf_counter()
    model = LMNN().set_callbacks(watch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    seconds = perf_counter() - started
    return Fitted(model.components_, seconds, int(model.n_iter_), watch.capped)


def warm_up(X: FloatArray, y: IndexArray, *, seed: int, cap: float) -> None:
    """Compile or load the code that a fit needs, by a first step."""
    fit(X, y, seed=seed, cap=0.0)
