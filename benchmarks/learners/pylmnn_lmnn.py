"""pylmnn, from the identity with three targets, stopped after a while."""

from __future__ import annotations

from typing import Any

from benchmarks.learners.fitted import Fitted
from benchmarks.solvers import lmnn_pylmnn

MAX_ITER = 1000  # it stops after 50 unless told otherwise


def fit(X: Any, y: Any, *, seed: int, cap: float) -> Fitted:
    """Fit; the seed is its own, which it needs only where impostors are very many."""
    given = {"X": X, "y": y, "seconds": cap, "max_iter": MAX_ITER}
    done = lmnn_pylmnn.fit({**given, "n_neighbors": 3, "push_weight": 0.5})
    return Fitted(done["components"], done["seconds"], done["iterations"], done["capped"])
