"""What a solver is given, and what it hands back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.parts import SmoothHinge
from calipers.solvers.plan import largest_norm

METHODS = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")


@dataclass(frozen=True)
class Problem:
    """Triplets, a method of the paper with its numbers, and the seed of its randomness.

    Iteration t takes the t-th batch of triplets, the t-th uniform number of
    ``accept_rng`` and the t-th choice within a batch of ``pick_rng``.
    """

    X: FloatArray
    triplets: IndexArray
    method: str
    batch_size: int = 1
    largest: float = 1.0  # W, the largest gradient norm that HA-SGD divides by
    learning_rate: float = 1.0
    smoothness: float = 3.0
    radius: float = 1000.0
    seed: int = 0

    @property
    def n_iterations(self) -> int:
        """Whole batches."""
        return len(self.triplets) // self.batch_size

    def prefix(self, n_iterations: int) -> Problem:
        """The same run, ended earlier."""
        return replace(self, triplets=self.triplets[: n_iterations * self.batch_size])

    def accept_rng(self) -> np.random.Generator:
        """A fresh stream that decides on updates."""
        return np.random.default_rng([self.seed, 1])

    def pick_rng(self) -> np.random.Generator:
        """A fresh stream that chooses within batches."""
        return np.random.default_rng([self.seed, 2])


@dataclass(frozen=True)
class Outcome:
    """Which iterations led to an update, the mean iterate, and what was counted."""

    accepted: npt.NDArray[np.bool_]
    average: FloatArray
    counts: dict[str, int] = field(default_factory=dict)


def paper_problem(
    X: FloatArray, triplets: IndexArray, method: str, *, batch_size: int = 10, seed: int = 0
) -> Problem:
    """A method with the paper's settings; SGD and AS-SGD take one triplet at a time."""
    size = 1 if method in ("sgd", "as-sgd") else batch_size
    largest = largest_norm(
        X,
        triplets,
        loss=SmoothHinge(3.0),
        start=1.0,
        batch_size=size,
        rule="triplet",
        draws=100,
        rng=np.random.default_rng([seed, 0]),
    )
    return Problem(X, triplets, method, batch_size=size, largest=largest, seed=seed)


def same_until(one: Outcome, other: Outcome) -> int:
    """How many decisions two outcomes have in common from the start."""
    n = min(len(one.accepted), len(other.accepted))
    differing = np.flatnonzero(one.accepted[:n] != other.accepted[:n])
    return int(differing[0]) if len(differing) else n
