"""The work on one partition, in NumPy alone; nothing here depends on Dask."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray, missing_labels
from calipers.data.neighbors._product import Anchors
from calipers.data.neighbors.passing import Found, Passing
from calipers.data.samples import SampleMap


class Partition(NamedTuple):
    """Some of the samples; the labels are those given, and class codes after `encode`."""

    X: npt.NDArray[Any]
    labels: npt.NDArray[Any] | None
    columns: tuple[Any, ...] | None = None  # names of a dataframe's columns
    missing: int | None = None  # place of the first missing label


class Summary(NamedTuple):
    """What the client must know of a partition before any partition can be encoded."""

    n_samples: int
    n_features: int
    dtype: npt.DTypeLike
    gap: tuple[int, int] | None  # place and feature of the first value that is not finite
    classes: npt.NDArray[Any]
    counts: IndexArray
    first: IndexArray  # place of the first sample of each class
    columns: tuple[Any, ...] | None = None
    missing: int | None = None  # place of the first missing label


def read(X: Any, y: Any = None) -> Partition:
    """Convert samples and labels to arrays.

    Raises
    ------
    ValueError
        X is not a table of numbers, or y has not one label for each sample.
    """
    samples = np.asarray(X)
    if samples.ndim != 2 or samples.dtype.kind not in "biuf":
        raise ValueError(
            f"it has shape {samples.shape} and type {samples.dtype}: give numbers in rows and "
            "columns"
        )
    names = getattr(X, "columns", None)
    columns = None if names is None else tuple(names)
    if y is None:
        return Partition(samples, None, columns)
    labels = np.asarray(y).reshape(-1)
    if len(labels) != len(samples):
        raise ValueError(
            f"it has {len(samples)} samples but {len(labels)} labels: give one for each sample"
        )
    missing = missing_labels(labels)
    return Partition(samples, labels, columns, int(missing.argmax()) if missing.any() else None)


def summarize(part: Partition) -> Summary:
    """Summarize a partition; labels are counted only if none is missing."""
    n, d = part.X.shape
    wrong = np.zeros((0, d)) if part.X.dtype.kind != "f" else ~np.isfinite(part.X)
    gap = divmod(int(wrong.argmax()), d) if wrong.any() else None
    labels = part.labels
    if labels is None or part.missing is not None:
        labels = np.empty(0, dtype=np.intp)
    classes, first, counts = np.unique(labels, return_index=True, return_counts=True)
    dtype = np.float32 if part.X.dtype == np.float32 else np.float64
    return Summary(n, d, dtype, gap, classes, counts, first, part.columns, part.missing)


def encode(part: Partition, classes: npt.NDArray[Any], dtype: npt.DTypeLike) -> Partition:
    """Convert samples to the type of all partitions, and labels to class codes."""
    codes = None
    if part.labels is not None:
        codes = np.searchsorted(classes, part.labels).astype(np.intp)
    return Partition(np.ascontiguousarray(part.X, dtype=dtype), codes)


def limits(part: Partition, sample_map: SampleMap | None) -> tuple[Any, Any]:
    """Return the minimum and the maximum of each feature."""
    samples = _transformed(part.X, sample_map)
    return samples.min(axis=0), samples.max(axis=0)


def take(part: Partition, places: IndexArray) -> Partition:
    """Return the samples at these places of the partition."""
    return Partition(part.X[places], None if part.labels is None else part.labels[places])


def assemble(
    parts: list[Partition], order: IndexArray, indices: IndexArray, sample_map: SampleMap | None
) -> Anchors:
    """Collect the anchors of all partitions in one order, to be sent to every partition."""
    samples = np.concatenate([part.X for part in parts])[order]
    labels = np.concatenate([part.labels for part in parts if part.labels is not None])[order]
    return Anchors(_transformed(samples, sample_map), labels, indices)


def search(
    part: Partition,
    first_index: int,
    anchors: Anchors,
    sample_map: SampleMap | None,
    sizes: tuple[int, int],
) -> Found:
    """Find each anchor's nearest neighbours in the partition."""
    passing = Passing(anchors, n_same=sizes[0], n_other=sizes[1])
    assert part.labels is not None
    passing.offer(_transformed(part.X, sample_map), part.labels, first_index)
    return passing.found()


def _transformed(X: npt.NDArray[Any], sample_map: SampleMap | None) -> npt.NDArray[Any]:
    return X if sample_map is None else sample_map(X)
