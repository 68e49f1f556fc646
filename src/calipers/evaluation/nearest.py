"""The exact nearest training samples of test samples, by the search that mines triplets.

The search takes training and test samples as two classes, so the nearest samples "of the other
class" of a test sample are training samples.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors.search import nearest_same_and_other


def nearest_samples(
    X_train: npt.ArrayLike, X_test: npt.ArrayLike, *, n_neighbors: int
) -> IndexArray:
    """Find the samples of X_train nearest to each sample of X_test.

    Parameters
    ----------
    X_train : array-like of shape (n_train, d)
        Samples to search.
    X_test : array-like of shape (n_test, d)
        Samples to search for.
    n_neighbors : int
        Number of neighbours, at most n_train.

    Returns
    -------
    ndarray of shape (n_test, n_neighbors)
        Indices of X_train, ordered by (Euclidean distance, index). The search sums squared
        differences in float64 from the first feature to the last.

    Examples
    --------
    >>> nearest_samples([[0.0], [2.0], [5.0]], [[1.0]], n_neighbors=2)
    array([[0, 1]])
    """
    train, test = finite_samples(X_train, "X_train"), finite_samples(X_test, "X_test")
    if train.shape[1] != test.shape[1]:
        raise ValueError(
            f"X_train and X_test must have the same features, "
            f"got {train.shape[1]} and {test.shape[1]}."
        )
    if not 1 <= n_neighbors <= len(train):
        raise ValueError(
            f"n_neighbors must be between 1 and the {len(train)} samples of X_train, "
            f"got {n_neighbors}."
        )
    both = np.concatenate([train, test])
    part = np.repeat(np.arange(2), [len(train), len(test)])
    queries = np.arange(len(train), len(both))
    _, found = nearest_same_and_other(
        within_range(both), part, queries, n_same=0, n_other=n_neighbors
    )
    return found


def finite_samples(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return samples as float64; raise if they are not a matrix of finite numbers."""
    X = np.ascontiguousarray(values, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got {X.ndim}.")
    if not np.isfinite(X).all():
        raise ValueError(f"{name} contains NaN or infinity: clean or fill it first.")
    return X


def within_range(X: FloatArray) -> FloatArray:
    """Return X times a power of 2 if squares would overflow; the order of distances stays."""
    largest = float(np.abs(X).max(initial=0))
    if not largest or 1e-100 < largest < 1e100:
        return X
    return np.ldexp(X, -int(np.frexp(largest)[1]))
