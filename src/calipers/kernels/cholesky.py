"""Cholesky factorisations: is a matrix positive definite, and solving with it."""

from __future__ import annotations

from typing import Any

from numba import njit, types

from calipers.arrays import FloatArray
from calipers.compiled import inner
from calipers.kernels.algebra import REORDER, dot

SMALL = 96  # up to this size plain loops beat calls to LAPACK

# LAPACK's dpotrf, as numba's own np.linalg.cholesky calls it; that one copies the matrix and
# clears a triangle column by column besides, which nearly doubles its time
_potrf: Any = types.ExternalFunction(
    "numba_xxpotrf",
    types.intc(types.char, types.char, types.intp, types.CPointer(types.float64), types.intp),  # type: ignore[no-untyped-call]
)
_DOUBLE, _LOWER = ord("d"), ord("L")  # the lower triangle by columns is the upper one by rows


@inner(fastmath=REORDER)
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
def factors_of(M: FloatArray, shift: float, factors: FloatArray) -> bool:
    """Factorise ``M + shift * I``, as `factorise` does; False unless it is positive definite."""
    d = len(M)
    for i in range(d):
        for j in range(d):  # an assignment of arrays takes numba 4 s longer to compile
            factors[i, j] = M[i, j]
        factors[i, i] += shift
    if d <= SMALL:
        return bool(factorise(factors))
    if _potrf(_DOUBLE, _LOWER, d, factors.ctypes, d) != 0:
        return False
    for k in range(d):
        row = factors[k]
        pivot = row[k]
        for i in range(k, d):
            row[i] *= pivot
    return True


@njit(cache=True, nogil=True)
def is_positive(M: FloatArray, shift: float, room: FloatArray) -> bool:
    """Whether ``M + shift * I`` is positive definite; ``room`` is overwritten."""
    return bool(factors_of(M, shift, room))
