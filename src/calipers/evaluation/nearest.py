"""The exact nearest rows: the search that makes triplets, asked for rows of another table.

Both tables are searched as one, with the table for the class, so that the nearest rows "of
other classes" are those of the training table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.triplets import nearest_same_and_other


def nearest_rows(X_train: npt.ArrayLike, X_test: npt.ArrayLike, *, n_neighbors: int) -> IndexArray:
    """Find the rows of X_train nearest to each row of X_test.

    Parameters
    ----------
    X_train : array-like of shape (n_train, d)
        Rows to search.
    X_test : array-like of shape (n_test, d)
        Rows to search for.
    n_neighbors : int
        Number of neighbours, at most n_train.

    Returns
    -------
    ndarray of shape (n_test, n_neighbors)
        Row numbers of X_train, ordered by (Euclidean distance, row number); squared
        differences are added up in float64 from the first column to the last.

    Examples
    --------
    >>> nearest_rows([[0.0], [2.0], [5.0]], [[1.0]], n_neighbors=2)
    array([[0, 1]])
    """
    train, test = _checked(X_train, "X_train"), _checked(X_test, "X_test")
    if train.shape[1] != test.shape[1]:
        raise ValueError(
            f"X_train and X_test must have the same features, "
            f"got {train.shape[1]} and {test.shape[1]} columns."
        )
    if not 1 <= n_neighbors <= len(train):
        raise ValueError(
            f"n_neighbors must be between 1 and the {len(train)} rows of X_train, "
            f"got {n_neighbors}."
        )
    both = np.concatenate([train, test])
    table = np.repeat(np.arange(2), [len(train), len(test)])
    asked = np.arange(len(train), len(both))
    return nearest_same_and_other(_moderate(both), table, asked, n_same=0, n_other=n_neighbors)[1]


def _checked(values: npt.ArrayLike, name: str) -> FloatArray:
    X = np.ascontiguousarray(values, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got {X.ndim}.")
    if not np.isfinite(X).all():
        raise ValueError(f"{name} contains NaN or infinity: clean or fill it first.")
    return X


def _moderate(X: FloatArray) -> FloatArray:
    """The same times a power of two, which changes no order, where squares would overflow."""
    largest = float(np.abs(X).max(initial=0))
    if not largest or 1e-100 < largest < 1e100:
        return X
    return np.ldexp(X, -int(np.frexp(largest)[1]))
