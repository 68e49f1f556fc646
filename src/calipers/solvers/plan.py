"""A fit of TripletSGD: every None becomes a number, and the numbers rounds of learning.

Each number is a continuous function of the number of samples, of features, and of the numbers
above it; none depends on whether another was given or resolved. The documentation's page on the
defaults has the evidence for each constant.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isqrt
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples
from calipers.data.triplets import LARGEST_PORTION, AllPairsTriplets, DrawnTriplets, Source
from calipers.metric.coordinates import Coordinates
from calipers.solvers.parts import (
    AtEnd,
    ByGradientNorm,
    ByRunningNorm,
    BySlope,
    EveryBatch,
    EveryUpdate,
    FrankWolfe,
    Loss,
    Periodic,
    Policy,
    Rule,
    SmoothHinge,
    gradient_norm,
)
from calipers.solvers.recipes import NormRule, Recipe
from calipers.solvers.sgd import Settings, SGDSolver
from calipers.solvers.training import Round, n_portions, portion_size

N_NEIGHBORS = 7
N_ROUNDS = 3
TRIPLETS_PER_ROOT = 3_000  # triplets of a round, times the root of the number of samples
TRIPLET_FEATURES = 70_000_000  # upper bound of triplets times (features + 100), for speed
BATCH_SIZE = 20
RESOLVED = ("recipe", "n_neighbors", "n_rounds", "n_triplets", "batch_size", "learning_rate")


@dataclass(frozen=True)
class Plan:
    """The numbers of a fit, and its recipe."""

    recipe: Recipe
    n_neighbors: int | None  # None where triplets were given
    n_rounds: int
    n_triplets: int | None  # of each round; None in a stream
    batch_size: int  # anchors
    learning_rate: float
    smoothness: float
    radius: float
    all_pairs: int = field(repr=False)  # positives and negatives of an anchor that make all
    batch_triplets: int = field(repr=False)  # of an update

    @classmethod
    def for_labels(cls, recipe: Recipe, asked: Mapping[str, Any], n: int, d: int) -> Plan:
        """Resolve what a fit to n labelled samples was not told.

        ``asked`` has the parameters of `TripletSGD`, each a number or None.
        """
        grown = isqrt(TRIPLETS_PER_ROOT**2 * max(n, 26))  # from 26 on by 2 % a sample at most
        return cls._of(
            recipe,
            asked,
            n_neighbors=asked["n_neighbors"] or min(N_NEIGHBORS, n - 1),
            n_rounds=asked["n_rounds"] or N_ROUNDS,
            n_triplets=asked["n_triplets"] or min(grown, TRIPLET_FEATURES // (d + 100)),
        )

    @classmethod
    def for_triplets(cls, recipe: Recipe, asked: Mapping[str, Any], n_given: int) -> Plan:
        """Resolve what a fit to given triplets was not told; a round is one pass over them."""
        n_triplets = min(asked["n_triplets"] or n_given, n_given)
        n_rounds = asked["n_rounds"] or N_ROUNDS
        return cls._of(recipe, asked, n_neighbors=None, n_rounds=n_rounds, n_triplets=n_triplets)

    @classmethod
    def for_stream(cls, recipe: Recipe, asked: Mapping[str, Any], *, labelled: bool) -> Plan:
        """Resolve what a stream was not told; nothing depends on the size of its batches."""
        k = asked["n_neighbors"] or N_NEIGHBORS if labelled else None
        return cls._of(recipe, asked, n_neighbors=k, n_rounds=1, n_triplets=None)

    @classmethod
    def _of(
        cls,
        recipe: Recipe,
        asked: Mapping[str, Any],
        *,
        n_neighbors: int | None,
        n_rounds: int,
        n_triplets: int | None,
    ) -> Plan:
        """Resolve batch size and learning rate, which follow from the rest."""
        k = int(n_neighbors or 1) if recipe.triplets == "all-pairs" else 1
        most = BATCH_SIZE if recipe.batched else 1
        if n_triplets is not None:
            most = max(1, min(most, int(n_triplets) // k**2))
        batch_size = int(asked["batch_size"] or most)
        return cls(
            recipe,
            None if n_neighbors is None else int(n_neighbors),
            int(n_rounds),
            None if n_triplets is None else int(n_triplets),
            batch_size,
            float(asked["learning_rate"] or batch_size),
            float(asked["smoothness"]),
            float(asked["radius"]),
            all_pairs=k,
            batch_triplets=batch_size * k**2,
        )

    def solver(
        self, samples: Samples, source: Source, rngs: list[np.random.Generator]
    ) -> SGDSolver:
        """Make a solver that starts at the identity in the units of the margin.

        Learning from ``sqrt(unit) * X`` from I is the same as learning from X from ``unit * I``
        with the step times ``unit**2`` and the radius times ``unit``. The unit, and the largest
        norm of a gradient, are those of the first triplets, one for each anchor and negative.
        """
        recipe, size, (accept_rng, pick_rng) = self.recipe, self.batch_triplets, rngs
        X, triplets = samples.local(next(source.portions(LARGEST_PORTION)), n_columns=3)
        k = self.all_pairs
        by_anchor = triplets[: len(triplets) // k**2 * k**2].reshape(-1, k**2, 3)
        triplets = by_anchor[:, :k].reshape(-1, 3)
        in_units = recipe.margin_unit == "data"
        typical = typical_squared_distance(X, triplets) if in_units or recipe.clip else 0.0
        unit = 1.0 / typical if in_units and typical else 1.0
        loss, weight = SmoothHinge(self.smoothness), recipe.max_importance_weight

        def norm(rule: NormRule) -> float:
            return largest_norm(
                X,
                triplets,
                loss=loss,
                start=unit,
                batch_size=size,
                rule=rule,
                draws=recipe.norm_draws,
                rng=pick_rng,
            )

        policy: Policy = EveryBatch()
        if recipe.sampling == "slope":
            policy = BySlope()
        elif recipe.sampling == "gradient-norm":
            is_running, rule = recipe.norm_bound == "running", recipe.norm_bound
            policy = ByRunningNorm() if is_running else ByGradientNorm(norm(rule))
        adds_up, bound = recipe.batch_reduce == "sum", 0.0
        if recipe.projection == "frank-wolfe":
            bound = norm("bound") * (size if adds_up else 1)
        radius = self.radius * unit
        projection: Rule = EveryUpdate()
        if recipe.projection == "end":
            projection = AtEnd(unit=unit)
        elif recipe.projection == "frank-wolfe":
            projection = FrankWolfe(radius, bound, unit)
        elif recipe.projection != "every":
            projection = Periodic(min(int(recipe.projection), sys.maxsize))
        settings = Settings(
            loss=loss,
            policy=policy,
            batch_size=size,
            all_pairs=self.all_pairs,
            learning_rate=self.learning_rate * unit**2,
            radius=radius,
            projection=projection,
            max_importance_weight=np.inf if weight is None else float(weight),
            clip_norm=(recipe.clip * typical**0.5 if recipe.clip else 0.0) or np.inf,
            sum_over_batch=adds_up,
            average=recipe.average,
        )
        d = X.shape[1]
        return SGDSolver(settings, d, accept_rng=accept_rng, pick_rng=pick_rng, init_scale=unit)


def typical_squared_distance(X: npt.NDArray[Any], triplets: IndexArray) -> float:
    """Return the median squared distance of anchors and negatives that differ; 0 if none do."""
    first = triplets[:1000]
    far = X[first[:, 0]].astype(np.float64) - X[first[:, 2]]
    far = far[far.any(axis=1)]
    return float(np.median(np.einsum("ij,ij->i", far, far))) if len(far) else 0.0


def largest_norm(
    X: npt.NDArray[Any],
    triplets: IndexArray,
    *,
    loss: Loss,
    start: float,
    batch_size: int,
    rule: NormRule,
    draws: int,
    rng: np.random.Generator,
) -> float:
    """Estimate W, the largest norm of a batch gradient, at the first iterate ``start * I``.

    The paper only says that W "is estimated by sampling". ``rule`` says how, from so many draws:

    - ``"triplet"``: the largest ``slope * norm`` of the sampled triplets, which bounds the
      gradient of any batch made of them;
    - ``"batch"``: the largest gradient norm of the sampled batches;
    - ``"bound"``: the largest ``norm`` of the sampled triplets; slopes never exceed 1.
    """
    size = batch_size if rule == "batch" else 1
    picked = rng.integers(max(1, len(triplets) // size), size=draws)
    largest = 0.0
    for batch in (triplets[size * p : size * (p + 1)] for p in picked):
        anchors, positives, negatives = (X[indices].astype(np.float64) for indices in batch.T)
        far, near = anchors - negatives, anchors - positives
        margins = start * (np.einsum("ij,ij->i", far, far) - np.einsum("ij,ij->i", near, near))
        slopes = np.ones(len(batch)) if rule == "bound" else loss.slope(margins)
        largest = max(largest, gradient_norm(far, near, slopes))
    return largest


def random_streams(random_state: Any) -> list[np.random.Generator]:
    """Independent generators: for triplets, and two for the solver."""
    entropy = check_random_state(random_state).randint(2**32, size=4, dtype=np.uint32)
    children = np.random.SeedSequence(entropy.tolist()).spawn(3)
    return [np.random.default_rng(child) for child in children]


class TripletRounds:
    """Each round draws triplets, and starts, in the coordinates of the metric learned so far.

    Parameters
    ----------
    coordinates, samples
        Where learning starts, and the samples there.
    plan : Plan
        The numbers.
    rngs : list of Generator
        Of `random_streams`.
    given : Source, optional
        The user's triplets, which every round goes through.
    n_components : int, optional
        Rows of L.
    """

    def __init__(
        self,
        coordinates: Coordinates,
        samples: Samples,
        plan: Plan,
        rngs: list[np.random.Generator],
        given: Source | None = None,
        n_components: int | None = None,
    ) -> None:
        self.coordinates, self.samples, self.plan, self.given = coordinates, samples, plan, given
        self.n_components = n_components
        self.triplet_rng, *self.solver_rngs = rngs
        self.n_triplets = plan.n_triplets or 0
        batch = plan.batch_triplets
        self.portion_size = portion_size(plan.n_rounds * self.n_triplets, batch)
        self.n_steps = plan.n_rounds * n_portions(self.n_triplets, self.portion_size, batch)
        self.mining_seconds = 0.0
        self.solver: SGDSolver | None = None

    def __iter__(self) -> Iterator[Round]:
        for _ in range(self.plan.n_rounds):
            started = perf_counter()
            if self.solver is not None:
                last, unit = self.solver.metric, self.solver.init_scale
                self.coordinates, step = self.coordinates.then(last, unit)
                self.samples = self.samples.transformed(step)
                (self.triplet_rng,) = self.solver_rngs[0].spawn(1)
            source = self.given
            if source is None:
                by_anchor = self.plan.recipe.triplets == "all-pairs"
                draw: Callable[..., Source] = AllPairsTriplets if by_anchor else DrawnTriplets
                k, n = self.plan.n_neighbors, self.n_triplets
                source = draw(self.samples, n, n_neighbors=k, rng=self.triplet_rng)
            self.solver = self.plan.solver(self.samples, source, self.solver_rngs)
            self.mining_seconds += perf_counter() - started
            yield Round(self.solver, self.samples, source, self.portion_size)

    def components(self) -> FloatArray:
        """L of the metric learned so far."""
        assert self.solver is not None
        metric, unit = self.solver.metric, self.solver.init_scale
        return self.coordinates.components(metric, unit, self.samples, self.n_components)
