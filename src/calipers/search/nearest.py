"""The documents of highest cosine, found by passing over the documents once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.data.memmap import blocks_of
from calipers.search.query_map import unit_vectors
from calipers.threads import single_threaded_blas


def nearest_documents(
    queries: npt.NDArray[Any],
    documents: npt.NDArray[Any],
    n_neighbors: int,
    *,
    without: IndexArray | None = None,
) -> IndexArray:
    """Find the documents with the highest cosine to each query.

    Documents may be float16 or a memory map: one block of them is in memory at a time.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features)
        Vectors of any length above 0; in float32 the search is in float32.
    documents : ndarray of shape (n_documents, n_features)
        Vectors of any length above 0.
    n_neighbors : int
        Documents to find, fewer than there are.
    without : ndarray of shape (n_queries,), optional
        A document that each query does not find, for example itself.

    Returns
    -------
    ndarray of shape (n_queries, n_neighbors)
        Indices of documents, by falling cosine.

    Examples
    --------
    >>> documents = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> nearest_documents(np.array([[0.0, 1.0]]), documents, 2)
    array([[2, 1]])
    """
    n = len(queries)
    best = np.full((n, n_neighbors), -np.inf, dtype=queries.dtype)
    found = np.full((n, n_neighbors), -1, dtype=np.intp)
    with single_threaded_blas():
        for first, block in blocks_of(documents):
            cosines = queries @ unit_vectors(np.asarray(block, queries.dtype), "documents", first).T
            if without is not None:
                own = np.flatnonzero((without >= first) & (without < first + len(block)))
                cosines[own, without[own] - first] = -np.inf
            indices = np.broadcast_to(np.arange(first, first + len(block)), cosines.shape)
            if len(block) > n_neighbors:
                top = np.argpartition(-cosines, n_neighbors - 1, axis=1)[:, :n_neighbors]
                cosines, indices = _taken(top, cosines, indices)
            both = np.hstack([best, cosines]), np.hstack([found, indices])
            best, found = _taken(np.lexsort((both[1], -both[0]))[:, :n_neighbors], *both)
    return found


def _taken(order: IndexArray, *arrays: npt.NDArray[Any]) -> tuple[Any, ...]:
    return tuple(np.take_along_axis(array, order, axis=1) for array in arrays)
