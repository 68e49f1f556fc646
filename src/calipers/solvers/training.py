"""The one training loop: rounds of portions, under a watch.

A learner makes rounds, each a solver and the portions that it is fed; the next round may depend on
what the last one has learned. The watch tells scikit-learn's callbacks of every step, and says when
one of them or Ctrl-C asks to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples
from calipers.data.triplets import LARGEST_PORTION, Source
from calipers.interrupt import Request, interrupt_requested

N_REPORTS = 100  # points of the loss curve and steps of a progress bar


@dataclass
class Point:
    """What one call of ``advance`` saw: a point of the loss curve."""

    n_examples: int  # triplets, or pairs, so far
    loss: float  # mean over those of the call
    n_updates: int  # so far


class Solver(Protocol):
    """Learns from one portion after the other; the result does not depend on where they end."""

    n_iterations: int
    curve: list[Point]

    @property
    def batch_size(self) -> int:
        """Portions hold a multiple of this."""
        ...

    @property
    def n_updates(self) -> int:
        """Changes of the metric so far."""
        ...

    @property
    def metric(self) -> FloatArray:
        """M as learned so far."""
        ...

    def advance(self, X: FloatArray, portion: IndexArray, /) -> object:
        """Learn from a portion."""
        ...


@dataclass
class Round:
    """A solver and what it is fed: the examples of a source, portion by portion."""

    solver: Solver
    samples: Samples
    source: Source
    portion_size: int
    n_index_columns: int = 3  # of an example: 3 for triplets, 2 for pairs

    def steps(self) -> Iterator[tuple[npt.NDArray[Any], IndexArray]]:
        """Portions, whole batches only, and the arrays they index."""
        size = self.portion_size
        left = n_portions(len(self.source), size, self.solver.batch_size)
        for examples in self.source.portions(size * max(1, LARGEST_PORTION // size)):
            X, local = self.samples.local(examples, n_columns=self.n_index_columns)
            for first in range(0, len(local), size)[:left]:
                yield X, local[first : first + size]
            left -= -(-len(local) // size)


@dataclass
class Passes:
    """A solver that is fed the same examples pass after pass, until it has converged."""

    solver: Any  # a Solver that also has `converged`
    X: npt.NDArray[Any]
    examples: IndexArray
    n_steps: int  # at most

    def steps(self) -> Iterator[tuple[npt.NDArray[Any], IndexArray]]:
        """All examples, over and over."""
        for _ in range(self.n_steps):
            if self.solver.converged:
                return
            yield self.X, self.examples


@dataclass
class Watch:
    """Looks on while a fit takes steps: scikit-learn's callbacks, and Ctrl-C."""

    context: Any
    told: dict[str, Any]  # what callbacks are told of
    so_far: Callable[[], dict[str, Any]]
    request: Request
    n_steps: int = 0
    interrupted: bool = False
    stopped: bool = False

    def tick(self) -> bool:
        """Tell of a step that is over; returns whether to stop."""
        self.n_steps += 1
        step = self.context.subcontext(task_name="step")
        step.call_on_fit_task_begin(**self.told)
        stop = step.call_on_fit_task_end(**self.told, reconstruction_attributes=self.so_far)
        self.interrupted = self.request.came
        self.stopped = bool(stop) or self.interrupted
        return self.stopped


@contextmanager
def watching(
    estimator: Any, X: Any, y: Any, n_steps: int, so_far: Callable[[], dict[str, Any]]
) -> Iterator[Watch]:
    """Look on while an estimator takes so many steps, at most, on X and y.

    ``so_far`` returns the attributes that the estimator would have, were the fit over.
    """
    told = {"estimator": estimator, "X": X, "y": y}
    context = estimator._init_callback_context(max_subtasks=n_steps)
    context.call_on_fit_task_begin(**told)
    with interrupt_requested() as request:
        yield Watch(context, told, so_far, request)
        context.call_on_fit_task_end(**told, reconstruction_attributes=so_far)


@dataclass(frozen=True)
class History:
    """What the solvers of all rounds have counted."""

    points: tuple[Point, ...] = ()  # of the loss curve, counted through all rounds
    n_iterations: int = 0
    n_updates: int = 0
    n_projections: int = 0

    def after(self, solver: Any) -> History:
        """The history after one more solver has learned."""
        seen = self.points[-1].n_examples if self.points else 0
        added = [
            Point(seen + point.n_examples, point.loss, self.n_updates + point.n_updates)
            for point in solver.curve
        ]
        return History(
            (*self.points, *added),
            self.n_iterations + solver.n_iterations,
            self.n_updates + solver.n_updates,
            self.n_projections + getattr(solver, "n_projections", 0),
        )

    def attributes(self, curve: str | None = None) -> dict[str, Any]:
        """The fitted attributes that every learner has; ``curve`` is the name of the examples'."""
        named = {} if curve is None else {curve: [point.n_examples for point in self.points]}
        named["update_curve_"] = [point.n_updates for point in self.points]
        arrays = {name: np.array(counts, dtype=np.intp) for name, counts in named.items()}
        loss = np.array([point.loss for point in self.points])
        counts = {"n_iter_": self.n_iterations, "n_updates_": self.n_updates}
        return {**counts, "loss_curve_": loss, **arrays}


def train(rounds: Iterable[Round | Passes], watch: Watch) -> History:
    """Feed every round's solver its portions until they end or the watch says to stop."""
    history = History()
    for round_ in rounds:
        for X, portion in round_.steps():
            round_.solver.advance(X, portion)
            if watch.tick():
                return history.after(round_.solver)
        history = history.after(round_.solver)
    return history


def portion_size(n_examples: int, batch_size: int) -> int:
    """Examples of a portion, whole batches: about `N_REPORTS` portions, none too large."""
    size = min(LARGEST_PORTION, -(-n_examples // N_REPORTS))
    return max(1, round(size / batch_size)) * batch_size


def n_portions(n_examples: int, size: int, batch_size: int) -> int:
    """Portions of so many examples that hold a whole batch."""
    return -(-(n_examples - n_examples % batch_size) // size)
