"""Exact search for the nearest rows of an anchor's own class and of all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.triplets._product import search_by_products


def nearest_same_and_other(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Find each anchor's nearest rows of its own class and of the other classes.

    Rows are ordered by (sum_c (x_ac - x_bc)^2, row number), the sum taken in float64 from
    the first column to the last.  The result is exact: whatever shortcut is taken rules out
    only rows that provably do not belong, and it is the same for any number of threads.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite float64 or float32 rows; may be read-only or mapped from a file.
    labels : array of shape (n,)
        Class codes 0 .. C-1.
    anchors : array of shape (m,)
        Row numbers.
    n_same, n_other : int
        Rows wanted of the anchor's class (itself excluded) and of the other classes.

    Returns
    -------
    same : array of shape (m, n_same)
        Row numbers, nearest first, ties by the lowest number; -1 where the class has no more.
    other : array of shape (m, n_other)
        Likewise for the other classes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0], [9.0]])
    >>> labels = np.array([0, 0, 1, 0, 1])
    >>> same, other = nearest_same_and_other(X, labels, np.array([0, 2]), n_same=2, n_other=1)
    >>> same
    array([[ 1,  3],
           [ 4, -1]])
    >>> other
    array([[2],
           [3]])
    """
    X = np.asarray(X)
    labels = np.asarray(labels, dtype=np.intp)
    anchors = np.asarray(anchors, dtype=np.intp)
    return search_by_products(X, labels, anchors, n_same=n_same, n_other=n_other)
