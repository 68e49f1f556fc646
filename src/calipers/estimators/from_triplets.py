"""What every learner from triplets shares: ``fit``, ``fit_triplets`` and talk with callbacks.

A learner brings settings, and an object that is fed portions of triplets, see
:class:`PortionLearner`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import check_random_state

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import inputs
from calipers.metric import MahalanobisMixin, factor
from calipers.triplets import (
    LARGEST_PORTION,
    DrawnTriplets,
    GivenTriplets,
    Source,
    check_triplets,
)

MOST_TRIPLETS = 100_000  # the paper's number
N_REPORTS = 100  # points of the loss curve and steps of a progress bar


class CurvePoint(Protocol):
    """What was seen since the point before, and updates up to this one."""

    loss: float
    n_updates: int


class PortionLearner(Protocol):
    """Learns from one portion after the other; their limits do not matter."""

    n_iterations: int

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
    n_neighbors: int
    n_components: int | None
    random_state: int | np.random.RandomState | None

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
        rows, labels_given = inputs.dense_labelled(self, X, y)
        self._check_settings(rows)
        owner = type(self).__name__
        self.classes_, labels = inputs.encode_labels(owner, labels_given, takes_triplets=owner)
        self.notes_ += inputs.check_neighbors(owner, self.n_neighbors, labels)
        inputs.warn_lonely(self.classes_, labels)
        triplet_rng, *rngs = self._streams()
        rows = self._into_coordinates(rows, labels)
        n_triplets = self.n_triplets or self._enough_triplets(rows)
        source = DrawnTriplets(
            rows, labels, n_triplets, n_neighbors=self.n_neighbors, rng=triplet_rng
        )
        self.mining_seconds_ = perf_counter() - started
        return self._learn(rows, labels_given, self._examples(source), rngs)

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
        rows = inputs.dense_rows(self, X)
        self._check_settings(rows)
        source = GivenTriplets(check_triplets(triplets, len(rows)))
        rows = self._into_coordinates(rows, None)
        _, *rngs = self._streams()
        self.mining_seconds_ = perf_counter() - started
        return self._learn(rows, None, self._examples(source), rngs)

    @abstractmethod
    def _start(
        self, X: npt.NDArray[Any], source: Source, rngs: list[np.random.Generator]
    ) -> AnyLearner:
        """A learner that has seen nothing yet; ``rngs`` are two streams of its own."""

    @abstractmethod
    def _metric(self, learner: AnyLearner) -> FloatArray:
        """M as learned so far."""

    def _into_coordinates(self, X: npt.NDArray[Any], labels: IndexArray | None) -> npt.NDArray[Any]:
        """Rows in the coordinates to learn in."""
        return X

    def _enough_triplets(self, X: npt.NDArray[Any]) -> int:
        """How many to draw where no number was given."""
        return MOST_TRIPLETS

    def _examples(self, triplets: Source) -> Source:
        """What to learn from: the triplets, or what a subclass makes of them."""
        return triplets

    def _learn(
        self,
        X: npt.NDArray[Any],
        y: npt.NDArray[Any] | None,
        source: Source,
        rngs: list[np.random.Generator],
    ) -> Self:
        """Start a learner, feed it, and keep what it has learned."""
        started = perf_counter()
        learner = self._start(X, source, rngs)
        self._feed(learner, X, y, source)
        self._set_fitted(learner)
        self.solve_seconds_ = perf_counter() - started
        return self

    def _feed(
        self,
        learner: AnyLearner,
        X: npt.NDArray[Any],
        y: npt.NDArray[Any] | None,
        source: Source,
    ) -> None:
        """Feed the learner portion by portion, whole batches only."""
        b = learner.batch_size
        size = min(LARGEST_PORTION, -(-len(source) // N_REPORTS))
        size = max(1, round(size / b)) * b
        n_reports = -(-(len(source) - len(source) % b) // size)
        portions = zip(range(n_reports), source.portions(size), strict=False)
        steps = (partial(learner.advance, X, portion) for _, portion in portions)
        self._report(steps, n_reports, learner, X, y)

    def _report(
        self,
        steps: Iterable[Callable[[], object]],
        n_steps: int,
        learner: AnyLearner,
        X: npt.NDArray[Any],
        y: npt.NDArray[Any] | None,
    ) -> bool:
        """Take the steps; a callback may look after each, and stop (then True is returned)."""
        context = self._init_callback_context(max_subtasks=n_steps)
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)

        def so_far() -> dict[str, Any]:
            return self._learned(learner)

        stopped = False
        for take_step in steps:
            part = context.subcontext(task_name="step")
            part.call_on_fit_task_begin(estimator=self, X=X, y=y)
            take_step()
            stopped = part.call_on_fit_task_end(
                estimator=self, X=X, y=y, reconstruction_attributes=so_far
            )
            if stopped:
                break
        context.call_on_fit_task_end(estimator=self, X=X, y=y, reconstruction_attributes=so_far)
        return stopped

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

    def _check_settings(self, X: npt.NDArray[Any]) -> None:
        """Raise for settings that do not fit each other or X."""
        self.notes_ = inputs.check_magnitude(X)
        inputs.check_components(type(self).__name__, self.n_components, X.shape[1])
