"""Samples on a Dask cluster; the answers are those of samples in memory, to the last bit.

One worker gathers the anchors of a search and sends them to all partitions. Each partition
returns its nearest candidates, and a tree of tasks merges them. Only the samples of triplets
and one block of samples at a time come to the client. When a worker dies, others compute again
what it held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.dask import partitions
from calipers.data.dask.cluster import Tasks, client_of, explained
from calipers.data.dask.collections import (
    delayed_partitions,
    is_collection,
    transform_lazily,
)
from calipers.data.dask.partitions import Summary
from calipers.data.memmap import block_limits
from calipers.data.neighbors.passing import Found, merge
from calipers.data.samples import SampleMap, chained, gathered

__all__ = [
    "ClusterSamples",
    "Whole",
    "client_of",
    "cluster_samples",
    "is_collection",
    "samples_on_cluster",
    "transform_lazily",
]


class ClusterSamples:
    """Samples of partitions, indexed through all partitions in order.

    Parameters
    ----------
    tasks : Tasks
        The tasks of this fit.
    parts : list of futures
        Encoded partitions, each with at least one sample.
    whole : Whole
        Sizes, classes and types of all partitions together.
    sample_map : future, optional
        Of the map that workers apply to samples.
    weights : array of shape (n,), optional
        How often each sample counts; they stay with the client.
    """

    def __init__(
        self,
        tasks: Tasks,
        parts: list[Any],
        whole: Whole,
        sample_map: Any = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.tasks, self.parts, self.whole, self.sample_map = tasks, parts, whole, sample_map
        self.weights = weights
        self.class_sizes, self.singletons = whole.class_sizes, whole.singletons

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of features."""
        return int(self.whole.starts[-1]), self.whole.n_features

    @property
    def feature_names(self) -> npt.NDArray[np.object_] | None:
        """The names of the partitions' columns if all are strings, else None."""
        columns = self.whole.columns
        if columns is None or not all(isinstance(name, str) for name in columns):
            return None
        return np.array(columns, dtype=object)

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        futures = [
            self.tasks.submit("limits", partitions.limits, part, self.sample_map)
            for part in self.parts
        ]
        lows, highs = zip(*self.tasks.results(futures, "partition"), strict=True)
        return np.min(lows, axis=0), np.max(highs, axis=0)

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, samples) of successive blocks, fetched one after another.

        The blocks are those of samples in memory, whatever the partitions, so that sums over
        them agree.
        """
        for first, last in block_limits(self.shape):
            yield first, self.take(np.arange(first, last))

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order."""
        if not len(indices):
            return np.empty((0, self.shape[1]), dtype=self.whole.dtype)
        parts, order = self._pieces(indices)
        taken = np.concatenate([part.X for part in self.tasks.results(parts, "partition")])[order]
        if self.sample_map is None:
            return taken
        (sample_map,) = self.tasks.results([self.sample_map], "the map of samples")
        images: npt.NDArray[Any] = sample_map(taken)
        return images

    def labels_of(self, indices: IndexArray) -> IndexArray:
        """Return the class codes of the samples at these indices, in this order."""
        if not len(indices):
            return np.empty(0, dtype=np.intp)
        parts, order = self._pieces(indices)
        found = [part.labels for part in self.tasks.results(parts, "partition")]
        codes: IndexArray = np.concatenate(found)[order]
        return codes

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as samples in memory do, in all partitions in parallel."""
        parts, order = self._pieces(anchors)
        queries = self.tasks.submit(
            "anchors", partitions.assemble, parts, order, anchors, self.sample_map
        )
        sizes, search = (n_same, n_other), partitions.search
        found = [
            self.tasks.submit("search", search, part, int(start), queries, self.sample_map, sizes)
            for part, start in zip(self.parts, self.whole.starts[:-1], strict=True)
        ]
        nearest: Found
        merged = self.tasks.merged("merge", merge, found)
        (nearest,) = self.tasks.results([merged], "the search for neighbours")
        return nearest.same, nearest.other

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """Return the samples of the examples, and the examples re-indexed."""
        return gathered(self, examples, n_columns)

    def transformed(self, sample_map: SampleMap) -> ClusterSamples:
        """Return the images of the samples; workers compute them when they search."""
        both = self.tasks.submit("map", chained, self.sample_map, sample_map)
        return ClusterSamples(self.tasks, self.parts, self.whole, both, self.weights)

    def _pieces(self, indices: IndexArray) -> tuple[list[Any], IndexArray]:
        """Return futures of the samples by partition, and the order that restores ``indices``."""
        by_index = np.argsort(indices, kind="stable")
        ascending = indices[by_index]
        cuts = np.searchsorted(ascending, self.whole.starts)
        pieces = []
        for part, start, first, last in zip(
            self.parts, self.whole.starts[:-1], cuts[:-1], cuts[1:], strict=True
        ):
            if first < last:
                places = ascending[first:last] - start
                pieces.append(self.tasks.submit("take", partitions.take, part, places))
        order = np.empty(len(indices), dtype=np.intp)
        order[by_index] = np.arange(len(indices))
        return pieces, order


class Whole:
    """Sizes, classes and types of all partitions together.

    Raises
    ------
    ValueError
        The partitions do not fit together, a value is not finite, or a label is missing.
    """

    def __init__(self, summaries: list[Summary]) -> None:
        self._check_columns(summaries)
        self.n_features = summaries[0].n_features
        self.columns = summaries[0].columns
        self.filled = [i for i, s in enumerate(summaries) if s.n_samples]
        if not self.filled:
            raise ValueError(f"X has no samples in its {len(summaries)} partitions: give some.")
        summaries = [summaries[i] for i in self.filled]
        self.starts = np.concatenate([[0], np.cumsum([s.n_samples for s in summaries])])
        self._check_values(summaries)
        self.dtype = np.result_type(*(np.dtype(s.dtype) for s in summaries))
        self._count_classes(summaries)

    def _check_columns(self, summaries: list[Summary]) -> None:
        """Raise unless all partitions have the same features, by number, name and order."""
        first = summaries[0]
        for i, s in enumerate(summaries):
            if s.n_features != first.n_features:
                raise ValueError(
                    f"partition {i + 1} of X has {s.n_features} features, but the first has "
                    f"{first.n_features}: give all the same."
                )
            if s.columns != first.columns:
                raise ValueError(
                    f"partition {i + 1} of X has {_described(s.columns)}, but the first has "
                    f"{_described(first.columns)}: give all the same names in the same order."
                )

    def _check_values(self, summaries: list[Summary]) -> None:
        """Raise for the first value that is not finite, or label that is missing."""
        for i, s in enumerate(summaries):
            where = f"(partition {self.filled[i] + 1})"
            if s.gap is not None:
                raise ValueError(
                    f"Input X contains NaN or infinity in sample {self.starts[i] + s.gap[0]}, "
                    f"feature {s.gap[1]} {where}: fill or remove such samples first."
                )
            if s.missing is not None:
                raise ValueError(
                    f"Input y contains NaN or another sign of a missing label at index "
                    f"{self.starts[i] + s.missing} {where}: leave out such samples."
                )

    def _count_classes(self, summaries: list[Summary]) -> None:
        """Find the classes of all partitions, their sizes and the samples alone in theirs."""
        kinds = [_kind(s.classes) for s in summaries]
        if len(set(kinds)) > 1:
            odd = next(i for i, kind in enumerate(kinds) if kind != kinds[0])
            raise ValueError(
                f"partition {self.filled[odd] + 1} of y has {kinds[odd]}s for labels, but the "
                f"first has {kinds[0]}s: give all labels the same type."
            )
        self.classes = np.unique(np.concatenate([s.classes for s in summaries]))
        self.class_sizes: IndexArray = np.zeros(len(self.classes), dtype=np.intp)
        last_member = np.empty(len(self.classes), dtype=np.intp)
        for s, start in zip(summaries, self.starts[:-1], strict=True):
            codes = np.searchsorted(self.classes, s.classes)
            self.class_sizes[codes] += s.counts
            last_member[codes] = start + s.first
        self.singletons: IndexArray = np.sort(last_member[self.class_sizes == 1])


def _described(columns: tuple[Any, ...] | None) -> str:
    """Return up to five column names, for a message."""
    if columns is None:
        return "no column names"
    return f"the columns {', '.join(map(repr, columns[:5]))}{', ...' if len(columns) > 5 else ''}"


def _kind(classes: npt.NDArray[Any]) -> str:
    """Return "number", "time" or "text": labels of different kinds have no common order."""
    kind = np.array(classes.tolist()).dtype.kind if classes.dtype == object else classes.dtype.kind
    return "number" if kind in "biuf" else "time" if kind in "mM" else "text"


def samples_on_cluster(tasks: Tasks, read: list[Any]) -> ClusterSamples:
    """Return the samples of futures of partitions; the partitions stay on the workers."""
    summaries = [tasks.submit("summarize", partitions.summarize, part) for part in read]
    whole = Whole(tasks.results(summaries, "partition"))
    parts = [
        tasks.submit("encode", partitions.encode, read[i], whole.classes, whole.dtype)
        for i in whole.filled
    ]
    return ClusterSamples(tasks, parts, whole)


def cluster_samples(
    client: Any, X: Any, y: Any = None
) -> tuple[ClusterSamples, npt.NDArray[Any] | None]:
    """Read a dask collection into samples on a cluster, and encode the labels.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster; see :func:`~calipers.data.dask.cluster.client_of`.
    X : dask array, dask dataframe or list of delayed, of shape (n_samples, n_features)
        Samples; every partition is read once and stays on the workers.
    y : dask array, dask series or list of delayed, of shape (n_samples,), optional
        Labels, split as X is.

    Returns
    -------
    samples : ClusterSamples
        The samples, with class codes if there are labels.
    classes : array of shape (n_classes,) or None
        The label of each class code, ascending; None without labels.

    Raises
    ------
    TypeError
        X or y is not a dask collection.
    ValueError
        The partitions do not fit together, a value is not finite, or a label is missing.
    ClusterError
        A partition could not be computed.
    """
    tasks = Tasks(client)
    with explained("partition"):
        read = client.compute(delayed_partitions(X, y, keys=tasks.key))
    samples = samples_on_cluster(tasks, read)
    announced, columns = getattr(X, "columns", None), samples.whole.columns
    if announced is not None and columns is not None and columns != tuple(announced):
        raise ValueError(
            f"the partitions of X have {_described(columns)}, but X announces "
            f"{_described(tuple(announced))}: give both the same names in the same order."
        )
    return samples, (None if y is None else samples.whole.classes)
