"""Embeddings as search compares them: float32, length 1, read by blocks wherever they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray, refuse_kinds
from calipers.data.memmap import block_limits, release
from calipers.search.query_map import largest_entries

UnitArray = npt.NDArray[np.float32]
"""Vectors of length 1, one a row."""


class Vectors:
    """Embeddings in memory, in a memory map, or on a Dask cluster.

    Parameters
    ----------
    source : ndarray or ClusterSamples of shape (n, d)
        Where the embeddings are.
    name : str
        What messages call them.

    Examples
    --------
    >>> Vectors(np.array([[3.0, 4.0]]), "queries").take(np.array([0]))
    array([[0.6, 0.8]], dtype=float32)
    """

    def __init__(self, source: Any, name: str) -> None:
        self.source, self.name = source, name
        self.shape: tuple[int, int] = source.shape

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, indices: IndexArray) -> UnitArray:
        """Return the unit vectors at these indices."""
        source = self.source
        taken = source.take(indices) if hasattr(source, "blocks") else source[indices]
        return unit(taken, self.name, indices)

    def blocks(self) -> Iterator[tuple[int, UnitArray]]:
        """Yield (first index, unit vectors) of successive blocks."""
        for first, last in block_limits(self.shape):
            yield first, self.take(np.arange(first, last))
            if isinstance(self.source, np.memmap):
                release(self.source)


@contextmanager
def given_vectors(given: Any, name: str) -> Iterator[Vectors]:
    """Yield what a user gave, wherever it is.

    Raises
    ------
    ValueError
        It is no table of real numbers.
    """
    from calipers.data.cluster import client_of, cluster_samples, is_collection

    if not is_collection(given):
        yield Vectors(_checked(given, name), name)
        return
    with client_of(None) as client:
        yield Vectors(cluster_samples(client, given), name)


def _checked(given: Any, name: str) -> npt.NDArray[Any]:
    refuse_kinds(given, name)
    vectors = given if isinstance(given, np.memmap) else np.asarray(given)
    if vectors.ndim != 2 or 0 in vectors.shape or vectors.dtype.kind not in "fiu":
        raise ValueError(
            f"{name} must be a table of real numbers, one embedding a row, got {vectors.dtype} of "
            f"shape {vectors.shape}: stack the embeddings with numpy.vstack."
        )
    return vectors


def unit(vectors: npt.NDArray[Any], name: str, indices: IndexArray | None = None) -> UnitArray:
    """Scale vectors to length 1, in float32.

    Raises
    ------
    ValueError
        A vector is zero or not finite; `indices` are the ones that the message names.
    """
    largest = largest_entries(vectors, name, 0 if indices is None else indices)
    scaled = (vectors / largest.astype(np.float64)).astype(np.float32, copy=False)
    scaled /= np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.asarray(scaled)


def unit_images(vectors: UnitArray, components: npt.NDArray[Any] | None) -> UnitArray:
    """Return the images under a matrix, scaled to length 1; None leaves vectors as they are."""
    if components is None:
        return vectors
    images = vectors @ components.T.astype(np.float32)
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    return np.asarray(images)


def check_width(vectors: Vectors, name: str, width: int) -> None:
    """Raise unless vectors have so many features."""
    if vectors.shape[1] != width:
        raise ValueError(
            f"{name} have {vectors.shape[1]} features where {width} are needed: embed queries and "
            "documents with one model, or learn a calipers.Bridge between two."
        )


def mapped_lazily(vectors: Any, transform: Any, n_components: int) -> Any:
    """Return ``transform(vectors)``; of a Dask array lazily, block by block."""
    if not hasattr(vectors, "map_blocks"):
        return transform(vectors)
    dtype = np.float32 if vectors.dtype in (np.float32, np.float16) else np.float64
    whole = vectors.rechunk({1: -1})
    return whole.map_blocks(
        transform,
        dtype=dtype,
        chunks=(whole.chunks[0], (n_components,)),
        meta=np.empty((0, 0), dtype=dtype),
    )
