"""A change of M that ends within the cone: the paper's projection, at every update or some."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.compiled import inner
from calipers.kernels.algebra import REORDER, add_outer_products, dot
from calipers.kernels.cholesky import SMALL, is_positive
from calipers.kernels.spectrum import (
    NIL,
    all_negative,
    seen_directly,
    seen_inverted,
    seen_reflected,
    seen_unshifted,
)
from calipers.kernels.state import Iterate, Room

UNSEEN = 1e-5  # share of the norm that a negative eigenvalue not seen by Lanczos may have
ATTEMPTS = 6  # to find such, before reflections
REFLECTED = 20  # size up to which nothing is sooner done than reflections
FEW = 4.0  # negative eigenvalues of a change, in the mean so far, that Lanczos finds sooner


@inner()
def project_at_once(iterate: Iterate, room: Room, rank: int) -> int:
    """Change M by the directions and bring it back onto the cone.

    Returns the rank of the whole change: the eigenvalues cut off are directions too.
    """
    M, tally = iterate.M, iterate.tally[0]
    change(iterate, room, rank)
    subtracted, removed = subtracted_by(room, rank)
    tally.floor -= removed
    found = 0
    if tally.floor < 0.0 and not stays_positive(M, tally, room, removed):
        new = slice(rank, rank + subtracted)
        vectors, signs = room.vectors[new], room.signs[new]
        values = room.values[:subtracted]
        found = _cut_off(M, room.start, removed, tally, values, vectors, signs, room)
        tally.floor, tally.steady = 0.0, 1 if found == 0 else 0
        tally.projections += found > 0
        tally.negatives += found
    tally.rank += rank + found
    return rank + found


@inner()
def project_now_and_then(period: int, iterate: Iterate, room: Room, rank: int) -> int:
    """The same, but M is brought back after every so many changes only."""
    M, tally, found = iterate.M, iterate.tally[0], 0
    change(iterate, room, rank)
    if tally.changes % period == 0 and not is_positive(M, NIL * tally.norm, room.square):
        vectors, signs = room.vectors[rank:], room.signs[rank:]
        found = _cut_off_all(M, tally, room.values, vectors, signs, room)
        tally.projections += found > 0
        tally.negatives += found
    tally.rank += rank + found
    return rank + found


@inner()
def change(iterate: Iterate, room: Room, rank: int) -> None:
    """Add the directions to M, after what M has stood for was added to the sum of iterates."""
    tally = iterate.tally[0]
    vectors, signs = room.vectors[:rank], room.signs[:rank]
    squared = add_outer_products(iterate.M, vectors, signs, iterate.total, tally.mass)
    tally.norm = np.sqrt(squared)
    tally.mass = 0.0
    tally.changes += 1


@inner(fastmath=REORDER)
def subtracted_by(room: Room, rank: int) -> tuple[int, float]:
    """How many directions are subtracted, and the most they take from M; their sum is kept."""
    start = room.start
    for i in range(start.size):
        start[i] = 0.0
    count, removed = 0, 0.0
    for k in range(rank):
        if room.signs[k] < 0.0:
            count += 1
            removed += dot(room.vectors[k], room.vectors[k])
            for i in range(start.size):
                start[i] += room.vectors[k, i]
    return count, removed


@inner()
def stays_positive(M: FloatArray, tally: Any, room: Room, removed: float) -> bool:
    """Whether M is positive definite still, by a Cholesky factorisation.

    After a few successes ``M - shift * I`` is tried, which, if it is positive too, is a
    floor that spares the next few steps the factorisation. After a step that left the cone
    it is not asked: the next one mostly does so too.
    """
    if tally.steady == 0:
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


@inner()
def _cut_off(
    M: FloatArray,
    start: FloatArray,
    removed: float,
    tally: Any,
    values: FloatArray,
    vectors: FloatArray,
    signs: FloatArray,
    room: Room,
) -> int:
    """Cut off the negative eigenvalues of M, of which there are at most ``len(values)``.

    Adds ``|value| q q'`` for every negative pair; ``vectors`` holds ``sqrt(|value|) q``.
    """
    most, found = values.size, 0
    if len(M) > REFLECTED and tally.negatives <= FEW * tally.projections:
        most, found = _cut_off_seen(M, start, removed, tally, values, vectors, signs, room)
    if found < most:
        found += _cut_off_all(
            M, tally, values[found:most], vectors[found:most], signs[found:most], room
        )
    return found


@inner()
def _cut_off_all(
    M: FloatArray,
    tally: Any,
    values: FloatArray,
    vectors: FloatArray,
    signs: FloatArray,
    room: Room,
) -> int:
    """The same by reflections, again where two values nearly meet."""
    most, found, complete = values.size, 0, False
    while found < most and not complete:
        v, q = values[found:], vectors[found:]
        more, complete = seen_reflected(M, tally.norm, v, q, room.basis, room.square)
        if more == 0 and not complete:
            more, complete = all_negative(M, tally.norm, v, q), True
        _lift(M, tally, v[:more], q[:more], signs[found : found + more])
        found += more
    return found


@inner()
def _cut_off_seen(
    M: FloatArray,
    start: FloatArray,
    removed: float,
    tally: Any,
    values: FloatArray,
    vectors: FloatArray,
    signs: FloatArray,
    room: Room,
) -> tuple[int, int]:
    """The same for what the Lanczos process sees: how many there are at most, and were found.

    Fewer than could be are believed only if a factorisation agrees; else there are more, so
    small that the Lanczos process has not met them.
    """
    most, basis, square = values.size, room.basis, room.square
    if len(M) <= SMALL:
        most, found, rest = seen_unshifted(
            M, start, tally.norm, removed, values, vectors, basis, square
        )
    else:
        found, rest = seen_directly(M, start, tally.norm, values, vectors, basis)
    _lift(M, tally, values[:found], vectors[:found], signs[:found])
    attempts = ATTEMPTS
    while found < most and attempts > 0:
        if rest == 0.0:
            if is_positive(M, NIL * tally.norm, square):
                return found, found
            rest = -UNSEEN * tally.norm
        v, q = values[found:most], vectors[found:most]
        more, rest = seen_inverted(M, start, tally.norm, rest, v, q, basis, square)
        attempts = attempts - 1 if more > 0 else 0
        _lift(M, tally, v[:more], q[:more], signs[found : found + more])
        found += more
    return most, found


@inner(fastmath=REORDER)
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
