"""Impostors: rows of another class that come too near, found and weighed.

Samples are sorted by class throughout, so that the rows of a class are a range of columns.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.compiled import forget_stale, inner, kernel
from calipers.kernels.algebra import REORDER

_CHUNK = 32  # coordinates summed before looking whether that is enough


@kernel(makes_arrays=True)
def columns_below(
    bounds: npt.NDArray[np.float32], limits: npt.NDArray[np.float32], own: IndexArray
) -> tuple[IndexArray, npt.NDArray[np.int32]]:
    """Columns outside ``own[i, 0] .. own[i, 1]`` whose bound in row i is below its limit.

    Returns where the columns of each row start, and the columns. Every column is written
    and kept only if it is below: no branch to mispredict, however many there are.
    """
    m, n = bounds.shape
    starts = np.zeros(m + 1, dtype=np.intp)
    room = np.empty(m * n // 16 + n, dtype=np.int32)
    at = 0
    for i in range(m):
        if at + n > room.size:
            wider = np.empty(2 * room.size, dtype=np.int32)
            for a in range(at):  # an assignment of arrays takes numba seconds to compile
                wider[a] = room[a]
            room = wider
        for j in range(own[i, 0]):
            room[at] = j
            at += bounds[i, j] < limits[i]
        for j in range(own[i, 1], n):
            room[at] = j
            at += bounds[i, j] < limits[i]
        starts[i + 1] = at
    return starts, room[:at].copy()


@inner(fastmath=REORDER)
def squared_distance(Z: FloatArray, i: int, j: int) -> float:
    """``|z_i - z_j|^2``."""
    total = 0.0
    for a in range(Z.shape[1]):
        difference = Z[i, a] - Z[j, a]
        total += difference * difference
    return total


@inner(fastmath=REORDER)
def squared_distance_below(Z: FloatArray, i: int, j: int, limit: float) -> float:
    """``|z_i - z_j|^2``, or a part of it that is not below the limit.

    Unsigned indices: a signed one might count from the end, which keeps the inner loop
    from the vector units and takes ten times as long.
    """
    total = 0.0
    first, d = np.uint64(0), np.uint64(Z.shape[1])
    while first < d:
        stop = min(first + np.uint64(_CHUNK), d)
        part = 0.0
        for a in range(first, stop):
            difference = Z[i, a] - Z[j, a]
            part += difference * difference
        total += part
        if total >= limit:
            break
        first = stop
    return total


@kernel()
def measure_targets(Z: FloatArray, targets: IndexArray, first: int, radii: FloatArray) -> None:
    """Write ``1 + |z_i - z_j|^2`` for the targets j of rows ``first, ...``; 0 for none."""
    for i in range(first, first + len(radii)):
        for t in range(targets.shape[1]):
            j = targets[i, t]
            radii[i - first, t] = 1.0 + squared_distance(Z, i, j) if j >= 0 else 0.0


@kernel(fastmath=REORDER, makes_arrays=True)
def weigh(
    rows: tuple[FloatArray, FloatArray],
    targets: IndexArray,
    radii: FloatArray,
    first: int,
    lists: tuple[IndexArray, npt.NDArray[np.int32]],
    out: tuple[FloatArray, IndexArray],
) -> tuple[float, int]:
    """Push of the anchors ``first, ...`` that have lists, and what its gradient needs.

    ``rows`` are X and its image Z, in which distances are taken. With n_ij the violated
    triplets of anchor i in which j is the target and n_il those in which l is the
    impostor, ``out`` is two arrays, ``mixed`` and ``counts``: row i of ``mixed`` becomes
    ``sum_j n_ij x_j - sum_l n_il x_l``, ``counts[j]`` grows by n_ij, ``counts[l]`` falls
    by n_il.

    Returns the sum of hinges and the number of violated triplets.
    """
    X, Z = rows
    starts, columns = lists
    mixed, counts = out
    k, d = targets.shape[1], X.shape[1]
    violated = np.empty(k, dtype=np.intp)
    push, n_active = 0.0, 0
    for row in range(len(starts) - 1):
        i = first + row
        mixed[i] = 0.0
        violated[:] = 0
        widest = radii[i].max()
        for at in range(starts[row], starts[row + 1]):
            far = columns[at]
            squared = squared_distance_below(Z, i, far, widest)
            if squared >= widest:
                continue
            n_violated = 0
            for t in range(k):
                if squared < radii[i, t]:
                    push += radii[i, t] - squared
                    violated[t] += 1
                    n_violated += 1
            n_active += n_violated
            counts[far] -= n_violated
            for a in range(d):
                mixed[i, a] -= n_violated * X[far, a]
        for t in range(k):
            if violated[t]:
                near = targets[i, t]
                counts[near] += violated[t]
                for a in range(d):
                    mixed[i, a] += violated[t] * X[near, a]
    return push, n_active


forget_stale(weigh)
