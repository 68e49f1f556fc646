"""Labelled samples, in memory, in a file or on a cluster: one interface.

Triplet drawing and learning ask only what :class:`Samples` answers. All answers are exact:
none depends on where the samples are, or in which blocks they are read. Below is what becomes no
samples or labels.

The system counts a page of a memory map as memory of the process once the process has read it.
`blocks_of` therefore releases the pages after every block; the system keeps them in its cache.
"""

from __future__ import annotations

import mmap
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import Anchors, Passing, nearest_same_and_other

BLOCK_ELEMENTS = 2**21  # 16 MB in float64
LARGEST_READ = 2**27  # bytes; a larger file is memory-mapped
_TAKEN_AT_ONCE = 16  # scattered samples of a file, each of which may load 2 MB of pages

SampleMap: TypeAlias = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
"""Maps an array of samples; the image of a sample must not depend on the other samples."""


def blocks_of(X: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield (first index, view) of successive blocks of at most BLOCK_ELEMENTS elements.

    A block has at least one sample. Its limits depend on the shape of X alone.

    >>> import numpy as np
    >>> [(first, len(block)) for first, block in blocks_of(np.zeros((3, 2**20)))]
    [(0, 2), (2, 1)]
    """
    for first, last in block_limits(X.shape):
        yield first, X[first:last]
        release(X)


def block_limits(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the first index of each block of a 2-d array, and the index after its last.

    >>> list(block_limits((3, 2**20)))
    [(0, 2), (2, 3)]
    """
    size = max(1, BLOCK_ELEMENTS // max(shape[1], 1))
    for first in range(0, shape[0], size):
        yield first, min(first + size, shape[0])


def release(X: npt.NDArray[Any]) -> None:
    """Release the pages of a memory map, but not of a copy-on-write map: they hold its changes."""
    pages = getattr(X, "_mmap", None)
    if pages is not None and getattr(X, "mode", "c") != "c" and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


class Samples(ABC):
    """Samples of shape (n, d) in float64 or float32, with class codes 0 .. C-1 if labelled."""

    shape: tuple[int, int]
    weights: FloatArray | None = None
    """How often each sample counts, above 0; None: each counts once."""
    labels: IndexArray
    """Class codes, unless they are on a cluster."""
    class_sizes: IndexArray
    """The number of samples of each class; empty for unlabelled samples."""
    singletons: IndexArray
    """Ascending indices of the samples that are alone in their class."""

    @abstractmethod
    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order."""

    def labels_of(self, indices: IndexArray) -> IndexArray:
        """Return the class codes of the samples at these indices, in this order."""
        return self.labels[indices]

    @abstractmethod
    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, samples) of successive blocks that cover all samples once.

        The limits of the blocks are those of :func:`block_limits` for every
        kind of samples, so that sums over blocks agree to the last bit.
        """

    @abstractmethod
    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as :func:`~calipers.data.neighbors.nearest_same_and_other`."""

    @abstractmethod
    def transformed(self, sample_map: SampleMap) -> Self:
        """Return the images of the samples, with the same indices, classes and weights."""

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        parts = [(block.min(axis=0), block.max(axis=0)) for _, block in self.blocks()]
        lows, highs = zip(*parts, strict=True)
        return np.min(lows, axis=0), np.max(highs, axis=0)

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """Return an array that holds the samples of all examples, and the examples re-indexed.

        The first ``n_columns`` columns of ``examples`` are indices of samples. In the returned
        examples they index the returned array.
        """
        return gathered(self, examples, n_columns)


class MemorySamples(Samples):
    """Samples in an array.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples.
    labels : array of shape (n,), optional
        Class codes 0 .. C-1.
    weights : array of shape (n,), optional
        How often each sample counts.

    Examples
    --------
    >>> samples = MemorySamples(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1]))
    >>> samples.class_sizes, samples.singletons
    (array([2, 1]), array([2]))
    """

    def __init__(
        self,
        X: npt.NDArray[Any],
        labels: IndexArray | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.X, self.weights = X, weights
        self.shape = X.shape[0], X.shape[1]
        self.labels = np.empty(0, dtype=np.intp) if labels is None else labels
        self.class_sizes = np.bincount(self.labels)
        self.singletons = np.flatnonzero(self.class_sizes[self.labels] == 1)

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order; all of them are not copied."""
        n = len(self.X)
        if len(indices) == n and np.array_equal(indices, np.arange(n)):
            everything = self.X.view()
            everything.flags.writeable = False
            return everything
        taken: npt.NDArray[Any] = self.X[indices]
        return taken

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, view) of successive blocks."""
        return blocks_of(self.X)

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as :func:`~calipers.data.neighbors.nearest_same_and_other`."""
        return nearest_same_and_other(self.X, self.labels, anchors, n_same=n_same, n_other=n_other)

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        return self.X.min(axis=0), self.X.max(axis=0)

    def transformed(self, sample_map: SampleMap) -> MemorySamples:
        """Return the images of the samples, with the same indices, classes and weights."""
        return MemorySamples(sample_map(self.X), self.labels, self.weights)

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """Return all samples, and the examples unchanged."""
        return self.X, examples


class DiskSamples(Samples):
    """Samples in a memory-mapped file; the answers are those of :class:`MemorySamples`.

    Parameters
    ----------
    X : memmap of shape (n, d)
        Samples; they are converted to float64 unless they are float32.
    labels : array of shape (n,), optional
        Class codes 0 .. C-1, in memory.
    """

    def __init__(self, X: npt.NDArray[Any], labels: IndexArray | None = None) -> None:
        self.X, self.maps = X, tuple[SampleMap, ...]()
        self.shape = X.shape[0], X.shape[1]
        self._dtype = np.float32 if X.dtype == np.float32 else np.float64
        of_labels = MemorySamples(np.empty((0, 0)), labels)
        self.labels, self.class_sizes = of_labels.labels, of_labels.class_sizes
        self.singletons = of_labels.singletons

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order; they are read in file order."""
        order = np.argsort(indices, kind="stable")
        taken = np.empty((len(indices), self.shape[1]), dtype=self._dtype)
        for part in np.split(order, range(_TAKEN_AT_ONCE, len(order), _TAKEN_AT_ONCE)):
            taken[part] = self.X[indices[part]]
            release(self.X)
        return images(taken, self.maps)

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, samples) of successive blocks; one block is in memory at a time."""
        for first, block in blocks_of(self.X):
            yield first, images(np.array(block, dtype=self._dtype, order="C"), self.maps)

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as :class:`MemorySamples`, by one pass over the file."""
        queries = Anchors(self.take(anchors), self.labels[anchors], anchors)
        passing = Passing(queries, n_same=n_same, n_other=n_other)
        for first, block in self.blocks():
            passing.offer(block, self.labels[first : first + len(block)], first)
        found = passing.found()
        return found.same, found.other

    def transformed(self, sample_map: SampleMap) -> DiskSamples:
        """Return the images of the samples; they are computed when a block is read."""
        result = copy(self)
        result.maps = (*self.maps, sample_map)
        return result


def images(X: npt.NDArray[Any], maps: tuple[SampleMap, ...]) -> npt.NDArray[Any]:
    """Return the images of samples under one map after another."""
    for each in maps:
        X = each(X)
    return X


def gathered(
    samples: Samples, examples: IndexArray, n_columns: int
) -> tuple[npt.NDArray[Any], IndexArray]:
    """Take each sample of the examples once, and re-index the examples; see `Samples.local`."""
    indices, places = np.unique(examples[:, :n_columns], return_inverse=True)
    local = examples.copy()
    local[:, :n_columns] = places.reshape(len(examples), n_columns)
    return samples.take(indices), local


def in_memory(samples: Samples) -> MemorySamples:
    """All samples, with their classes and weights, in an array."""
    if isinstance(samples, MemorySamples):
        return samples
    indices = np.arange(samples.shape[0])
    labels = samples.labels_of(indices) if len(samples.class_sizes) else None
    return MemorySamples(samples.take(indices), labels, samples.weights)


def relative_weights(samples: Samples, indices: IndexArray) -> FloatArray | None:
    """Weights of the samples at these indices over their mean; None if all are equal."""
    if samples.weights is None:
        return None
    weights = samples.weights[indices]
    return np.asarray(weights / weights.mean()) if np.ptp(weights) else None


def thinned(samples: Samples, most: int) -> Samples:
    """About so many labelled samples at most, in memory; all of them if there are no more.

    Of each class the same share is kept, evenly spaced, but at least two samples.

    >>> samples = MemorySamples(np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 0, 1, 1]))
    >>> thinned(samples, 5).take(np.arange(6)).ravel()
    array([0., 1., 3., 5., 6., 7.])
    """
    n = samples.shape[0]
    if n <= most:
        return samples
    labels, kept = samples.labels_of(np.arange(n)), []
    ends = np.cumsum(samples.class_sizes)
    for members in np.split(np.argsort(labels, kind="stable"), ends[:-1]):
        n_kept = min(len(members), max(2, -(-len(members) * most // n)))
        kept.append(members[np.linspace(0, len(members) - 1, n_kept).astype(np.intp)])
    indices = np.sort(np.concatenate(kept))
    weights = None if samples.weights is None else samples.weights[indices]
    return MemorySamples(samples.take(indices), labels[indices], weights)


def is_collection(X: Any) -> bool:
    """Return whether X is a collection of Dask, or a list of such: arrays, dataframes, delayed.

    Does not import dask: an object of dask exists only if dask is imported already.

    >>> is_collection([[0.0, 1.0]])
    False
    """
    if "dask" not in sys.modules:
        return False
    from dask.base import is_dask_collection

    if isinstance(X, list | tuple):
        return bool(X) and all(map(is_dask_collection, X))
    return bool(is_dask_collection(X))


def refuse_kinds(X: Any, name: str, *, times: bool = False) -> None:
    """Raise if X is masked, lazy or holds times, of which NumPy would make meaningless numbers.

    With ``times`` these are allowed.
    """
    if isinstance(X, np.ma.MaskedArray) and np.any(X.mask):
        raise ValueError(
            f"{name} has {np.count_nonzero(X.mask)} masked values, and the numbers below the mask "
            "have no meaning: fill them in, or leave out their samples."
        )
    if type(X).__name__ == "LazyFrame":  # of polars
        raise TypeError(f"{name} is a LazyFrame, which is not in memory: pass {name}.collect().")
    if hasattr(X, "column_names"):  # of Arrow
        dtypes = X.schema.types
    else:
        dtypes = X.dtypes if hasattr(X, "columns") else [getattr(X, "dtype", None)]
    for dtype in dtypes:
        if not times and str(dtype).lower().startswith(("date", "time", "duration")):
            raise ValueError(
                f"{name} holds times ({dtype}): pass them as numbers, e.g. seconds since a moment "
                "of your choice."
            )


def refuse_missing(y: Any) -> None:
    """Raise if a label is missing: NaN, None, or NA and NaT of pandas."""
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if labels.dtype.kind == "O":
        n_missing = sum(map(is_missing, labels.ravel()))
    else:
        n_missing = np.isnan(labels).sum() if labels.dtype.kind in "fmM" else 0
    if n_missing:
        raise ValueError(
            f"Input y contains NaN or other signs of a missing label ({n_missing} of {len(y)}): "
            "leave out these samples, e.g. by X[keep], y[keep]."
        )


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, or NA and NaT of pandas."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and label != label
