"""Many triplets: every partition learns a metric of its own, and the result is their mean."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, NoReturn, Self, cast

import numpy as np
from sklearn.base import _fit_context
from sklearn.callback import with_callbacks

from calipers.arrays import FloatArray
from calipers.dask.cluster import ClusterError, Tasks, client_of
from calipers.dask.estimators import DaskTripletSGD
from calipers.dask.partitions import Partition
from calipers.dask.rows import RowsOnCluster
from calipers.estimators import TripletSGD, defaults, inputs
from calipers.estimators.stages import Staged
from calipers.metric import factor
from calipers.triplets import RowMap


class AveragedTripletSGD(DaskTripletSGD):
    """One metric for each partition, learned where it lies, and their mean.

    For more triplets than one solver should walk through: neighbours are searched within
    partitions and nothing but metrics moves. Near and far rows are then the nearest of a
    partition, not of all rows, and each walk is shorter: the result differs from that of
    :class:`DaskTripletSGD`, and depends on the partitions (not on the workers). Rows should be
    spread over partitions by chance. ``python -m benchmarks scale`` measures what it costs.

    Parameters are those of :class:`~calipers.TripletSGD`; `n_triplets` are shared among the
    partitions in proportion to their rows. A metric counts by its triplets.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with L'L the mean of the metrics.
    n_partitions_used_ : int
        Partitions that had rows enough to learn from.
    n_updates_ : int
        Updates of all of them.
    """

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, *, client: Any = None) -> Self:
        """Learn from labels, each partition for itself; see :meth:`DaskTripletSGD.fit`."""
        started = perf_counter()
        owner = type(self).__name__
        with client_of(client) as used:
            rows = self._rows(Tasks(used), X, y)
            self.classes_ = rows.whole.classes
            self._check_settings(rows)
            inputs.check_classes(owner, self.classes_, rows.class_sizes, takes_triplets=owner)
            seen = cast(RowsOnCluster, self._into_coordinates(rows))
            self.mining_seconds_ = perf_counter() - started
            started = perf_counter()
            futures = self._walks(seen)
            mean = Mean(rows.tasks, np.zeros((rows.shape[1],) * 2))
            steps = (partial(mean.add, future) for future in futures)
            self._report(steps, len(futures), cast(Any, mean), given=(X, y))
        if not mean.n_metrics:
            raise ClusterError(
                f"None of the {len(futures)} partitions has rows of two classes and triplets "
                "enough to learn from: make partitions larger, spread the rows over them by "
                "chance, or raise n_triplets."
            )
        for name, value in self._learned(cast(Any, mean)).items():
            setattr(self, name, value)
        self.n_updates_, self.n_partitions_used_ = mean.n_updates, mean.n_metrics
        self.n_iter_ = mean.n_iterations
        self.solve_seconds_ = perf_counter() - started
        return self

    def theory(self, delta: float = 0.01) -> NoReturn:
        """Refuse: the theorems are about one walk."""
        raise ValueError(
            "The theorems are about one walk, not about the mean of several: fit DaskTripletSGD."
        )

    def _walks(self, rows: RowsOnCluster) -> list[Any]:
        """A future of what each partition learns."""
        n_neighbors = self._neighbors(rows.shape[1])
        settings = {
            **self.get_params(),
            "start": "identity",
            "n_components": None,
            "n_neighbors": n_neighbors,
            "guard": False,
        }
        n_triplets = self.n_triplets or self._enough_triplets(rows)
        bounds = np.rint(n_triplets * rows.whole.starts / rows.shape[0]).astype(int)
        triplet_rng = self._streams()[0]
        seeds = triplet_rng.integers(2**31, size=len(rows.parts)).tolist()
        return [
            rows.tasks.submit(
                "walk",
                walk,
                part,
                rows.row_map,
                {**settings, "n_triplets": int(share), "random_state": seed},
            )
            for part, share, seed in zip(rows.parts, np.diff(bounds), seeds, strict=True)
        ]

    def _learned(self, learner: Any) -> dict[str, Any]:
        if isinstance(learner, Staged):
            return super()._learned(learner)
        M = self._coordinates.pull_back(learner.metric)
        return {"components_": factor(M, self.n_components)}


class Walked(NamedTuple):
    """What a partition has learned."""

    M: FloatArray
    n_triplets: int
    n_updates: int
    n_iterations: int


def walk(part: Partition, row_map: RowMap | None, settings: dict[str, Any]) -> Walked | None:
    """Learn a metric within a partition; None if there is nothing to learn from."""
    assert part.labels is not None
    sizes = np.bincount(part.labels)
    few = np.count_nonzero(sizes) < 2 or sizes.max() < 2 or len(part.X) <= settings["n_neighbors"]
    if few or settings["n_triplets"] < (settings["batch_size"] or defaults.BATCH):
        return None
    X = part.X if row_map is None else row_map(part.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", inputs.DataWarning)  # classes of one row, here
        learner = TripletSGD(**settings).fit(X, part.labels)
    M = learner.get_mahalanobis_matrix()
    return Walked(M, settings["n_triplets"], learner.n_updates_, learner.n_iter_)


@dataclass
class Mean:
    """The mean of the metrics that have come so far, each by its triplets."""

    tasks: Tasks
    total: FloatArray
    n_triplets: int = 0
    n_updates: int = 0
    n_iterations: int = 0
    n_metrics: int = 0

    def add(self, future: Any) -> None:
        """Wait for a metric and add it."""
        walked: Walked | None
        (walked,) = self.tasks.results([future], "a walk within a partition")
        if walked is None:
            return
        self.total += walked.n_triplets * walked.M
        self.n_triplets += walked.n_triplets
        self.n_updates += walked.n_updates
        self.n_iterations += walked.n_iterations
        self.n_metrics += 1

    @property
    def metric(self) -> FloatArray:
        """The mean; 0 before the first has come."""
        return np.asarray(self.total / max(self.n_triplets, 1))
