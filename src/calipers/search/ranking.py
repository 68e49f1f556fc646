"""Exact ranks of relevant documents, and hard negatives, by blocks of documents.

The ranking is by (inner product, descending; index). Products that differ by less than 1e-6
count as equal, so that the order of documents that are the same does not hang on rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.search.vectors import UnitArray, Vectors, unit_images
from calipers.threads import parallel_map, single_threaded_blas

MEASURES = ("ndcg@10", "recall@10", "recall@100", "mrr")

_TIE = 1e-6
_QUERIES_PER_CHUNK = 256


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
    above = np.zeros(len(pairs), dtype=np.intp)
    starts = range(0, len(queries), _QUERIES_PER_CHUNK)
    cuts = np.searchsorted(pairs[:, 0], [*starts, len(queries)])

    with single_threaded_blas():
        for first, block in documents.blocks():
            mapped = unit_images(block, components)

            def count(chunk: int, first: int = first, block: UnitArray = mapped) -> None:
                start = starts[chunk]
                products = queries[start : start + _QUERIES_PER_CHUNK] @ block.T
                for pair in range(cuts[chunk], cuts[chunk + 1]):
                    row = products[pairs[pair, 0] - start]
                    at = min(max(pairs[pair, 1] - first, 0), len(row))
                    above[pair] += np.count_nonzero(row[:at] >= own[pair] - _TIE)
                    after = at + (first <= pairs[pair, 1] < first + len(row))
                    above[pair] += np.count_nonzero(row[after:] > own[pair] + _TIE)

            parallel_map(count, range(len(starts)))
    return above + 1


@dataclass(frozen=True)
class QueryScores:
    """Scores of each query that has a relevant document.

    Attributes
    ----------
    queries : array of shape (n,)
        Ascending indices of the queries.
    values : array of shape (n, 4)
        The `MEASURES` of each.
    """

    queries: IndexArray
    values: FloatArray

    @classmethod
    def of(cls, pairs: IndexArray, rank: IndexArray) -> QueryScores:
        """Score ranks of pairs; relevance is yes or no.

        >>> QueryScores.of(np.array([[7, 0], [7, 3]]), np.array([1, 20])).values.round(3)
        array([[0.613, 0.5  , 1.   , 1.   ]])
        """
        queries, place, n_relevant = np.unique(pairs[:, 0], return_inverse=True, return_counts=True)

        def summed(values: npt.NDArray[Any]) -> FloatArray:
            return np.asarray(np.bincount(place, values, minlength=len(queries)))

        best = np.cumsum(1 / np.log2(np.arange(10) + 2.0))[np.minimum(n_relevant, 10) - 1]
        first = np.full(len(queries), np.inf)
        np.minimum.at(first, place, rank)
        columns = [
            summed(np.where(rank <= 10, 1 / np.log2(rank + 1.0), 0.0)) / best,
            summed((rank <= 10) * 1.0) / n_relevant,
            summed((rank <= 100) * 1.0) / n_relevant,
            1 / first,
        ]
        return cls(queries, np.column_stack(columns))


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
        stop = min(start + _QUERIES_PER_CHUNK, len(queries))
        products = queries[start:stop] @ documents.T
        first, last = np.searchsorted(pairs[:, 0], [start, stop])
        products[pairs[first:last, 0] - start, pairs[first:last, 1]] = -2.0
        if n == len(documents):
            return np.tile(np.arange(n), (stop - start, 1))
        return np.argpartition(-products, n - 1, axis=1)[:, :n].copy()  # a view keeps all

    with single_threaded_blas():
        found = parallel_map(search, range(0, len(queries), _QUERIES_PER_CHUNK))
    return np.concatenate(found)
