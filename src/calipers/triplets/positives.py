"""Triplets from (query, positive) pairs, with mined hard negatives.

A hard negative of a query is one of the samples nearest to it that is not its positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array, check_random_state

from calipers.arrays import IndexArray
from calipers.neighbors.search import nearest_same_and_other
from calipers.triplets.check import check_positives


def from_positives(
    X: npt.ArrayLike,
    pairs: npt.ArrayLike,
    *,
    n_negatives: int = 10,
    documents: npt.ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> IndexArray:
    """Make triplets (query, positive, negative) of pairs and the hardest negatives.

    Each pair makes a triplet with each of the ``n_negatives`` samples nearest to its query that
    are not paired with the query. The search is exact. To learn from the triplets:
    ``TripletSGD().fit_triplets(X, from_positives(X, pairs))``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples; for separate queries and documents, ``np.vstack([queries, documents])``.
    pairs : array-like of shape (n_pairs, 2)
        Indices (query, positive) of samples. A pair counts both ways: neither sample is ever
        the other's negative.
    n_negatives : int, default=10
        The number of negatives of each query; fewer if there are no more.
    documents : array-like of shape (n_documents,), optional
        Indices of the samples that may be negatives, for example
        ``np.arange(len(queries), len(X))``; by default all samples.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of the triplets.

    Returns
    -------
    array of shape (n_triplets, 3)
        Indices (query, positive, negative) of samples, in random order.

    Examples
    --------
    Two queries, their two documents, and one document that no query is paired with:

    >>> import numpy as np
    >>> X = np.array([[0.0], [10.0], [1.0], [11.0], [4.0]])
    >>> triplets = from_positives(
    ...     X, [[0, 2], [1, 3]], n_negatives=1, documents=[2, 3, 4], random_state=0
    ... )
    >>> sorted(triplets.tolist())
    [[0, 2, 4], [1, 3, 4]]
    """
    samples = check_array(X, dtype=[np.float64, np.float32], order="C")
    given = check_positives(pairs, len(samples))
    if n_negatives < 1:
        raise ValueError(f"n_negatives must be at least 1, got {n_negatives}.")
    allowed = _allowed(documents, len(samples))
    queries = np.unique(given[:, 0])
    negatives = _negatives(samples, given, queries, allowed, n_negatives)
    of_pair = negatives[np.searchsorted(queries, given[:, 0])]
    triplets = np.column_stack([np.repeat(given, n_negatives, axis=0), of_pair.ravel()])
    triplets = triplets[triplets[:, 2] >= 0]
    if not len(triplets):
        raise ValueError(
            f"None of the {len(queries)} queries has a negative: every sample that may be "
            "one is its positive, add samples to X or to documents that are not."
        )
    check_random_state(random_state).shuffle(triplets)
    return triplets


def _allowed(documents: npt.ArrayLike | None, n_samples: int) -> npt.NDArray[np.bool_]:
    """Return whether each sample may be a negative."""
    if documents is None:
        return np.ones(n_samples, dtype=np.bool_)
    given = np.asarray(documents)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not len(given):
        raise ValueError(
            f"documents must be a 1-d array of indices of samples, got {given.dtype} of shape "
            f"{given.shape}: use np.flatnonzero if it is a mask."
        )
    if given.min() < 0 or given.max() >= n_samples:
        raise ValueError(
            f"documents must be indices from 0 to {n_samples - 1}, got "
            f"{given.min()} to {given.max()}: count the samples of X as it is passed."
        )
    allowed = np.zeros(n_samples, dtype=np.bool_)
    allowed[given] = True
    return allowed


def _negatives(
    X: npt.NDArray[Any],
    pairs: IndexArray,
    queries: IndexArray,
    allowed: npt.NDArray[np.bool_],
    n_negatives: int,
) -> IndexArray:
    """Return the nearest allowed samples that are not positives, -1 where there are no more.

    A query with p positives finds its negatives among its n_negatives + p nearest samples.
    Queries with about as many positives are searched together, so that one query with many
    does not lengthen the lists of all others.
    """
    belongs = _both_ways(pairs, len(X))
    n_positives = np.bincount(belongs // len(X), minlength=len(X))[queries]
    lengths = 2 ** np.ceil(np.log2(n_negatives + n_positives)).astype(np.intp)
    negatives = np.full((len(queries), n_negatives), -1, dtype=np.intp)
    for length in np.unique(lengths):
        for inside in (True, False):  # queries that may be negatives themselves, and others
            chosen = np.flatnonzero((lengths == length) & (allowed[queries] == inside))
            if not len(chosen):
                continue
            searched = queries[chosen]
            found = nearest_same_and_other(
                X,
                allowed.astype(np.intp),
                searched,
                n_same=int(length) if inside else 0,
                n_other=0 if inside else int(length),
            )[0 if inside else 1]
            found[np.isin(searched[:, None] * len(X) + found, belongs)] = -1
            order = np.argsort(found < 0, axis=1, kind="stable")[:, :n_negatives]
            kept = np.take_along_axis(found, order, axis=1)
            negatives[chosen, : kept.shape[1]] = kept
    return negatives


def _both_ways(pairs: IndexArray, n_samples: int) -> IndexArray:
    """Return ``a * n_samples + b``, ascending, for all (a, b) that are a pair in either order."""
    one, other = pairs[:, 0], pairs[:, 1]
    return np.unique(np.concatenate([one * n_samples + other, other * n_samples + one]))
