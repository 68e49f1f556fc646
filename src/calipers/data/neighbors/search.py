"""Exact search for an anchor's nearest neighbours in its own class and in the other classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.data.neighbors._descent import build_tree, evaluated_share, search_in_tree
from calipers.data.neighbors._product import search_by_products

# Measured on one core: the tree evaluates a sample or box in about 8 + d ns, the product search
# a pair in 1.4 + d / 50 ns, so a descent pays if it evaluates less than about 1 / 16 of the
# samples. Building the tree costs as much as the product search of some 500 anchors.
_TREE_FEATURES = 32  # at most
_TREE_ANCHORS = 2000  # at least
_TREE_ELEMENTS = 2**24  # at most: the tree's copy of X then takes 128 MB
_TREE_SHARE = 1 / 16


def nearest_same_and_other(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Find each anchor's nearest neighbours in its own class and in the other classes.

    Neighbours are ordered by (sum_f (x_af - x_bf)^2, index), where the sum is taken in float64
    from the first feature to the last. The result is exact, and the same for any number of
    threads: the search rules out only samples that provably do not belong to it.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite float64 or float32 samples; may be read-only or memory-mapped.
    labels : array of shape (n,)
        Class codes 0 .. C-1.
    anchors : array of shape (m,)
        Indices of samples.
    n_same, n_other : int
        The number of neighbours in the anchor's class (itself excluded) and in the others.

    Returns
    -------
    same : array of shape (m, n_same)
        Indices, nearest first, the lowest first among ties; -1 where the class has no more.
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
    small = X.shape[1] <= _TREE_FEATURES and X.size <= _TREE_ELEMENTS
    if small and len(anchors) >= _TREE_ANCHORS:
        # the share depends on the data, not only on d: measure it on some samples
        tree = build_tree(X, labels)
        if evaluated_share(tree, n_same, n_other) < _TREE_SHARE:
            return search_in_tree(tree, anchors, n_same=n_same, n_other=n_other)
        del tree
    return search_by_products(X, labels, anchors, n_same=n_same, n_other=n_other)
