"""Samples on a Dask cluster; the answers are those of samples in memory, to the last bit.

Learners recognise Dask collections by themselves: ``TripletSGD().fit(dask_X, dask_y)``.

One worker gathers the anchors of a search and sends them to all partitions. Each partition
returns its nearest candidates, and a tree of tasks merges them. Only the samples of triplets
and one block of samples at a time come to the client. When a worker dies, others compute again
what it held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.files import needs_package
from calipers.data.neighbors import Anchors, Found, Passing, merge
from calipers.data.samples import (
    SampleMap,
    Samples,
    block_limits,
    images,
    is_collection,
    refuse_missing,
)

_MERGED_AT_ONCE = 8


@contextmanager
def client_of(given: Any) -> Iterator[Any]:
    """Yield the client given, else the current one, else that of a new local cluster.

    The end of the block closes a new cluster.
    """
    try:
        from distributed import Client, LocalCluster, default_client
    except ImportError as missing:
        raise ImportError(needs_package("A cluster", "dask", "dask")) from missing
    if given is None:
        try:
            given = default_client()
        except ValueError:  # there is none
            with LocalCluster(dashboard_address=":0") as cluster, Client(cluster) as client:
                yield client
            return
    yield given


# What workers do with one partition, in NumPy alone


class Partition(NamedTuple):
    """Some of the samples; the labels are those given, and class codes after `_encode`."""

    X: npt.NDArray[Any]
    labels: npt.NDArray[Any]


class Summary(NamedTuple):
    """What the client must know of a partition before any partition can be encoded."""

    n_samples: int
    columns: tuple[Any, ...]  # names of a dataframe's columns, else their numbers
    dtype: np.dtype[Any]
    limits: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    classes: npt.NDArray[Any]
    counts: IndexArray
    first: IndexArray  # place of the first sample of each class


def _read(number: int, X: Any, y: Any = None) -> tuple[Partition, tuple[Any, ...]]:
    """Convert samples and labels to arrays; return them, and the names of the columns."""
    from sklearn.utils import check_array, check_consistent_length, column_or_1d

    columns = getattr(X, "columns", None)
    try:
        dtypes = [np.float64, np.float32]
        X = check_array(X, dtype=dtypes, order="C", input_name="X", ensure_min_samples=0)
        labels = np.empty(0, dtype=np.intp)
        if y is not None:
            refuse_missing(y)
            labels = column_or_1d(y)
            check_consistent_length(X, labels)
    except ValueError as wrong:
        raise ValueError(f"Partition {number + 1} of X and y: {wrong}") from wrong
    return Partition(X, labels), tuple(range(X.shape[1]) if columns is None else columns)


def _summary(read: tuple[Partition, tuple[Any, ...]]) -> Summary:
    (X, labels), columns = read
    classes, first, counts = np.unique(labels, return_index=True, return_counts=True)
    limits = X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)
    return Summary(len(X), columns, X.dtype, limits, classes, counts, first)


def _encode(
    read: tuple[Partition, tuple[Any, ...]], classes: npt.NDArray[Any], dtype: np.dtype[Any]
) -> Partition:
    """Convert samples to the type of all partitions, and labels to class codes."""
    (X, labels), _ = read
    return Partition(X.astype(dtype, copy=False), np.searchsorted(classes, labels))


def _take(part: Partition, places: IndexArray) -> Partition:
    return Partition(part.X[places], part.labels[places] if len(part.labels) else part.labels)


def _joined(
    parts: list[Partition], order: IndexArray, indices: IndexArray, maps: list[SampleMap]
) -> Anchors:
    """Join samples of several partitions in one order, to be sent to every partition."""
    samples = np.concatenate([part.X for part in parts])[order]
    labels = np.concatenate([part.labels for part in parts])
    labels = labels[order] if len(labels) else labels
    return Anchors(images(samples, tuple(maps)), labels, indices)


def _search(
    part: Partition, first: int, anchors: Anchors, maps: list[SampleMap], sizes: tuple[int, int]
) -> Found:
    """Find each anchor's nearest neighbours in the partition."""
    passing = Passing(anchors, n_same=sizes[0], n_other=sizes[1])
    passing.offer(images(part.X, tuple(maps)), part.labels, first)
    return passing.found()


def _same(value: Any) -> Any:
    return value


# What the client knows


class ClusterSamples(Samples):
    """Samples of partitions, indexed through all partitions in order.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    read : list of futures
        Partitions as `_read` returns them; they stay on the workers.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The label of each class code, ascending; empty without labels.
    feature_names : array of shape (d,) or None
        Names of the partitions' columns, if they are texts.
    """

    def __init__(self, client: Any, read: list[Any]) -> None:
        self.client, self._maps = client, list[Any]()
        summaries: list[Summary] = client.gather(self._each(_summary, read))
        filled = [i for i, summary in enumerate(summaries) if summary.n_samples]
        columns = summaries[0].columns
        for number, summary in enumerate(summaries, 1):
            if summary.columns != columns:
                raise ValueError(
                    f"Partition {number} of X has the columns {summary.columns[:5]} (of "
                    f"{len(summary.columns)}), but the first has {columns[:5]} (of {len(columns)}):"
                    " give all the same."
                )
        if not filled:
            raise ValueError(f"X has no samples in its {len(summaries)} partitions: give some.")
        summaries = [summaries[i] for i in filled]
        self._starts = np.concatenate([[0], np.cumsum([each.n_samples for each in summaries])])
        self.shape = int(self._starts[-1]), len(columns)
        texts = all(isinstance(name, str) for name in columns)
        self.feature_names = np.array(columns, dtype=object) if texts else None
        self._dtype = np.result_type(*(each.dtype for each in summaries))
        lows, highs = zip(*(each.limits for each in summaries), strict=True)
        self._limits = np.min(lows, axis=0), np.max(highs, axis=0)
        self._count_classes(summaries)
        self._parts = self._each(_encode, [read[i] for i in filled], self.classes, self._dtype)

    def _count_classes(self, summaries: list[Summary]) -> None:
        """Find the classes of all partitions, their sizes and the samples alone in theirs."""
        if len({each.classes.dtype.kind in "biuf" for each in summaries}) > 1:
            raise ValueError("y has numbers in some partitions and texts in others: make them one.")
        self.classes = np.unique(np.concatenate([each.classes for each in summaries]))
        self.class_sizes = np.zeros(len(self.classes), dtype=np.intp)
        member = np.empty(len(self.classes), dtype=np.intp)
        for each, start in zip(summaries, self._starts[:-1], strict=True):
            codes = np.searchsorted(self.classes, each.classes)
            self.class_sizes[codes] += each.counts
            member[codes] = start + each.first
        self.singletons = np.sort(member[self.class_sizes == 1])

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order."""
        if not len(indices):
            return np.empty((0, self.shape[1]), dtype=self._dtype)
        return self._gathered(indices, self.client.gather(self._maps)).samples

    def labels_of(self, indices: IndexArray) -> IndexArray:
        """Return the class codes of the samples at these indices, in this order."""
        return self._gathered(indices, []).labels if len(indices) else indices

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, samples) of successive blocks, fetched one after another."""
        for first, last in block_limits(self.shape):
            yield first, self.take(np.arange(first, last))

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        return super().limits() if self._maps else self._limits

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as samples in memory do, in all partitions in parallel."""
        parts, order = self._pieces(anchors)
        queries = self._submit(_joined, parts, order, anchors, self._maps)
        found = [
            self._submit(_search, part, int(start), queries, self._maps, (n_same, n_other))
            for part, start in zip(self._parts, self._starts[:-1], strict=True)
        ]
        while len(found) > 1:
            groups = range(0, len(found), _MERGED_AT_ONCE)
            found = [self._submit(merge, found[i : i + _MERGED_AT_ONCE]) for i in groups]
        nearest: Found = found[0].result()
        return nearest.same, nearest.other

    def transformed(self, sample_map: SampleMap) -> ClusterSamples:
        """Return the images of the samples; workers compute them when they search."""
        result = copy(self)
        result._maps = [*self._maps, self._submit(_same, sample_map)]
        return result

    def _gathered(self, indices: IndexArray, maps: list[SampleMap]) -> Anchors:
        parts, order = self._pieces(indices)
        return _joined(self.client.gather(parts), order, indices, maps)

    def _pieces(self, indices: IndexArray) -> tuple[list[Any], IndexArray]:
        """Return futures of the samples by partition, and the order that restores ``indices``."""
        by_index = np.argsort(indices, kind="stable")
        ascending = indices[by_index]
        cuts = np.searchsorted(ascending, self._starts)
        pieces = [
            self._submit(_take, part, ascending[first:last] - start)
            for part, start, first, last in zip(
                self._parts, self._starts[:-1], cuts[:-1], cuts[1:], strict=True
            )
            if first < last
        ]
        return pieces, np.argsort(by_index)

    def _each(self, work: Callable[..., Any], parts: list[Any], *more: Any) -> list[Any]:
        return [self._submit(work, part, *more) for part in parts]

    def _submit(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task and return its future; futures among the arguments are its dependencies."""
        return self.client.submit(work, *arguments, pure=False)


def cluster_samples(client: Any, X: Any, y: Any = None) -> ClusterSamples:
    """Read dask collections into samples on a cluster, and encode the labels.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster; see `client_of`.
    X : dask array, dask dataframe or list of delayed, of shape (n_samples, n_features)
        Samples; every partition is read once and stays on the workers.
    y : dask array, dask series or list of delayed, of shape (n_samples,), optional
        Labels, split as X is.
    """
    from dask import delayed

    parts = _delayed_parts(_whole_rows(X), "X")
    labels = [None] * len(parts) if y is None else _delayed_parts(_split_as(y, X), "y")
    if len(labels) != len(parts):
        raise ValueError(
            f"y has {len(labels)} partitions for the {len(parts)} of X: cut both alike, "
            "for example with rechunk or repartition."
        )
    read = delayed(_read, pure=False)
    tasks = [read(i, *both) for i, both in enumerate(zip(parts, labels, strict=True))]
    return ClusterSamples(client, client.compute(tasks))


def _delayed_parts(collection: Any, name: str) -> list[Any]:
    if not is_collection(collection):
        raise TypeError(
            f"{name} must be a dask array, a dask dataframe or a list of delayed parts, got "
            f"{type(collection).__name__}: use data in memory for both X and y, or "
            "dask.array.from_array."
        )
    if hasattr(collection, "to_delayed"):
        return list(np.ravel(collection.to_delayed()))
    return list(collection) if isinstance(collection, list | tuple) else [collection]


def _whole_rows(X: Any) -> Any:
    """Rechunk an array so that every block has all features."""
    return X.rechunk({1: -1}) if hasattr(X, "rechunk") and X.ndim > 1 else X


def _split_as(y: Any, X: Any) -> Any:
    """Rechunk y like X, where both are arrays with known chunk sizes."""
    if not (hasattr(y, "rechunk") and hasattr(X, "rechunk")):
        return y
    y = y.reshape(-1) if y.ndim != 1 else y
    if np.isnan([*X.chunks[0], *y.chunks[0]]).any():
        return y
    if len(y) != len(X):
        raise ValueError(f"y has {len(y)} labels for the {len(X)} samples of X.")
    return y.rechunk((X.chunks[0],))


def transform_lazily(X: Any, components: FloatArray) -> Any:
    """Return ``X @ components.T`` as a dask array, lazily and block by block, in float64."""
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not hasattr(X, "map_blocks"):
        raise TypeError(
            f"X must be a dask array or a dask dataframe, got {type(X).__name__}: compute it, then "
            "transform the result."
        )
    X = _whole_rows(X)
    shape = {"chunks": (X.chunks[0], (len(components),)), "meta": np.empty((0, 0))}
    return X.map_blocks(_images, components, dtype=np.float64, **shape)


def _images(block: Any, components: FloatArray) -> FloatArray:
    from sklearn.utils import check_array

    X = check_array(block, dtype=np.float64, ensure_min_samples=0, input_name="X")
    return np.asarray(X @ components.T)
