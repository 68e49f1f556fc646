"""The solver: feeds blocks of triplets to the one loop and keeps its average.

A :class:`Solver` is fed triplets in any portions (:meth:`Solver.advance`); the result
depends on the triplets and the two random streams only, not on the portions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.losses import Loss, SmoothHinge
from calipers.projections import AtOnce, Never, NowAndThen, OnlyOnce, Rule
from calipers.sampling import BySlope, EveryBatch, Policy
from calipers.schedules import Constant, Schedule, Shrinking
from calipers.threads import single_threaded_blas, spread

if TYPE_CHECKING:
    from calipers.kernels.state import Block, Iterate, Room, Step

BLOCK_BYTES = 8_000_000  # of differences gathered at a time
CHUNK_WORK = 16_000_000  # multiplications of one thread's matrix product
WORTH_A_THREAD = 8_000_000  # multiplications below which the loop does it by itself


@dataclass(frozen=True)
class Recipe:
    """Which parts make up a method; the paper's names are in ``calipers.recipes``."""

    loss: Loss = field(default_factory=SmoothHinge)
    policy: Policy = field(default_factory=EveryBatch)
    batch_size: int = 1
    crossed: int = 1  # near and far rows of an anchor that make crossed**2 triplets in a row
    learning_rate: float = 1.0
    ridge: float = 0.0  # lambda of lambda/2 ||M||^2; steps are then 1 / (lambda t)
    radius: float = 1000.0
    rule: Rule = field(default_factory=AtOnce)
    longest: float = np.inf
    reach: float = np.inf  # of the far rows of an anchor: those farther away are brought back to it
    sum_over_batch: bool = False

    @property
    def schedule(self) -> Schedule:
        """Lengths of the steps."""
        return Shrinking(self.ridge) if self.ridge else Constant(self.learning_rate)


@dataclass
class Point:
    """What one call of :meth:`Solver.advance` saw: a point of the loss curve."""

    n_triplets: int
    loss: float
    n_updates: int


@dataclass(frozen=True)
class _Plan:
    """How to take the next block."""

    length: int  # iterations to gather
    span: int  # iterations to carry margins over; 0: the block, margins by threads
    chunk: int  # rows of one thread's product


class Solver:
    """Minimise the mean loss of a stream of triplets over metrics.

    Solves equation (1) of the paper, ``min (1/N) sum loss(margin)`` over positive
    semi-definite M with ``||M||_F <= radius``, by projected stochastic steps from
    ``start * I``:

    1. compute the margins of upcoming batches,
    2. decide by the policy which of them leads to an update,
    3. move ``M`` by ``learning_rate * slope / (batch_size * probability)`` along each of
       its triplets,
    4. project onto the cone and the ball,
    5. add up the iterates, each as often as it stood.

    Parameters
    ----------
    recipe : Recipe
        The parts.
    n_features : int
        Size of M.
    accept_rng : Generator
        One uniform number per iteration decides whether to update.
    pick_rng : Generator
        Draws the triplet that :class:`~calipers.sampling.BySlope` looks at.
    start : float
        The first iterate is ``start * I``.
    """

    def __init__(
        self,
        recipe: Recipe,
        n_features: int,
        *,
        accept_rng: np.random.Generator,
        pick_rng: np.random.Generator,
        start: float = 1.0,
    ) -> None:
        from calipers.kernels.state import TALLY, Iterate

        self.recipe, self.start = recipe, start
        self.accept_rng, self.pick_rng = accept_rng, pick_rng
        tally = np.zeros(1, dtype=TALLY)
        tally["scale"], tally["floor"] = start, 1.0
        tally["norm"] = np.sqrt(n_features)
        shape = (n_features, n_features)
        self.iterate: Iterate = Iterate(
            np.eye(n_features),
            np.zeros(shape),
            tally,
            np.zeros(_memory_shape(recipe.rule, n_features)),
        )
        self.n_iterations = 0
        self.curve: list[Point] = []
        self._gap, self._rank = 1.0, 2.0 * (recipe.batch_size // recipe.crossed) + 1.0

    def advance(self, X: FloatArray, triplets: IndexArray) -> npt.NDArray[np.bool_]:
        """Walk through whole batches of triplets; returns which batches led to an update."""
        X, triplets = read_only(X), read_only(triplets)
        b = self.recipe.batch_size
        n = len(triplets) // b
        loss_before = self._tally("loss")
        accepted = np.zeros(n, dtype=np.bool_)
        with single_threaded_blas():
            first = 0
            while first < n:
                plan = self._plan()
                last = min(n, first + plan.length)
                part = triplets[first * b : last * b]
                self._advance_block(X, part, accepted[first:last], plan)
                first = last
        self.n_iterations += n
        loss = (self._tally("loss") - loss_before) / max(n, 1)
        self.curve.append(Point(self.n_iterations * b, loss, self.n_updates))
        return accepted

    def _advance_block(
        self, X: FloatArray, triplets: IndexArray, accepted: npt.NDArray[np.bool_], plan: _Plan
    ) -> None:
        """Gather a block and walk through it; learn how often and how far M changes."""
        from calipers.kernels.walk import walk

        block = self._look_ahead(X, triplets, accepted, plan)
        changes, rank = self._tally("changes"), self._tally("rank")
        loss, policy = self.recipe.loss, self.recipe.policy
        try:
            walk(self.iterate, block, self._step, loss, policy, self._room, plan.span)
        except ValueError as problem:  # LAPACK has given up; M is not to be used
            raise ValueError(
                f"The walk cannot go on after {self._tally('seen'):,.0f} steps, because the "
                f"eigenvalues of M were not found ({problem}): divide X by its largest value, or "
                "take shorter steps."
            ) from problem
        changes, rank = self._tally("changes") - changes, self._tally("rank") - rank
        self._gap += 0.5 * (len(accepted) / max(changes, 0.5) - self._gap)
        if changes:
            self._rank += 0.5 * (rank / changes - self._rank)

    def _look_ahead(
        self, X: FloatArray, triplets: IndexArray, accepted: npt.NDArray[np.bool_], plan: _Plan
    ) -> Block:
        """Differences and random numbers of a block; its margins too if ``span`` is 0."""
        from calipers.kernels import algebra
        from calipers.kernels.state import Block

        n, d = len(accepted), X.shape[1]
        k = self.recipe.crossed
        scouts = triplets
        if isinstance(self.recipe.policy, BySlope):
            picks = self.pick_rng.integers(self.recipe.batch_size, size=n)
            scouts = triplets[np.arange(n) * self.recipe.batch_size + picks]
        elif k > 1:  # each of an anchor's near and far rows once
            scouts = triplets.reshape(-1, k, k, 3)[:, range(k), range(k)].reshape(-1, 3)
        rows = len(scouts)
        far, near = np.empty((rows, d)), np.empty((rows, d))
        norms, margins = np.empty(rows * k), np.empty(rows * k)
        M, gaps, product = self.iterate.M, self._room.gaps, self._room.product

        def look(part: slice) -> None:
            theirs = slice(part.start * k, part.stop * k)
            algebra.gather(X, scouts[part], far[part], near[part])
            algebra.shorten(far[part], near[part], k, self.recipe.reach)
            algebra.outer_norms(far[part], near[part], norms[theirs])
            if plan.span == 0:
                room = gaps[part], product[part]
                algebra.margins(M, far[part], near[part], *room, margins[theirs])

        chunk = plan.chunk if plan.span == 0 else rows
        spread(look, [slice(i, i + chunk) for i in range(0, rows, chunk)])
        self.iterate.tally["largest"] = max(self._tally("largest"), float(norms.max()))
        uniforms = self.accept_rng.random(n)
        return Block(X, triplets, far, near, margins, norms, uniforms, accepted)

    def _plan(self) -> _Plan:
        """How many iterations to gather, and over how many to carry margins.

        Carrying costs 2 rank d per later triplet of the span and change, computing anew d^2
        per triplet. A span of ``gap * d / rank``, with the gap and rank seen lately, would make
        them equal; a quarter of it keeps the former a quarter of the latter. Crossed rows, whose
        batches are large, are not carried.
        """
        d, k = len(self.iterate.M), self.recipe.crossed
        longest = max(1, self._max_rows // self._n_scouts)
        span = int(min(longest, max(1.0, 0.25 * self._gap * d / self._rank))) if k == 1 else 1
        if span * self._n_scouts * d * d < WORTH_A_THREAD:
            return _Plan(length=longest, span=span, chunk=0)
        return _Plan(length=span, span=0, chunk=k * -(-max(64, CHUNK_WORK // d**2) // k))

    @property
    def batch_size(self) -> int:
        """Triplets of an iteration."""
        return self.recipe.batch_size

    def _tally(self, name: str) -> float:
        return float(self.iterate.tally[name][0])

    @property
    def n_updates(self) -> int:
        """Updates so far, those lost in rounding included."""
        return int(self._tally("updates"))

    @property
    def last(self) -> FloatArray:
        """The present iterate."""
        return np.asarray(self._tally("scale") * self.iterate.M)

    @property
    def average(self) -> FloatArray:
        """Mean of the iterates before each iteration; the present one if there was none."""
        if self.n_iterations == 0:
            return self.last
        total = self.iterate.total + self._tally("mass") * self.iterate.M
        return np.asarray(total / self.n_iterations)

    @property
    def _n_scouts(self) -> int:
        """Near and far rows of a batch that are looked at before the decision."""
        if isinstance(self.recipe.policy, BySlope):
            return 1
        return self.recipe.batch_size // self.recipe.crossed

    @property
    def _max_rows(self) -> int:
        by_memory = BLOCK_BYTES // (16 * len(self.iterate.M))
        return max(self.recipe.batch_size, min(4096, by_memory))

    @cached_property
    def _step(self) -> Step:
        from calipers.kernels.state import Step

        share = 1.0 if self.recipe.sum_over_batch else 1.0 / self.recipe.batch_size
        recipe = self.recipe
        return Step(
            recipe.schedule, recipe.longest, recipe.reach, share, recipe.radius, recipe.rule
        )

    @cached_property
    def _room(self) -> Room:
        from calipers.kernels.spectrum import BASIS_ROWS, MAX_STEPS
        from calipers.kernels.state import Room

        d, b, rule = len(self.iterate.M), self.recipe.batch_size, self.recipe.rule
        rows = b // self.recipe.crossed
        negatives = min(d, rows * rule.period) if isinstance(rule, NowAndThen) else rows
        return Room(
            gaps=np.empty((self._max_rows, d)),
            product=np.empty((self._max_rows, d)),
            square=np.empty((d, d)),
            basis=np.empty((max(min(d, MAX_STEPS) + 1, BASIS_ROWS), d)),
            start=np.empty(d),
            far=np.empty((rows, d)),
            near=np.empty((rows, d)),
            slopes=np.empty(b),
            vectors=np.empty((2 * rows + negatives, d)),
            signs=np.empty(2 * rows + negatives),
            values=np.empty(negatives),
        )


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that cannot be written: compiled code then meets one type, not two."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _memory_shape(rule: Rule, d: int) -> tuple[int, int]:
    """What the rule keeps: the lowest eigenvector; the sum of gradients and its lowest."""
    if isinstance(rule, OnlyOnce):
        return 1, d
    return (d + 1, d) if isinstance(rule, Never) else (0, d)
