"""The negative eigenpairs of a symmetric matrix, and only those.

A metric is positive semi-definite before a step, and a step subtracts a few outer
products v v', so few eigenvalues can have become negative, and each of their vectors q
solves ``(A - value) q = (sum of v v') q`` with A the part that stayed positive: q lies in
the Krylov space of the subtracted directions. Lanczos started there finds them, with the
matrix itself where that takes few products, else with the inverse of ``M + shift I``,
where the shift is little more than needed to make it positive.

A residual decides which pairs to trust; that none is missed is for the caller to confirm
by a Cholesky factorisation, with a full eigendecomposition as the last resort.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from calipers.arrays import FloatArray
from calipers.compiled import inner
from calipers.kernels.algebra import REORDER, dot
from calipers.kernels.cholesky import SMALL, factors_of
from calipers.kernels.lanczos import Inverse, Product, lowest_pairs

TINY = 1e-13  # eigenvalues above -TINY * norm count as zero
RESIDUAL = 1e-12  # a pair is trusted when ||M q - value q|| <= RESIDUAL * norm
MAX_STEPS = 90  # of Lanczos with the matrix, before giving up
FEW_STEPS = 9  # the same where a factorisation costs no more than a few products
INVERSE_STEPS = 40  # of Lanczos with an inverse


@njit(cache=True, nogil=True)
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
    below = -TINY * norm
    limit = MAX_STEPS if len(M) > SMALL or len(M) <= 2 * FEW_STEPS else FEW_STEPS
    found, rest = lowest_pairs(
        Product(M), start, below, RESIDUAL * norm, limit, values, vectors, basis
    )
    return found, rest if rest < below else 0.0


@njit(cache=True, nogil=True)
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
    below, accuracy = -1.0 / (shift - TINY * norm), 0.5 * RESIDUAL / shift
    found, rest = lowest_pairs(
        Inverse(room), start, below, accuracy, INVERSE_STEPS, values, vectors, basis
    )
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
        squared += (dot(M[i], q) - value * q[i]) ** 2
    return bool(squared <= accuracy * accuracy)


@njit(cache=True, nogil=True)
def all_negative(M: FloatArray, norm: float, values: FloatArray, vectors: FloatArray) -> int:
    """Negative eigenpairs from a full eigendecomposition: the last resort."""
    w, Q = np.linalg.eigh(M)
    found = 0
    while found < values.size and found < w.size and w[found] < -TINY * norm:
        values[found] = w[found]
        for i in range(len(M)):
            vectors[found, i] = Q[i, found]
        found += 1
    return found
