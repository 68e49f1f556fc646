"""Draw triplets: random anchors, each with a near row of its class and a far row of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.triplets.search import nearest_same_and_other


def usable_anchors(labels: IndexArray) -> IndexArray:
    """Row numbers whose class has another member, in ascending order.

    >>> import numpy as np
    >>> usable_anchors(np.array([0, 1, 0, 2, 0]))
    array([0, 2, 4])
    """
    return np.flatnonzero(np.bincount(labels)[labels] >= 2)


def draw_triplets(
    X: npt.NDArray[Any],
    labels: IndexArray,
    n_triplets: int,
    *,
    n_neighbors: int,
    rng: np.random.Generator,
) -> IndexArray:
    """Draw (anchor, near, far) row numbers; near shares the anchor's class, far does not.

    Anchors are uniform with replacement among `usable_anchors`.  Near is uniform among the
    anchor's ``n_neighbors`` nearest rows of its class (all of them if there are fewer), far
    among its ``n_neighbors`` nearest rows of other classes.  With one neighbour there is no
    choice: the paper's triplets.  Only the distinct anchors drawn are searched.

    Random numbers are taken from ``rng`` in this order: all anchors; then, if
    ``n_neighbors`` > 1, the choices of all near rows; then those of all far rows.

    Parameters
    ----------
    X : array of shape (n, d)
        Finite rows.
    labels : array of shape (n,)
        Class codes 0 .. C-1.
    n_triplets : int
        Triplets to draw.
    n_neighbors : int
        Nearest rows of either side among which to choose.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    triplets : array of shape (n_triplets, 3)
        Row numbers (anchor, near, far).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0], [4.0]])
    >>> labels = np.array([0, 0, 1, 1])
    >>> draw_triplets(X, labels, 3, n_neighbors=1, rng=np.random.default_rng(0))
    array([[3, 2, 1],
           [2, 3, 1],
           [2, 3, 1]])
    """
    if n_neighbors < 1:
        raise ValueError(f"n_neighbors must be at least 1, got {n_neighbors}.")
    candidates = _anchors_with_both_sides(labels)
    anchors = candidates[rng.integers(len(candidates), size=n_triplets)]
    distinct, position = np.unique(anchors, return_inverse=True)
    same, other = nearest_same_and_other(
        X, labels, distinct, n_same=n_neighbors, n_other=n_neighbors
    )
    near = _choose(same, position, rng)
    far = _choose(other, position, rng)
    return np.column_stack([anchors, near, far])


def _anchors_with_both_sides(labels: IndexArray) -> IndexArray:
    """Usable anchors of data that has triplets at all."""
    candidates = usable_anchors(labels)
    n_classes = np.count_nonzero(np.bincount(labels))
    if n_classes < 2:
        raise ValueError(
            f"Triplets need rows of at least 2 classes, got {n_classes}: "
            "pass labels with more than one class."
        )
    if len(candidates) == 0:
        raise ValueError(
            f"Triplets need a class with at least 2 rows, but each of the {len(labels)} rows "
            "has a class of its own: pass labels that repeat (classes, not targets or ids)."
        )
    return candidates


def _choose(nearest: IndexArray, position: IndexArray, rng: np.random.Generator) -> IndexArray:
    """One row number per triplet, uniform among its anchor's list without the padding."""
    if nearest.shape[1] == 1:
        return nearest[position].ravel()
    n_found = np.count_nonzero(nearest >= 0, axis=1)
    column = rng.integers(n_found[position])
    chosen: IndexArray = nearest[position, column]
    return chosen
