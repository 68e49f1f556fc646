"""A callback that ends a fit of Calipers after a while."""

from __future__ import annotations

from benchmarks.solvers.lmnn_ours import Stopwatch


class Cap(Stopwatch):
    """Ends the fit at the first step after the cap."""

    capped = False

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def on_fit_task_end(self, estimator: object, context: object) -> bool:
        """Whether to stop."""
        super().on_fit_task_end(estimator, context)
        self.capped = self.capped or self.times[-1] > self.seconds
        return self.capped
