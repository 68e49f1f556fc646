"""mlpack's LMNN with three targets and defaults for all else; nothing stops it early."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import mlpack  # type: ignore[import-not-found]

from benchmarks.learners.fitted import Fitted


def fit(X: Any, y: Any, *, seed: int, cap: float) -> Fitted:
    """Fit."""
    started = perf_counter()
    answer = mlpack.lmnn(input_=X, labels=y, k=3, seed=seed)
    return Fitted(answer["output"], perf_counter() - started, None, False)
