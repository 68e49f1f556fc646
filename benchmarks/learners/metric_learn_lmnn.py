"""metric-learn's LMNN, from the identity with three targets, stopped after a while."""

from __future__ import annotations

from typing import Any

from benchmarks.learners.fitted import Fitted
from benchmarks.solvers import lmnn_metric_learn


def fit(X: Any, y: Any, *, seed: int, cap: float) -> Fitted:
    """Fit; the seed means nothing to it."""
    given = {"X": X, "y": y, "seconds": cap, "n_neighbors": 3, "push_weight": 0.5}
    done = lmnn_metric_learn.fit(given)
    return Fitted(done["components"], done["seconds"], done["iterations"], done["capped"])
