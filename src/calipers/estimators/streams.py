"""Learning from batches that come one after the other."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context

from calipers.arrays import IndexArray
from calipers.estimators import inputs
from calipers.estimators.from_triplets import TripletLearner
from calipers.estimators.reservoir import Reservoir
from calipers.estimators.stages import Staged
from calipers.triplets import DrawnTriplets, GivenTriplets, RowsInMemory, check_triplets

if TYPE_CHECKING:
    _Learner = TripletLearner[Staged]
else:
    _Learner = object

SAMPLE = 1000  # triplets by which the unit is measured, see `inputs.typical_far`
TRIPLETS_PER_NEW_ROW = 5


@dataclass
class Stream:
    """What is kept between two batches: little, however long the stream is."""

    rngs: list[np.random.Generator]
    triplet_rng: np.random.Generator
    solver: Staged | None = None
    rows: npt.NDArray[Any] = field(default_factory=lambda: np.empty((0, 0)))
    triplets: IndexArray = field(default_factory=lambda: np.empty((0, 3), dtype=np.intp))
    reservoir: Reservoir | None = None

    def add(self, X: npt.NDArray[Any], triplets: IndexArray) -> None:
        """Put triplets, and the rows they point to, behind those that wait."""
        numbers, places = np.unique(triplets, return_inverse=True)
        rows = np.concatenate([self.rows, X[numbers]]) if len(self.rows) else X[numbers]
        moved = places.reshape(-1, 3) + len(self.rows)
        self.triplets = np.concatenate([self.triplets, moved.astype(np.intp)])
        self.rows = rows

    def leave(self, n_triplets: int) -> None:
        """Keep the last triplets only, and the rows they point to."""
        rest = self.triplets[len(self.triplets) - n_triplets :]
        numbers, places = np.unique(rest, return_inverse=True)
        self.rows = self.rows[numbers]
        self.triplets = np.asarray(places, dtype=np.intp).reshape(-1, 3)


class StreamLearner(_Learner):
    """``partial_fit`` of a learner whose solver can be fed for as long as one likes."""

    _stream: Stream | None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from one more batch of labelled rows.

        Five triplets are drawn for each new row, the new row being the anchor; its near and far
        rows are among the nearest of the batch and of a sample of the rows before, up to 200 of
        each class. `n_triplets` has no meaning here. The first call after `fit`, or on a new
        estimator, begins a stream; ``start="auto"`` is then "identity", and other starts are
        taken from the rows of that call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the batch.
        y : array-like of shape (n_samples,)
            Class of each row; batches need not have rows of every class.

        Returns
        -------
        Self
            The estimator, with the metric so far.
        """
        started = perf_counter()
        is_first = self._stream is None
        rows, labels = inputs.dense_labelled(self, X, y, reset=is_first, fewest=1)
        stream = self._begun(RowsInMemory(rows, np.unique(labels, return_inverse=True)[1]))
        if stream.reservoir is None:
            stream.reservoir = Reservoir(rows.shape[1], stream.triplet_rng.spawn(1)[0])
        codes = stream.reservoir.encode(labels)
        self.classes_ = np.array(sorted(stream.reservoir.codes))
        before, codes_before = stream.reservoir.rows()
        seen = np.concatenate([before, rows]) if len(before) else rows
        all_codes = np.concatenate([codes_before, codes])
        triplets = self._drawn_for_new(seen, all_codes, len(before))
        stream.reservoir.add(rows, codes)
        self.mining_seconds_ = perf_counter() - started
        return self._take(seen, triplets)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit_triplets(self, X: npt.ArrayLike, triplets: npt.ArrayLike) -> Self:
        """Learn from one more batch of your own triplets.

        Triplets that do not fill a batch of `batch_size` wait for the next call. The result is
        that of one `fit_triplets` on all of them, but for rounding, if the method is not
        "ha-sgd", or `gradient_bound` is "running": else the largest norm is estimated from
        the first thousand triplets only.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that these triplets point to.
        triplets : array-like of shape (n_triplets, 3)
            Row numbers (a, b, c) of this X: a should be closer to b than to c.

        Returns
        -------
        Self
            The estimator, with the metric so far.
        """
        started = perf_counter()
        rows = inputs.dense_rows(self, X, reset=self._stream is None)
        checked = check_triplets(triplets, len(rows))
        self._begun(RowsInMemory(rows))
        self.mining_seconds_ = perf_counter() - started
        return self._take(rows, checked)

    def _begun(self, rows: RowsInMemory) -> Stream:
        """The stream; at the first call a new one, with the coordinates of the first rows."""
        if self._stream is None:
            self.notes_: list[str] = []
            self._check_names(rows.shape[1])
            has_start = self.start in ("features", "classes")
            self._into_coordinates(rows if has_start else RowsInMemory(rows.X))
            triplet_rng, *rngs = self._streams()
            self._stream = Stream(rngs, triplet_rng)
        return self._stream

    def _check_names(self, n_features: int) -> None:
        """Raise for settings that do not fit each other or the number of features."""

    def _drawn_for_new(self, X: npt.NDArray[Any], codes: IndexArray, n_old: int) -> IndexArray:
        """Triplets whose anchors are new rows; none if no new row has a near and a far one."""
        assert self._stream is not None
        sizes = np.bincount(codes)
        new = np.arange(n_old, len(X))
        usable = new[sizes[codes[new]] >= 2]
        if not len(usable) or np.count_nonzero(sizes) < 2:
            return np.empty((0, 3), dtype=np.intp)
        seen = RowsInMemory(self._coordinates.of(X), codes)
        rng = self._stream.triplet_rng.spawn(1)[0]
        n = TRIPLETS_PER_NEW_ROW * len(usable)
        neighbors = min(self._neighbors(X.shape[1]), len(X) - 1)
        source = DrawnTriplets(seen, n, n_neighbors=neighbors, rng=rng, among=usable)
        return np.concatenate(list(source.portions(n)))

    def _take(self, X: npt.NDArray[Any], triplets: IndexArray) -> Self:
        """Walk through what waits and these triplets, as far as they fill batches."""
        stream = self._stream
        assert stream is not None
        started = perf_counter()
        stream.add(X, triplets)
        solver = stream.solver or self._started(stream)
        if solver is None:  # not one batch yet
            self.components_ = np.eye(self.n_features_in_)
            self.n_updates_, self.n_iter_ = 0, 0
            return self
        b = solver.batch_size
        n = len(stream.triplets) // b * b
        seen = self._coordinates.of(stream.rows)
        if n:
            solver.advance(seen, stream.triplets[:n])
        if stream.solver is not None:
            stream.leave(len(stream.triplets) - n)
        self._set_fitted(solver)
        self.solve_seconds_ = perf_counter() - started
        return self

    def _started(self, stream: Stream) -> Staged | None:
        """A solver at the start; for good once the sample that its unit is taken from is full.

        Until then all triplets are kept and walked through anew at every call.
        """
        rows = RowsInMemory(self._coordinates.of(stream.rows))
        if len(stream.triplets) < self._pace(rows).batch_size:
            return None
        solver = self._start(rows, GivenTriplets(stream.triplets), deepcopy(stream.rngs))
        if len(stream.triplets) >= SAMPLE:
            stream.solver = solver
        return solver
