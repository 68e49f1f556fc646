"""Rows on a cluster, with the answers of rows in memory to the last bit.

Anchors are gathered on one worker and sent to all; each partition returns its nearest
candidates, which a tree of merges reduces. Only the rows of triplets come to the client.
Whatever a worker held when it died is computed anew by others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.dask import partitions
from calipers.dask.cluster import ClusterError, Tasks
from calipers.dask.partitions import Summary
from calipers.triplets import RowMap
from calipers.triplets.passing import Found, merge
from calipers.triplets.rows import chained, gathered


class RowsOnCluster:
    """Rows of partitions, numbered through them in order.

    Parameters
    ----------
    tasks : Tasks
        Of this fit.
    parts : list of futures
        Encoded partitions, each with at least one row.
    whole : Whole
        What they are together.
    """

    def __init__(self, tasks: Tasks, parts: list[Any], whole: Whole) -> None:
        self.tasks, self.parts, self.whole = tasks, parts, whole
        self.class_sizes, self.lonely = whole.class_sizes, whole.lonely
        self.row_map: Any = None  # a future of it
        self.search: Callable[..., Found] = partitions.search

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows, and of how many features."""
        return int(self.whole.starts[-1]), self.whole.n_features

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The lowest and the highest value of each feature."""
        futures = [
            self.tasks.submit("limits", partitions.limits, p, self.row_map) for p in self.parts
        ]
        lows, highs = zip(*self.tasks.results(futures, "partition"), strict=True)
        return np.min(lows, axis=0), np.max(highs, axis=0)

    def take(self, numbers: IndexArray) -> npt.NDArray[Any]:
        """The rows of these numbers, in this order."""
        parts, order = self._pieces(numbers)
        rows = np.concatenate([part.X for part in self.tasks.results(parts, "partition")])[order]
        if self.row_map is None:
            return rows
        (row_map,) = self.tasks.results([self.row_map], "the map of rows")
        mapped: npt.NDArray[Any] = row_map(rows)
        return mapped

    def labels_of(self, numbers: IndexArray) -> IndexArray:
        """Their class codes."""
        parts, order = self._pieces(numbers)
        found = [part.labels for part in self.tasks.results(parts, "partition")]
        codes: IndexArray = np.concatenate(found)[order]
        return codes

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """As that of rows in memory."""
        parts, order = self._pieces(anchors)
        queries = self.tasks.submit(
            "anchors", partitions.assemble, parts, order, anchors, self.row_map
        )
        sizes = (n_same, n_other)
        found = [
            self.tasks.submit("search", self.search, part, int(start), queries, self.row_map, sizes)
            for part, start in zip(self.parts, self.whole.starts[:-1], strict=True)
        ]
        nearest: Found
        merged = self.tasks.merged("merge", merge, found)
        (nearest,) = self.tasks.results([merged], "the search for neighbours")
        return nearest.same, nearest.other

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """The rows of the examples only."""
        return gathered(self, examples, n_columns)

    def mapped(self, row_map: RowMap) -> RowsOnCluster:
        """The images of these rows; workers compute them when they search."""
        images = RowsOnCluster(self.tasks, self.parts, self.whole)
        images.row_map = self.tasks.submit("map", chained, self.row_map, row_map)
        images.search = self.search
        return images

    def _pieces(self, numbers: IndexArray) -> tuple[list[Any], IndexArray]:
        """Futures of the rows, partition by partition, and the order that puts them right."""
        by_number = np.argsort(numbers, kind="stable")
        ascending = numbers[by_number]
        cuts = np.searchsorted(ascending, self.whole.starts)
        pieces = []
        for part, start, first, last in zip(
            self.parts, self.whole.starts[:-1], cuts[:-1], cuts[1:], strict=True
        ):
            if first < last:
                places = ascending[first:last] - start
                pieces.append(self.tasks.submit("take", partitions.take, part, places))
        order = np.empty(len(numbers), dtype=np.intp)
        order[by_number] = np.arange(len(numbers))
        return pieces, order


class Whole:
    """What all partitions are together, from what each of them is.

    Raises
    ------
    ClusterError
        They do not fit together, or a value is not finite.
    """

    def __init__(self, summaries: list[Summary]) -> None:
        widths = [s.n_features for s in summaries]
        if len(set(widths)) > 1:
            odd = next(i for i, width in enumerate(widths) if width != widths[0])
            raise ClusterError(
                f"partition {odd + 1} of X has {widths[odd]} features, but the first has "
                f"{widths[0]}: give all the same."
            )
        self.n_features = widths[0]
        self.filled = [i for i, s in enumerate(summaries) if s.n_rows]
        if not self.filled:
            raise ClusterError(f"X has no rows in its {len(summaries)} partitions: give some.")
        summaries = [summaries[i] for i in self.filled]
        self.starts = np.concatenate([[0], np.cumsum([s.n_rows for s in summaries])])
        self._refuse_gaps(summaries)
        self.dtype = np.result_type(*(np.dtype(s.dtype) for s in summaries))
        self._count_classes(summaries)

    def _refuse_gaps(self, summaries: list[Summary]) -> None:
        for i, s in enumerate(summaries):
            if s.gap is not None:
                raise ClusterError(
                    f"Input X contains NaN or infinity in row {self.starts[i] + s.gap[0]}, feature "
                    f"{s.gap[1]} (partition {self.filled[i] + 1}): fill or remove such rows first."
                )

    def _count_classes(self, summaries: list[Summary]) -> None:
        """Classes of all partitions, their sizes, and the rows that have no other of theirs."""
        self.classes = np.unique(np.concatenate([s.classes for s in summaries]))
        self.class_sizes: IndexArray = np.zeros(len(self.classes), dtype=np.intp)
        last_member = np.empty(len(self.classes), dtype=np.intp)
        for s, start in zip(summaries, self.starts[:-1], strict=True):
            codes = np.searchsorted(self.classes, s.classes)
            self.class_sizes[codes] += s.counts
            last_member[codes] = start + s.first
        self.lonely: IndexArray = np.sort(last_member[self.class_sizes == 1])


def rows_on_cluster(tasks: Tasks, read: list[Any]) -> RowsOnCluster:
    """Rows of partitions that are being read; these stay on the workers."""
    looks = [tasks.submit("summarize", partitions.summarize, part) for part in read]
    whole = Whole(tasks.results(looks, "partition"))
    parts = [
        tasks.submit("encode", partitions.encode, read[i], whole.classes, whole.dtype)
        for i in whole.filled
    ]
    return RowsOnCluster(tasks, parts, whole)
