"""Differences, margins and low-rank changes: the arithmetic of the loop.

A triplet is a far and a near row. Where there are k times as many triplets as rows, each k far
rows and the k near ones beside them (all of one anchor) are *crossed*: every far row makes a
triplet with every near row, near row by near row.

No function here is told how many threads there are, and none sums in an order that
depends on it. ``fastmath`` allows a sum over a row to be reordered for vector units (the same
way every time), never NaN or infinity to be assumed away. Where rows are added to each other
element by element it is not allowed: code just compiled and code from the cache, which may have
been optimised along different ways, have to agree to the last bit.
"""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.compiled import inner, kernel
from calipers.kernels.blas import add_squares

REORDER = {"reassoc", "contract", "nsz"}
Four = tuple[float, float, float, float]
FourRows = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
BY_HAND = 16_384  # multiplications below which a plain loop beats a call to BLAS
MANY = 40  # outer products from which on BLAS adds them sooner
TILE = 16  # rows and columns that are mirrored together


@kernel(fastmath=REORDER)
def dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product of two short vectors."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@inner(inlined=True)
def add(x: FloatArray, c: float, row: FloatArray) -> None:
    """``x += c * row``; its own function, so that no index can be negative."""
    for j in range(x.size):
        x[j] += c * row[j]


@inner(inlined=True)
def four(A: FloatArray, k: int, first: int) -> FourRows:
    """Samples k to k + 3, each from its element number ``first`` on.

    Not for functions that make arrays: they would free what they are handed here.
    """
    return A[k, first:], A[k + 1, first:], A[k + 2, first:], A[k + 3, first:]


@inner(inlined=True)
def add_four(x: FloatArray, c: Four, rows: FourRows) -> None:
    """``x += c @ rows`` for four rows, in one pass over x."""
    c0, c1, c2, c3 = c
    r0, r1, r2, r3 = rows
    for j in range(x.size):
        x[j] += (c0 * r0[j] + c1 * r1[j]) + (c2 * r2[j] + c3 * r3[j])


@inner(inlined=True)
def subtract_four(x: FloatArray, c: Four, rows: FourRows) -> None:
    """``x -= c @ rows`` for four rows, in one pass over x."""
    c0, c1, c2, c3 = c
    add_four(x, (-c0, -c1, -c2, -c3), rows)


@inner(fastmath=REORDER, inlined=True)
def dot_four(rows: FourRows, x: FloatArray) -> Four:
    """``rows @ x`` for four rows, in one pass over x."""
    p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0
    r0, r1, r2, r3 = rows
    for j in range(x.size):
        p0 += r0[j] * x[j]
        p1 += r1[j] * x[j]
        p2 += r2[j] * x[j]
        p3 += r3[j] * x[j]
    return p0, p1, p2, p3


@inner(makes_arrays=True)
def write_product(A: FloatArray, B: FloatArray, out: FloatArray) -> None:
    """``out = A @ B``, by BLAS."""
    np.dot(A, B, out)


@inner()
def write_half_product(M: FloatArray, first: int, x: FloatArray, out: FloatArray) -> None:
    """``out = M @ x`` from row and column ``first`` on, for a symmetric M.

    M is read from its upper half and the three diagonals below it; both vectors are as long
    as M, and what is before ``first`` is left alone.
    """
    d = len(M)
    whole = d - (d - first) % 4
    for i in range(first, d):
        out[i] = 0.0
    for k in range(first, whole, 4):
        last = k + 4
        weights = x[k], x[k + 1], x[k + 2], x[k + 3]
        rows = four(M, k, last)
        beyond = dot_four(rows, x[last:])
        add_four(out[last:], weights, rows)
        for i in range(k, last):
            out[i] += beyond[i - k] + dot(M[i, k:last], x[k:last])
    for i in range(whole, d):
        out[i] += dot(M[i, whole:], x[whole:])


@kernel(fastmath=REORDER)
def gather(X: FloatArray, triplets: IndexArray, far: FloatArray, near: FloatArray) -> None:
    """Write ``x_i - x_k`` to ``far`` and ``x_i - x_j`` to ``near`` for triplets (i, j, k)."""
    for t in range(len(triplets)):
        i, j, k = triplets[t]
        for a in range(X.shape[1]):
            far[t, a] = np.float64(X[i, a]) - np.float64(X[k, a])
            near[t, a] = np.float64(X[i, a]) - np.float64(X[j, a])


@kernel(fastmath=REORDER)
def shorten(far: FloatArray, near: FloatArray, k: int, reach: float) -> None:
    """Bring anchors with k far rows each back to ``reach``, if these are farther away.

    Measured by the root of their mean square; all differences of the anchor become shorter by
    the same factor.
    """
    if reach == np.inf:
        return
    for first in range(0, len(far), k):
        squared = 0.0
        for s in range(first, first + k):
            squared += dot(far[s], far[s])
        if squared <= k * reach * reach:
            continue
        factor = reach / np.sqrt(squared / k)
        for s in range(first, first + k):
            for a in range(far.shape[1]):
                far[s, a] *= factor
                near[s, a] *= factor


@inner(inlined=True)
def triplet(f: int, nth: int, k: int) -> int:
    """Which triplet far row f makes with the nth near row of its anchor."""
    return (f // k * k + nth) * k + f % k


@kernel(fastmath=REORDER)
def outer_norms(far: FloatArray, near: FloatArray, norms: FloatArray) -> None:
    """Frobenius norm of ``far far' - near near'`` for every triplet."""
    k = norms.size // max(1, len(far))
    for f in range(len(far)):
        norms[triplet(f, 0, k)] = dot(far[f], far[f])
    for n in range(len(near) - 1, -1, -1):  # backwards: what the first near row finds is read last
        near2, anchor = dot(near[n], near[n]), n // k * k
        for f in range(anchor, anchor + k):
            far2, cross = norms[triplet(f, 0, k)], dot(far[f], near[n])
            squared = far2 * far2 + near2 * near2 - 2.0 * cross * cross
            norms[triplet(f, n % k, k)] = np.sqrt(max(0.0, squared))


@kernel(fastmath=REORDER)
def multiply(rows: FloatArray, M: FloatArray, product: FloatArray) -> None:
    """``product = rows @ M``."""
    n, d = rows.shape
    if n * d * d >= BY_HAND:
        write_product(rows, M, product)
        return
    for t in range(n):
        out = product[t]
        for j in range(d):
            out[j] = rows[t, 0] * M[0, j]
        for i in range(1, d):
            factor = rows[t, i]
            for j in range(d):
                out[j] += factor * M[i, j]


@kernel(fastmath=REORDER)
def margins(
    M: FloatArray,
    far: FloatArray,
    near: FloatArray,
    gaps: FloatArray,
    product: FloatArray,
    out: FloatArray,
) -> None:
    """``far' M far - near' M near`` for every triplet; of single ones with one product by M.

    M is symmetric, so that is ``(far - near)' M (far + near)``. ``gaps`` and ``product`` are
    room for as many rows.
    """
    n, d = far.shape
    if out.size > n:
        _crossed_margins(M, far, near, product[:n], out)
        return
    for t in range(n):
        for a in range(d):
            gaps[t, a] = far[t, a] - near[t, a]
    if n * d * d < BY_HAND:
        for t in range(n):
            for a in range(d):
                product[t, a] = dot(M[a], gaps[t])
    else:
        write_product(gaps[:n], M, product[:n])
    for t in range(n):
        out[t] = dot(product[t], far[t]) + dot(product[t], near[t])


@inner(fastmath=REORDER)
def _crossed_margins(
    M: FloatArray, far: FloatArray, near: FloatArray, product: FloatArray, out: FloatArray
) -> None:
    """The same where each k far rows are crossed with k near ones: 2 k products, k * k margins."""
    k = out.size // len(far)
    multiply(far, M, product)
    for f in range(len(far)):
        out[triplet(f, 0, k)] = dot(product[f], far[f])
    multiply(near, M, product)
    for n in range(len(near) - 1, -1, -1):  # backwards, as above
        near2, anchor = dot(product[n], near[n]), n // k * k
        for f in range(anchor, anchor + k):
            out[triplet(f, n % k, k)] = out[triplet(f, 0, k)] - near2


@kernel(fastmath=REORDER)
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


@kernel(fastmath=REORDER)
def add_outer_products(
    M: FloatArray, vectors: FloatArray, signs: FloatArray, total: FloatArray, weight: float
) -> float:
    """``total += weight * M``, then ``M += sum(sign * v v')``; returns ``sum(M**2)``.

    Entry (i, j) takes the same products in the same order as (j, i), and no compiler may
    change that, so that M stays symmetric to the last bit.
    """
    squared = 0.0
    d, rank = len(M), len(signs)
    if rank >= MANY:
        return _add_many_outer_products(M, vectors, signs, total, weight)
    whole = rank - rank % 4
    for i in range(d):
        row = M[i]
        if weight != 0.0:
            for j in range(d):
                total[i, j] += weight * row[j]
        for k in range(0, whole, 4):
            c = (
                signs[k] * vectors[k, i],
                signs[k + 1] * vectors[k + 1, i],
                signs[k + 2] * vectors[k + 2, i],
                signs[k + 3] * vectors[k + 3, i],
            )
            add_four(row, c, four(vectors, k, 0))
        for k in range(whole, rank):
            add(row, signs[k] * vectors[k, i], vectors[k])
        squared += dot(row, row)
    return squared


@inner(makes_arrays=True)
def _add_many_outer_products(
    M: FloatArray, vectors: FloatArray, signs: FloatArray, total: FloatArray, weight: float
) -> float:
    """The same by BLAS, for the upper half, which is then written to the lower."""
    squared, first, rank = 0.0, 0, len(signs)
    if weight != 0.0:
        for i in range(len(M)):
            add(total[i], weight, M[i])
    for k in range(rank):  # as many at a time as have one sign
        if k + 1 == rank or signs[k + 1] != signs[k]:
            add_squares(M, vectors[first : k + 1], signs[k])
            first = k + 1
    for i in range(len(M)):
        row = M[i, i:]
        squared += 2.0 * dot(row, row) - row[0] * row[0]
    _mirror(M)
    return squared


@inner()
def _mirror(M: FloatArray) -> None:
    """Write the upper half to the lower, tile by tile: whole columns would miss the cache."""
    d = len(M)
    for top in range(0, d, TILE):
        for left in range(top, d, TILE):
            for i in range(top, min(d, top + TILE)):
                for j in range(max(left, i + 1), min(d, left + TILE)):
                    M[j, i] = M[i, j]


@kernel(fastmath=REORDER, makes_arrays=True)
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
