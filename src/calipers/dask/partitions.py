"""What is done with one partition; nothing here knows of the engine that runs it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.triplets import RowMap
from calipers.triplets._product import Anchors
from calipers.triplets.passing import Found, Passing


class Partition(NamedTuple):
    """Some of the rows; labels as given, later as class codes; none where none were given."""

    X: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None


class Summary(NamedTuple):
    """What must be known of a partition before all can be told what they are."""

    n_rows: int
    n_features: int
    dtype: npt.DTypeLike
    gap: tuple[int, int] | None  # row and feature of the first value that is not finite
    classes: npt.NDArray[Any]
    counts: IndexArray
    first: IndexArray  # row of each class's first member


def read(X: Any, y: Any = None) -> Partition:
    """Rows and labels as arrays.

    Raises
    ------
    ValueError
        They are no table of numbers with a label for each row.
    """
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise ValueError(
            f"it has shape {rows.shape} and type {rows.dtype}: give numbers in rows and columns"
        )
    labels = None if y is None else np.asarray(y).reshape(-1)
    if labels is not None and len(labels) != len(rows):
        raise ValueError(f"it has {len(rows)} rows but {len(labels)} labels: give one for each row")
    return Partition(rows, labels)


def summarize(part: Partition) -> Summary:
    """Look once at a partition."""
    n, d = part.X.shape
    wrong = np.zeros((0, d)) if part.X.dtype.kind != "f" else ~np.isfinite(part.X)
    gap = divmod(int(wrong.argmax()), d) if wrong.any() else None
    given = np.empty(0, dtype=np.intp) if part.labels is None else part.labels
    classes, first, counts = np.unique(given, return_index=True, return_counts=True)
    dtype = np.float32 if part.X.dtype == np.float32 else np.float64
    return Summary(n, d, dtype, gap, classes, counts, first)


def encode(part: Partition, classes: npt.NDArray[Any], dtype: npt.DTypeLike) -> Partition:
    """Rows in the type of all partitions, labels as class codes."""
    codes = None
    if part.labels is not None:
        codes = np.searchsorted(classes, part.labels).astype(np.intp)
    return Partition(np.ascontiguousarray(part.X, dtype=dtype), codes)


def limits(part: Partition, row_map: RowMap | None) -> tuple[Any, Any]:
    """The lowest and the highest value of each feature."""
    rows = _seen(part.X, row_map)
    return rows.min(axis=0), rows.max(axis=0)


def take(part: Partition, places: IndexArray) -> Partition:
    """Rows by their places in the partition."""
    return Partition(part.X[places], None if part.labels is None else part.labels[places])


def assemble(
    parts: list[Partition], order: IndexArray, numbers: IndexArray, row_map: RowMap | None
) -> Anchors:
    """Anchors of all partitions, in one order, to be sent to each of them."""
    rows = np.concatenate([part.X for part in parts])[order]
    labels = np.concatenate([part.labels for part in parts if part.labels is not None])[order]
    return Anchors(_seen(rows, row_map), labels, numbers)


def search(
    part: Partition, first_number: int, anchors: Anchors, row_map: RowMap | None, sizes: Any
) -> Found:
    """The nearest rows of each anchor among those of the partition."""
    passing = Passing(anchors, n_same=sizes[0], n_other=sizes[1])
    assert part.labels is not None
    passing.offer(_seen(part.X, row_map), part.labels, first_number)
    return passing.found()


def _seen(X: npt.NDArray[Any], row_map: RowMap | None) -> npt.NDArray[Any]:
    return X if row_map is None else row_map(X)
