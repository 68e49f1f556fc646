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
from calipers.kernels.cholesky import SMALL, factorise, solve
from calipers.kernels.tridiagonal import below_all, count_below, nth_lowest, twisted

TINY = 1e-13  # eigenvalues above -TINY * norm count as zero
RESIDUAL = 1e-12  # a pair is trusted when ||M q - value q|| <= RESIDUAL * norm
FIRST_CHECK = 9  # Lanczos steps before the first look at the residual
APART = 1e-10  # largest inner product of two unit eigenvectors that counts as none
MAX_STEPS = 90  # of Lanczos, before giving up
HALF_IS_FASTER = 400  # size from which memory, not arithmetic, limits a product
FEW = 5  # Lanczos steps that give Newton's method its start
PATIENCE = 24  # steps after which a negative eigenvalue worth finding has shown itself
FAILED = -1
NONE_IN_SIGHT = -2


@njit(cache=True, nogil=True, fastmath=REORDER)
def _two_rows(
    a: FloatArray, b: FloatArray, x: FloatArray, out: FloatArray, x_a: float, x_b: float
) -> tuple[float, float]:
    """``out += x_a * a + x_b * b``; returns ``a @ x`` and ``b @ x``."""
    a_x, b_x = 0.0, 0.0
    for j in range(x.size):
        a_x += a[j] * x[j]
        b_x += b[j] * x[j]
        out[j] += x_a * a[j] + x_b * b[j]
    return a_x, b_x


@njit(cache=True, nogil=True)
def _times(M: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """``out = M @ x`` for a symmetric M; a large one is read by its upper half only."""
    d = len(M)
    if d < HALF_IS_FASTER:
        np.dot(M, x, out)
        return
    out[:] = 0.0
    for i in range(0, d - 1, 2):
        k = i + 1
        upper = _two_rows(M[i, i + 2 :], M[k, i + 2 :], x[i + 2 :], out[i + 2 :], x[i], x[k])
        out[i] += upper[0] + M[i, i] * x[i] + M[i, k] * x[k]
        out[k] += upper[1] + M[i, k] * x[i] + M[k, k] * x[k]
    if d % 2 == 1:
        out[d - 1] += M[d - 1, d - 1] * x[d - 1]


@njit(cache=True, nogil=True, fastmath=REORDER)
def _remove_components(basis: FloatArray, n: int, x: FloatArray) -> float:
    """Make x orthogonal to the first n rows of the basis; returns its length.

    A second pass follows where the first took away most of x, for then rounding has
    put something back.
    """
    before = dot(x, x)
    for _ in range(3):
        for k in range(n - 1, -1, -1):
            row = basis[k]
            overlap = dot(row, x)
            for i in range(x.size):
                x[i] -= overlap * row[i]
        after = dot(x, x)
        if after > 0.5 * before:
            break
        before = after
    return float(np.sqrt(after))


@njit(cache=True, nogil=True, fastmath=REORDER)
def _lanczos_step(
    M: FloatArray, basis: FloatArray, step: int, alpha: FloatArray, beta: FloatArray
) -> None:
    """Extend the Krylov basis by one vector, not yet of unit length (that is beta).

    In exact arithmetic only the last two vectors have a part in the new one; the pass
    over all of them afterwards takes out what rounding put in.
    """
    last, image = basis[step], basis[step + 1]
    _times(M, last, image)
    alpha[step] = dot(last, image)
    for i in range(image.size):
        image[i] -= alpha[step] * last[i]
    if step > 0:
        before = basis[step - 1]
        for i in range(image.size):
            image[i] -= beta[step - 1] * before[i]
    beta[step] = _remove_components(basis, step + 1, image)


@njit(cache=True, nogil=True, fastmath=REORDER)
def _is_apart(vectors: FloatArray, k: int) -> bool:
    """Whether vector k is orthogonal to those before it: it is not where values nearly meet."""
    largest = 0.0
    for m in range(k):
        largest = max(largest, abs(dot(vectors[m], vectors[k])))
    return largest <= APART


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

    Without a negative one only an exhausted Krylov space is an answer; after some steps
    it is NONE_IN_SIGHT, for a factorisation to confirm.
    """
    found = count_below(alpha, beta, n, -TINY * norm)
    if found > values.size:
        return FAILED
    if found == 0 and not exhausted:
        return NONE_IN_SIGHT if n >= PATIENCE else FAILED
    low = below_all(alpha, beta, n)
    for k in range(found - 1, -1, -1):
        high, accuracy = -TINY * norm, 0.01 * RESIDUAL * norm
        values[k] = nth_lowest(alpha, beta, n, k, low, high, accuracy, ritz[0], ritz[1:])
        if not exhausted and beta[n - 1] * abs(ritz[0, n - 1]) > RESIDUAL * norm:
            return FAILED
    return found


@njit(cache=True, nogil=True, fastmath=REORDER)
def _combine(weights: FloatArray, basis: FloatArray, out: FloatArray) -> None:
    """``out = weights @ basis``, rescaled to unit length."""
    out[:] = 0.0
    for m in range(weights.size):
        row = basis[m]
        for i in range(out.size):
            out[i] += weights[m] * row[i]
    length = np.sqrt(dot(out, out))
    for i in range(out.size):
        out[i] /= length


@njit(cache=True, nogil=True, fastmath=REORDER)
def lanczos_negative(
    M: FloatArray,
    start: FloatArray,
    norm: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
) -> int:
    """Negative eigenpairs seen from ``start``: how many, or FAILED.

    Writes at most ``len(values)`` eigenvalues and, row by row, unit eigenvectors.
    ``basis`` is room for at least two vectors of length d; the more, the more steps.
    """
    d = len(M)
    limit = min(d, len(basis) - 1)
    alpha, beta, ritz = np.empty(limit), np.empty(limit), np.empty((3, limit))
    length = np.sqrt(dot(start, start))
    if not length > 0.0:
        return 0
    for i in range(d):
        basis[0, i] = start[i] / length
    for step in range(limit):
        _lanczos_step(M, basis, step, alpha, beta)
        n = step + 1
        exhausted = n == d or beta[step] <= 1e-14 * norm
        if exhausted or (n >= FIRST_CHECK and (n - FIRST_CHECK) % 3 == 0):
            found = _converged(alpha, beta, n, norm, exhausted, values, ritz)
            if found >= 0:
                for k in range(found):
                    if found > 1:
                        twisted(alpha, beta, n, values[k], ritz[0], ritz[1:])
                    _combine(ritz[0, :n], basis, vectors[k])
                    if not _is_apart(vectors, k):
                        return FAILED
                return found
            if exhausted or found == NONE_IN_SIGHT:
                return FAILED
        for i in range(d):
            basis[step + 1, i] /= beta[step]
    return FAILED


@njit(cache=True, nogil=True, fastmath=REORDER)
def _lowest_of_few(M: FloatArray, v: FloatArray, norm: float, room: FloatArray) -> float:
    """An upper bound of M's lowest eigenvalue, slightly raised: from few Lanczos steps."""
    alpha, beta, ritz = np.empty(FEW), np.empty(FEW), np.empty((3, FEW))
    limit = min(FEW, len(M) - 1)
    basis = room[: limit + 1]
    length = np.sqrt(dot(v, v))
    if not length > 0.0:
        return 0.0
    for i in range(v.size):
        basis[0, i] = v[i] / length
    n = 0
    for step in range(limit):
        _lanczos_step(M, basis, step, alpha, beta)
        n = step + 1
        if beta[step] <= 1e-10 * norm:
            break
        for i in range(v.size):
            basis[step + 1, i] /= beta[step]
    if n == 0 or count_below(alpha, beta, n, -TINY * norm) == 0:
        return 0.0
    low = below_all(alpha, beta, n)
    high, accuracy = -TINY * norm, 1e-9 * norm
    lowest = nth_lowest(alpha, beta, n, 0, low, high, accuracy, ritz[0], ritz[1:])
    return float(min(0.0, lowest + accuracy))


@njit(cache=True, nogil=True, fastmath=REORDER)
def one_negative(
    M: FloatArray,
    v: FloatArray,
    norm: float,
    values: FloatArray,
    vectors: FloatArray,
    room: FloatArray,
) -> int:
    """The negative eigenpair of a small M, where ``A = M + v v'`` is positive: 0, 1 or FAILED.

    ``-shift`` is the eigenvalue where ``phi(shift) = v' (A + shift I)^-1 v`` is 1, and
    ``q = (A + shift I)^-1 v`` its vector, with residual ``|1 - phi| |v|``. Newton's method
    on ``1 / phi``, which is concave, comes to it from below.
    """
    d = len(M)
    q = vectors[0]
    shift = max(TINY * norm, -_lowest_of_few(M, v, norm, room))
    for iteration in range(40):
        for i in range(d):
            row, factor, target = M[i], v[i], room[i]
            for j in range(d):
                target[j] = row[j] + factor * v[j]
            room[i, i] += shift
        if not factorise(room):
            return FAILED
        q[:] = v
        solve(room, q)
        phi, length = dot(v, q), np.sqrt(dot(q, q))
        if phi <= 1.0 and iteration == 0:
            return 0 if shift <= TINY * norm else FAILED
        step = phi * (phi - 1.0) / (length * length)
        if abs(1.0 - phi) * np.sqrt(dot(v, v)) <= RESIDUAL * norm * length or (
            abs(step) <= 1e-15 * shift
        ):
            for i in range(d):
                q[i] /= length
            values[0] = -(shift + step)
            return 1
        shift += step
    return FAILED


@njit(cache=True, nogil=True)
def some_negative(
    M: FloatArray,
    start: FloatArray,
    norm: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
    room: FloatArray,
) -> int:
    """Negative eigenpairs of M that can be had cheaply: perhaps not all, but each right.

    ``start`` is the sum of the subtracted directions, of which there are ``len(values)``.
    """
    found = FAILED
    if len(M) <= SMALL and values.size == 1:
        found = one_negative(M, start, norm, values, vectors, room)
    if found == FAILED:
        found = lanczos_negative(M, start, norm, values, vectors, basis)
    return max(found, 0)


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
