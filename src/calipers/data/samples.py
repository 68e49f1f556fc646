"""Labelled samples, in memory, in a file or on a cluster: one protocol.

Triplet drawing and learning ask only what :class:`Samples` answers. All answers are exact:
none depends on where the samples are, or in which blocks they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.memmap import blocks_of
from calipers.data.neighbors.search import nearest_same_and_other

SampleMap: TypeAlias = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
"""Maps an array of samples; the image of a sample must not depend on the other samples."""


@dataclass(frozen=True)
class Chain:
    """The composition of two maps; unlike a lambda it can be pickled."""

    first: SampleMap
    second: SampleMap

    def __call__(self, samples: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return ``second(first(samples))``."""
        return self.second(self.first(samples))


def chained(first: SampleMap | None, second: SampleMap) -> SampleMap:
    """Return ``second`` after ``first``, or ``second`` alone if ``first`` is None."""
    if first is None:
        return second
    return Chain(first, second)


class Samples(Protocol):
    """Samples of shape (n, d) in float64 or float32, with class codes 0 .. C-1 if labelled."""

    weights: FloatArray | None
    """How often each sample counts, above 0; None: each counts once."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of features."""
        ...

    @property
    def class_sizes(self) -> IndexArray:
        """The number of samples of each class; empty for unlabelled samples."""
        ...

    @property
    def singletons(self) -> IndexArray:
        """Ascending indices of the samples that are alone in their class."""
        ...

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        ...

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, samples) of successive blocks that cover all samples once.

        The limits of the blocks are those of :func:`calipers.data.memmap.block_limits` for every
        kind of samples, so that sums over blocks agree to the last bit.
        """
        ...

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order."""
        ...

    def labels_of(self, indices: IndexArray) -> IndexArray:
        """Return the class codes of the samples at these indices, in this order."""
        ...

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as :func:`~calipers.data.neighbors.search.nearest_same_and_other`."""
        ...

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """Return an array that holds the samples of all examples, and the examples re-indexed.

        The first ``n_columns`` columns of ``examples`` are indices of samples. In the returned
        examples they index the returned array.
        """
        ...

    def transformed(self, sample_map: SampleMap) -> Self:
        """Return the images of the samples, with the same indices, classes and weights."""
        ...


AnySamples = TypeVar("AnySamples", bound=Samples)


class MemorySamples:
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
    >>> sum(block.sum(axis=0) for _, block in samples.blocks())
    array([6.])
    """

    def __init__(
        self,
        X: npt.NDArray[Any],
        labels: IndexArray | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.X, self.weights = X, weights
        self.labels = np.empty(0, dtype=np.intp) if labels is None else labels
        self.class_sizes: IndexArray = np.bincount(self.labels)
        self.singletons: IndexArray = np.flatnonzero(self.class_sizes[self.labels] == 1)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of features."""
        return self.X.shape[0], self.X.shape[1]

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        return self.X.min(axis=0), self.X.max(axis=0)

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, view) of successive blocks."""
        return blocks_of(self.X)

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order; all of them are not copied."""
        n = len(self.X)
        if len(indices) == n and np.array_equal(indices, np.arange(n, dtype=np.intp)):
            everything = self.X.view()
            everything.flags.writeable = False
            return everything
        taken: npt.NDArray[Any] = self.X[indices]
        return taken

    def labels_of(self, indices: IndexArray) -> IndexArray:
        """Return the class codes of the samples at these indices, in this order."""
        return self.labels[indices]

    def nearest(
        self, anchors: IndexArray, *, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray]:
        """Search neighbours as :func:`~calipers.data.neighbors.search.nearest_same_and_other`."""
        return nearest_same_and_other(self.X, self.labels, anchors, n_same=n_same, n_other=n_other)

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """Return all samples, and the examples unchanged."""
        return self.X, examples

    def transformed(self, sample_map: SampleMap) -> MemorySamples:
        """Return the images of the samples, with the same indices, classes and weights."""
        return MemorySamples(sample_map(self.X), self.labels, self.weights)


def in_memory(samples: Samples) -> MemorySamples:
    """All samples, with their classes and weights, in an array."""
    if isinstance(samples, MemorySamples):
        return samples
    indices = np.arange(samples.shape[0])
    labels = samples.labels_of(indices) if len(samples.class_sizes) else None
    return MemorySamples(samples.take(indices), labels, samples.weights)


def weighted(samples: AnySamples, weights: FloatArray) -> AnySamples:
    """The same samples with weights."""
    result = copy(samples)
    result.weights = weights
    return result


def weights_of(samples: Samples, indices: IndexArray) -> FloatArray | None:
    """Weights of the samples at these indices, in this order, if samples have any."""
    return None if samples.weights is None else samples.weights[indices]


def relative_weights(samples: Samples, indices: IndexArray) -> FloatArray | None:
    """The same over their mean; None also if all are equal, since each then counts once."""
    weights = weights_of(samples, indices)
    if weights is None or not np.ptp(weights):
        return None
    return np.asarray(weights / weights.mean())


def anchor_indices(samples: Samples, places: IndexArray) -> IndexArray:
    """Return the indices of anchors by their places among all possible anchors.

    A sample can be an anchor if its class has another member.

    >>> samples = MemorySamples(np.zeros((5, 1)), np.array([0, 1, 0, 2, 0]))
    >>> anchor_indices(samples, np.arange(count_anchors(samples)))
    array([0, 2, 4])
    """
    singletons = samples.singletons
    skipped = np.searchsorted(singletons - np.arange(len(singletons)), places, side="right")
    return np.asarray(places + skipped, dtype=np.intp)


def count_anchors(samples: Samples) -> int:
    """Return the number of samples whose class has another member."""
    return samples.shape[0] - len(samples.singletons)


def gathered(
    samples: Samples, examples: IndexArray, n_columns: int
) -> tuple[npt.NDArray[Any], IndexArray]:
    """Take each sample of the examples once, and re-index the examples; see `Samples.local`."""
    indices, places = np.unique(examples[:, :n_columns], return_inverse=True)
    local = examples.copy()
    local[:, :n_columns] = places.reshape(len(examples), n_columns)
    return samples.take(indices), local


def thinned(samples: Samples, most: int | None) -> Samples:
    """About so many labelled samples at most, in memory; all of them if there are no more.

    Of each class the same share is kept, evenly spaced, but at least two samples.

    >>> samples = MemorySamples(np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 0, 1, 1]))
    >>> thinned(samples, 5).take(np.arange(6)).ravel()
    array([0., 1., 3., 5., 6., 7.])
    """
    n = samples.shape[0]
    if most is None or n <= most:
        return samples
    labels = samples.labels_of(np.arange(n))
    by_class = np.argsort(labels, kind="stable")
    starts = np.cumsum(samples.class_sizes) - samples.class_sizes
    kept = []
    for start, size in zip(starts.tolist(), samples.class_sizes.tolist(), strict=True):
        n_kept = min(size, max(2, -(-size * most // n)))
        kept.append(by_class[start + np.linspace(0, size - 1, n_kept).astype(np.intp)])
    indices = np.sort(np.concatenate(kept))
    return MemorySamples(samples.take(indices), labels[indices], weights_of(samples, indices))
