"""The Lanczos process: the lowest eigenpairs of a symmetric operator, seen from a vector.

The operator is a matrix (`Product`) or its inverse, or minus that (`Inverse`), whose lowest
eigenpairs are far apart where those of the matrix itself are crowded; ``apply`` is resolved
from its type when compiling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from calipers.arrays import FloatArray
from calipers.compiled import inner, kernel
from calipers.kernels.algebra import (
    REORDER,
    add,
    dot,
    dot_four,
    four,
    subtract_four,
    write_half_product,
    write_product,
)
from calipers.kernels.cholesky import solve
from calipers.kernels.tridiagonal import below_all, count_below, nth_lowest

FIRST_CHECK = 6  # steps before the first look at the residuals
APART = 1e-10  # largest inner product of two unit eigenvectors that counts as none
HOPELESS = 1e8  # a residual this many times too large by then will take too long
HALF_IS_FASTER = 400  # size from which memory, not arithmetic, limits a product


class Goal(NamedTuple):
    """The largest residual that is trusted (the larger of the two), and how long to go on."""

    absolute: float
    relative: float  # as a share of the eigenvalue
    steps: int  # at most
    patience: int  # steps after which what is worth finding has shown itself


class Product(NamedTuple):
    """The matrix itself."""

    M: FloatArray


class Inverse(NamedTuple):
    """The inverse of the matrix that `calipers.kernels.cholesky.factorise` took, or minus it."""

    factors: FloatArray
    sign: float


def apply(operator: Any, x: FloatArray, out: FloatArray) -> None:
    """``out = operator x`` (compiled code only)."""
    raise TypeError("compiled code only")


@overload(apply, strict=False)
def _apply(operator: Any, x: Any, out: Any) -> Any:
    kind = getattr(operator, "instance_class", None)
    if isinstance(operator, types.BaseNamedTuple) and kind is Product:
        return lambda operator, x, out: _times(operator.M, x, out)
    if isinstance(operator, types.BaseNamedTuple) and kind is Inverse:

        def inverse(operator: Any, x: Any, out: Any) -> Any:
            for i in range(x.size):
                out[i] = operator.sign * x[i]
            solve(operator.factors, out)

        return inverse
    return None


@inner()
def _times(M: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """``out = M @ x`` for a symmetric M; a large one is read by its upper half only."""
    if len(M) < HALF_IS_FASTER:
        write_product(M, x, out)
    else:
        write_half_product(M, 0, x, out)


@inner(fastmath=REORDER)
def _remove_components(basis: FloatArray, n: int, x: FloatArray) -> float:
    """Make x orthogonal to the first n rows of the basis; returns its length.

    A second pass follows where the first took away most of x, for then rounding has
    put something back.
    """
    before, whole = dot(x, x), n - n % 4
    for _ in range(3):
        for k in range(0, whole, 4):
            rows = four(basis, k, 0)
            subtract_four(x, dot_four(rows, x), rows)
        for k in range(whole, n):
            add(x, -dot(basis[k], x), basis[k])
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
def is_apart(vectors: FloatArray, k: int) -> bool:
    """Whether vector k is orthogonal to those before it: it is not where values nearly meet."""
    largest = 0.0
    for m in range(k):
        largest = max(largest, abs(dot(vectors[m], vectors[k])))
    return largest <= APART


@kernel(fastmath=REORDER, makes_arrays=True)
def lowest_pairs(
    operator: Any,
    start: FloatArray,
    below: float,
    goal: Goal,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
) -> tuple[int, float]:
    """Eigenpairs with values under ``below``, lowest first: how many, and what is left.

    A pair is trusted when its residual is no larger than that allows. The process ends when all
    in sight are trusted, after so many steps, or when that looks out of reach; then the
    lowest value in sight that is not trusted is returned, else ``below``.

    Writes at most ``len(values)`` eigenvalues and, row by row, unit eigenvectors.
    ``basis`` is room for at least two vectors; the more, the more steps.
    """
    d = start.size
    limit = min(goal.steps, d, len(basis) - 1)
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
        exhausted = n == d or beta[step] <= 0.01 * goal.absolute
        last = exhausted or n == limit
        if last or (n >= FIRST_CHECK and (n - FIRST_CHECK) % 3 == 0):
            in_sight, excess = _last_in_sight(alpha, beta, n, below, goal, values.size, ritz)
            if n >= goal.patience and limit < d:
                last = last or in_sight == 0 or excess > HOPELESS
            if last or (in_sight > 0 and excess <= 1.0):
                most = np.inf if exhausted else 1.0
                found, rest = _trusted(
                    alpha, beta, n, in_sight, below, goal, most, values, vectors, basis, ritz
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
    goal: Goal,
    most: int,
    ritz: FloatArray,
) -> tuple[int, float]:
    """How many values are under ``below``, and the excess of the last that is wanted."""
    in_sight = count_below(alpha, beta, n, below)
    if in_sight == 0:
        return 0, 0.0
    low, digits = below_all(alpha, beta, n), 0.01 * goal.absolute
    nth = min(in_sight, most) - 1
    value = nth_lowest(alpha, beta, n, nth, low, below, digits, ritz[0], ritz[1:])
    return in_sight, _excess(beta[n - 1] * ritz[0, n - 1], value, goal)


@inner()
def _excess(residual: float, value: float, goal: Goal) -> float:
    """The residual of a pair as a multiple of the largest that is trusted."""
    return abs(residual) / max(goal.absolute, goal.relative * abs(value))


@inner()
def _trusted(
    alpha: FloatArray,
    beta: FloatArray,
    n: int,
    in_sight: int,
    below: float,
    goal: Goal,
    most: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
    ritz: FloatArray,
) -> tuple[int, float]:
    """The pairs with an excess of at most ``most``, up to the first without; its value."""
    low, digits = below_all(alpha, beta, n), 0.01 * goal.absolute
    for k in range(in_sight):
        value = nth_lowest(alpha, beta, n, k, low, below, digits, ritz[0], ritz[1:])
        excess = _excess(beta[n - 1] * ritz[0, n - 1], value, goal)
        if k == values.size or excess > most:
            return k, value
        _combine(ritz[0, :n], basis, vectors[k])
        if not is_apart(vectors, k):
            return k, value
        values[k] = value
    return in_sight, below
