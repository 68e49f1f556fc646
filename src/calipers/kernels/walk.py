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
from calipers.compiled import forget_stale
from calipers.kernels.algebra import REORDER, add_outer_products, carry, dot, gather, margins
from calipers.kernels.cholesky import SMALL, is_positive
from calipers.kernels.parts import probability, slope, value
from calipers.kernels.spectrum import all_negative, seen_directly, seen_inverted

NIL = 1e-16  # a step shorter than NIL * norm of M is lost in rounding: counted, not taken
SMALLEST_SCALE = 1e-4  # below it the scale is multiplied into M
UNSEEN = 1e-5  # share of the norm that a negative eigenvalue not seen by Lanczos may have
ATTEMPTS = 6  # to find such, before a full eigendecomposition

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
    """Walk through a block, computing margins for ``span`` iterations at a time.

    ``span = 0``: the block's margins are already those of the present M.
    """
    tally = iterate.tally[0]
    n = block.uniforms.size
    width = block.margins.size // n
    slopes = room.slopes[:width]
    last = n
    for t in range(n):
        if span > 0 and t % span == 0:
            last = min(n, t + span)
            ahead = slice(t * width, last * width)
            far, near = block.far[ahead], block.near[ahead]
            margins(iterate.M, far, near, room.product, block.margins[ahead])
        scouts = slice(t * width, (t + 1) * width)
        far, near, uniform = block.far[scouts], block.near[scouts], block.uniforms[t]
        _look(loss, block.margins[scouts], tally, slopes)
        chance = probability(policy, slopes, block.norms[scouts], far, near, uniform)
        tally.run += 1
        if not uniform < chance:
            continue
        block.accepted[t] = True
        tally.updates += 1
        if width < room.slopes.size:
            _look_at_batch(iterate, block, loss, room, t)
            far, near = room.far, room.near
        rank = _directions(far, near, chance, step, tally, room)
        if rank == 0:
            continue
        rank = _move(iterate, room, rank)
        rest = slice((t + 1) * width, last * width)
        vectors, signs = room.vectors[:rank], room.signs[:rank]
        carry(block.far[rest], block.near[rest], vectors, signs, block.margins[rest])
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
    far: FloatArray, near: FloatArray, chance: float, step: Step, tally: Any, room: Room
) -> int:
    """Write the step as ``sum(sign * v v')``, in units of M; returns its rank.

    Added directions come first, subtracted ones after them. The rank is 0 where the
    step is lost in rounding, and triplets whose own part is lost are left out.
    """
    rank, slopes = 0, room.slopes
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
    M, tally = iterate.M, iterate.tally[0]
    weight = tally.run * tally.scale
    tally.run = 0
    tally.changes += 1
    squared = add_outer_products(M, room.vectors[:rank], room.signs[:rank], iterate.total, weight)
    tally.norm = np.sqrt(squared)
    subtracted, start, removed = _subtracted(room, rank)
    tally.floor -= removed
    found = 0
    if tally.floor < 0.0 and not _stays_positive(M, tally, room, removed):
        new = slice(rank, rank + subtracted)
        vectors, signs = room.vectors[new], room.signs[new]
        found = _cut_off(M, start, tally, room.values[:subtracted], vectors, signs, room)
        tally.floor, tally.steady = 0.0, 1 if found == 0 else 0
        tally.projections += found > 0
        tally.negatives += found
    tally.rank += rank + found
    return rank + found


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
    floor that spares the next few steps the factorisation. Of a large matrix, whose steps
    mostly leave the cone, it is asked only after a step that did not.
    """
    if len(M) > SMALL and tally.steady <= 0:
        return False
    if tally.steady >= 2:
        shift = 8.0 * removed
        if is_positive(M, -shift, room.square):
            tally.floor = shift
            tally.steady += 1
            return True
        tally.steady = -8 if len(M) <= SMALL else 1
    if is_positive(M, 0.0, room.square):
        tally.floor = 0.0
        tally.steady += 1
        return True
    return False


@njit(cache=True, nogil=True)
def _cut_off(
    M: FloatArray,
    start: FloatArray,
    tally: Any,
    values: FloatArray,
    vectors: FloatArray,
    signs: FloatArray,
    room: Room,
) -> int:
    """Cut off the negative eigenvalues of M, of which there are at most ``len(values)``.

    Adds ``|value| q q'`` for every negative pair; ``vectors`` holds ``sqrt(|value|) q``.
    Fewer than could be are believed only if a Cholesky factorisation agrees; else there
    are more, so small that the Lanczos process has not met them.
    """
    found, rest = seen_directly(M, start, tally.norm, values, vectors, room.basis)
    _lift(M, tally, values[:found], vectors[:found], signs[:found])
    attempts = ATTEMPTS
    while found < values.size and attempts >= 0:
        if rest == 0.0:
            if is_positive(M, 1e-12 * tally.norm, room.square):
                break
            rest = -UNSEEN * tally.norm
        v, q = values[found:], vectors[found:]
        if attempts > 0:
            more, rest = seen_inverted(M, start, tally.norm, rest, v, q, room.basis, room.square)
            attempts = attempts - 1 if more > 0 else 0
        else:
            more = all_negative(M, tally.norm, v, q)
            attempts = -1
        _lift(M, tally, v[:more], q[:more], signs[found : found + more])
        found += more
    return found


@njit(cache=True, nogil=True, fastmath=REORDER)
def _lift(
    M: FloatArray, tally: Any, values: FloatArray, vectors: FloatArray, signs: FloatArray
) -> None:
    """Add ``|value| q q'`` for every pair; ``sqrt(|value|) q`` replaces q."""
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


forget_stale(walk)
