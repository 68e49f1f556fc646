"""The Lanczos process: the lowest eigenpairs of a symmetric operator, seen from a vector.

The operator is a matrix (`Product`) or minus the inverse of a positive definite one
(`Inverse`), whose lowest eigenpairs are far apart where those of the matrix itself are
crowded; ``apply`` is resolved from its type when compiling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from calipers.arrays import FloatArray
from calipers.compiled import inner
from calipers.kernels.algebra import REORDER, dot
from calipers.kernels.cholesky import solve
from calipers.kernels.tridiagonal import below_all, count_below, nth_lowest

FIRST_CHECK = 6  # steps before the first look at the residuals
APART = 1e-10  # largest inner product of two unit eigenvectors that counts as none
PATIENCE = 24  # steps after which what is worth finding has shown itself
HOPELESS = 1e8  # a residual this many times too large by then will take too long
HALF_IS_FASTER = 400  # size from which memory, not arithmetic, limits a product


class Product(NamedTuple):
    """The matrix itself."""

    M: FloatArray


class Inverse(NamedTuple):
    """Minus the inverse of the matrix that `calipers.kernels.cholesky.factorise` took."""

    factors: FloatArray


def apply(operator: Any, x: FloatArray, out: FloatArray) -> None:
    """``out = operator x`` (compiled code only)."""
    raise TypeError("compiled code only")


@overload(apply, strict=False)
def _apply(operator: Any, x: Any, out: Any) -> Any:
    kind = getattr(operator, "instance_class", None)
    if isinstance(operator, types.BaseNamedTuple) and kind is Product:
        return lambda operator, x, out: _times(operator.M, x, out)
    if isinstance(operator, types.BaseNamedTuple) and kind is Inverse:

        def minus_inverse(operator: Any, x: Any, out: Any) -> Any:
            for i in range(x.size):
                out[i] = -x[i]
            solve(operator.factors, out)

        return minus_inverse
    return None


@inner(fastmath=REORDER)
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


@inner()
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


@inner(fastmath=REORDER)
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


@inner(fastmath=REORDER)
def _orthogonalise(basis: FloatArray, step: int, alpha: FloatArray, beta: FloatArray) -> None:
    """Make the image of the last vector the next one, not yet of unit length (that is beta).

    In exact arithmetic only the last two vectors have a part in the new one; the pass
    over all of them afterwards takes out what rounding put in.
    """
    last, image = basis[step], basis[step + 1]
    alpha[step] = dot(last, image)
    for i in range(image.size):
        image[i] -= alpha[step] * last[i]
    if step > 0:
        before = basis[step - 1]
        for i in range(image.size):
            image[i] -= beta[step - 1] * before[i]
    beta[step] = _remove_components(basis, step + 1, image)


@inner(fastmath=REORDER)
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


@inner(fastmath=REORDER)
def _is_apart(vectors: FloatArray, k: int) -> bool:
    """Whether vector k is orthogonal to those before it: it is not where values nearly meet."""
    largest = 0.0
    for m in range(k):
        largest = max(largest, abs(dot(vectors[m], vectors[k])))
    return largest <= APART


@njit(cache=True, nogil=True, fastmath=REORDER)
def lowest_pairs(
    operator: Any,
    start: FloatArray,
    below: float,
    accuracy: float,
    limit: int,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
) -> tuple[int, float]:
    """Eigenpairs with values under ``below``, lowest first: how many, and what is left.

    A pair is trusted when its residual is at most ``accuracy``. The process ends when all
    in sight are trusted, after ``limit`` steps, or when that looks out of reach; then the
    lowest value in sight that is not trusted is returned, else ``below``.

    Writes at most ``len(values)`` eigenvalues and, row by row, unit eigenvectors.
    ``basis`` is room for at least two vectors; the more, the more steps.
    """
    d = start.size
    limit = min(limit, d, len(basis) - 1)
    alpha, beta, ritz = np.empty(limit), np.empty(limit), np.empty((3, limit))
    length = np.sqrt(dot(start, start))
    if not length > 0.0:
        return 0, below
    for i in range(d):
        basis[0, i] = start[i] / length
    for step in range(limit):
        apply(operator, basis[step], basis[step + 1])
        _orthogonalise(basis, step, alpha, beta)
        n = step + 1
        exhausted = n == d or beta[step] <= 0.01 * accuracy
        last = exhausted or n == limit
        if last or (n >= FIRST_CHECK and (n - FIRST_CHECK) % 3 == 0):
            in_sight, residual = _last_in_sight(alpha, beta, n, below, accuracy, values.size, ritz)
            if n >= PATIENCE and limit < d:
                last = last or in_sight == 0 or residual > HOPELESS * accuracy
            if last or (in_sight > 0 and residual <= accuracy):
                trusted = np.inf if exhausted else accuracy
                found, rest = _trusted(
                    alpha, beta, n, in_sight, below, accuracy, trusted, values, vectors, basis
                )
                if last or rest == below or found == values.size:
                    return found, rest
        for i in range(d):
            basis[step + 1, i] /= beta[step]
    return 0, below


@inner()
def _last_in_sight(
    alpha: FloatArray,
    beta: FloatArray,
    n: int,
    below: float,
    accuracy: float,
    most: int,
    ritz: FloatArray,
) -> tuple[int, float]:
    """How many values are under ``below``, and the residual of the last that is wanted."""
    in_sight = count_below(alpha, beta, n, below)
    if in_sight == 0:
        return 0, 0.0
    low, digits = below_all(alpha, beta, n), 0.01 * accuracy
    nth_lowest(alpha, beta, n, min(in_sight, most) - 1, low, below, digits, ritz[0], ritz[1:])
    return in_sight, beta[n - 1] * abs(ritz[0, n - 1])


@inner()
def _trusted(
    alpha: FloatArray,
    beta: FloatArray,
    n: int,
    in_sight: int,
    below: float,
    accuracy: float,
    trusted: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
) -> tuple[int, float]:
    """The pairs with residuals of at most ``trusted``, up to the first without; its value."""
    ritz = np.empty((3, n))
    low, digits = below_all(alpha, beta, n), 0.01 * accuracy
    for k in range(in_sight):
        value = nth_lowest(alpha, beta, n, k, low, below, digits, ritz[0], ritz[1:])
        if k == values.size or beta[n - 1] * abs(ritz[0, n - 1]) > trusted:
            return k, value
        _combine(ritz[0], basis, vectors[k])
        if not _is_apart(vectors, k):
            return k, value
        values[k] = value
    return in_sight, below
