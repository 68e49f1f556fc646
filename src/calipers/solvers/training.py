"""The one training loop: rounds of portions, seen by observers.

A learner makes rounds, each a solver and the portions that it is fed; the next round may depend on
what the last one has learned. Callbacks and Ctrl-C are observers: they look on after
every step and may ask to stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples
from calipers.data.triplets import LARGEST_PORTION, Source
from calipers.interrupt import InterruptedFitWarning, interrupt_requested
from calipers.notices import warn_user

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
    is_trial: bool = False  # it only helps to decide: the history does not count it
    is_first: bool = False  # what was learned before is not part of the result

    def steps(self) -> Iterator[tuple[npt.NDArray[Any], IndexArray]]:
        """Portions, whole batches only, and the arrays they index."""
        n_portions = n_steps(len(self.source), self.portion_size, self.solver.batch_size)
        return islice(self._portions(), n_portions)

    def _portions(self) -> Iterator[tuple[npt.NDArray[Any], IndexArray]]:
        """Samples are fetched for many portions at a time."""
        size = self.portion_size
        for examples in self.source.portions(size * max(1, LARGEST_PORTION // size)):
            X, local = self.samples.local(examples, n_columns=self.n_index_columns)
            for first in range(0, len(local), size):
                yield X, local[first : first + size]


@dataclass
class Passes:
    """A solver that is fed the same examples pass after pass, until it has converged."""

    solver: Any  # a Solver that also has `converged`
    X: npt.NDArray[Any]
    examples: IndexArray
    max_iter: int
    is_trial: bool = False
    is_first: bool = False

    def steps(self) -> Iterator[tuple[npt.NDArray[Any], IndexArray]]:
        """All examples, over and over."""
        for _ in range(self.max_iter):
            if self.solver.converged:
                return
            yield self.X, self.examples


AnyRound = Round | Passes


class Observer(Protocol):
    """Looks on while a learner is trained."""

    def before_step(self) -> None:
        """A portion is about to be learned from."""
        ...

    def after_step(self, number: int, round_: AnyRound) -> bool:
        """A portion was learned from; True asks to stop."""
        ...


@dataclass
class History:
    """What the solvers of all rounds have counted."""

    solver: Any = None  # of the present round
    n_steps: int = 0
    stopped: bool = False
    _points: list[Point] = field(default_factory=list)
    _totals: dict[str, int] = field(default_factory=dict)

    def begin(self, solver: Any, *, is_first: bool = False) -> None:
        """Begin the next round; the first one that counts forgets those before."""
        if is_first:
            self._points, self._totals = [], {}
        elif self.solver is not None:
            points, totals = self.points, {name: self.total(name) for name in _COUNTS}
            self._points, self._totals = points, totals
        self.solver = solver

    def total(self, name: str) -> int:
        """A count over all rounds: n_iterations, n_updates, n_projections or n_examples."""
        present = 0 if self.solver is None else _COUNTS[name](self.solver)
        return self._totals.get(name, 0) + present

    @property
    def points(self) -> list[Point]:
        """The loss curve, counted through all rounds."""
        n_examples, n_updates = (self._totals.get(name, 0) for name in ("n_examples", "n_updates"))
        return self._points + [
            Point(n_examples + point.n_examples, point.loss, n_updates + point.n_updates)
            for point in ([] if self.solver is None else self.solver.curve)
        ]

    def attributes(self) -> dict[str, Any]:
        """The fitted attributes that every learner has."""
        points = self.points
        return {
            "n_iter_": self.total("n_iterations"),
            "n_updates_": self.total("n_updates"),
            "loss_curve_": np.array([point.loss for point in points]),
            "update_curve_": np.array([point.n_updates for point in points]),
        }

    def example_curve(self) -> IndexArray:
        """Triplets, or pairs, up to each point of the loss curve."""
        return np.array([point.n_examples for point in self.points])


_COUNTS: dict[str, Callable[[Any], int]] = {
    "n_iterations": lambda solver: int(solver.n_iterations),
    "n_updates": lambda solver: int(solver.n_updates),
    "n_projections": lambda solver: int(getattr(solver, "n_projections", 0)),
    "n_examples": lambda solver: solver.curve[-1].n_examples if solver.curve else 0,
}


def train(rounds: Iterable[AnyRound], observers: Sequence[Observer], history: History) -> None:
    """Feed every round's solver its portions until they end or an observer asks to stop."""
    for number, round_ in enumerate(rounds):
        if not round_.is_trial:
            history.begin(round_.solver, is_first=round_.is_first)
        for X, portion in round_.steps():
            for observer in observers:
                observer.before_step()
            round_.solver.advance(X, portion)
            history.n_steps += 1
            stops = [observer.after_step(number, round_) for observer in observers]
            if any(stops):
                history.stopped = True
                return


class CallbackObserver:
    """Tells scikit-learn's callbacks of every step; one of them may stop the fit."""

    def __init__(
        self, estimator: Any, X: Any, y: Any, n_steps: int, learned: Callable[[], dict[str, Any]]
    ) -> None:
        self._told = {"estimator": estimator, "X": X, "y": y}
        self._learned = learned
        self._context = estimator._init_callback_context(max_subtasks=n_steps)
        self._step: Any = None

    def __enter__(self) -> Self:
        self._context.call_on_fit_task_begin(**self._told)
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._context.call_on_fit_task_end(
                **self._told, reconstruction_attributes=self._learned
            )

    def before_step(self) -> None:
        """A task begins."""
        self._step = self._context.subcontext(task_name="step")
        self._step.call_on_fit_task_begin(**self._told)

    def after_step(self, number: int, round_: AnyRound) -> bool:
        """The task ends; callbacks can ask for the metric so far."""
        return bool(
            self._step.call_on_fit_task_end(**self._told, reconstruction_attributes=self._learned)
        )

    def tick(self) -> None:
        """Tell of a step that is over."""
        self.step()

    def step(self) -> bool:
        """Tell of a step that is over; a callback may ask to stop."""
        self.before_step()
        return bool(
            self._step.call_on_fit_task_end(**self._told, reconstruction_attributes=self._learned)
        )


class InterruptObserver:
    """Ctrl-C ends the fit after the step under way; a second one ends it at once."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.requested: Callable[[], bool] = lambda: False

    def __enter__(self) -> Self:
        self.requested = self._stack.enter_context(interrupt_requested())
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def before_step(self) -> None:
        """Nothing to do."""

    def after_step(self, number: int, round_: AnyRound) -> bool:
        """Whether Ctrl-C came."""
        return self.requested()


def learn(
    estimator: Any,
    rounds: Iterable[AnyRound],
    *,
    n_steps: int,
    given: tuple[Any, Any],
    learned: Callable[[Any], dict[str, Any]],
) -> History:
    """Train an estimator under its callbacks and Ctrl-C.

    ``learned(solver)`` says which attributes a half-fitted estimator has; the estimator gets
    ``interrupted_``, and a warning if it is true.
    """
    history = History()
    with ExitStack() as stack:
        callbacks = stack.enter_context(
            CallbackObserver(estimator, *given, n_steps, lambda: learned(history.solver))
        )
        interrupt = stack.enter_context(InterruptObserver())
        train(rounds, [callbacks, interrupt], history)
        estimator.interrupted_ = interrupt.requested()
    if estimator.interrupted_:
        warn_user(
            f"{type(estimator).__name__} was interrupted after {history.n_steps} of {n_steps} "
            "steps: the metric is the one learned by then.",
            InterruptedFitWarning,
        )
    return history


def portion_size(n_examples: int, batch_size: int) -> int:
    """Examples of a portion, whole batches: about `N_REPORTS` portions, none too large."""
    size = min(LARGEST_PORTION, -(-n_examples // N_REPORTS))
    return max(1, round(size / batch_size)) * batch_size


def n_steps(n_examples: int, size: int, batch_size: int) -> int:
    """Portions of a round that hold a whole batch."""
    return -(-(n_examples - n_examples % batch_size) // size)
