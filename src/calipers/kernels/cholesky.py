"""Cholesky factorisations: is a matrix positive definite, and solving with it."""

from __future__ import annotations

import numpy as np
from numba import njit

from calipers.arrays import FloatArray
from calipers.kernels.algebra import REORDER, dot

SMALL = 96  # up to this size plain loops beat calls to LAPACK


@njit(cache=True, nogil=True, fastmath=REORDER)
def _subtract(row: FloatArray, factor: float, other: FloatArray) -> None:
    """``row -= factor * other``; its own function, so that no index can be negative."""
    for j in range(row.size):
        row[j] -= factor * other[j]


@njit(cache=True, nogil=True, fastmath=REORDER)
def factorise(A: FloatArray) -> bool:
    """Overwrite the upper triangle of A with D U of ``A = U' D U``; False unless D > 0.

    U has a unit diagonal. Applying several pivots at a time was tried and is slower here.
    """
    for k in range(len(A)):
        row = A[k]
        if not row[k] > 0.0:
            return False
        inverse = 1.0 / row[k]
        for i in range(k + 1, len(A)):
            _subtract(A[i, i:], row[i] * inverse, row[i:])
    return True


@njit(cache=True, nogil=True, fastmath=REORDER)
def solve(factors: FloatArray, x: FloatArray) -> None:
    """Overwrite x with ``A^-1 x`` from the factors of A."""
    d = len(factors)
    for k in range(d):
        _subtract(x[k + 1 :], x[k] / factors[k, k], factors[k, k + 1 :])
    for k in range(d - 1, -1, -1):
        x[k] = (x[k] - dot(factors[k, k + 1 :], x[k + 1 :])) / factors[k, k]


@njit(cache=True, nogil=True)
def is_positive(M: FloatArray, shift: float, room: FloatArray) -> bool:
    """Whether ``M + shift * I`` has a Cholesky factorisation; ``room`` is overwritten."""
    room[:] = M
    for i in range(len(M)):
        room[i, i] += shift
    if len(M) <= SMALL:
        return bool(factorise(room))
    try:
        np.linalg.cholesky(room)
    except Exception:
        return False
    return True
