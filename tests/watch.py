"""Callbacks that watch a fit, stop it, or act in the middle of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from calipers.arrays import FloatArray


class Quiet:
    """A callback that does nothing."""

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool | None: ...


class Watch(Quiet):
    """Keeps the metric after each part of a fit, and stops it after some."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.stop_after = stop_after
        self.seen: list[FloatArray] = []

    def on_fit_task_end(  # type: ignore[override]
        self, estimator: Any, context: Any, *, fitted_estimator: Any
    ) -> bool:
        self.seen.append(fitted_estimator.components_)
        return len(self.seen) >= self.stop_after


class After(Quiet):
    """Acts once, after so many steps; ``n_steps`` counts them."""

    def __init__(self, n_steps: int, act: Callable[[], object]) -> None:
        self.when, self.act, self.n_steps = n_steps, act, 0

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.n_steps += context.task_name == "step"
        if context.task_name == "step" and self.n_steps == self.when:
            self.act()


class Tasks(Quiet):
    """Keeps the names of the tasks that have ended, with the estimator's; goes inside of others."""

    max_propagation_depth = None

    def __init__(self) -> None:
        self.ended: list[tuple[str, str]] = []

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.ended.append((type(estimator).__name__, context.task_name))
