"""metric-learn's learners from labels by name, with their defaults; nothing stops them early."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from benchmarks.learners.fitted import Fitted
from benchmarks.solvers.lmnn_metric_learn import shim

shim()
import metric_learn  # type: ignore[import-not-found, import-untyped, unused-ignore]  # noqa: E402


def fit(X: Any, y: Any, *, seed: int, cap: float, learner: str) -> Fitted:
    """Fit, e.g. ``ITML_Supervised`` or ``LFDA``."""
    model = getattr(metric_learn, learner)()
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    started = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - started
    return Fitted(model.components_, seconds, int(getattr(model, "n_iter_", 0)), False)
