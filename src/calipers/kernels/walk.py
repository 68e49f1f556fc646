"""The one loop: every method of the paper is this walk with other parts.

M only changes at an update, so the margins of a span of iterations are computed together
and *carried* through the changes that happen inside the span: margins are linear in M and
a change has low rank. With the random numbers drawn beforehand, one per iteration, the
decisions are those of the loop that looks at one batch at a time.

The true iterate is ``scale * M``: the ball costs one multiplication, not d^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from calipers.arrays import FloatArray, IndexArray
from calipers.kernels.algebra import REORDER, add_outer_products, carry, dot, gather, margins
from calipers.kernels.parts import probability, slope, value
from calipers.kernels.spectrum import (
    FAILED,
    SMALL,
    all_negative,
    is_positive,
    lanczos_negative,
    one_negative,
)

NIL = 1e-16  # a step shorter than NIL * norm of M is lost in rounding: counted, not taken
SMALLEST_SCALE = 1e-4  # below it the scale is multiplied into M

TALLY = np.dtype(
    [
        ("scale", "f8"),  # the iterate is scale * M
        ("norm", "f8"),  # Frobenius norm of M
        ("floor", "f8"),  # lower bound of M's eigenvalues
        ("steady", "i8"),  # changes in a row that left M positive definite
        ("run", "i8"),  # iterations since M last changed
        ("loss", "f8"),  # sum over iterations of the mean loss of the scouts
        ("slope", "f8"),  # the same of their slopes
        ("largest", "f8"),  # largest norm of far far' - near near' met
        ("updates", "i8"),
        ("changes", "i8"),  # updates that were not lost in rounding
        ("rank", "i8"),  # of all changes
        ("projections", "i8"),  # changes that left the cone
        ("negatives", "i8"),  # eigenvalues cut off in all
    ]
)


class Iterate(NamedTuple):
    """Where the walk is: M, the sum of all iterates so far, and the tally."""

    M: FloatArray
    total: FloatArray
    tally: npt.NDArray[Any]


class Block(NamedTuple):
    """Upcoming iterations: the batches, the scouts looked at first, and their randomness."""

    X: FloatArray
    triplets: IndexArray  # (iterations * batch_size, 3)
    far: FloatArray  # (scouts, d); scouts is iterations or iterations * batch_size
    near: FloatArray
    margins: FloatArray  # (scouts,), in units of M
    norms: FloatArray  # (scouts,)
    uniforms: FloatArray  # (iterations,)
    accepted: npt.NDArray[np.bool_]  # (iterations,), written


class Step(NamedTuple):
    """How far an accepted batch moves the metric."""

    learning_rate: float
    longest: float  # largest factor 1 / probability
    share: float  # of a triplet in its batch: 1 / batch_size for the mean, 1 for the sum
    radius: float


class Room(NamedTuple):
    """Scratch memory, allocated once."""

    product: FloatArray  # (scouts, d)
    square: FloatArray  # (d, d)
    basis: FloatArray  # (steps of Lanczos + 1, d)
    far: FloatArray  # (batch_size, d)
    near: FloatArray
    slopes: FloatArray  # (batch_size,)
    vectors: FloatArray  # (3 * batch_size, d)
    signs: FloatArray
    values: FloatArray  # (batch_size,)


@njit(cache=True, nogil=True)
def walk(
    iterate: Iterate, block: Block, step: Step, loss: Any, policy: Any, room: Room, span: int
) -> None:
    """Walk through a block, ``span`` iterations at a time.

    ``span = 0``: the block's margins are already those of the present M.
    """
    n = block.uniforms.size
    width = block.margins.size // n
    if span == 0:
        _walk_span(iterate, block, step, loss, policy, room, 0, n)
        return
    for first in range(0, n, span):
        last = min(n, first + span)
        part = slice(first * width, last * width)
        margins(iterate.M, block.far[part], block.near[part], room.product, block.margins[part])
        _walk_span(iterate, block, step, loss, policy, room, first, last)


@njit(cache=True, nogil=True)
def _walk_span(
    iterate: Iterate,
    block: Block,
    step: Step,
    loss: Any,
    policy: Any,
    room: Room,
    first: int,
    last: int,
) -> None:
    """Walk through iterations whose margins are those of the present M."""
    tally = iterate.tally[0]
    width = block.margins.size // block.uniforms.size
    slopes = room.slopes[:width]
    for t in range(first, last):
        scouts = slice(t * width, (t + 1) * width)
        _look(loss, block.margins[scouts], tally, slopes)
        chance = probability(
            policy,
            slopes,
            block.norms[scouts],
            block.far[scouts],
            block.near[scouts],
            block.uniforms[t],
        )
        tally.run += 1
        if not block.uniforms[t] < chance:
            continue
        block.accepted[t] = True
        tally.updates += 1
        if width == room.slopes.size:
            rank = _directions(
                block.far[scouts], block.near[scouts], slopes, chance, step, tally, room
            )
        else:
            _look_at_batch(iterate, block, loss, room, t)
            rank = _directions(room.far, room.near, room.slopes, chance, step, tally, room)
        if rank == 0:
            continue
        rank = _move(iterate, room, rank)
        rest = slice((t + 1) * width, last * width)
        carry(
            block.far[rest],
            block.near[rest],
            room.vectors[:rank],
            room.signs[:rank],
            block.margins[rest],
        )
        _into_ball(iterate, step.radius, block.margins[rest])


@njit(cache=True, nogil=True)
def _look(loss: Any, margins: FloatArray, tally: Any, slopes: FloatArray) -> None:
    """Slopes of the scouts at their margins; their loss is added to the tally."""
    mean_loss, mean_slope = 0.0, 0.0
    for s in range(margins.size):
        margin = tally.scale * margins[s]
        slopes[s] = slope(loss, margin)
        mean_slope += slopes[s]
        mean_loss += value(loss, margin)
    tally.loss += mean_loss / margins.size
    tally.slope += mean_slope / margins.size


@njit(cache=True, nogil=True)
def _look_at_batch(iterate: Iterate, block: Block, loss: Any, room: Room, t: int) -> None:
    """Slopes of the whole batch, where only one of it had been looked at."""
    b = room.slopes.size
    gather(block.X, block.triplets[t * b : (t + 1) * b], room.far, room.near)
    margins(iterate.M, room.far, room.near, room.product, room.slopes)
    scale = iterate.tally[0].scale
    for s in range(b):
        room.slopes[s] = slope(loss, scale * room.slopes[s])


@njit(cache=True, nogil=True, fastmath=REORDER)
def _directions(
    far: FloatArray,
    near: FloatArray,
    slopes: FloatArray,
    chance: float,
    step: Step,
    tally: Any,
    room: Room,
) -> int:
    """Write the step as ``sum(sign * v v')``, in units of M; returns its rank.

    Added directions come first, subtracted ones after them. The rank is 0 where the
    step is lost in rounding, and triplets whose own part is lost are left out.
    """
    rank = 0
    for sign, rows in ((1.0, far), (-1.0, near)):
        for s in range(slopes.size):
            pull = slopes[s] / chance if chance * step.longest > 1.0 else slopes[s] * step.longest
            weight = step.learning_rate * step.share * pull / tally.scale
            length = max(dot(far[s], far[s]), dot(near[s], near[s]))
            if weight * length <= NIL * tally.norm:
                continue
            root = np.sqrt(weight)
            for i in range(rows.shape[1]):
                room.vectors[rank, i] = root * rows[s, i]
            room.signs[rank] = sign
            rank += 1
    return rank


@njit(cache=True, nogil=True)
def _move(iterate: Iterate, room: Room, rank: int) -> int:
    """Change M by the directions and bring it back onto the cone.

    Returns the rank of the whole change: the eigenvalues cut off are directions too.
    """
    M, total, tally = iterate.M, iterate.total, iterate.tally[0]
    weight = tally.run * tally.scale
    tally.run = 0
    tally.changes += 1
    tally.norm = np.sqrt(
        add_outer_products(M, room.vectors[:rank], room.signs[:rank], total, weight)
    )
    found = _negative(M, tally, room, rank)
    if found > 0:
        tally.projections += 1
        tally.negatives += found
        rank += found
    tally.rank += rank
    return rank


@njit(cache=True, nogil=True)
def _negative(M: FloatArray, tally: Any, room: Room, rank: int) -> int:
    """Cut off M's negative eigenvalues; their directions follow the first ``rank``."""
    subtracted, start, removed = _subtracted(room, rank)
    tally.floor -= removed
    if tally.floor >= 0.0:
        return 0
    small = len(M) <= SMALL
    if small and _stays_positive(M, tally, room, removed):
        return 0
    tally.floor, tally.steady = 0.0, 0
    values, vectors = room.values[:subtracted], room.vectors[rank : rank + subtracted]
    signs = room.signs[rank : rank + subtracted]
    found = FAILED
    if small and subtracted == 1:
        found = one_negative(M, start, tally.norm, values, vectors, room.square)
    if found == FAILED:
        found = lanczos_negative(M, start, tally.norm, values, vectors, room.basis)
    if found == FAILED:
        if not small and is_positive(M, 1e-14 * tally.norm, room.square):
            return 0
        found = all_negative(M, tally.norm, values, vectors)
    _cut_off(M, tally, values[:found], vectors[:found], signs[:found])
    if found < subtracted and not is_positive(M, 1e-12 * tally.norm, room.square):
        more = all_negative(M, tally.norm, values[found:], vectors[found:])
        new = slice(found, found + more)
        _cut_off(M, tally, values[new], vectors[new], signs[new])
        found += more
    return found


@njit(cache=True, nogil=True, fastmath=REORDER)
def _subtracted(room: Room, rank: int) -> tuple[int, FloatArray, float]:
    """How many directions are subtracted, their sum, and the most they take from M."""
    start = np.zeros(room.vectors.shape[1])
    count, removed = 0, 0.0
    for k in range(rank):
        if room.signs[k] < 0.0:
            count += 1
            removed += dot(room.vectors[k], room.vectors[k])
            for i in range(start.size):
                start[i] += room.vectors[k, i]
    return count, start, removed


@njit(cache=True, nogil=True)
def _stays_positive(M: FloatArray, tally: Any, room: Room, removed: float) -> bool:
    """Whether M is positive definite still, by a Cholesky factorisation.

    After a few successes ``M - shift * I`` is tried, which, if it is positive too, is a
    floor that spares the next few steps the factorisation.
    """
    if tally.steady >= 2:
        shift = 8.0 * removed
        if is_positive(M, -shift, room.square):
            tally.floor = shift
            tally.steady += 1
            return True
        tally.steady = -8
    if is_positive(M, 0.0, room.square):
        tally.floor = 0.0
        tally.steady += 1
        return True
    return False


@njit(cache=True, nogil=True, fastmath=REORDER)
def _cut_off(
    M: FloatArray, tally: Any, values: FloatArray, vectors: FloatArray, signs: FloatArray
) -> None:
    """Add ``|value| q q'`` for every negative pair; ``sqrt(|value|) q`` replaces q."""
    if values.size == 0:
        return
    for k in range(values.size):
        root = np.sqrt(-values[k])
        for i in range(len(M)):
            vectors[k, i] *= root
        signs[k] = 1.0
    tally.norm = np.sqrt(add_outer_products(M, vectors, signs, M, 0.0))


@njit(cache=True, nogil=True)
def _into_ball(iterate: Iterate, radius: float, margins: FloatArray) -> None:
    """Scale the iterate into the ball; now and then multiply the scale into M."""
    tally = iterate.tally[0]
    if tally.scale * tally.norm > radius:
        tally.scale = radius / tally.norm
    if tally.scale < SMALLEST_SCALE:
        iterate.M[:] *= tally.scale
        margins *= tally.scale
        tally.norm *= tally.scale
        tally.floor *= tally.scale
        tally.scale = 1.0
