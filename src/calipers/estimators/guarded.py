"""Learners that look, before they learn, at what will come of it."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import guard
from calipers.estimators.blend import Blend, Shares, covariance
from calipers.estimators.coordinates import VOTES, Coordinates, coordinates
from calipers.estimators.from_triplets import TripletLearner
from calipers.estimators.stages import Staged
from calipers.metric import factor
from calipers.threads import single_threaded_blas
from calipers.triplets import Rows, RowsInMemory

if TYPE_CHECKING:
    _Learner = TripletLearner[Staged]
else:
    _Learner = object

MANY = 20  # neighbours to learn from for the mean of metrics
LEAD = 1.0  # standard errors by which a mean must be better where only a part of the rows is asked,
HANDICAP = 2.0  # and by which it may be worse where all are
HARM = 0.5  # by which no metric must be better


class Advice(NamedTuple):
    """What to make of a metric that was learned."""

    blend: Blend | None = None
    harm: str = ""  # why none is better


class GuardedLearner(_Learner):
    """``guard`` of a learner: rows that are held out are asked about it."""

    guard: bool
    start: str
    start_: str
    _coordinates: Coordinates
    _doubt = 1.0  # share of the rows that are mistaken before anything is learned
    _advice = Advice()
    _of_mean = Shares()

    def _consult(self, rows: Rows) -> None:
        if not self.guard or self.n_components or not guard.is_asked(*rows.shape, doubt=1.0):
            return
        if self.start != "auto":
            self._doubt = guard.doubt_about(rows, self._coordinates)
        if guard.is_asked(*rows.shape, self._doubt):
            self._advice = self._asked(
                *guard.some_of(rows), is_part=rows.shape[0] > guard.MOST_ROWS
            )

    @single_threaded_blas()
    def _asked(self, X: FloatArray, y: IndexArray, *, is_part: bool) -> Advice:
        """What rows say that are held out in turn."""
        others: list[FloatArray] = []

        def learn(X: FloatArray, y: IndexArray, seed: int) -> list[FloatArray]:
            few = self._tried(X, y, seed, self._neighbors(X.shape[1]))
            if few is None:
                return []
            if self.n_neighbors:
                return [few]
            many = self._tried(X, y, seed, MANY)
            if many is None:
                return []
            others.append(many.T @ many)
            start = coordinates(self.start_, RowsInMemory(X, y))
            return [few, factor(self._blend(X, start, others[-1:]).of(few.T @ few))]

        wrong = guard.held_out(learn, X, y)
        if wrong is None:
            return Advice()
        given, learned, *means = wrong
        blend = None
        if means and _is_taken(means[0], learned, is_part=is_part):
            blend, learned = self._blend(X, self._coordinates, others), means[0]
        if not guard.fewer(given, learned, by=HARM):
            return Advice(blend)
        return Advice(
            harm=f"Of {len(given)} rows that were held out, {learned.sum()} are taken for another "
            f"class by their {VOTES} nearest under a metric learned from the rest, and "
            f"{given.sum()} without: the metric is Euclidean (guard=False takes the learned one)."
        )

    def _blend(self, X: FloatArray, start: Coordinates, others: list[FloatArray]) -> Blend:
        return Blend(covariance(X), start.pull_back(np.eye(X.shape[1])), others, self._of_mean)

    @abstractmethod
    def _tried(
        self, X: FloatArray, y: IndexArray, seed: int, n_neighbors: int
    ) -> FloatArray | None:
        """``components_`` learned from these rows and fewer triplets; None if interrupted."""

    def _advised(self, M: FloatArray) -> FloatArray:
        """What is made of a metric that was learned: callbacks, too, see what fits end with."""
        return self._advice.blend.of(M) if self._advice.blend else M

    def _learned(self, learner: Staged) -> dict[str, Any]:
        if self._advice.harm:
            return {"components_": np.eye(self.n_features_in_)}
        return super()._learned(learner)

    def _checked(self) -> Self:
        """Note why no metric is taken, if so; advice is large, and of one fit."""
        if self._advice.harm:
            self.notes_.append(self._advice.harm)
        self._advice = Advice()
        return self


def _is_taken(mean: guard.Mistaken, learned: guard.Mistaken, *, is_part: bool) -> bool:
    """Whether a mean is: in a part of the rows neighbours are farther apart than in all."""
    if is_part:
        return guard.fewer(mean, learned, by=LEAD)
    return not guard.fewer(learned, mean, by=HANDICAP)
