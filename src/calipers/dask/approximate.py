"""Candidates by an approximate index of each partition, where an exact search takes too long."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from calipers.arrays import FloatArray, IndexArray
from calipers.dask.cluster import Tasks
from calipers.dask.estimators import DaskTripletSGD
from calipers.dask.partitions import Partition
from calipers.dask.rows import RowsOnCluster
from calipers.triplets import RowMap
from calipers.triplets._product import Anchors
from calipers.triplets.passing import Found

LISTS_PROBED = 16  # of about sqrt(rows) lists
_ROWS_PER_LIST = 40  # that training wants at least


class ApproximateTripletSGD(DaskTripletSGD):
    """:class:`DaskTripletSGD` with the neighbours that a faiss index of each partition finds.

    Each partition is cut into about sqrt(rows) cells, and an anchor is compared with the rows
    of the 16 cells that are nearest to it. Some near and far rows are then not the nearest:
    ``python -m benchmarks scale`` measures how many. The result depends on the partitions.
    Needs ``pip install 'calipers[faiss]'`` on all workers.
    """

    def _rows(self, tasks: Tasks, X: Any, y: Any = None) -> RowsOnCluster:
        rows = super()._rows(tasks, X, y)
        rows.search = search_by_index
        return rows


def search_by_index(
    part: Partition,
    first_number: int,
    anchors: Anchors,
    row_map: RowMap | None,
    sizes: tuple[int, int],
) -> Found:
    """As :func:`~calipers.dask.partitions.search`, but some of the nearest may be missed."""
    faiss: Any = import_module("faiss")
    assert part.labels is not None
    order = np.argsort(part.labels, kind="stable")  # a class is then a range of places
    X = part.X if row_map is None else row_map(part.X)
    rows, labels = np.ascontiguousarray(X[order], dtype=np.float32), part.labels[order]
    queries = np.ascontiguousarray(anchors.rows, dtype=np.float32)
    found = Found(*_empty(len(queries), sizes[0], sizes[1]))
    with threadpool_limits(1):  # a worker has as many tasks as it has threads
        index = _index(rows)
        for label in np.unique(anchors.labels):
            mine = np.flatnonzero(anchors.labels == label)
            first, last = np.searchsorted(labels, [label, label + 1])
            own = faiss.IDSelectorRange(int(first), int(last))
            for selector, size, numbers, distances in (
                (own, sizes[0], found.same, found.to_same),
                (faiss.IDSelectorNot(own), sizes[1], found.other, found.to_other),
            ):
                wanted = faiss.SearchParametersIVF(sel=selector, nprobe=LISTS_PROBED)
                # one more, for an anchor is its own nearest row
                _, places = index.search(queries[mine], min(size + 1, len(rows)), params=wanted)
                numbers[mine], distances[mine] = _kept(
                    places, X, order, first_number, anchors, mine, size
                )
    return found


def _index(rows: npt.NDArray[np.float32]) -> Any:
    faiss: Any = import_module("faiss")
    n, d = rows.shape
    n_lists = max(1, min(int(np.sqrt(n)), n // _ROWS_PER_LIST))
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_lists)
    index.train(rows)
    index.add(rows)
    return index


def _empty(n: int, n_same: int, n_other: int) -> tuple[Any, Any, Any, Any]:
    numbers = [np.full((n, size), -1, dtype=np.intp) for size in (n_same, n_other)]
    distances = [np.full((n, size), np.inf) for size in (n_same, n_other)]
    return numbers[0], numbers[1], distances[0], distances[1]


def _kept(
    places: IndexArray,
    X: npt.NDArray[Any],
    order: IndexArray,
    first_number: int,
    anchors: Anchors,
    mine: IndexArray,
    size: int,
) -> tuple[IndexArray, FloatArray]:
    """Row numbers and distances in double precision of what was found, without the anchors."""
    rows = order[np.maximum(places, 0)]
    numbers = np.where(places >= 0, first_number + rows, -1)
    numbers[numbers == anchors.numbers[mine][:, None]] = -1
    away = X[rows].astype(np.float64) - anchors.rows[mine].astype(np.float64)[:, None]
    distances = np.where(numbers >= 0, np.einsum("ijk,ijk->ij", away, away), np.inf)
    by_distance = np.lexsort((numbers, distances), axis=1)[:, :size]
    found = np.full((len(mine), size), -1, dtype=np.intp)
    lengths = np.full((len(mine), size), np.inf)
    found[:, : by_distance.shape[1]] = np.take_along_axis(numbers, by_distance, 1)
    lengths[:, : by_distance.shape[1]] = np.take_along_axis(distances, by_distance, 1)
    return found, lengths
