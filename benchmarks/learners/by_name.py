"""Any of Calipers' learners from labels by its name, with its defaults."""

from __future__ import annotations

from time import perf_counter

import calipers
from benchmarks.learners.fitted import Fitted
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float, learner: str) -> Fitted:
    """Fit; nothing stops it early."""
    model = getattr(calipers, learner)()
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    started = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - started
    return Fitted(model.components_, seconds, int(model.n_updates_), False)


def warm_up(X: FloatArray, y: IndexArray, *, seed: int, cap: float, learner: str) -> None:
    """Load the code that a fit needs; of few features, for ITML takes a minute for 617."""
    fit(X[:200, :10], y[:200], seed=seed, cap=cap, learner=learner)
