"""Calipers' LMNN, with the time of every step."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.lmnn import LMNN


class Stopwatch:
    """A callback that notes when each step ended."""

    def __init__(self) -> None:
        self.started = perf_counter()
        self.times: list[float] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to set up."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to tear down."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to note yet."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        """Note the time; it is no reason to stop."""
        self.times.append(perf_counter() - self.started)
        return False


def fit(
    X: FloatArray, y: IndexArray, *, n_neighbors: int, push_weight: float, max_iter: int = 1000
) -> LMNN:
    """Fit, with the defaults for all else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model: LMNN = LMNN(n_neighbors, push_weight=push_weight, max_iter=max_iter).fit(X, y)
    return model


def warm_up(X: FloatArray, y: IndexArray, *, n_neighbors: int, push_weight: float) -> None:
    """Compile or load the code that a fit needs; the search goes by the shape of X."""
    fit(X, y, n_neighbors=n_neighbors, push_weight=push_weight, max_iter=1)


def seconds_down_to(
    objective: float, X: FloatArray, y: IndexArray, *, n_neighbors: int, push_weight: float
) -> float | None:
    """Seconds of a fit until its objective is no higher; None if it never is."""
    watch = Stopwatch()
    model = LMNN(n_neighbors, push_weight=push_weight).set_callbacks(watch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    # the start has no time of its own; that of the first step is later
    for number, reached in enumerate(model.objective_curve_):
        if reached <= objective:
            return watch.times[max(number - 1, 0)]
    return None
