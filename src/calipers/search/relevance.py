"""Which documents answer which query, as users give it: indices or ids, arrays or tables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_sample_weight

from calipers.arrays import FloatArray, IndexArray


class Relevance(NamedTuple):
    """The queries that have a pair, and their pairs.

    Attributes
    ----------
    queries : array of shape (n_queries,)
        Their indices, ascending.
    names : list
        What they are called: ids, or indices.
    pairs : array of shape (n_pairs, 2)
        (position among `queries`, document), each once, ascending.
    weights : array of shape (n_pairs,)
        Weight of each pair.
    """

    queries: IndexArray
    names: list[Any]
    pairs: IndexArray
    weights: FloatArray


def read_relevance(
    pairs: Any,
    shape: tuple[int, int],
    ids: tuple[Any, Any] = (None, None),
    sample_weight: npt.ArrayLike | None = None,
) -> Relevance:
    """Check pairs, and add up the weights of those that are given more than once.

    Parameters
    ----------
    pairs : array-like or table of shape (n_pairs, 2)
        Indices or ids. Of a table the columns ``query`` and ``document`` are taken.
    shape : (n_queries, n_documents)
        How many there are.
    ids : (query_ids, document_ids)
        Id of each query and of each document, or None; pairs then hold ids of that side.
    sample_weight : array-like of shape (n_pairs,), optional
        Grades or numbers of clicks; pairs of weight 0 are left out.

    Raises
    ------
    ValueError
        A pair points nowhere, ids are missing or double, or weights are no weights.

    Examples
    --------
    >>> found = read_relevance([["c", 0], ["b", 1], ["c", 0]], (3, 2), (["a", "b", "c"], None))
    >>> found.names, found.pairs.tolist(), found.weights
    (['b', 'c'], [[0, 1], [1, 0]], array([1., 2.]))
    """
    sides = zip(_columns(pairs), ids, shape, ("query", "document"), strict=True)
    both = np.column_stack([_indices(*side) for side in sides])
    weights = np.ones(len(both))
    if sample_weight is not None:
        weights = _check_sample_weight(
            sample_weight, both, dtype=np.float64, ensure_non_negative=True
        )
    kept = weights > 0
    unique, place = np.unique(both[kept], axis=0, return_inverse=True)
    queries, unique[:, 0] = np.unique(unique[:, 0], return_inverse=True)
    names = queries if ids[0] is None else np.asarray(ids[0], dtype=object)[queries]
    summed = np.bincount(place.ravel(), weights[kept])
    return Relevance(queries, names.tolist(), unique, np.asarray(summed, dtype=np.float64))


def _columns(pairs: Any) -> list[list[Any]]:
    """Return queries and documents of an array, or of a table of pandas, polars or Arrow."""
    names = getattr(pairs, "column_names", getattr(pairs, "columns", None))
    if names is not None:
        if not {"query", "document"} <= {*names}:
            raise ValueError(
                "pairs must have the columns 'query' and 'document', got "
                f"{', '.join(map(repr, names))}: rename them."
            )
        columns = [pairs["query"], pairs["document"]]
    else:
        array = np.asarray(pairs, dtype=object)
        if array.ndim != 2 or array.shape[1] != 2:
            raise ValueError(
                "pairs must have shape (n_pairs, 2), one (query, document) a row, got shape "
                f"{array.shape}."
            )
        columns = [*array.T]
    if not len(columns[0]):
        raise ValueError("pairs is empty: give at least one pair.")
    return [np.asarray(column, dtype=object).tolist() for column in columns]


def _indices(given: list[Any], ids: Any, n: int, side: str) -> IndexArray:
    """Return the indices that one side of the pairs stands for."""
    if ids is None:
        hint = "count from 0, or give ids"
        found = [i if isinstance(i, int | np.integer) and 0 <= i < n else -1 for i in given]
    else:
        hint = "leave the pair out, or add the embedding"
        listed = np.asarray(ids, dtype=object).tolist()
        index_of = {one: index for index, one in enumerate(listed)}
        if not len(index_of) == len(listed) == n:
            raise ValueError(
                f"{side}_ids must have an id of its own for each {side}, {n}, got {len(listed)} "
                f"of which {len(index_of)} differ."
            )
        found = [index_of.get(one, -1) for one in given]
    if -1 in found:
        at = found.index(-1)
        raise ValueError(
            f"pairs[{at}] names the {side} {given[at]!r}, which is not among the {n}: {hint}."
        )
    return np.array(found, dtype=np.intp)
