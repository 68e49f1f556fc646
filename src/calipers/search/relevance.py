"""Which documents answer which query, as users give it: indices or ids, arrays or tables."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray


class Relevance(NamedTuple):
    """Pairs (query, document), each once, by query and then by document."""

    pairs: IndexArray
    weights: FloatArray

    @property
    def queries(self) -> IndexArray:
        """Ascending indices of the queries that have a pair."""
        return np.unique(self.pairs[:, 0])


def read_relevance(
    pairs: Any,
    shape: tuple[int, int],
    ids: tuple[Any, Any] = (None, None),
    sample_weight: Any = None,
    name: str = "pairs",
) -> Relevance:
    """Check pairs, and add up the weights of those that are given more than once.

    Parameters
    ----------
    pairs : array-like or table of shape (n_pairs, 2)
        Indices or ids. Of a table with columns ``query`` and ``document`` these are taken.
    shape : (n_queries, n_documents)
        How many there are.
    ids : (query_ids, document_ids)
        Id of each query and of each document, or None; pairs then hold ids of that side.
    sample_weight : array-like of shape (n_pairs,), optional
        Grades or numbers of clicks; pairs of weight 0 are left out.
    name : str
        What messages call the pairs.

    Raises
    ------
    ValueError
        A pair points nowhere, ids are missing or double, or weights are no weights.

    Examples
    --------
    >>> read_relevance([["b", 0], ["a", 1], ["b", 0]], (2, 2), (["a", "b"], None))
    Relevance(pairs=array([[0, 1],
           [1, 0]]), weights=array([1., 2.]))
    """
    query_ids, document_ids = ids
    of_queries, of_documents = _columns(pairs, name)
    sides = (
        _indices(of_queries, query_ids, shape[0], (name, 0, "query")),
        _indices(of_documents, document_ids, shape[1], (name, 1, "document")),
    )
    weights = _weights(sample_weight, len(of_queries))
    kept = weights > 0
    if not kept.any():
        raise ValueError(f"{name} is empty, or has no weight above 0: give at least one pair.")
    both = np.column_stack(sides)[kept]
    unique, inverse = np.unique(both, axis=0, return_inverse=True)
    summed: FloatArray = np.zeros(len(unique))
    np.add.at(summed, inverse.ravel(), weights[kept])
    return Relevance(np.asarray(unique, dtype=np.intp), summed)


def read_negatives(
    negatives: Any, shape: tuple[int, int], ids: tuple[Any, Any], relevance: Relevance
) -> IndexArray | None:
    """Check pairs of documents that do not answer the query.

    Raises
    ------
    ValueError
        They point nowhere, or contradict the pairs.
    """
    if negatives is None:
        return None
    wrong = read_relevance(negatives, shape, ids, name="negatives").pairs
    keys, known = (pairs @ np.array([shape[1], 1]) for pairs in (wrong, relevance.pairs))
    both = np.isin(keys, known)
    if both.any():
        at = wrong[int(both.argmax())].tolist()
        raise ValueError(
            f"negatives and pairs both have query {at[0]} with document {at[1]}: leave it out of "
            "one of them."
        )
    return wrong


def _columns(pairs: Any, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both columns of an array, or of a table of pandas, polars or Arrow."""
    names = getattr(pairs, "column_names", None) or getattr(pairs, "columns", None)
    if names is not None:
        labels = list(names)
        chosen = ["query", "document"] if {"query", "document"} <= set(labels) else labels
        if len(chosen) != 2:
            raise ValueError(
                f"{name} must have the columns 'query' and 'document', or two columns, got "
                f"{', '.join(map(repr, labels))}: rename or drop columns."
            )
        return np.asarray(pairs[chosen[0]]), np.asarray(pairs[chosen[1]])
    try:
        given = np.asarray(pairs)
    except ValueError:
        given = np.empty(0)
    if given.ndim != 2 or given.shape[1] != 2:
        raise ValueError(
            f"{name} must have shape (n_pairs, 2), one (query, document) a row, got shape "
            f"{given.shape}."
        )
    if given.dtype.kind in "US" and not isinstance(pairs, np.ndarray):  # ids of two kinds
        given = np.array([list(pair) for pair in pairs], dtype=object)
    return given[:, 0], given[:, 1]


def _indices(given: npt.NDArray[Any], ids: Any, n: int, where: tuple[str, int, str]) -> IndexArray:
    """Return the indices that one side of the pairs stands for."""
    name, column, side = where
    plural = "queries" if side == "query" else "documents"
    if ids is not None:
        return _by_id(given, ids, n, (name, side, plural))
    whole = np.asarray(given if given.dtype.kind in "iu" else _as_numbers(given))
    if not len(given):
        return np.empty(0, dtype=np.intp)
    if whole.dtype.kind not in "iu":
        values = given.tolist()
        at = next((i for i, value in enumerate(values) if not is_whole(value)), 0)
        raise ValueError(
            f"{name}[{at}, {column}] = {values[at]!r} must be a whole number that counts {plural} "
            f"from 0: correct it, or pass {side}_ids if these are ids."
        )
    wrong = (whole < 0) | (whole >= n)
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"{name}[{at}, {column}] = {whole[at]} points past the {n} {plural}, which are counted "
            f"from 0: check that it was made for this table, or pass {side}_ids."
        )
    return np.asarray(whole, dtype=np.intp)


def _as_numbers(given: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers where an object array holds nothing else, else the array as it is."""
    if given.dtype.kind == "O" and all(isinstance(value, int | np.integer) for value in given):
        return given.astype(np.int64)
    return given


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number, or the text of one that int64 holds."""
    if isinstance(value, str):
        return re.fullmatch(r"\s*-?\d{1,18}\s*", value) is not None
    return isinstance(value, int)


def _by_id(given: npt.NDArray[Any], ids: Any, n: int, words: tuple[str, str, str]) -> IndexArray:
    name, side, plural = words
    listed = np.asarray(ids).tolist()
    if len(listed) != n:
        raise ValueError(
            f"{side}_ids must have one id for each of {n} {plural}, got {len(listed)}: give the "
            "ids of all rows, in their order."
        )
    index_of = {one: index for index, one in enumerate(listed)}
    if len(index_of) < n:
        double = next(one for index, one in enumerate(listed) if index_of[one] != index)
        raise ValueError(f"{side}_ids has {double!r} more than once: give each its own id.")
    found = [index_of.get(one, -1) for one in given.tolist()]
    if -1 in found:
        at = found.index(-1)
        raise ValueError(
            f"{name}[{at}] names the {side} {given.tolist()[at]!r}, which {side}_ids does not "
            "have: leave out such pairs, or add the embedding."
        )
    return np.array(found, dtype=np.intp)


def _weights(given: Any, n_pairs: int) -> FloatArray:
    if given is None:
        return np.ones(n_pairs)
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise ValueError(
            "sample_weight must be numbers, got something else among them: pass clicks, or grades "
            "that rise with relevance."
        ) from None
    if weights.shape != (n_pairs,):
        raise ValueError(
            f"sample_weight must be a finite number of at least 0 for each of {n_pairs} pairs, got "
            f"shape {weights.shape}: pass clicks, or grades that rise with relevance."
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(
            f"sample_weight[{at}] = {weights[at]} must be a finite number of at least 0: pass "
            "clicks, or grades that rise with relevance."
        )
    return weights
