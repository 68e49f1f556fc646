"""Differences, margins and low-rank changes: the arithmetic of the loop.

No function here is told how many threads there are, and none sums in an order that
depends on it. ``fastmath`` allows sums to be reordered for vector units (the same way
every time), never NaN or infinity to be assumed away.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from calipers.arrays import FloatArray, IndexArray

REORDER = {"reassoc", "contract", "nsz"}
BY_HAND = 16_384  # multiplications below which a plain loop beats a call to BLAS


@njit(cache=True, nogil=True, fastmath=REORDER)
def dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product of two short vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@njit(cache=True, nogil=True, fastmath=REORDER)
def gather(X: FloatArray, triplets: IndexArray, far: FloatArray, near: FloatArray) -> None:
    """Write ``x_i - x_k`` to ``far`` and ``x_i - x_j`` to ``near`` for triplets (i, j, k)."""
    for t in range(len(triplets)):
        i, j, k = triplets[t]
        for a in range(X.shape[1]):
            far[t, a] = np.float64(X[i, a]) - np.float64(X[k, a])
            near[t, a] = np.float64(X[i, a]) - np.float64(X[j, a])


@njit(cache=True, nogil=True, fastmath=REORDER)
def outer_norms(far: FloatArray, near: FloatArray, norms: FloatArray) -> None:
    """Frobenius norm of ``far far' - near near'`` for every row."""
    for t in range(len(far)):
        far2, near2, cross = 0.0, 0.0, 0.0
        for a in range(far.shape[1]):
            far2 += far[t, a] * far[t, a]
            near2 += near[t, a] * near[t, a]
            cross += far[t, a] * near[t, a]
        norms[t] = np.sqrt(max(0.0, far2 * far2 + near2 * near2 - 2.0 * cross * cross))


@njit(cache=True, nogil=True, fastmath=REORDER)
def multiply(rows: FloatArray, M: FloatArray, product: FloatArray) -> None:
    """``product = rows @ M``."""
    n, d = rows.shape
    if n * d * d >= BY_HAND:
        np.dot(rows, M, product)
        return
    for t in range(n):
        out = product[t]
        for j in range(d):
            out[j] = rows[t, 0] * M[0, j]
        for i in range(1, d):
            factor = rows[t, i]
            for j in range(d):
                out[j] += factor * M[i, j]


@njit(cache=True, nogil=True, fastmath=REORDER)
def squared_lengths(M: FloatArray, rows: FloatArray, product: FloatArray, out: FloatArray) -> None:
    """``x' M x`` for every row x; ``product`` is room for ``rows @ M``."""
    n, d = rows.shape
    if n * d * d < BY_HAND:
        for t in range(n):
            out[t] = 0.0
            for a in range(d):
                out[t] += rows[t, a] * dot(M[a], rows[t])
        return
    np.dot(rows, M, product[:n])
    for t in range(n):
        out[t] = dot(rows[t], product[t])


@njit(cache=True, nogil=True)
def margins(
    M: FloatArray, far: FloatArray, near: FloatArray, product: FloatArray, out: FloatArray
) -> None:
    """``far' M far - near' M near`` for every row."""
    squared_lengths(M, near, product, out)
    lengths = np.empty(len(far))
    squared_lengths(M, far, product, lengths)
    for t in range(len(far)):
        out[t] = lengths[t] - out[t]


@njit(cache=True, nogil=True, fastmath=REORDER)
def gradient_norm(far: FloatArray, near: FloatArray, slopes: FloatArray) -> float:
    """Frobenius norm of ``mean(slope * (near near' - far far'))`` from a Gram matrix."""
    b = slopes.size
    squared = 0.0
    for s in range(b):
        for r in range(s + 1):
            ff = dot(far[s], far[r])
            nn = dot(near[s], near[r])
            fn = dot(far[s], near[r])
            nf = dot(near[s], far[r])
            entry = slopes[s] * slopes[r] * (ff * ff + nn * nn - fn * fn - nf * nf)
            squared += entry if r == s else 2.0 * entry
    return float(np.sqrt(max(0.0, squared)) / b)


@njit(cache=True, nogil=True, fastmath=REORDER)
def add_outer_products(
    M: FloatArray, vectors: FloatArray, signs: FloatArray, total: FloatArray, weight: float
) -> float:
    """``total += weight * M``, then ``M += sum(sign * v v')``; returns ``sum(M**2)``.

    Entry (i, j) takes the same products in the same order as (j, i), so that M stays
    symmetric to the last bit.
    """
    squared = 0.0
    d = len(M)
    for i in range(d):
        row = M[i]
        if weight != 0.0:
            for j in range(d):
                total[i, j] += weight * row[j]
        for k in range(len(signs)):
            factor = signs[k] * vectors[k, i]
            if factor != 0.0:
                for j in range(d):
                    row[j] += factor * vectors[k, j]
        squared += dot(row, row)
    return squared


@njit(cache=True, nogil=True, fastmath=REORDER)
def carry(
    far: FloatArray, near: FloatArray, vectors: FloatArray, signs: FloatArray, margins: FloatArray
) -> None:
    """Follow ``M += sum(sign * v v')`` in margins that were computed before it.

    Margins are linear in M, so a change of rank r costs r d per triplet, not d^2.
    """
    rank, d = vectors.shape
    if len(far) * rank * d < BY_HAND:
        for t in range(len(far)):
            for k in range(rank):
                f, n = dot(far[t], vectors[k]), dot(near[t], vectors[k])
                margins[t] += signs[k] * (f - n) * (f + n)
        return
    f_all, n_all = np.dot(far, vectors.T), np.dot(near, vectors.T)
    for t in range(len(far)):
        for k in range(rank):
            f, n = f_all[t, k], n_all[t, k]
            margins[t] += signs[k] * (f - n) * (f + n)
