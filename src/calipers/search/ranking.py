"""Documents ranked by cosine: embeddings read by blocks, exact ranks, scores, hard negatives.

The ranking is by (inner product, descending; index). Products that differ by less than 1e-6
count as equal, so that the order of documents that are the same does not hang on rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import block_limits, blocks_of, release
from calipers.search.query_map import unit_vectors
from calipers.threads import parallel_map, single_threaded_blas

MEASURES = {
    "ndcg@10": "nDCG@10",
    "recall@10": "recall@10",
    "recall@100": "recall@100",
    "mrr": "MRR",
}
"""What is measured of each query, and how people write it."""

UnitArray = npt.NDArray[np.float32]
"""Vectors of length 1, one a row."""

_TIE = 1e-6
_QUERIES_AT_ONCE = 256


def as_vectors(given: npt.ArrayLike, name: str, fewest: int = 1) -> npt.NDArray[Any]:
    """Return numbers of shape (n, d), not yet read; a memory map stays one."""
    checked = check_array(
        given, ensure_all_finite=False, ensure_min_samples=fewest, input_name=name
    )
    return given if isinstance(given, np.memmap) else np.asarray(checked)


class Vectors:
    """Embeddings in memory or in a memory map, read as unit vectors in float32.

    Parameters
    ----------
    given : array-like of shape (n, d)
        Embeddings of any type of number.
    name : str
        What messages call them.

    Examples
    --------
    >>> Vectors([[3.0, 4.0]], "queries").take(np.array([0]))
    array([[0.6, 0.8]], dtype=float32)
    """

    def __init__(self, given: npt.ArrayLike, name: str) -> None:
        self.source, self.name = as_vectors(given, name), name
        self.shape: tuple[int, int] = self.source.shape

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, indices: IndexArray) -> UnitArray:
        """Return the unit vectors at these indices."""
        return unit_vectors(self.source[indices], self.name, indices, np.float32)

    def blocks(self) -> Iterator[tuple[int, UnitArray]]:
        """Yield (first index, unit vectors) of successive blocks."""
        for first, last in block_limits(self.shape):
            yield first, self.take(np.arange(first, last))
            release(self.source)

    def check_width(self, width: int) -> None:
        """Raise unless the vectors have so many features."""
        if self.shape[1] != width:
            raise ValueError(
                f"{self.name} have {self.shape[1]} features where {width} are needed: embed "
                "queries and documents with one model, or learn a calipers.Bridge between two."
            )


def unit_images(vectors: UnitArray, components: npt.NDArray[Any] | None) -> UnitArray:
    """Return the images under a matrix, scaled to length 1; None leaves vectors as they are."""
    if components is None:
        return vectors
    images = vectors @ components.T.astype(np.float32)
    images /= np.linalg.norm(images, axis=1, keepdims=True)
    return np.asarray(images)


def ranks(
    queries: UnitArray, pairs: IndexArray, documents: Vectors, components: FloatArray | None = None
) -> IndexArray:
    """Return the rank, from 1, of the document of every pair among all documents.

    Parameters
    ----------
    queries : array of shape (n_queries, m)
        Unit vectors, in the documents' space.
    pairs : array of shape (n_pairs, 2)
        Indices (query, document), ascending by query.
    documents : Vectors of shape (n_documents, d)
        What is ranked.
    components : array of shape (m, d), optional
        Maps the documents first.
    """
    wanted, place = np.unique(pairs[:, 1], return_inverse=True)
    relevant = unit_images(documents.take(wanted), components)
    own = np.einsum("ij,ij->i", queries[pairs[:, 0]], relevant[place])
    n_above = np.zeros(len(pairs), dtype=np.intp)
    starts = range(0, len(queries), _QUERIES_AT_ONCE)
    cuts = np.searchsorted(pairs[:, 0], [*starts, len(queries)])

    with single_threaded_blas():
        for first, block in documents.blocks():
            mapped = unit_images(block, components)

            def count(chunk: int, first: int = first, block: UnitArray = mapped) -> None:
                start = starts[chunk]
                products = queries[start : start + _QUERIES_AT_ONCE] @ block.T
                for pair in range(cuts[chunk], cuts[chunk + 1]):
                    row = products[pairs[pair, 0] - start]
                    at = min(max(pairs[pair, 1] - first, 0), len(row))
                    n_above[pair] += np.count_nonzero(row[:at] >= own[pair] - _TIE)
                    n_above[pair] += np.count_nonzero(row[at:] > own[pair] + _TIE)

            parallel_map(count, range(len(starts)))
    return n_above + 1


def measures(pairs: IndexArray, rank: IndexArray) -> FloatArray:
    """Return the `MEASURES` (n_queries, 4) of each query that has a pair, by the pairs' ranks.

    >>> measures(np.array([[7, 0], [7, 3]]), np.array([1, 20])).round(3)
    array([[0.613, 0.5  , 1.   , 1.   ]])
    """
    _, place, n_relevant = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)

    def summed(values: npt.NDArray[Any]) -> FloatArray:
        return np.asarray(np.bincount(place, values))

    best = np.cumsum(1 / np.log2(np.arange(10) + 2.0))[np.minimum(n_relevant, 10) - 1]
    first = np.full(len(n_relevant), np.inf)
    np.minimum.at(first, place, rank)
    return np.column_stack(
        [
            summed(np.where(rank <= 10, 1 / np.log2(rank + 1.0), 0.0)) / best,
            summed((rank <= 10) * 1.0) / n_relevant,
            summed((rank <= 100) * 1.0) / n_relevant,
            1 / first,
        ]
    )


def hardest(queries: UnitArray, documents: UnitArray, pairs: IndexArray, n: int) -> IndexArray:
    """Return the n documents nearest to each query that no pair gives to it.

    Parameters
    ----------
    queries, documents : arrays of unit vectors
        Of one width.
    pairs : array of shape (n_pairs, 2)
        Indices (query, relevant document), ascending by query.
    n : int
        Negatives of a query; fewer if there are fewer documents.

    Returns
    -------
    array of shape (n_queries, n)
        Indices of documents; a query's own relevant ones where there are no others.
    """
    n = min(n, len(documents))

    def search(start: int) -> IndexArray:
        stop = min(start + _QUERIES_AT_ONCE, len(queries))
        products = queries[start:stop] @ documents.T
        first, last = np.searchsorted(pairs[:, 0], [start, stop])
        products[pairs[first:last, 0] - start, pairs[first:last, 1]] = -2.0
        return np.argpartition(-products, n - 1, axis=1)[:, :n].copy()  # a view keeps all

    with single_threaded_blas():
        found = parallel_map(search, range(0, len(queries), _QUERIES_AT_ONCE))
    return np.concatenate(found)


def nearest_documents(
    queries: npt.NDArray[Any], documents: npt.NDArray[Any], n_neighbors: int, without: IndexArray
) -> IndexArray:
    """Find the documents with the highest cosine to each query, a block of them at a time.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features)
        Unit vectors; in float32 the search is in float32.
    documents : ndarray of shape (n_documents, n_features)
        Vectors of any length above 0 and any type of number, perhaps a memory map.
    n_neighbors : int
        Documents to find, fewer than there are.
    without : ndarray of shape (n_queries,)
        A document that each query does not find, for example itself.

    Returns
    -------
    ndarray of shape (n_queries, n_neighbors)
        Indices of documents, by falling cosine.

    Examples
    --------
    >>> documents = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> nearest_documents(np.array([[0.0, 1.0]]), documents, 1, without=np.array([2]))
    array([[1]])
    """
    best = np.full((len(queries), n_neighbors), -np.inf, dtype=queries.dtype)
    found = np.full((len(queries), n_neighbors), -1, dtype=np.intp)
    with single_threaded_blas():
        for first, block in blocks_of(documents):
            indices = range(first, first + len(block))
            cosines = queries @ unit_vectors(block, "documents", indices, queries.dtype).T
            own = np.flatnonzero((without >= first) & (without < first + len(block)))
            cosines[own, without[own] - first] = -np.inf
            nearest = np.argpartition(-cosines, min(n_neighbors, len(block)) - 1, axis=1)
            nearest = nearest[:, :n_neighbors]
            best = np.hstack([best, np.take_along_axis(cosines, nearest, axis=1)])
            found = np.hstack([found, first + nearest])
            order = np.lexsort((found, -best))[:, :n_neighbors]
            best, found = (np.take_along_axis(each, order, axis=1) for each in (best, found))
    return found
