"""What the loop carries: the iterate, upcoming batches, the step and scratch memory.

The true iterate is ``scale * M``: the ball and shrinking cost one multiplication, not d^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray

TALLY = np.dtype(
    [
        ("scale", "f8"),  # the iterate is scale * M
        ("norm", "f8"),  # Frobenius norm of M
        ("floor", "f8"),  # lower bound of M's eigenvalues
        ("steady", "i8"),  # changes in a row that left M positive definite
        ("seen", "i8"),  # iterations so far
        ("mass", "f8"),  # sum of the scales of the iterations since M last changed
        ("loss", "f8"),  # sum over iterations of the mean loss of the scouts
        ("slope", "f8"),  # the same of their slopes
        ("largest", "f8"),  # largest norm of far far' - near near' met
        ("updates", "i8"),
        ("changes", "i8"),  # updates that were not lost in rounding
        ("rank", "i8"),  # of all changes
        ("projections", "i8"),  # changes that left the cone
        ("negatives", "i8"),  # eigenvalues cut off in all
        ("lowest", "f8"),  # one projection: the lowest eigenvalue of M if it is negative, else 0
        ("dual", "f8"),  # one projection: weight of the penalty on it
    ]
)


class Iterate(NamedTuple):
    """Where the walk is: M, the sum of all iterates so far, and the tally."""

    M: FloatArray
    total: FloatArray
    tally: npt.NDArray[Any]
    memory: FloatArray  # what the rule keeps besides M, see `calipers.projections`


class Block(NamedTuple):
    """Upcoming iterations: the batches, the scouts looked at first, and their randomness."""

    X: FloatArray
    triplets: IndexArray  # (iterations * batch_size, 3)
    far: FloatArray  # (rows, d); as many as triplets looked at, or fewer that are crossed
    near: FloatArray
    margins: FloatArray  # (triplets looked at,): one or all of each batch; in units of M
    norms: FloatArray  # the same
    uniforms: FloatArray  # (iterations,)
    accepted: npt.NDArray[np.bool_]  # (iterations,), written


class Step(NamedTuple):
    """How far an accepted batch moves the metric."""

    schedule: Any  # see `calipers.schedules`
    longest: float  # largest factor 1 / probability
    reach: float  # of the far rows of an anchor: those farther away are brought back to it
    share: float  # of a triplet in its batch: 1 / batch_size for the mean, 1 for the sum
    radius: float
    rule: Any  # how M is kept within its bounds, see `calipers.projections`


class Room(NamedTuple):
    """Scratch memory, allocated once."""

    gaps: FloatArray  # (rows of a block, d)
    product: FloatArray  # (rows of a block, d)
    square: FloatArray  # (d, d)
    basis: FloatArray  # (steps of Lanczos + 1, d)
    start: FloatArray  # (d,), of Lanczos
    far: FloatArray  # (rows of a batch, d)
    near: FloatArray
    slopes: FloatArray  # (batch_size,)
    vectors: FloatArray  # (2 * rows of a batch + negatives, d)
    signs: FloatArray
    values: FloatArray  # (negatives,), as many eigenvalues as can be negative
