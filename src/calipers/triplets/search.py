"""Exact search for the nearest rows of an anchor's own class and of all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.triplets._descent import build_tree, looked_at_share, search_in_tree
from calipers.triplets._product import search_by_products

# Measured on one core: to look at a row or box in a tree takes about 8 + d ns, a pair of the
# product search 1.4 + d / 50 ns, so descents pay below a share of about 1 / 16 of the rows.
# Building costs as much as the product search of some 500 anchors, hence the least number.
_TREE_COLUMNS = 32
_TREE_ANCHORS = 2000
_TREE_ELEMENTS = 2**24  # the tree's copy of the rows takes at most 128 MB
_TREE_SHARE = 1 / 16


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
    few_columns = X.shape[1] <= _TREE_COLUMNS and X.size <= _TREE_ELEMENTS
    if few_columns and len(anchors) >= _TREE_ANCHORS:
        # how many rows a descent visits depends on the data, not only on d: try some
        tree = build_tree(X, labels)
        if looked_at_share(tree, n_same, n_other) < _TREE_SHARE:
            return search_in_tree(tree, anchors, n_same=n_same, n_other=n_other)
        del tree
    return search_by_products(X, labels, anchors, n_same=n_same, n_other=n_other)
