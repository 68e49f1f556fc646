"""Samples in a memory-mapped file, read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.memmap import blocks_of, release
from calipers.data.neighbors._product import Anchors
from calipers.data.neighbors.passing import Passing
from calipers.data.samples import MemorySamples, SampleMap, chained, gathered

_TAKEN_AT_ONCE = 16  # scattered samples, each of which may load 2 MB of pages


class DiskSamples:
    """Samples in a memory-mapped file; the answers are those of :class:`MemorySamples`.

    Parameters
    ----------
    X : memmap of shape (n, d)
        Samples; they are converted to float64 unless they are float32.
    labels : array of shape (n,), optional
        Class codes 0 .. C-1, in memory.
    sample_map : callable, optional
        Map applied to every block that is read.
    weights : array of shape (n,), optional
        How often each sample counts, in memory.
    """

    def __init__(
        self,
        X: npt.NDArray[Any],
        labels: IndexArray | None = None,
        sample_map: SampleMap | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.X, self.sample_map, self.weights = X, sample_map, weights
        of_labels = MemorySamples(np.empty((0, 0)), labels)
        self.labels, self.class_sizes = of_labels.labels, of_labels.class_sizes
        self.singletons = of_labels.singletons

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of features."""
        return self.X.shape[0], self.X.shape[1]

    def blocks(self) -> Iterator[tuple[int, npt.NDArray[Any]]]:
        """Yield (first index, samples) of successive blocks; one block is in memory at a time."""
        for first, block in blocks_of(self.X):
            yield first, self._read(block)

    def limits(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the minimum and the maximum of each feature."""
        low, high = np.full(self.shape[1], np.inf), np.full(self.shape[1], -np.inf)
        for _, block in self.blocks():
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
        return low, high

    def take(self, indices: IndexArray) -> npt.NDArray[Any]:
        """Return the samples at these indices, in this order; they are read in file order."""
        order = np.argsort(indices, kind="stable")
        parts = np.split(order, range(_TAKEN_AT_ONCE, len(order), _TAKEN_AT_ONCE))
        taken = np.empty((len(indices), self.shape[1]), dtype=_float_type(self.X))
        for part in parts:
            taken[part] = self.X[indices[part]]
            release(self.X)
        return taken if self.sample_map is None else self.sample_map(taken)

    def labels_of(self, indices: IndexArray) -> IndexArray:
        """Return the class codes of the samples at these indices, in this order."""
        return self.labels[indices]

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

    def local(self, examples: IndexArray, *, n_columns: int) -> tuple[npt.NDArray[Any], IndexArray]:
        """Return the samples of the examples, and the examples re-indexed."""
        return gathered(self, examples, n_columns)

    def transformed(self, sample_map: SampleMap) -> DiskSamples:
        """Return the images of the samples; they are computed when a block is read."""
        both = chained(self.sample_map, sample_map)
        return DiskSamples(self.X, self.labels, both, self.weights)

    def _read(self, block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        samples = np.array(block, dtype=_float_type(block), order="C")
        return samples if self.sample_map is None else self.sample_map(samples)


def _float_type(X: npt.NDArray[Any]) -> type[np.floating[Any]]:
    return np.float32 if X.dtype == np.float32 else np.float64
