"""Learners that look, before they learn, at what will come of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import guard
from calipers.estimators.blend import MEANS, Blend, Shares, covariance
from calipers.estimators.coordinates import Coordinates, basis_of, coordinates
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
LEAD = 1.0  # standard errors by which a metric alone must be better than the mean,
LEAD_IN_PART = 4.0  # or the mean than it, where only a part of the rows is asked
STAYS = "The metric is Euclidean (guard=False takes the learned one)."


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
    _of_means: Sequence[Shares] = MEANS

    def _consult(self, rows: Rows) -> None:
        if not self.guard or self.n_components or not guard.is_asked(*rows.shape, doubt=1.0):
            return
        if self.start != "auto":
            self._doubt = guard.doubt_about(rows, self._coordinates)
        others = 1.0 - rows.class_sizes.max() / rows.shape[0]
        if not guard.is_asked(*rows.shape, self._doubt, others=others):
            return
        X, y = guard.some_of(rows)
        if len(np.unique(y)) == 1 and others < 0.5:
            self._advice = Advice(
                harm=f"All classes but one have fewer than {guard.N_FOLDS} rows, too few to be "
                f"held out and to say whether learning helps. {STAYS}"
            )
        else:
            self._advice = self._asked(X, y, is_part=rows.shape[0] > guard.MOST_ROWS)

    @single_threaded_blas()
    def _asked(self, X: FloatArray, y: IndexArray, *, is_part: bool) -> Advice:
        """What rows say that are held out in turn."""
        others: list[FloatArray] = []
        basis = basis_of(X) if 0 < len(X) < X.shape[1] else None

        def map_of(M: FloatArray) -> FloatArray:
            """Under which these rows are as far apart as under M."""
            return factor(M) if basis is None else factor(basis.T @ M @ basis) @ basis.T

        def learn(X: FloatArray, y: IndexArray, seed: int) -> list[FloatArray]:
            few = self._tried(X, y, seed, self._neighbors(X.shape[1]))
            if few is None:
                return []
            if self.n_neighbors:
                return [map_of(few)]
            many = self._tried(X, y, seed, min(MANY, len(X) - 1))
            if many is None:
                return []
            others.append(many)
            blends = self._blends(X, y, others[-1:])
            return [map_of(few), *(map_of(blend.of(few)) for blend in blends)]

        answers = guard.held_out(learn, X, y)
        if answers is None:
            return Advice()
        given, *learned = answers
        chosen = _chosen([each.strangers for each in learned], is_part=is_part)
        best = learned[chosen]
        if guard.is_better(best, given):
            return Advice(self._blends(X, y, others)[chosen - 1] if chosen else None)
        return Advice(
            harm=f"Of {len(given.mistaken)} rows that were held out, {best.mistaken.mean():.1%} "
            "are taken for another class under a metric learned from the rest, and "
            f"{given.mistaken.mean():.1%} without; of the rows around them (nearer ones count "
            f"more) {best.strangers.mean():.1%} and {given.strangers.mean():.1%} are of another "
            f"class. That is not clearly better. {STAYS}"
        )

    def _blends(self, X: FloatArray, y: IndexArray, many: list[FloatArray]) -> list[Blend]:
        """The means that are tried, of a metric of these rows and those of many neighbours."""
        rows, eye, C = RowsInMemory(X, y), np.eye(X.shape[1]), covariance(X)
        start, classes = (
            coordinates(kind, rows).pull_back(eye) for kind in (self.start_, "classes")
        )
        blends = []
        for shares in self._of_means:
            others = [(shares.many / len(many), each) for each in many]
            others += [(shares.start, start), (shares.classes, classes)]
            blends.append(Blend(C, shares.few, [other for other in others if other[0] > 0.0]))
        return blends

    @abstractmethod
    def _tried(
        self, X: FloatArray, y: IndexArray, seed: int, n_neighbors: int
    ) -> FloatArray | None:
        """M learned from these rows and fewer triplets; None if interrupted."""

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


def _chosen(learned: Sequence[FloatArray], *, is_part: bool) -> int:
    """Which is best of a metric learned from few neighbours (0) and its means (1, ...).

    By the strangers around rows that are asked. The mean is preferred; in a part of the rows,
    where neighbours are farther apart and means better than in all, the metric alone is.
    """
    if len(learned) == 1:
        return 0
    mean = 1 + int(np.argmin([strangers.sum() for strangers in learned[1:]]))
    if is_part:
        return mean if guard.lead(learned[mean], learned[0]) > LEAD_IN_PART else 0
    return 0 if guard.lead(learned[0], learned[mean]) > LEAD else mean
