"""A callback that watches a fit."""

from __future__ import annotations

from typing import Any

from calipers.arrays import FloatArray


class Watch:
    """Keeps the metric after each part of a fit, and stops it after some."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.stop_after = stop_after
        self.seen: list[FloatArray] = []

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> bool:
        self.seen.append(fitted_estimator.components_)
        return len(self.seen) >= self.stop_after
