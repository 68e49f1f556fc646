"""The negative eigenpairs of a symmetric matrix, and only those.

A metric is positive semi-definite before a step, and a step subtracts a few outer
products v v', so few eigenvalues can have become negative, and each of their vectors q
solves ``(A - value) q = (sum of v v') q`` with A the part that stayed positive: q lies in
the Krylov space of the subtracted directions. Lanczos started there finds them in few
products; a residual decides whether to trust it, a Cholesky factorisation that none is
missed, and a full eigendecomposition is the fallback.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from calipers.arrays import FloatArray
from calipers.kernels.algebra import REORDER, dot

TINY = 1e-13  # eigenvalues above -TINY * norm count as zero
RESIDUAL = 1e-12  # a pair is trusted when ||M q - value q|| <= RESIDUAL * norm
MAX_STEPS = 90  # of Lanczos, before giving up
FAILED = -1


@njit(cache=True, nogil=True, fastmath=REORDER)
def is_positive(M: FloatArray, shift: float, room: FloatArray) -> bool:
    """Whether ``M + shift * I`` has a Cholesky factorisation."""
    d = len(M)
    room[:] = M
    for i in range(d):
        room[i, i] += shift
    if d > 96:
        try:
            np.linalg.cholesky(room)
        except Exception:
            return False
        return True
    for k in range(d):
        pivot = room[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        for i in range(k + 1, d):
            factor = room[k, i] * inverse
            for j in range(i, d):
                room[i, j] -= factor * room[k, j]
    return True


@njit(cache=True, nogil=True)
def _count_below(alpha: FloatArray, beta: FloatArray, n: int, x: float) -> int:
    """How many eigenvalues of the tridiagonal matrix lie below x (Sturm sequence)."""
    count = 0
    q = 1.0
    for i in range(n):
        off = beta[i - 1] * beta[i - 1] if i > 0 else 0.0
        q = alpha[i] - x - off / q
        if q == 0.0:
            q = 1e-300
        if q < 0.0:
            count += 1
    return count


@njit(cache=True, nogil=True)
def _nth_lowest(
    alpha: FloatArray, beta: FloatArray, n: int, nth: int, low: float, high: float
) -> float:
    """The eigenvalue number ``nth`` (from 0) of the tridiagonal matrix, by bisection."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if _count_below(alpha, beta, n, middle) > nth:
            high = middle
        else:
            low = middle
        if high - low <= 1e-15 * max(abs(low), abs(high)):
            break
    return high


@njit(cache=True, nogil=True)
def _tridiagonal_vector(
    alpha: FloatArray, beta: FloatArray, n: int, eigenvalue: float, vector: FloatArray
) -> None:
    """Unit eigenvector of the tridiagonal matrix, by the twisted factorisation.

    Both triangular recurrences are run towards each other and joined where the pivot is
    smallest, which gives small components their full relative accuracy.
    """
    down, up = np.empty(n), np.empty(n)
    down[0] = alpha[0] - eigenvalue
    for i in range(1, n):
        previous = down[i - 1] if down[i - 1] != 0.0 else 1e-300
        down[i] = alpha[i] - eigenvalue - beta[i - 1] * beta[i - 1] / previous
    up[n - 1] = alpha[n - 1] - eigenvalue
    for i in range(n - 2, -1, -1):
        previous = up[i + 1] if up[i + 1] != 0.0 else 1e-300
        up[i] = alpha[i] - eigenvalue - beta[i] * beta[i] / previous
    twist = 0
    smallest = np.inf
    for i in range(n):
        pivot = abs(down[i] + up[i] - (alpha[i] - eigenvalue))
        if pivot < smallest:
            smallest, twist = pivot, i
    vector[twist] = 1.0
    for i in range(twist - 1, -1, -1):
        pivot = down[i] if down[i] != 0.0 else 1e-300
        vector[i] = -beta[i] * vector[i + 1] / pivot
    for i in range(twist + 1, n):
        pivot = up[i] if up[i] != 0.0 else 1e-300
        vector[i] = -beta[i - 1] * vector[i - 1] / pivot
    length = np.sqrt(dot(vector[:n], vector[:n]))
    for i in range(n):
        vector[i] /= length


@njit(cache=True, nogil=True, fastmath=REORDER)
def _times(M: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """``out = M @ x`` for a symmetric M."""
    if len(M) > 96:
        np.dot(M, x, out)
        return
    for i in range(len(M)):
        out[i] = dot(M[i], x)


@njit(cache=True, nogil=True, fastmath=REORDER)
def _remove_components(basis: FloatArray, n: int, x: FloatArray) -> None:
    """Make x orthogonal to the first n rows of the basis (twice is enough)."""
    for _ in range(2):
        for k in range(n):
            overlap = dot(basis[k], x)
            for i in range(x.size):
                x[i] -= overlap * basis[k, i]


@njit(cache=True, nogil=True, fastmath=REORDER)
def lanczos_negative(
    M: FloatArray, start: FloatArray, norm: float, values: FloatArray, vectors: FloatArray
) -> int:
    """Negative eigenpairs seen from ``start``: how many, or FAILED.

    Writes at most ``len(values)`` eigenvalues and, row by row, unit eigenvectors.
    """
    d = len(M)
    limit = min(d, MAX_STEPS)
    basis = np.empty((limit + 1, d))
    alpha, beta, ritz = np.empty(limit), np.empty(limit), np.empty(limit)
    length = np.sqrt(dot(start, start))
    if not length > 0.0:
        return 0
    for i in range(d):
        basis[0, i] = start[i] / length
    for step in range(limit):
        image = basis[step + 1]
        _times(M, basis[step], image)
        alpha[step] = dot(basis[step], image)
        _remove_components(basis, step + 1, image)
        beta[step] = np.sqrt(dot(image, image))
        n = step + 1
        exhausted = n == d or beta[step] <= 1e-14 * norm
        if exhausted or (n >= 6 and n % 3 == 0):
            found = _converged(alpha, beta, n, norm, exhausted, values, ritz)
            if found >= 0:
                for k in range(found):
                    _tridiagonal_vector(alpha, beta, n, values[k], ritz)
                    vectors[k] = 0.0
                    for m in range(n):
                        for i in range(d):
                            vectors[k, i] += ritz[m] * basis[m, i]
                return found
            if exhausted:
                return FAILED
        for i in range(d):
            image[i] /= beta[step]
    return FAILED


@njit(cache=True, nogil=True)
def _converged(
    alpha: FloatArray,
    beta: FloatArray,
    n: int,
    norm: float,
    exhausted: bool,
    values: FloatArray,
    ritz: FloatArray,
) -> int:
    """How many negative Ritz values there are if all have converged, else FAILED.

    Without a negative one the lowest must have converged, or the space be exhausted.
    """
    low = alpha[0]
    for i in range(n):
        reach = (beta[i - 1] if i > 0 else 0.0) + (beta[i] if i < n - 1 else 0.0)
        low = min(low, alpha[i] - reach)
    found = _count_below(alpha, beta, n, -TINY * norm)
    if found > values.size:
        return FAILED
    for k in range(found):
        values[k] = _nth_lowest(alpha, beta, n, k, low, -TINY * norm)
        _tridiagonal_vector(alpha, beta, n, values[k], ritz)
        if not exhausted and beta[n - 1] * abs(ritz[n - 1]) > RESIDUAL * norm:
            return FAILED
    if found == 0 and not exhausted:
        return FAILED
    return found


@njit(cache=True, nogil=True)
def all_negative(M: FloatArray, norm: float, values: FloatArray, vectors: FloatArray) -> int:
    """Negative eigenpairs from a full eigendecomposition: the fallback."""
    w, Q = np.linalg.eigh(M)
    found = 0
    while found < values.size and found < w.size and w[found] < -TINY * norm:
        values[found] = w[found]
        vectors[found] = Q[:, found]
        found += 1
    return found
