"""The one loop: every method of the paper is this walk with other parts.

M only changes at an update, so the margins of a span of iterations are computed together
and *carried* through the changes that happen inside the span: margins are linear in M and
a change has low rank. With the random numbers drawn beforehand, one per iteration, the
decisions are those of the loop that looks at one batch at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.compiled import forget_stale, inner, kernel
from calipers.kernels.algebra import (
    REORDER,
    add_outer_products,
    carry,
    dot,
    gather,
    margins,
    shorten,
)
from calipers.kernels.moves import move, stands_still
from calipers.kernels.parts import kept, probability, rate, slope, value
from calipers.kernels.state import Block, Iterate, Room, Step

NIL = 1e-16  # a step shorter than NIL * norm of M is lost in rounding: counted, not taken
SMALLEST_SCALE = 1e-4  # below it the scale is multiplied into M


@kernel()
def walk(
    iterate: Iterate, block: Block, step: Step, loss: Any, policy: Any, room: Room, span: int
) -> None:
    """Walk through a block, computing margins for ``span`` iterations at a time.

    ``span = 0``: the block's margins are already those of the present M.
    """
    tally = iterate.tally[0]
    n = block.uniforms.size
    width, height = block.margins.size // n, len(block.far) // n
    slopes = room.slopes[:width]
    last = n
    for t in range(n):
        if span > 0 and t % span == 0:
            last = min(n, t + span)
            ahead = slice(t * height, last * height)
            far, near = block.far[ahead], block.near[ahead]
            out = block.margins[t * width : last * width]
            margins(iterate.M, far, near, room.gaps, room.product, out)
        scouts, rows = slice(t * width, (t + 1) * width), slice(t * height, (t + 1) * height)
        far, near, uniform = block.far[rows], block.near[rows], block.uniforms[t]
        _look(loss, block.margins[scouts], tally, slopes)
        chance = probability(policy, slopes, block.norms[scouts], far, near, uniform)
        block.accepted[t] = uniform < chance
        if block.accepted[t] and width < room.slopes.size:
            _look_at_batch(iterate, block, step, loss, room, t)
            far, near = room.far, room.near
        rest = slice((t + 1) * width, last * width)
        rows = slice((t + 1) * height, last * height)
        tally.seen += 1
        tally.mass += tally.scale
        _shrink(iterate, step, room, block.margins[rest])
        if not block.accepted[t]:
            continue
        tally.updates += 1
        rank = _directions(far, near, chance, step, tally, room)
        if rank == 0 and stands_still(step.rule):
            continue
        rank = move(step.rule, iterate, step, room, rank)
        vectors, signs = room.vectors[:rank], room.signs[:rank]
        carry(block.far[rows], block.near[rows], vectors, signs, block.margins[rest])
        _into_ball(iterate, step.radius, block.margins[rest])


@inner()
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


@inner()
def _look_at_batch(
    iterate: Iterate, block: Block, step: Step, loss: Any, room: Room, t: int
) -> None:
    """Slopes of the whole batch, where only one of it had been looked at."""
    b = room.slopes.size
    gather(block.X, block.triplets[t * b : (t + 1) * b], room.far, room.near)
    shorten(room.far, room.near, 1, step.reach)
    margins(iterate.M, room.far, room.near, room.gaps, room.product, room.slopes)
    scale = iterate.tally[0].scale
    for s in range(b):
        room.slopes[s] = slope(loss, scale * room.slopes[s])


@inner()
def _shrink(iterate: Iterate, step: Step, room: Room, margins: FloatArray) -> None:
    """Multiply the iterate by what the schedule keeps of it; where that is nothing, begin anew."""
    tally = iterate.tally[0]
    share = kept(step.schedule, tally.seen)
    if share > 0.0:
        tally.scale *= share
        return
    add_outer_products(iterate.M, room.vectors[:0], room.signs[:0], iterate.total, tally.mass)
    iterate.M[:] = 0.0
    margins[:] = 0.0
    tally.scale = rate(step.schedule, tally.seen)
    tally.mass, tally.norm, tally.floor, tally.steady = 0.0, 0.0, 0.0, 0


@inner(fastmath=REORDER)
def _directions(
    far: FloatArray, near: FloatArray, chance: float, step: Step, tally: Any, room: Room
) -> int:
    """Write the step as ``sum(sign * v v')``, in units of M; returns its rank.

    Added directions come first, subtracted ones after them. The rank is 0 where the
    step is lost in rounding, and triplets whose own part is lost are left out.
    """
    rank, k = 0, room.slopes.size // len(far)
    length_of_step = rate(step.schedule, tally.seen) * step.share / tally.scale
    for sign, rows in ((1.0, far), (-1.0, near)):
        for s in range(len(rows)):
            summed = _summed(room.slopes, s, k, sign)
            pull = summed / chance if chance * step.longest > 1.0 else summed * step.longest
            weight = length_of_step * pull
            length = max(dot(far[s], far[s]), dot(near[s], near[s]))
            if weight * length <= NIL * tally.norm:
                continue
            root = np.sqrt(weight)
            for i in range(rows.shape[1]):
                room.vectors[rank, i] = root * rows[s, i]
            room.signs[rank] = sign
            rank += 1
    return rank


@inner()
def _summed(slopes: FloatArray, s: int, k: int, sign: float) -> float:
    """Sum of the slopes of the triplets that far (sign 1) or near row s is a part of."""
    first, r = s // k * k * k, s % k
    total = 0.0
    for c in range(k):
        total += slopes[first + c * k + r] if sign > 0.0 else slopes[first + r * k + c]
    return total


@inner()
def _into_ball(iterate: Iterate, radius: float, margins: FloatArray) -> None:
    """Scale the iterate into the ball; now and then multiply the scale into M."""
    tally = iterate.tally[0]
    if tally.scale * tally.norm > radius:
        tally.scale = radius / tally.norm
    if tally.scale < SMALLEST_SCALE:
        for i in range(len(iterate.M)):
            for j in range(len(iterate.M)):
                iterate.M[i, j] *= tally.scale
        for s in range(margins.size):
            margins[s] *= tally.scale
        tally.norm *= tally.scale
        tally.floor *= tally.scale
        tally.lowest *= tally.scale
        tally.scale = 1.0


forget_stale(walk)
