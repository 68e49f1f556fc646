"""How an update moves M under each rule of `calipers.projections`, chosen by type.

``move(rule, iterate, step, room, rank)`` takes the step that ``room.vectors`` and
``room.signs`` hold, in units of M, and leaves there the whole change of M; it returns how
many directions that has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from calipers.arrays import FloatArray
from calipers.compiled import inner
from calipers.kernels.algebra import REORDER, add_outer_products, dot
from calipers.kernels.cholesky import is_positive
from calipers.kernels.cone import (
    change,
    project_at_once,
    project_now_and_then,
    stays_positive,
    subtracted_by,
)
from calipers.kernels.lanczos import Goal, Product, lowest_pairs
from calipers.kernels.parts import rate
from calipers.kernels.spectrum import MAX_STEPS, PATIENCE, RESIDUAL, TINY
from calipers.kernels.state import Iterate, Room, Step
from calipers.projections import AtEnd, EveryUpdate, FrankWolfe, Periodic


def move(rule: Any, iterate: Iterate, step: Step, room: Room, rank: int) -> int:
    """Change M by the directions (compiled code only)."""
    raise TypeError("compiled code only")


def stands_still(rule: Any) -> bool:
    """Whether M stays as it is where the gradient is nil (compiled code only)."""
    raise TypeError("compiled code only")


def _is(rule: Any, kind: type) -> bool:
    return isinstance(rule, types.BaseNamedTuple) and getattr(rule, "instance_class", None) is kind


@overload(move, strict=False)
def _move(rule: Any, iterate: Any, step: Any, room: Any, rank: Any) -> Any:
    if _is(rule, EveryUpdate):
        return lambda rule, iterate, step, room, rank: project_at_once(iterate, room, rank)
    if _is(rule, Periodic):
        return lambda rule, iterate, step, room, rank: project_now_and_then(
            rule.period, iterate, room, rank
        )
    if _is(rule, AtEnd):
        return lambda rule, iterate, step, room, rank: _penalise(rule, iterate, step, room, rank)
    if _is(rule, FrankWolfe):
        return lambda rule, iterate, step, room, rank: _mix(rule, iterate, step, room, rank)
    return None


@overload(stands_still, strict=False)
def _stands_still(rule: Any) -> Any:
    if _is(rule, EveryUpdate) or _is(rule, Periodic):
        return lambda rule: True
    return lambda rule: False


@inner(makes_arrays=True)
def _penalise(rule: Any, iterate: Iterate, step: Step, room: Room, rank: int) -> int:
    """`AtEnd`: beside the gradient's, a step up along the lowest eigenvector of M."""
    M, tally, lowest = iterate.M, iterate.tally[0], iterate.memory[0]
    length = rate(step.schedule, tally.seen)
    if tally.lowest < 0.0 and tally.dual > 0.0:
        room.vectors[rank] = np.sqrt(length * tally.dual / tally.scale) * lowest
        room.signs[rank] = 1.0
        rank += 1
    missing = -tally.scale * tally.lowest
    pull = length / rule.unit**2 * (missing / rule.unit)  # the fourth power may vanish
    tally.dual = (1.0 - rule.damping) * tally.dual + pull / rule.unit
    change(iterate, room, rank)
    tally.rank += rank
    start = room.start
    _, removed = subtracted_by(room, rank)
    tally.floor -= removed
    if tally.floor < 0.0 and not stays_positive(M, tally, room, removed):
        start += lowest * np.sqrt(max(0.0, -tally.lowest))
        tally.lowest = _lowest_pair(M, start, -TINY * tally.norm, tally.norm, room, lowest)
        tally.floor, tally.steady = min(0.0, tally.lowest), 0
        tally.projections += tally.lowest < 0.0
        tally.negatives += tally.lowest < 0.0
    else:
        tally.lowest = 0.0
    return rank


@inner(makes_arrays=True)
def _mix(rule: Any, iterate: Iterate, step: Step, room: Room, rank: int) -> int:
    """`FrankWolfe`: add to the sum of gradients, then step towards its lowest eigenvector."""
    tally = iterate.tally[0]
    d = len(iterate.M)
    gradients, q = iterate.memory[:d], iterate.memory[d]
    into_gradient = -tally.scale / rate(step.schedule, tally.seen)
    vectors, signs = room.vectors[:rank], into_gradient * room.signs[:rank]
    norm = np.sqrt(add_outer_products(gradients, vectors, signs, gradients, 0.0))
    start = q.copy()
    for k in range(rank):
        start += vectors[k]
    lowest = _lowest_pair(gradients, start, 0.0, norm, room, q)
    share = 1.0 / np.sqrt(1.0 + tally.seen)
    add_outer_products(iterate.M, vectors[:0], signs[:0], iterate.total, tally.mass)
    tally.mass = 0.0
    tally.scale *= 1.0 - share
    rank = 0
    if lowest < 0.0:
        room.vectors[0] = np.sqrt(share * rule.trace / tally.scale) * q
        room.signs[0] = 1.0
        rank = 1
    change(iterate, room, rank)
    tally.rank += rank
    return rank


@inner(fastmath=REORDER, makes_arrays=True)
def _lowest_pair(
    M: FloatArray, start: FloatArray, below: float, norm: float, room: Room, q: FloatArray
) -> float:
    """The lowest eigenvalue of M if it is under ``below``, with its vector in q; else 0.

    Another pair than the lowest may be all that can be seen from ``start``, so a bit of
    every coordinate is added to it.
    """
    values, vectors = np.empty(1), np.empty((1, len(M)))
    bit = 0.3 * np.sqrt((dot(start, start) + 1e-300) / len(M))
    for i in range(len(M)):
        start[i] += bit * np.cos(1.7 * i * i + 0.5)
    goal = Goal(RESIDUAL * norm, 0.0, MAX_STEPS, PATIENCE)
    found, rest = lowest_pairs(Product(M), start, below, goal, values, vectors, room.basis)
    if found == 0 and rest == below and is_positive(M, -10.0 * below, room.square):
        return 0.0
    if found == 0:
        w, Q = np.linalg.eigh(M)
        values[0], vectors[0] = w[0], Q[:, 0]
    if not values[0] < below:
        return 0.0
    q[:] = vectors[0]
    return float(values[0])
