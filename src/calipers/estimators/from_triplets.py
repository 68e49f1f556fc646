"""What every learner from triplets shares: ``fit``, ``fit_triplets`` and talk with callbacks.

A learner brings settings, and an object that is fed portions of triplets, see
:class:`PortionLearner`.
"""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import defaults, inputs
from calipers.estimators.checkpoint import Checkpoint, identity_of
from calipers.estimators.given import given_labelled, given_rows
from calipers.estimators.interrupt import InterruptedFitWarning, stop_asked
from calipers.metric import MahalanobisMixin, factor
from calipers.triplets import (
    LARGEST_PORTION,
    DrawnTriplets,
    GivenTriplets,
    Rows,
    Source,
    check_triplets,
)

N_REPORTS = 100  # points of the loss curve and steps of a progress bar

Given: TypeAlias = tuple[Any, Any]
"""X and y as callbacks are shown them."""


class CurvePoint(Protocol):
    """What was seen since the point before, and updates up to this one."""

    loss: float
    n_updates: int


class PortionLearner(Protocol):
    """Learns from one portion after the other; their limits do not matter."""

    @property
    def n_iterations(self) -> int:
        """Batches so far."""
        ...

    @property
    def batch_size(self) -> int:
        """Portions hold a multiple of this."""
        ...

    @property
    def n_updates(self) -> int:
        """Changes of the metric so far."""
        ...

    @property
    def curve(self) -> Sequence[CurvePoint]:
        """A point for every portion."""
        ...

    def advance(self, X: FloatArray, portion: IndexArray, /) -> object:
        """Learn from a portion."""
        ...


AnyLearner = TypeVar("AnyLearner", bound=PortionLearner)


class TripletLearner(CallbackSupportMixin, MahalanobisMixin, Generic[AnyLearner]):  # type: ignore[misc]
    """Base of the learners from triplets.

    A subclass has the settings named below, makes its learner (:meth:`_start`) and says
    what M has come of it (:meth:`_metric`).
    """

    n_triplets: int | None
    n_neighbors: int | None
    n_components: int | None
    random_state: int | np.random.RandomState | None
    _row_columns = 3  # of an example
    _checkpoint: Checkpoint | None = None
    _stream: Any = None  # of batches, see `calipers.estimators.streams`

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from labels: triplets are drawn among nearest neighbours.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Class of each row; numbers or strings.

        Returns
        -------
        Self
            The fitted estimator.
        """
        started = perf_counter()
        rows, self.classes_, given = given_labelled(self, X, y)
        return self._learn(*self._draw(rows, started), given=given)._checked()

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_triplets(self, X: npt.ArrayLike, triplets: npt.ArrayLike) -> Self:
        """Learn from your own triplets, in the order given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        triplets : array-like of shape (n_triplets, 3)
            Row numbers (a, b, c): a should be closer to b than to c.

        Returns
        -------
        Self
            The fitted estimator.
        """
        started = perf_counter()
        rows, given = given_rows(self, X)
        self._check_settings(rows)
        source = GivenTriplets(check_triplets(triplets, rows.shape[0]))
        rows = self._into_coordinates(rows)
        _, *rngs = self._streams()
        self.mining_seconds_ = perf_counter() - started
        return self._learn(rows, self._examples(source), rngs, given=(given, None))

    def _draw(self, rows: Rows, started: float) -> tuple[Rows, Source, list[np.random.Generator]]:
        """What to learn from labelled rows, wherever they are; ``classes_`` is known."""
        owner = type(self).__name__
        self._check_settings(rows)
        inputs.check_classes(owner, self.classes_, rows.class_sizes, takes_triplets=owner)
        n_neighbors = self._neighbors(rows.shape[1])
        self.notes_ += inputs.check_neighbors(owner, n_neighbors, rows.class_sizes)
        # past this, fit and scikit-learn's two wrappers of it
        inputs.warn_lonely(self.classes_, rows.class_sizes, stacklevel=5)
        triplet_rng, *rngs = self._streams()
        given, rows = rows, self._spanned(self._into_coordinates(rows))
        self._consult(given)
        source = self._drawn(rows, self._shares(rows)[0], triplet_rng)
        self.mining_seconds_ = perf_counter() - started
        return rows, self._examples(source), rngs

    @abstractmethod
    def _start(self, rows: Rows, source: Source, rngs: list[np.random.Generator]) -> AnyLearner:
        """A learner that has seen nothing yet; ``rngs`` are two streams of its own."""

    @abstractmethod
    def _metric(self, learner: AnyLearner) -> FloatArray:
        """M as learned so far."""

    def _into_coordinates(self, rows: Rows) -> Rows:
        """Rows in the coordinates to learn in."""
        return rows

    def _spanned(self, rows: Rows) -> Rows:
        """Rows in the coordinates to learn in, of fewer features where that is enough."""
        return rows

    def _consult(self, rows: Rows) -> None:
        """Look at labelled rows, as they were given, for what is best to be done."""

    def _checked(self) -> Self:
        """The fitted estimator, or none where learning does harm."""
        return self

    def _enough_triplets(self, rows: Rows) -> int:
        """How many to draw where no number was given."""
        return defaults.MOST_TRIPLETS

    def _enough_neighbors(self, n_features: int) -> int:
        """How many neighbours to draw among where no number was given."""
        return 1

    def _neighbors(self, n_features: int) -> int:
        return self.n_neighbors or self._enough_neighbors(n_features)

    def _drawn(self, rows: Rows, n_triplets: int, rng: np.random.Generator) -> Source:
        n_neighbors = self._neighbors(rows.shape[1])
        return DrawnTriplets(rows, n_triplets, n_neighbors=n_neighbors, rng=rng)

    def _shares(self, rows: Rows) -> list[int]:
        """Triplets to draw for each stage."""
        return [self.n_triplets or self._enough_triplets(rows)]

    def _later_shares(self, learner: AnyLearner) -> list[int]:
        """Triplets of the stages to come."""
        return []

    def _next_stage(self, learner: AnyLearner, rows: Rows) -> tuple[Rows, Source] | None:
        """What to learn from once all that there was is learned from; None ends the fit."""
        return None

    def _examples(self, triplets: Source) -> Source:
        """What to learn from: the triplets, or what a subclass makes of them."""
        return triplets

    def set_checkpoint(
        self, path: str | os.PathLike[str] | None, *, every_seconds: float = 60.0
    ) -> Self:
        """Let fits write where they are into a file, and go on from it if it is there.

        A fit that was killed and is started again with the same data, settings and seed ends
        with the same bits as one that was not: neighbours are searched anew, then the walk goes
        on from the file. A file of another fit is refused. When a fit is done its file is
        removed.

        Parameters
        ----------
        path : path-like or None
            Name of the file; None writes none.
        every_seconds : float, default=60.0
            Time between two writings, which are between two portions of triplets.

        Returns
        -------
        Self
            The estimator. Clones of it write no file.
        """
        self._checkpoint = None if path is None else Checkpoint(Path(path), every_seconds)
        return self

    def _learn(
        self, rows: Rows, source: Source, rngs: list[np.random.Generator], *, given: Given
    ) -> Self:
        """Start a learner, feed it, and keep what it has learned."""
        mined, started = self.mining_seconds_, perf_counter()
        self._stream = None  # of batches: it ends here
        if self._checkpoint is not None:
            self._checkpoint.open()
        learner = self._start(rows, source, rngs)
        self._feed(learner, rows, source, given=given)
        self._set_fitted(learner)
        if self._checkpoint is not None:
            self._checkpoint.close(is_over=not self.interrupted_)
        self.solve_seconds_ = perf_counter() - started - (self.mining_seconds_ - mined)
        return self

    def _feed(self, learner: AnyLearner, rows: Rows, source: Source, *, given: Given) -> None:
        """Feed the learner portion by portion, whole batches only, stage after stage."""
        b = learner.batch_size
        lengths = [len(source), *self._later_shares(learner)]
        size = min(LARGEST_PORTION, -(-sum(lengths) // N_REPORTS))
        size = max(1, round(size / b)) * b
        n_reports = sum(_n_portions(length, size, b) for length in lengths)
        self._report(self._steps(learner, rows, source, size), n_reports, learner, given=given)

    def _steps(
        self, learner: AnyLearner, rows: Rows, source: Source, size: int
    ) -> Iterator[Callable[[], object]]:
        """A step for each portion of each stage, but for those walked before a checkpoint."""
        stage: tuple[Rows, Source] | None = rows, source
        for number in count():
            if stage is None:
                return
            rows, source = stage
            n_portions = _n_portions(len(source), size, learner.batch_size)
            note, n_done = self._resumed(learner, rows, source, (number, size, n_portions))
            portions = islice(self._portions(rows, source, size, n_done), n_portions - n_done)
            for n_seen, (X, portion) in enumerate(portions, n_done + 1):
                yield partial(_step, learner, X, portion, partial(note, n_seen))
            started = perf_counter()
            stage = self._next_stage(learner, rows)
            self.mining_seconds_ += perf_counter() - started

    def _resumed(
        self, learner: AnyLearner, rows: Rows, source: Source, place: tuple[int, int, int]
    ) -> tuple[Callable[[int], None], int]:
        """How to note portions as seen, and how many were before the fit was broken off.

        A place is the number of the stage, the size of its portions, and how many they are.
        """
        if self._checkpoint is None:
            return lambda n_seen: None, 0
        first = next(source.portions(LARGEST_PORTION))
        X, local = rows.local(first, n_columns=self._row_columns)
        stage, size, n_portions = place
        identity = identity_of(self, X, local, (len(source), size))
        n_done = self._checkpoint.resume(stage, learner, identity)
        return partial(self._checkpoint.note, stage, learner, identity, n_portions), n_done

    def _portions(
        self, rows: Rows, source: Source, size: int, n_done: int = 0
    ) -> Iterator[tuple[npt.NDArray[Any], IndexArray]]:
        """Portions, and the arrays they are rows of; rows are fetched for many at a time."""
        many = size * max(1, LARGEST_PORTION // size)
        skipped = n_done * size
        for examples in source.portions(many):
            if skipped >= len(examples):
                skipped -= len(examples)
                continue
            X, local = rows.local(examples[skipped:], n_columns=self._row_columns)
            skipped = 0
            for first in range(0, len(local), size):
                yield X, local[first : first + size]

    def _report(
        self,
        steps: Iterable[Callable[[], object]],
        n_steps: int,
        learner: AnyLearner,
        *,
        given: Given,
    ) -> bool:
        """Take the steps; a callback may look after each, and stop (then True is returned)."""
        X, y = given
        context = self._init_callback_context(max_subtasks=n_steps)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def so_far() -> dict[str, Any]:
            return self._learned(learner)

        stopped, n_taken = False, 0
        with stop_asked() as asked:
            for take_step in () if self.interrupted_ else steps:
                part = context.subcontext(task_name="step")
                part.call_on_fit_task_begin(estimator=self, X=X, y=y)
                take_step()
                n_taken += 1
                stopped = part.call_on_fit_task_end(
                    estimator=self, X=X, y=y, reconstruction_attributes=so_far
                )
                if stopped or asked():
                    break
            self.interrupted_ |= asked()
        if self.interrupted_:
            warnings.warn(
                f"{type(self).__name__} was interrupted after {n_taken} of {n_steps} steps: the "
                "metric is the one learned by then.",
                InterruptedFitWarning,
                stacklevel=7,  # past _feed, _learn, fit and scikit-learn's two wrappers of it
            )
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes=so_far)
        return stopped or self.interrupted_

    def _learned(self, learner: AnyLearner) -> dict[str, Any]:
        """The fitted attributes that a half-fitted estimator must have to be of use."""
        return {"components_": factor(self._metric(learner), self.n_components)}

    def _set_fitted(self, learner: AnyLearner) -> None:
        for name, value in self._learned(learner).items():
            setattr(self, name, value)
        self.n_updates_ = learner.n_updates
        self.n_iter_ = learner.n_iterations
        self.loss_curve_ = np.array([point.loss for point in learner.curve])
        self.update_curve_ = np.array([point.n_updates for point in learner.curve])

    def _streams(self) -> list[np.random.Generator]:
        """Independent generators: for triplets, and two for the learner."""
        entropy = check_random_state(self.random_state).randint(2**32, size=4, dtype=np.uint32)
        children = np.random.SeedSequence(entropy.tolist()).spawn(3)
        return [np.random.default_rng(child) for child in children]

    def _check_settings(self, rows: Rows) -> None:
        """Raise for settings that do not fit each other or the rows."""
        self.interrupted_ = False
        self.notes_ = inputs.check_magnitude(rows)
        inputs.check_components(type(self).__name__, self.n_components, rows.shape[1])


def _step(
    learner: PortionLearner, X: npt.NDArray[Any], portion: IndexArray, note: Callable[[], None]
) -> None:
    """Learn from a portion, then note that it was seen."""
    learner.advance(X, portion)
    note()


def _n_portions(n_triplets: int, size: int, batch_size: int) -> int:
    """Portions with a whole batch in them."""
    return -(-(n_triplets - n_triplets % batch_size) // size)
