"""Steps of pairs, a block of them at a time.

Within a block every difference z is multiplied with the block's first A only, by one
matrix product. After the updates k = 1, 2, ... of the block,

    A z_t = (A_first z_t) - sum_k c_k (b_k' z_t) b_k,    b_k = A_k z_k,

so an update costs a few times d for each pair of the block, not d^2, and A itself is
changed once per block, by one matrix product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.compiled import forget_stale, inner, kernel
from calipers.kernels.algebra import BY_HAND, REORDER, dot, multiply
from calipers.kernels.parts import shrinkage


class Pairs(NamedTuple):
    """Pairs in order, and what is found about them."""

    differences: FloatArray  # (n, d)
    signs: IndexArray  # (n,)
    squared: FloatArray  # (n,), written: distance when it was the pair's turn
    moved: npt.NDArray[np.bool_]  # (n,), written: whether the pair changed A


class Room(NamedTuple):
    """Scratch memory for a block of m pairs."""

    product: FloatArray  # (m, d): A_first z
    directions: FloatArray  # (m, d): b
    shares: FloatArray  # (m, m): b_k' z_t
    coefficients: FloatArray  # (m,): c


@kernel()
def move_by_pairs(A: FloatArray, pairs: Pairs, step: Any, room: Room) -> None:
    """Let every pair move A in turn; A stays symmetric to the last bit."""
    n, size = len(pairs.signs), len(room.product)
    for first in range(0, n, size):
        count = _move_by_block(A, pairs, step, room, first, min(n, first + size))
        if count > 0:
            subtract_outer_products(A, room.directions[:count], room.coefficients[:count])


@inner(fastmath=REORDER)
def _move_by_block(
    A: FloatArray, pairs: Pairs, step: Any, room: Room, first: int, last: int
) -> int:
    """Find the block's directions and coefficients; returns how many there are."""
    Z, squared = pairs.differences[first:last], pairs.squared[first:last]
    d, count = len(A), 0
    multiply(Z, A, room.product[: last - first])
    mean = np.trace(A) / d
    for t in range(last - first):
        squared[t] = dot(Z[t], room.product[t])
    for t in range(last - first):
        usual = mean * dot(Z[t], Z[t])
        due, c = shrinkage(step, first + t, pairs.signs[first + t], squared[t], usual)
        if not due:
            continue
        pairs.moved[first + t] = True
        b = room.directions[count]
        for i in range(d):  # an assignment of arrays takes numba seconds to compile
            b[i] = room.product[t, i]
        for k in range(count):
            share = room.coefficients[k] * room.shares[k, t]
            for i in range(d):
                b[i] -= share * room.directions[k, i]
        for s in range(t + 1, last - first):
            share = dot(b, Z[s])
            room.shares[count, s] = share
            squared[s] -= c * share * share
        room.coefficients[count] = c
        count += 1
    return count


@kernel(fastmath=REORDER, makes_arrays=True)
def subtract_outer_products(
    A: FloatArray, directions: FloatArray, coefficients: FloatArray
) -> None:
    """``A -= sum(c b b')``, the same bits on either side of the diagonal."""
    count, d = directions.shape
    if count * d * d < BY_HAND:
        for k in range(count):
            for i in range(d):
                for j in range(i + 1):
                    A[i, j] -= coefficients[k] * (directions[k, i] * directions[k, j])
    else:
        weighted = directions * coefficients.reshape(count, 1)
        change = np.dot(directions.T, weighted)
        for i in range(d):
            for j in range(i + 1):
                A[i, j] -= 0.5 * (change[i, j] + change[j, i])
    for i in range(d):
        for j in range(i):
            A[j, i] = A[i, j]


forget_stale(move_by_pairs)
