"""The solver: feeds blocks of triplets to the one loop and keeps its average.

A :class:`SGDSolver` is fed triplets in any portions (:meth:`SGDSolver.advance`); the result
depends on the triplets and the two random streams only, not on the portions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.losses import Loss, SmoothHinge
from calipers.projections import AtEnd, EveryUpdate, FrankWolfe, Periodic, Rule
from calipers.sampling import ByRunningNorm, BySlope, EveryBatch, Policy
from calipers.schedules import Constant, Schedule, Shrinking
from calipers.threads import parallel_map, single_threaded_blas

if TYPE_CHECKING:
    from calipers.kernels.state import Block, Iterate, Room, Step

BLOCK_BYTES = 8_000_000  # of differences gathered at a time
CHUNK_WORK = 16_000_000  # multiplications of one thread's matrix product
WORTH_A_THREAD = 8_000_000  # multiplications below which the loop does it by itself


@dataclass(frozen=True)
class Settings:
    """The parts of a method and their numbers, in the units of X."""

    loss: Loss = field(default_factory=SmoothHinge)
    policy: Policy = field(default_factory=EveryBatch)
    batch_size: int = 1
    all_pairs: int = 1  # positives and negatives of an anchor, which make all_pairs**2 triplets
    learning_rate: float = 1.0
    ridge: float = 0.0  # lambda of lambda/2 ||M||^2; steps are then 1 / (lambda t)
    radius: float = 1000.0
    projection: Rule = field(default_factory=EveryUpdate)
    max_importance_weight: float = np.inf
    clip_norm: float = np.inf  # root mean square distance of an anchor's negatives
    sum_over_batch: bool = False
    average: bool = True  # the result is the mean of the iterates, else the last one

    @property
    def schedule(self) -> Schedule:
        """Lengths of the steps."""
        return Shrinking(self.ridge) if self.ridge else Constant(self.learning_rate)


@dataclass
class Point:
    """What one call of ``advance`` saw: a point of the loss curve."""

    n_examples: int  # triplets, or pairs, so far
    loss: float  # mean over those of the call
    n_updates: int  # so far


class State(NamedTuple):
    """What a solver goes on from: arrays, and facts that JSON can hold."""

    arrays: dict[str, npt.NDArray[Any]]
    facts: dict[str, Any]


def curve_array(curve: list[Point]) -> FloatArray:
    """Points as an array of shape (n_points, 3)."""
    rows = [(point.n_examples, point.loss, point.n_updates) for point in curve]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def points_of(array: FloatArray) -> list[Point]:
    """The inverse of :func:`curve_array`."""
    return [Point(int(n), float(loss), int(updates)) for n, loss, updates in array]


@dataclass(frozen=True)
class _Plan:
    """How to take the next block."""

    length: int  # iterations to gather
    span: int  # iterations to carry margins over; 0: the block, margins by threads
    chunk: int  # rows of one thread's product


class SGDSolver:
    """Minimise the mean loss of a stream of triplets over metrics.

    Solves equation (1) of the paper, ``min (1/N) sum loss(margin)`` over positive
    semi-definite M with ``||M||_F <= radius``, by projected stochastic steps from
    ``init_scale * I``:

    1. compute the margins of upcoming batches,
    2. decide by the policy which of them leads to an update,
    3. move ``M`` by ``learning_rate * slope / (batch_size * probability)`` along each of
       its triplets,
    4. project onto the cone and the ball,
    5. add up the iterates, each as often as it stood.

    Parameters
    ----------
    settings : Settings
        The parts.
    n_features : int
        Size of M.
    accept_rng : Generator
        One uniform number per iteration decides whether to update.
    pick_rng : Generator
        Draws the triplet that :class:`~calipers.sampling.BySlope` looks at.
    init_scale : float
        The first iterate is ``init_scale * I``.
    """

    def __init__(
        self,
        settings: Settings,
        n_features: int,
        *,
        accept_rng: np.random.Generator,
        pick_rng: np.random.Generator,
        init_scale: float = 1.0,
    ) -> None:
        from calipers.kernels.state import TALLY, Iterate

        self.settings, self.init_scale = settings, init_scale
        self.accept_rng, self.pick_rng = accept_rng, pick_rng
        tally = np.zeros(1, dtype=TALLY)
        tally["scale"], tally["floor"] = init_scale, 1.0
        tally["norm"] = np.sqrt(n_features)
        shape = (n_features, n_features)
        self.iterate: Iterate = Iterate(
            np.eye(n_features),
            np.zeros(shape),
            tally,
            np.zeros(_memory_shape(settings.projection, n_features)),
        )
        self.n_iterations = 0
        self.curve: list[Point] = []
        self._gap, self._rank = 1.0, 2.0 * (settings.batch_size // settings.all_pairs) + 1.0

    def advance(self, X: FloatArray, triplets: IndexArray) -> npt.NDArray[np.bool_]:
        """Walk through whole batches of triplets; returns which batches led to an update."""
        X, triplets = read_only(X), read_only(triplets)
        b = self.settings.batch_size
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
        loss, policy = self.settings.loss, self.settings.policy
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
        k = self.settings.all_pairs
        scouts = triplets
        if isinstance(self.settings.policy, BySlope):
            picks = self.pick_rng.integers(self.settings.batch_size, size=n)
            scouts = triplets[np.arange(n) * self.settings.batch_size + picks]
        elif k > 1:  # each of an anchor's near and far rows once
            scouts = triplets.reshape(-1, k, k, 3)[:, range(k), range(k)].reshape(-1, 3)
        rows = len(scouts)
        far, near = np.empty((rows, d)), np.empty((rows, d))
        norms, margins = np.empty(rows * k), np.empty(rows * k)
        M, gaps, product = self.iterate.M, self._room.gaps, self._room.product

        def look(part: slice) -> None:
            theirs = slice(part.start * k, part.stop * k)
            algebra.gather(X, scouts[part], far[part], near[part])
            algebra.shorten(far[part], near[part], k, self.settings.clip_norm)
            algebra.outer_norms(far[part], near[part], norms[theirs])
            if plan.span == 0:
                room = gaps[part], product[part]
                algebra.margins(M, far[part], near[part], *room, margins[theirs])

        chunk = plan.chunk if plan.span == 0 else rows
        parallel_map(look, [slice(i, i + chunk) for i in range(0, rows, chunk)])
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
        d, k = len(self.iterate.M), self.settings.all_pairs
        longest = max(1, self._max_rows // self._n_scouts)
        span = int(min(longest, max(1.0, 0.25 * self._gap * d / self._rank))) if k == 1 else 1
        if span * self._n_scouts * d * d < WORTH_A_THREAD:
            return _Plan(length=longest, span=span, chunk=0)
        return _Plan(length=span, span=0, chunk=k * -(-max(64, CHUNK_WORK // d**2) // k))

    @property
    def batch_size(self) -> int:
        """Triplets of an iteration."""
        return self.settings.batch_size

    @property
    def metric(self) -> FloatArray:
        """The result so far: the mean of the iterates or the last one, as the settings say."""
        return self.average if self.settings.average else self.last

    @property
    def n_projections(self) -> int:
        """Updates that left the cone."""
        return int(self._tally("projections"))

    @property
    def sums(self) -> dict[str, float]:
        """What the theorems need: the largest norm met, sums of losses and of slopes."""
        b = self.settings.batch_size
        return {
            "largest_norm": self._tally("largest"),
            "summed_loss": self._tally("loss") * b,
            "summed_slope": self._tally("slope") * b,
        }

    def state(self) -> State:
        """All that the next steps depend on, for :meth:`restore`."""
        M, total, tally, memory = self.iterate
        policy = self.settings.policy
        arrays: dict[str, npt.NDArray[Any]] = {
            "M": M,
            "total": total,
            "tally": np.frombuffer(tally.tobytes(), dtype=np.uint8),
            "memory": memory,
            "curve": curve_array(self.curve),
            "running": policy.largest if isinstance(policy, ByRunningNorm) else np.empty(0),
        }
        facts = {
            "n_iterations": self.n_iterations,
            "look_ahead": [self._gap, self._rank],
            "streams": [rng.bit_generator.state for rng in (self.accept_rng, self.pick_rng)],
        }
        return State({name: array.copy() for name, array in arrays.items()}, facts)

    def restore(self, state: State) -> None:
        """Go on where the solver was whose state this is."""
        arrays, facts = state
        for target, name in zip(self.iterate, ("M", "total", "tally", "memory"), strict=True):
            target[...] = arrays[name].view(target.dtype).reshape(target.shape)
        if isinstance(self.settings.policy, ByRunningNorm):
            self.settings.policy.largest[...] = arrays["running"]
        self.curve[:] = points_of(arrays["curve"])
        self.n_iterations = facts["n_iterations"]
        self._gap, self._rank = facts["look_ahead"]
        for rng, stream in zip((self.accept_rng, self.pick_rng), facts["streams"], strict=True):
            rng.bit_generator.state = stream

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
        if isinstance(self.settings.policy, BySlope):
            return 1
        return self.settings.batch_size // self.settings.all_pairs

    @property
    def _max_rows(self) -> int:
        by_memory = BLOCK_BYTES // (16 * len(self.iterate.M))
        return max(self.settings.batch_size, min(4096, by_memory))

    @cached_property
    def _step(self) -> Step:
        from calipers.kernels.state import Step

        share = 1.0 if self.settings.sum_over_batch else 1.0 / self.settings.batch_size
        parts = self.settings
        return Step(
            parts.schedule,
            parts.max_importance_weight,
            parts.clip_norm,
            share,
            parts.radius,
            parts.projection,
        )

    @cached_property
    def _room(self) -> Room:
        from calipers.kernels.spectrum import BASIS_ROWS, MAX_STEPS
        from calipers.kernels.state import Room

        d, b, rule = len(self.iterate.M), self.settings.batch_size, self.settings.projection
        rows = b // self.settings.all_pairs
        negatives = min(d, rows * rule.period) if isinstance(rule, Periodic) else rows
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
    if isinstance(rule, AtEnd):
        return 1, d
    return (d + 1, d) if isinstance(rule, FrankWolfe) else (0, d)
