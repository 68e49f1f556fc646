"""Impostors: rows of another class that come too near, found and weighed.

Rows are sorted by class throughout, so that the rows of a class are a range of columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from calipers.arrays import FloatArray, IndexArray
from calipers.kernels.algebra import REORDER

_CHUNK = 32  # columns compared at once; few chunks hold an impostor


@njit(cache=True, nogil=True)
def rows_below(
    bounds: npt.NDArray[np.float32], limits: npt.NDArray[np.float32], own: IndexArray
) -> tuple[IndexArray, npt.NDArray[np.int32]]:
    """Columns outside ``own[i, 0] .. own[i, 1]`` whose bound in row i is below its limit.

    Returns where the columns of each row start, and the columns.
    """
    m, n = bounds.shape
    starts = np.zeros(m + 1, dtype=np.intp)
    for i in range(m):
        starts[i + 1] = starts[i] + _n_below(bounds[i], limits[i], own[i])
    columns = np.empty(starts[m], dtype=np.int32)
    for i in range(m):
        at = starts[i]
        for first in range(0, n, _CHUNK):
            if at == starts[i + 1]:
                break
            stop = min(first + _CHUNK, n)
            if not _any_below(bounds[i, first:stop], limits[i]):
                continue
            for j in range(first, stop):
                if bounds[i, j] < limits[i] and not own[i, 0] <= j < own[i, 1]:
                    columns[at] = j
                    at += 1
    return starts, columns


@njit(cache=True, nogil=True)
def _any_below(bounds: npt.NDArray[np.float32], limit: np.float32) -> bool:
    n_below = np.int32(0)
    for j in range(bounds.size):
        n_below += np.int32(bounds[j] < limit)
    return n_below > 0


@njit(cache=True, nogil=True)
def _n_below(bounds: npt.NDArray[np.float32], limit: np.float32, own: IndexArray) -> int:
    n_below = 0
    for j in range(own[0]):
        n_below += bounds[j] < limit
    for j in range(own[1], bounds.size):
        n_below += bounds[j] < limit
    return n_below


@njit(cache=True, nogil=True, fastmath=REORDER)
def squared_distance(Z: FloatArray, i: int, j: int) -> float:
    """``|z_i - z_j|^2``."""
    total = 0.0
    for a in range(Z.shape[1]):
        difference = Z[i, a] - Z[j, a]
        total += difference * difference
    return total


@njit(cache=True, nogil=True, fastmath=REORDER)
def weigh(
    X: FloatArray,
    Z: FloatArray,
    targets: IndexArray,
    first: int,
    lists: Any,
    mixed: FloatArray,
    counts: IndexArray,
) -> tuple[float, float, int]:
    """Pull and push of anchors ``first, first + 1, ...``, and what their gradient needs.

    With ``n_il`` the triplets that row l violates with anchor i, and ``n_ij`` those in
    which j is the target of i, writes ``sum_j n_ij x_j - sum_l n_il x_l`` to row i of
    ``mixed``, adds ``n_ij`` to ``counts[j]`` and subtracts ``n_il`` from ``counts[l]``.

    Returns the sum of squared distances to targets, the sum of hinges, and the number of
    triplets violated.
    """
    starts, columns = lists
    k = targets.shape[1]
    radii, taken = np.empty(k), np.empty(k, dtype=np.intp)
    pull, push, n_active = 0.0, 0.0, 0
    for row in range(len(starts) - 1):
        i = first + row
        widest = 0.0
        for t in range(k):
            taken[t] = 0
            radii[t] = 0.0
            if targets[i, t] >= 0:
                squared = squared_distance(Z, i, targets[i, t])
                pull += squared
                radii[t] = 1.0 + squared
                widest = max(widest, radii[t])
        mixed[i] = 0.0
        for at in range(starts[row], starts[row + 1]):
            l = columns[at]
            squared = squared_distance(Z, i, l)
            if squared >= widest:
                continue
            n_violated = 0
            for t in range(k):
                if squared < radii[t]:
                    push += radii[t] - squared
                    taken[t] += 1
                    n_violated += 1
            n_active += n_violated
            counts[l] -= n_violated
            for a in range(X.shape[1]):
                mixed[i, a] -= n_violated * X[l, a]
        for t in range(k):
            if taken[t]:
                j = targets[i, t]
                counts[j] += taken[t]
                for a in range(X.shape[1]):
                    mixed[i, a] += taken[t] * X[j, a]
    return pull, push, n_active
