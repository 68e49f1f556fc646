"""Learning from batches that come one after the other, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples
from calipers.data.triplets import AllPairsTriplets, DrawnTriplets, GivenTriplets, Source
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import LinearMap
from calipers.metric.moments import StreamedMoments, with_classes
from calipers.solvers.plan import N_NEIGHBORS, Plan
from calipers.solvers.sgd import SGDSolver
from calipers.solvers.training import History

SAMPLES_PER_CLASS = 200
UNIT_NEGATIVES = 1000  # pairs of anchor and negative by which the unit of the margin is measured


class Reservoir:
    """Up to so many samples of each class, each sample of the stream with the same probability.

    Vitter's algorithm R for each class: the t-th sample of a class draws a place among t, and
    takes it if it is one of those kept.
    """

    def __init__(
        self, n_features: int, rng: np.random.Generator, size: int = SAMPLES_PER_CLASS
    ) -> None:
        self.rng, self.size = rng, size
        self.codes: dict[Any, int] = {}  # of a label
        self.kept: list[list[npt.NDArray[Any]]] = []  # samples of each class
        self.seen: list[int] = []
        self._none = np.empty((0, n_features))

    def encode(self, y: npt.NDArray[Any]) -> IndexArray:
        """Codes of labels, in the order in which classes were met first."""
        classes, places = np.unique(y, return_inverse=True)
        for label in classes.tolist():
            if label not in self.codes:
                self.codes[label] = len(self.codes)
                self.kept.append([])
                self.seen.append(0)
        known = np.array([self.codes[label] for label in classes.tolist()], dtype=np.intp)
        return np.asarray(known[places])

    def samples(self) -> tuple[npt.NDArray[Any], IndexArray]:
        """The samples that are kept, and their codes."""
        samples = [sample for kept in self.kept for sample in kept]
        sizes = [len(kept) for kept in self.kept]
        stacked = np.stack(samples) if samples else self._none
        return stacked, np.repeat(np.arange(len(sizes)), sizes)

    def add(self, X: npt.NDArray[Any], codes: IndexArray) -> None:
        """Let samples of the stream pass."""
        for sample, code in zip(X, codes.tolist(), strict=True):
            self.seen[code] += 1
            kept = self.kept[code]
            if len(kept) < self.size:
                kept.append(sample.copy())
                continue
            place = int(self.rng.integers(self.seen[code]))
            if place < self.size:
                kept[place] = sample.copy()


class TripletStream:
    """What is kept between two batches: little, however long the stream is.

    Triplets that do not fill a batch wait. Until enough have come to measure the unit of the
    margin, all are kept, and learned from anew at every call. A learner copies its stream before a
    batch, so that one that fails changes nothing.
    """

    def __init__(
        self,
        init: LinearMap,
        plan: Plan,
        rngs: list[np.random.Generator],
        first_X: npt.NDArray[Any],
        resolved: dict[str, Any],
    ) -> None:
        self.coordinates, self.plan, self.resolved = Coordinates(init), plan, resolved
        self.triplet_rng, *self.solver_rngs = rngs
        self.first = MemorySamples(self.coordinates.init(first_X))
        self.reservoir = Reservoir(first_X.shape[1], self.triplet_rng.spawn(1)[0])
        self.X = np.empty((0, first_X.shape[1]), dtype=first_X.dtype)
        self.triplets = np.empty((0, 3), dtype=np.intp)
        self.solver: SGDSolver | None = None
        self.is_started = False
        self.moments = StreamedMoments(diagonal=True)
        self.classes: npt.NDArray[Any] | None = None

    @property
    def history(self) -> History:
        """What the solver has counted."""
        return History() if self.solver is None else History().after(self.solver)

    def add_labelled(self, X: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        """Make triplets whose anchors are new samples."""
        codes = self.reservoir.encode(y)
        before, codes_before = self.reservoir.samples()
        seen = np.concatenate([before, X]) if len(before) else X
        self.add(seen, self._draw(seen, np.concatenate([codes_before, codes]), len(before)))
        self.reservoir.add(X, codes)
        self.classes = with_classes(self.classes, y)

    def add(self, X: npt.NDArray[Any], triplets: IndexArray) -> None:
        """Put triplets, and the samples they point to, behind those that wait."""
        indices, places = np.unique(triplets, return_inverse=True)
        moved = places.reshape(-1, 3) + len(self.X)
        self.triplets = np.concatenate([self.triplets, moved.astype(np.intp)])
        self.X = np.concatenate([self.X, X[indices]]) if len(self.X) else X[indices]

    def learn(self) -> None:
        """Learn from the triplets that fill batches."""
        n = len(self.triplets) // self.plan.batch_triplets * self.plan.batch_triplets
        if not n:
            return
        if not self.is_started:
            self._start()
        assert self.solver is not None
        self.solver.advance(self.coordinates.init(self.X), self.triplets[:n])
        if self.is_started:
            self._keep_last(len(self.triplets) - n)

    def components(self, n_components: int | None) -> FloatArray:
        """L of the metric so far."""
        metric, scale = np.eye(self.first.shape[1]), 1.0
        if self.solver is not None:
            metric, scale = self.solver.metric, self.solver.init_scale
        return self.coordinates.components(metric, scale, self.first, n_components)

    def _start(self) -> None:
        """A solver at the identity; for good once its unit can be measured."""
        samples = MemorySamples(self.coordinates.init(self.X))
        rngs = deepcopy(self.solver_rngs)
        self.solver = self.plan.solver(samples, GivenTriplets(self.triplets), rngs)
        self.is_started = len(self.triplets) >= UNIT_NEGATIVES * self.plan.all_pairs

    def _keep_last(self, n_triplets: int) -> None:
        """Drop all but the last triplets, and the samples that only the dropped ones point to."""
        rest = self.triplets[len(self.triplets) - n_triplets :]
        indices, places = np.unique(rest, return_inverse=True)
        self.X = self.X[indices]
        self.triplets = np.asarray(places, dtype=np.intp).reshape(-1, 3)

    def _draw(self, X: npt.NDArray[Any], codes: IndexArray, n_old: int) -> IndexArray:
        """Triplets whose anchors are new samples; none if none has a positive and a negative."""
        sizes = np.bincount(codes)
        new = np.arange(n_old, len(X))
        anchors = new[sizes[codes[new]] >= 2]
        if not len(anchors) or np.count_nonzero(sizes) < 2:
            return np.empty((0, 3), dtype=np.intp)
        k = self.plan.n_neighbors or N_NEIGHBORS
        by_anchor = self.plan.recipe.triplets == "all-pairs"
        draw: Callable[..., Source] = AllPairsTriplets if by_anchor else DrawnTriplets
        n = len(anchors) * (k**2 if by_anchor else k)
        source: Source = draw(
            MemorySamples(self.coordinates.init(X), codes),
            n,
            n_neighbors=k,
            rng=self.triplet_rng.spawn(1)[0],
            among=anchors,
        )
        return np.concatenate(list(source.portions(n)))
