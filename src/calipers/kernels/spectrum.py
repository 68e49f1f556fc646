"""The negative eigenpairs of a symmetric matrix, and only those.

A metric is positive semi-definite before a step, and a step subtracts a few outer
products v v', so few eigenvalues can have become negative, and each of their vectors q
solves ``(A - value) q = (sum of v v') q`` with A the part that stayed positive: q lies in
the Krylov space of the subtracted directions. Lanczos started there finds them: of a large
matrix with the matrix itself where that takes few products, else with the inverse of
``M + shift I``, where the shift is little more than needed to make it positive. Of a small
one the first try is its own inverse, whose factorisation also tells how many there are.
A residual decides which pairs to trust; that none is missed is for the caller to confirm
by a factorisation.

Where the matrix is tiny, many are negative, or Lanczos does not come to an end, reflections
make M tridiagonal, and nothing can be missed.
"""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray
from calipers.compiled import inner, kernel
from calipers.kernels.algebra import REORDER, dot
from calipers.kernels.cholesky import count_negative, factors_of
from calipers.kernels.lanczos import Goal, Inverse, Product, is_apart, lowest_pairs
from calipers.kernels.reflections import reflect_back, tridiagonalise
from calipers.kernels.tridiagonal import below_all, count_below, nth_lowest

TINY = 1e-13  # eigenvalues above -TINY * norm count as zero
NIL = 1e-12  # the same where a factorisation tells how many are negative
RESIDUAL = 1e-12  # a pair is trusted when ||M q - value q|| <= RESIDUAL * norm
MAX_STEPS = 90  # of Lanczos with the matrix, before giving up
PATIENCE = 24  # steps after which it must look within reach
INVERSE_STEPS = 60  # the same with an inverse
INVERSE_PATIENCE = 40
BASIS_ROWS = 6  # of room, at least, that reflections need


@kernel()
def seen_directly(
    M: FloatArray,
    start: FloatArray,
    norm: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
) -> tuple[int, float]:
    """Negative pairs by products with M: how many, and the lowest value seen but not had.

    ``start`` is the sum of the subtracted directions. Where nothing is left to have, the
    value is 0, which does not mean that there is nothing else.
    """
    below, goal = -TINY * norm, Goal(RESIDUAL * norm, 0.0, MAX_STEPS, PATIENCE)
    found, rest = lowest_pairs(Product(M), start, below, goal, values, vectors, basis)
    return found, rest if rest < below else 0.0


@kernel()
def seen_unshifted(
    M: FloatArray,
    start: FloatArray,
    norm: float,
    removed: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
    room: FloatArray,
) -> tuple[int, int, float]:
    """The same by products with ``M^-1``, whose negative eigenvalues are those of M.

    Returns how many there are (at most, where rounding hides it), how many of them were found,
    and the lowest value seen but not had. No eigenvalue is below ``-removed``.
    """
    shift = NIL * norm
    count = count_negative(M, shift, norm, room)
    if not 0 < count <= values.size:
        return 0 if count == 0 else values.size, 0, 0.0
    below = -0.1 / norm
    goal = Goal(0.5 * RESIDUAL / removed, 0.5 * RESIDUAL, INVERSE_STEPS, INVERSE_PATIENCE)
    found, rest = lowest_pairs(
        Inverse(room, 1.0), start, below, goal, values[:count], vectors, basis
    )
    for k in range(found):
        values[k] = 1.0 / values[k] - shift
        if not _is_pair(M, values[k], vectors[k], 10.0 * RESIDUAL * norm):
            return count, k, values[k]
    return count, found, 1.0 / rest - shift if rest < below else 0.0


@kernel()
def seen_inverted(
    M: FloatArray,
    start: FloatArray,
    norm: float,
    about: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
    room: FloatArray,
) -> tuple[int, float]:
    """The same by products with ``-(M + shift I)^-1``; ``about`` is a guess of M's lowest value.

    The eigenvalues become ``-1 / (value + shift)``: those near ``-shift``, crowded in M,
    are now by far the largest.
    """
    shift = max(-1.1 * about, 10.0 * TINY * norm)
    while not factors_of(M, shift, room):
        shift *= 4.0
        if not shift < 10.0 * norm:
            return 0, 0.0
    below = -1.0 / (shift - TINY * norm)
    goal = Goal(0.5 * RESIDUAL / shift, 0.5 * RESIDUAL, INVERSE_STEPS, INVERSE_PATIENCE)
    found, rest = lowest_pairs(Inverse(room, -1.0), start, below, goal, values, vectors, basis)
    for k in range(found):
        values[k] = -1.0 / values[k] - shift
        if not _is_pair(M, values[k], vectors[k], 10.0 * RESIDUAL * norm):
            return k, values[k]
    return found, -1.0 / rest - shift if rest < below else 0.0


@inner(fastmath=REORDER)
def _is_pair(M: FloatArray, value: float, q: FloatArray, accuracy: float) -> bool:
    """Whether ``||M q - value q||`` is small enough."""
    squared = 0.0
    for i in range(len(M)):
        squared += ((dot(M[i], q) - value * q[i]) / accuracy) ** 2
    return bool(squared <= 1.0)


@kernel()
def seen_reflected(
    M: FloatArray,
    norm: float,
    values: FloatArray,
    vectors: FloatArray,
    basis: FloatArray,
    room: FloatArray,
) -> tuple[int, bool]:
    """The same of M made tridiagonal: how many, and whether these are all.

    They are not where two values nearly meet, so that their vectors are not apart, or where
    M is not finite. Squares of the entries of M may vanish, those of M / norm do not.
    """
    d, alpha, beta, weights, rest = len(M), basis[0], basis[1], basis[2], basis[3:]
    if not 0.0 < norm < np.inf:
        return 0, norm == 0.0
    for i in range(d):
        for j in range(d):
            room[i, j] = M[i, j] / norm
    tridiagonalise(room, alpha, beta, weights, rest)
    below, digits = -TINY, 0.01 * RESIDUAL
    low = below_all(alpha, beta, d)
    count = min(values.size, count_below(alpha, beta, d, below))
    for k in range(count):
        value = nth_lowest(alpha, beta, d, k, low, below, digits, vectors[k], rest)
        values[k] = norm * value
        reflect_back(room, weights, vectors[k])
        is_pair = _is_pair(M, values[k], vectors[k], RESIDUAL * norm)
        if not (is_pair and is_apart(vectors, k)):
            return k, False
    return count, True


@kernel(makes_arrays=True)
def all_negative(M: FloatArray, norm: float, values: FloatArray, vectors: FloatArray) -> int:
    """The same from a full eigendecomposition: the last resort."""
    w, Q = np.linalg.eigh(M)
    found = 0
    while found < values.size and found < w.size and w[found] < -TINY * norm:
        values[found] = w[found]
        for i in range(len(M)):
            vectors[found, i] = Q[i, found]
        found += 1
    return found
