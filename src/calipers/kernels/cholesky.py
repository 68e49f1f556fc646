"""Cholesky factorisations: is a matrix positive definite, and solving with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from calipers.arrays import FloatArray
from calipers.compiled import inner, kernel
from calipers.kernels.algebra import REORDER, add, dot, dot_four, four, subtract_four

GROWTH = 1e3  # of pivots, beside the norm, that still leaves digits enough
SMALL = 96  # up to this size plain loops beat calls to LAPACK

# LAPACK's dpotrf, as numba's own np.linalg.cholesky calls it; that one copies the matrix and
# clears a triangle column by column besides, which nearly doubles its time
_potrf: Any = types.ExternalFunction(
    "numba_xxpotrf",
    types.intc(types.char, types.char, types.intp, types.CPointer(types.float64), types.intp),  # type: ignore[no-untyped-call]
)
_DOUBLE, _LOWER = ord("d"), ord("L")  # the lower triangle by columns is the upper one by rows


@kernel(fastmath=REORDER)
def factorise(A: FloatArray, lowest: float) -> bool:
    """Overwrite the upper triangle of A with D U of ``A = U' D U``; False unless D > lowest.

    U has a unit diagonal, and no entry of D is 0. Four pivots at a time are applied to the
    rows below them.
    """
    d = len(A)
    whole = d - d % 4
    for k in range(0, whole, 4):
        last = k + 4
        for i in range(k, last):
            if not A[i, i] > lowest or A[i, i] == 0.0:
                return False
            for r in range(i + 1, last):
                add(A[r, r:], -A[i, r] / A[i, i], A[i, r:])
        inverses = (
            1.0 / A[k, k],
            1.0 / A[k + 1, k + 1],
            1.0 / A[k + 2, k + 2],
            1.0 / A[k + 3, k + 3],
        )
        for r in range(last, d):
            c = (
                A[k, r] * inverses[0],
                A[k + 1, r] * inverses[1],
                A[k + 2, r] * inverses[2],
                A[k + 3, r] * inverses[3],
            )
            subtract_four(A[r, r:], c, four(A, k, r))
    for k in range(whole, d):
        if not A[k, k] > lowest or A[k, k] == 0.0:
            return False
        for r in range(k + 1, d):
            add(A[r, r:], -A[k, r] / A[k, k], A[k, r:])
    return True


@kernel(fastmath=REORDER)
def solve(factors: FloatArray, x: FloatArray) -> None:
    """Overwrite x with ``A^-1 x`` from the factors of A, four rows of them at a time."""
    d = len(factors)
    whole = d - d % 4
    for k in range(0, whole, 4):
        last = k + 4
        for i in range(k, last):
            add(x[i + 1 : last], -x[i] / factors[i, i], factors[i, i + 1 : last])
        c = (
            x[k] / factors[k, k],
            x[k + 1] / factors[k + 1, k + 1],
            x[k + 2] / factors[k + 2, k + 2],
            x[k + 3] / factors[k + 3, k + 3],
        )
        subtract_four(x[last:], c, four(factors, k, last))
    for k in range(whole, d):
        add(x[k + 1 :], -x[k] / factors[k, k], factors[k, k + 1 :])
    for k in range(d - 1, whole - 1, -1):
        x[k] = (x[k] - dot(factors[k, k + 1 :], x[k + 1 :])) / factors[k, k]
    for k in range(whole - 4, -1, -4):
        last = k + 4
        known = dot_four(four(factors, k, last), x[last:])
        for i in range(last - 1, k - 1, -1):
            near = dot(factors[i, i + 1 : last], x[i + 1 : last])
            x[i] = (x[i] - known[i - k] - near) / factors[i, i]


@inner()
def _copy(M: FloatArray, shift: float, out: FloatArray) -> None:
    """``out = M + shift * I``."""
    for i in range(len(M)):
        for j in range(len(M)):  # an assignment of arrays takes numba 4 s longer to compile
            out[i, j] = M[i, j]
        out[i, i] += shift


@kernel()
def factors_of(M: FloatArray, shift: float, factors: FloatArray) -> bool:
    """Factorise ``M + shift * I``, as `factorise` does; False unless it is positive definite."""
    d = len(M)
    _copy(M, shift, factors)
    if d <= SMALL:
        return bool(factorise(factors, 0.0))
    if _potrf(_DOUBLE, _LOWER, d, factors.ctypes, d) != 0:
        return False
    for k in range(d):
        row = factors[k]
        pivot = row[k]
        for i in range(k, d):
            row[i] *= pivot
    return True


@kernel()
def count_negative(M: FloatArray, shift: float, norm: float, factors: FloatArray) -> int:
    """How many eigenvalues ``M + shift * I`` has below 0; -1 where rounding may hide that.

    By Sylvester's law of inertia they are as many as D of its factors has. Without pivoting
    these may grow beyond measure, and rounding with them. ``norm`` is that of M.
    """
    _copy(M, shift, factors)
    if not factorise(factors, -np.inf):
        return -1
    count, largest = 0, 0.0
    for k in range(len(M)):
        count += factors[k, k] < 0.0
        largest = max(largest, abs(factors[k, k]))
    return count if largest <= GROWTH * norm else -1


@kernel()
def is_positive(M: FloatArray, shift: float, room: FloatArray) -> bool:
    """Whether ``M + shift * I`` is positive definite; ``room`` is overwritten."""
    return bool(factors_of(M, shift, room))
