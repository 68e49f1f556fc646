"""Retrieval scores: where in the ranking of each query its relevant documents are.

The ranking of documents is by (Euclidean distance, index), so pass samples that a metric has
transformed. Each thread ranks a block of queries at a time: 20,000 queries among 20,000
documents need some 50 MB per thread.

As in trec_eval, means leave out queries without a relevant document.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from calipers.arrays import FloatArray, IndexArray
from calipers.evaluation.knn import checked_samples, within_range
from calipers.threads import parallel_map, single_threaded_blas

_QUERY_BLOCK = 64  # queries ranked at a time


@dataclass(frozen=True)
class RetrievalScores:
    """Means over queries, each between 0 and 1.

    Attributes
    ----------
    precision_at_k : float
        Share of the first k documents that is relevant.
    recall_at_k : float
        Share of the relevant documents that is among the first k.
    mean_average_precision : float
        Mean over relevant documents of the precision down to each of them.
    ndcg : float
        ``sum 1 / log2(1 + rank)`` over relevant documents, divided by its largest value.
    n_queries : int
        Queries that have a relevant document.
    """

    precision_at_k: float
    recall_at_k: float
    mean_average_precision: float
    ndcg: float
    n_queries: int


def retrieval_scores(
    documents: npt.ArrayLike,
    queries: npt.ArrayLike | None = None,
    *,
    labels: npt.ArrayLike | None = None,
    query_labels: npt.ArrayLike | None = None,
    pairs: npt.ArrayLike | None = None,
    k: int = 10,
) -> RetrievalScores:
    """Compute all scores in one pass.

    Parameters
    ----------
    documents : array-like of shape (n_documents, d)
        Samples to find, under the metric: ``metric.transform(X)``.
    queries : array-like of shape (n_queries, d), optional
        Samples to search for; by default every document among the others.
    labels : array-like of shape (n_documents,), optional
        Labels of documents: those with the query's label are relevant.
    query_labels : array-like of shape (n_queries,), optional
        Labels of `queries`.
    pairs : array-like of shape (n_pairs, 2), optional
        Instead of labels: indices (query, document) of relevant documents.
    k : int, default=10
        Documents that count for precision and recall.

    Returns
    -------
    RetrievalScores
        The means.

    Examples
    --------
    >>> scores = retrieval_scores([[0.0], [1.0], [5.0], [6.0]], labels=[0, 0, 1, 1], k=1)
    >>> scores.precision_at_k, scores.mean_average_precision
    (1.0, 1.0)
    """
    own = queries is None
    X_documents = checked_samples(documents, "documents")
    X_queries = X_documents if queries is None else checked_samples(queries, "queries")
    n_documents, n_queries = len(X_documents), len(X_queries)
    if not 1 <= k <= n_documents - own:
        raise ValueError(f"k must be between 1 and the {n_documents - own} documents, got {k}.")
    if (labels is None) == (pairs is None):
        raise ValueError("Give either labels or pairs, to say which documents are relevant.")
    if labels is not None:
        relevant = _by_labels(labels, labels if own else query_labels, n_documents, n_queries)
    else:
        relevant = _by_pairs(pairs, n_queries, n_documents)
    both = within_range(np.concatenate([X_documents, X_queries]))
    if not (np.rint(both) == both).all():  # products of whole numbers are exact as they are
        both = both - both[:n_documents].mean(axis=0)
    norms = np.einsum("ij,ij->i", both, both)

    def score(first: int) -> FloatArray:
        """Scores (n, 4) of the block's queries that have a relevant document."""
        block = slice(first, min(first + _QUERY_BLOCK, n_queries))
        of_queries = slice(n_documents + block.start, n_documents + block.stop)
        squared = both[of_queries] @ both[:n_documents].T
        squared *= -2
        squared += norms[of_queries, None]
        squared += norms[:n_documents]
        hits = relevant(block)
        if own:  # last in the ranking, and not relevant
            rows = np.arange(len(hits))
            squared[rows, rows + first] = np.inf
            hits[rows, rows + first] = False
        kept = hits.any(axis=1)
        return _scores(np.take_along_axis(hits[kept], _order(squared[kept]), axis=1), k)

    with single_threaded_blas():
        table = np.concatenate(parallel_map(score, range(0, n_queries, _QUERY_BLOCK)))
    if not len(table):
        raise ValueError("No query has a relevant document: check labels or pairs.")
    precision, recall, average, gain = (float(mean) for mean in table.mean(axis=0))
    return RetrievalScores(precision, recall, average, gain, n_queries=len(table))


_Relevant = Callable[[slice], npt.NDArray[np.bool_]]  # of a block of queries, by document


def precision_at_k(
    documents: npt.ArrayLike, queries: npt.ArrayLike | None = None, **how: Any
) -> float:
    """Return the share of the first k documents that is relevant, see `retrieval_scores`.

    Examples
    --------
    >>> precision_at_k([[0.0], [1.0], [3.0]], labels=["a", "a", "b"], k=2)
    0.5
    """
    return retrieval_scores(documents, queries, **how).precision_at_k


def recall_at_k(
    documents: npt.ArrayLike, queries: npt.ArrayLike | None = None, **how: Any
) -> float:
    """Return the share of the relevant documents that is among the first k.

    Arguments are those of `retrieval_scores`.

    Examples
    --------
    >>> recall_at_k([[0.0], [2.0], [3.0]], [[1.9]], pairs=[[0, 0], [0, 1]], k=1)
    0.5
    """
    return retrieval_scores(documents, queries, **how).recall_at_k


def mean_average_precision(
    documents: npt.ArrayLike, queries: npt.ArrayLike | None = None, **how: Any
) -> float:
    """Return the mean over queries of the precision down to each relevant document.

    Arguments are those of `retrieval_scores`.

    Examples
    --------
    The relevant ones come first and third, (1/1 + 2/3) / 2:

    >>> how = {"labels": ["a", "b", "a"], "query_labels": ["a"], "k": 1}
    >>> round(mean_average_precision([[0.0], [1.0], [2.0]], [[0.0]], **how), 4)
    0.8333
    """
    return retrieval_scores(documents, queries, **how).mean_average_precision


def ndcg(documents: npt.ArrayLike, queries: npt.ArrayLike | None = None, **how: Any) -> float:
    """Return the normalised discounted cumulative gain of the whole ranking.

    Arguments are those of `retrieval_scores`.

    Examples
    --------
    One relevant document in second place, 1 / log2(3):

    >>> round(ndcg([[0.0], [1.0]], [[0.0]], pairs=[[0, 1]], k=1), 4)
    0.6309
    """
    return retrieval_scores(documents, queries, **how).ndcg


def _by_labels(labels: Any, query_labels: Any, n_documents: int, n_queries: int) -> _Relevant:
    of_documents, of_queries = np.asarray(labels), np.asarray(query_labels)
    if of_documents.shape != (n_documents,) or of_queries.shape != (n_queries,):
        raise ValueError(
            f"labels and query_labels must have one label for each of {n_documents} documents and "
            f"{n_queries} queries, got shapes {of_documents.shape} and {of_queries.shape}."
        )
    return lambda block: np.asarray(of_queries[block, None] == of_documents)


def _by_pairs(pairs: Any, n_queries: int, n_documents: int) -> _Relevant:
    given = np.asarray(pairs)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"pairs must be integers of shape (n_pairs, 2), got {given.dtype} of shape "
            f"{given.shape}: give indices (query, document)."
        )
    # SciPy names indices that are out of range
    table = csr_array((np.ones(len(given)), given.T), shape=(n_queries, n_documents))
    return lambda block: np.asarray(table[block].toarray() > 0)


def _order(squared: FloatArray) -> IndexArray:
    """Sort each query's distances, ties by index.

    A stable sort of everything would take three times as long.
    """
    order = np.argsort(squared, axis=1)
    rising = np.take_along_axis(squared, order, axis=1)
    tied = (rising[:, 1:] == rising[:, :-1]).any(axis=1)
    if tied.any():
        order[tied] = np.argsort(squared[tied], axis=1, kind="stable")
    return np.asarray(order)


def _scores(ranked: npt.NDArray[np.bool_], k: int) -> FloatArray:
    """Return precision, recall, average precision and nDCG of rankings, True where relevant."""
    n_relevant = ranked.sum(axis=1)
    query, rank = np.nonzero(ranked)  # by query, then by rank
    found = np.arange(len(query)) - np.repeat(np.cumsum(n_relevant) - n_relevant, n_relevant) + 1
    summed = np.bincount(query, found / (rank + 1), minlength=len(ranked))
    gain = np.bincount(query, 1 / np.log2(rank + 2.0), minlength=len(ranked))
    best = np.cumsum(1 / np.log2(np.arange(ranked.shape[1]) + 2.0))
    first = ranked[:, :k].sum(axis=1)
    return np.column_stack(
        [first / k, first / n_relevant, summed / n_relevant, gain / best[n_relevant - 1]]
    )
