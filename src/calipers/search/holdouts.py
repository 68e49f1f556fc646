"""The two hold-outs of a search log: new queries, and queries about documents without clicks.

Both hold out whole queries. By document, a fold trains without any pair of a document that
answers one of its held-out queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from calipers.arrays import IndexArray
from calipers.evaluation.folds import grouped

HOLD_OUTS = ("queries", "documents")


@dataclass(frozen=True)
class HoldOut:
    """Folds of one hold-out.

    Attributes
    ----------
    name : {"queries", "documents"}
        What is new in a held-out part.
    pairs : array of shape (n_pairs, 2)
        All pairs (query, document).
    fold : array of shape (n_queries,)
        Fold in which each query is held out.
    group : array of shape (n_queries,)
        Queries of one group are not independent: they share documents.
    """

    name: str
    pairs: IndexArray
    fold: IndexArray
    group: IndexArray

    def training(self, fold: int) -> npt.NDArray[np.bool_]:
        """Return which pairs a fold learns from."""
        held_out = self.fold[self.pairs[:, 0]] == fold
        if self.name == "queries":
            return np.asarray(~held_out)
        return ~np.isin(self.pairs[:, 1], self.pairs[held_out, 1])


def hold_out(name: str, pairs: IndexArray, n_folds: int, rng: np.random.Generator) -> HoldOut:
    """Deal queries to folds.

    Parameters
    ----------
    name : {"queries", "documents"}
        By query at random, or by groups of queries that are connected through documents. A group
        larger than a fold is dealt query by query.
    pairs : array of shape (n_pairs, 2)
        Pairs of the queries 0 to n_queries - 1, each of which has one.
    n_folds : int
        Number of folds.
    rng : Generator
        Shuffles.

    Examples
    --------
    >>> pairs = np.array([[0, 0], [1, 0], [2, 1], [3, 2]])
    >>> hold_out("documents", pairs, 2, np.random.default_rng(0)).group
    array([0, 0, 1, 2])
    """
    n_queries = int(pairs[:, 0].max()) + 1
    group: IndexArray = np.arange(n_queries)
    if name == "documents":
        group = connected(pairs)
        large = np.bincount(group)[group] > n_queries / n_folds
        group = np.where(large, group.max() + 1 + np.arange(n_queries), group)
        group = np.unique(group, return_inverse=True)[1]
    return HoldOut(name, pairs, grouped(group, n_folds, rng), group)


def connected(pairs: IndexArray) -> IndexArray:
    """Return the group of each query: queries with a document in common are in one group.

    >>> connected(np.array([[0, 5], [1, 6], [2, 5], [2, 6], [3, 7]]))
    array([0, 0, 0, 1])
    """
    n_queries = int(pairs[:, 0].max()) + 1
    documents: npt.NDArray[Any] = np.unique(pairs[:, 1], return_inverse=True)[1] + n_queries
    n = int(documents.max()) + 1
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], documents)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1][:n_queries], dtype=np.intp)


def check_can_be_held_out(pairs: IndexArray, n_folds: int) -> None:
    """Raise if there are too few queries or documents for the folds.

    >>> check_can_be_held_out(np.array([[0, 3], [1, 3]]), 2)
    Traceback (most recent call last):
        ...
    ValueError: pairs are all on one document, so that nothing can be held out: ...
    """
    n_queries, n_documents = (len(np.unique(side)) for side in pairs.T)
    if n_documents == 1:
        raise ValueError(
            "pairs are all on one document, so that nothing can be held out: add pairs of other "
            "documents."
        )
    if n_queries < n_folds:
        raise ValueError(
            f"pairs has {n_queries} queries, fewer than the {n_folds} folds that are held out in "
            "turn: add pairs of other queries, or lower n_folds."
        )
