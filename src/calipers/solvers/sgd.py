"""The solver: feeds blocks of triplets to the one loop and keeps its average.

A :class:`SGDSolver` is fed triplets in any portions (:meth:`SGDSolver.advance`); the result
depends on the triplets and the two random streams only, not on the portions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers._core.compiled import LookAhead, Method, Samples, State, Workspace, run_sgd
from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.parts import (
    BySlope,
    Constant,
    EveryBatch,
    EveryUpdate,
    FrankWolfe,
    FrankWolfeSteps,
    Loss,
    PassiveAggressive,
    Policy,
    Rule,
    Schedule,
    Shrinking,
    SmoothHinge,
)
from calipers.solvers.training import Point
from calipers.threads import parallel_map, single_threaded_blas

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

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        if min(self.batch_size, self.all_pairs) < 1 or self.batch_size % self.all_pairs**2:
            raise ValueError(
                "batch_size must be a multiple of all_pairs**2, the triplets of an anchor, and "
                f"both at least 1, got batch_size={self.batch_size} and all_pairs={self.all_pairs}."
            )
        if self.all_pairs > 1 and not isinstance(self.policy, EveryBatch):
            raise ValueError(
                f"all_pairs={self.all_pairs} needs the policy EveryBatch(), got {self.policy!r}: "
                "take that, or all_pairs=1."
            )
        if isinstance(self.policy, PassiveAggressive) and self.batch_size > 1:
            raise ValueError(
                "PassiveAggressive sets the step along one triplet, got "
                f"batch_size={self.batch_size}: take batches of 1, or another policy."
            )


def checked_triplets(X: Samples, n_features: int, triplets: npt.NDArray[Any]) -> IndexArray:
    """Triplets as compiled loops read them; raise unless they point to such samples."""
    given = np.asarray(triplets)
    if X.d != n_features or given.shape[1:] != (3,) or given.dtype.kind not in "iu":
        raise ValueError(
            f"A solver of {n_features} features needs samples with as many, and triplets as whole "
            f"numbers of shape (n, 3), got samples of shape {X.X.shape} and {given.dtype} of shape "
            f"{given.shape}: check both."
        )
    indices = np.ascontiguousarray(given, dtype=np.intp)
    if len(indices) and indices.view(np.uintp).max() >= X.n:  # negative ones are the largest
        raise ValueError(
            f"Triplets must be indices of the {X.n} samples, got {given.min()} to {given.max()}: "
            "check which samples they are of."
        )
    return indices


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
        Draws the triplet that :class:`~calipers.solvers.parts.BySlope` looks at.
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
        self.settings, self.init_scale = settings, init_scale
        self.batch_size = settings.batch_size
        self.accept_rng, self.pick_rng = accept_rng, pick_rng
        memory = np.zeros(settings.projection.memory_shape(n_features))
        self.core_state = State(np.eye(n_features), init_scale, memory, floor=1.0)
        self.n_iterations = self.n_updates = self.n_projections = 0
        self.curve: list[Point] = []
        rows = settings.batch_size // settings.all_pairs
        # near and far rows of a batch that are looked at before the decision; and rows at a time
        self._n_candidates = 1 if isinstance(settings.policy, BySlope) else rows
        by_memory = BLOCK_BYTES // (16 * n_features)
        self._max_rows = max(settings.batch_size, min(4096, by_memory))
        self._gap, self._rank = 1.0, 2.0 * rows + 1.0
        steps: Schedule = Constant(settings.learning_rate)
        if isinstance(settings.projection, FrankWolfe):
            steps = FrankWolfeSteps()
        elif settings.ridge:
            steps = Shrinking(settings.ridge)
        self._method = Method(
            settings.loss,
            settings.policy,
            steps,
            settings.projection,
            radius=settings.radius,
            max_importance_weight=settings.max_importance_weight,
            clip_norm=settings.clip_norm,
            share=1.0 if settings.sum_over_batch else 1.0 / settings.batch_size,
        )
        self._workspace = Workspace(
            n_features,
            batch_size=settings.batch_size,
            rows=rows,
            negatives=settings.projection.max_negatives(rows, n_features),
            max_rows=self._max_rows,
        )

    def advance(self, X: FloatArray, triplets: IndexArray) -> npt.NDArray[np.bool_]:
        """Run through whole batches of triplets; returns which batches led to an update."""
        samples = Samples(X)
        triplets = checked_triplets(samples, len(self.core_state.M), triplets)
        b = self.settings.batch_size
        n = len(triplets) // b
        loss_before = self.core_state.loss
        accepted = np.zeros(n, dtype=np.bool_)
        with single_threaded_blas():
            first = 0
            while first < n:
                length, *how = self._plan()
                last = min(n, first + length)
                part = triplets[first * b : last * b]
                accepted[first:last] = self._advance_block(samples, part, *how)
                first = last
        self.n_iterations += n
        self.n_updates, self.n_projections = self.core_state.updates, self.core_state.projections
        loss = (self.core_state.loss - loss_before) / max(n, 1)
        self.curve.append(Point(self.n_iterations * b, loss, self.n_updates))
        return accepted

    def _advance_block(
        self, X: Samples, triplets: IndexArray, look_ahead: int, chunk: int
    ) -> npt.NDArray[np.bool_]:
        """Gather a block and run through it; learn how often and how far M changes.

        ``look_ahead`` iterations are evaluated together; 0: the block is, by threads, each a
        ``chunk`` of candidates at a time.
        """
        state, b, k = self.core_state, self.settings.batch_size, self.settings.all_pairs
        n = len(triplets) // b
        candidates = triplets
        if isinstance(self.settings.policy, BySlope):
            candidates = triplets[np.arange(n) * b + self.pick_rng.integers(b, size=n)]
        elif k > 1:  # each positive and each negative of an anchor once
            candidates = triplets.reshape(-1, k, k, 3)[:, range(k), range(k)].reshape(-1, 3)
        ahead = LookAhead(X, triplets, candidates, k, self.accept_rng.random(n))

        def evaluate(start: int) -> None:
            ahead.gather(start, start + size, self.settings.clip_norm)
            if look_ahead == 0:
                ahead.evaluate(state, self._workspace, start, start + size)

        size = chunk if look_ahead == 0 else len(candidates)
        parallel_map(evaluate, range(0, len(candidates), size))
        state.largest = max(state.largest, float(ahead.norms.max()))
        changes, rank = state.changes, state.rank
        try:
            run_sgd(state, ahead, self._method, self._workspace, look_ahead)
        except ValueError as problem:  # M is not to be used
            raise ValueError(
                f"The solver cannot go on after {state.seen:,.0f} steps ({problem}): divide X by "
                "its largest value, or take shorter steps."
            ) from problem
        changes, rank = state.changes - changes, state.rank - rank
        self._gap += 0.5 * (len(ahead.accepted) / max(changes, 0.5) - self._gap)
        if changes:
            self._rank += 0.5 * (rank / changes - self._rank)
        return ahead.accepted

    def _plan(self) -> tuple[int, int, int]:
        """How many iterations to gather, over how many to carry margins, and a thread's chunk.

        Carrying costs 2 rank d per later triplet of the look-ahead and change, computing anew d^2
        per triplet. A look-ahead of ``gap * d / rank``, with the gap and rank of late, would make
        them equal; a quarter of it keeps the former a quarter of the latter. Margins of all-pairs
        triplets, whose batches are large, are not carried.
        """
        d, k = len(self.core_state.M), self.settings.all_pairs
        longest = max(1, self._max_rows // self._n_candidates)
        span = int(min(longest, max(1.0, 0.25 * self._gap * d / self._rank))) if k == 1 else 1
        if span * self._n_candidates * d * d < WORTH_A_THREAD:
            return longest, span, 0
        return span, 0, k * -(-max(64, CHUNK_WORK // d**2) // k)

    @property
    def metric(self) -> FloatArray:
        """The result so far: the mean of the iterates or the last one, as the settings say."""
        return self.average if self.settings.average else self.last

    @property
    def facts(self) -> dict[str, float]:
        """What the paper's theorems are evaluated with: settings, counts and sums of this run."""
        b = self.settings.batch_size
        return {
            "n_triplets": self.n_iterations * b,
            "batch_size": b,
            "n_updates": self.n_updates,
            "learning_rate": self.settings.learning_rate,
            "radius": self.settings.radius,
            "init_scale": self.init_scale,
            "n_features": len(self.core_state.M),
            "largest_norm": self.core_state.largest,
            "summed_loss": self.core_state.loss * b,
            "summed_slope": self.core_state.slope * b,
        }

    @property
    def last(self) -> FloatArray:
        """The present iterate."""
        return np.asarray(self.core_state.scale * self.core_state.M)

    @property
    def average(self) -> FloatArray:
        """Mean of the iterates before each iteration; the present one if there was none."""
        if self.n_iterations == 0:
            return self.last
        average = self.core_state.mass * self.core_state.M
        average += self.core_state.total
        average /= self.n_iterations
        return np.asarray(average)
