"""Rounds of learning from triplets: mine, solve, and mine again under what was learned."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples, Samples, weights_of
from calipers.data.triplets import (
    LARGEST_PORTION,
    AllPairsTriplets,
    DrawnTriplets,
    Source,
    each_negative_once,
)
from calipers.estimators import validation
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import LinearMap, within_class
from calipers.solvers.from_recipe import sgd_solver
from calipers.solvers.low_rank import FactorRound, factor_steps, halves, held_out_error
from calipers.solvers.plan import Plan
from calipers.solvers.recipes import Recipe
from calipers.solvers.sgd import SGDSolver
from calipers.solvers.training import Round, n_steps, portion_size


class Numbers(NamedTuple):
    """Numbers of a fit that need no resolving."""

    smoothness: float
    radius: float


def random_streams(random_state: Any) -> list[np.random.Generator]:
    """Independent generators: for triplets, and two for the solver."""
    entropy = check_random_state(random_state).randint(2**32, size=4, dtype=np.uint32)
    children = np.random.SeedSequence(entropy.tolist()).spawn(3)
    return [np.random.default_rng(child) for child in children]


class TripletRounds:
    """Each round draws triplets, and starts, in the coordinates of the metric learned so far."""

    def __init__(
        self,
        coordinates: Coordinates,
        samples: Samples,
        *,
        plan: Plan,
        recipe: Recipe,
        numbers: Numbers,
        rngs: list[np.random.Generator],
        given: Source | None = None,
        n_components: int | None = None,
        is_trial: bool = False,
    ) -> None:
        self.coordinates, self.samples = coordinates, samples
        self.initial, self.initial_samples = coordinates, samples
        self.is_trial = is_trial
        self.plan, self.recipe, self.numbers = plan, recipe, numbers
        self.triplet_rng, *self.solver_rngs = rngs
        self.given, self.n_components = given, n_components
        self.factored: FactorRound | None = None
        self.n_triplets = plan.n_triplets or 0
        self.portion_size = portion_size(plan.n_rounds * self.n_triplets, plan.batch_triplets)
        self.mining_seconds = 0.0
        self.solver: SGDSolver | None = None

    @property
    def n_steps(self) -> int:
        """Portions of all rounds, at most."""
        plan = self.plan
        full = plan.n_rounds * n_steps(self.n_triplets, self.portion_size, plan.batch_triplets)
        if not self._learns_factor:
            return full
        steps = factor_steps(self.samples.shape[0])
        factor = n_steps(steps, portion_size(steps, 1), 1)
        return 3 * (full + factor)

    @property
    def _learns_factor(self) -> bool:
        """Whether a factor of fewer dimensions may be learned, which takes labels."""
        is_fewer = (self.n_components or np.inf) < self.samples.shape[1]
        return is_fewer and len(self.samples.class_sizes) > 0

    @property
    def _owns_samples(self) -> bool:
        """Whether the samples are a copy of X made here, or for here, that nobody needs again."""
        if self.samples is self.initial_samples:
            return self.initial.init.matrix is not None and not self._learns_factor
        return True

    def __iter__(self) -> Iterator[Round]:
        for number in range(self.plan.n_rounds):
            started = perf_counter()
            if number:
                self._move()
            source = self._triplets()
            self.solver = self.start(self.samples, source)
            self.mining_seconds += perf_counter() - started
            yield Round(
                self.solver, self.samples, source, self.portion_size, is_trial=self.is_trial
            )
        if self._learns_factor and (yield from self._prefers_factor()):
            self.factored = self._factor_round(self.initial_samples, is_first=True)
            yield self.factored.round

    def components(self) -> FloatArray:
        """L of the metric learned so far."""
        if self.factored is not None:
            return self.initial.low_rank_components(self.factored.factor, self.initial_samples)
        assert self.solver is not None
        return self.coordinates.components(
            self.solver.metric, self.solver.init_scale, self.samples, self.n_components
        )

    def _prefers_factor(self) -> Generator[Round, None, bool]:
        """Whether a factor learned for its rank errs less than the full metric, cut to it.

        Both are learned from one half of some samples and judged by 3-NN on the other, in turn.
        """
        found = halves(self.initial_samples, self.triplet_rng.spawn(1)[0])
        if found is None:
            return False
        some, is_held_out = found
        errors = np.zeros(2)
        for held_out in (is_held_out, ~is_held_out):
            kept = np.flatnonzero(~held_out)
            codes = np.unique(some.labels[kept], return_inverse=True)[1]
            half = MemorySamples(some.X[kept], codes, weights_of(some, kept))
            full = TripletRounds(
                Coordinates(LinearMap()),
                half,
                plan=self.plan,
                recipe=self.recipe,
                numbers=self.numbers,
                rngs=[rng.spawn(1)[0] for rng in (self.triplet_rng, *self.solver_rngs)],
                is_trial=True,
            )
            yield from full
            assert full.solver is not None
            factored = self._factor_round(half, is_trial=True)
            yield factored.round
            cut = full.coordinates.components(
                full.solver.metric, full.solver.init_scale, full.samples, self.n_components
            )
            for place, L in enumerate((cut, factored.factor)):
                images = MemorySamples(some.X @ L.T, some.labels, some.weights)
                errors[place] += held_out_error(images, held_out)
        return bool(errors[1] < errors[0])

    def _factor_round(
        self, samples: Samples, *, is_trial: bool = False, is_first: bool = False
    ) -> FactorRound:
        assert self.n_components is not None
        rng = self.triplet_rng.spawn(1)[0]
        made = FactorRound(samples, within_class(samples), int(self.n_components), rng)
        made.round.is_trial, made.round.is_first = is_trial, is_first
        return made

    def start(self, samples: Samples, source: Source) -> SGDSolver:
        """A solver at the identity, in units of the first triplets."""
        plan = self.plan
        X, first = samples.local(next(source.portions(LARGEST_PORTION)), n_columns=3)
        first = each_negative_once(first, plan.all_pairs)
        if self.recipe.margin_unit == "data":
            typical = validation.typical_squared_distance(X, first)
            validation.check_extent(X, typical)
        else:
            typical = validation.typical_squared_distance(X, first) if self.recipe.clip else 0.0
        return sgd_solver(
            self.recipe,
            X,
            first,
            typical_squared=typical,
            batch_size=plan.batch_triplets,
            all_pairs=plan.all_pairs,
            learning_rate=plan.learning_rate,
            smoothness=self.numbers.smoothness,
            radius=self.numbers.radius,
            rngs=self.solver_rngs,
        )

    def _move(self) -> None:
        """Take what the last round has learned as the new coordinates."""
        assert self.solver is not None
        self.coordinates, step = self.coordinates.then(self.solver.metric, self.solver.init_scale)
        if isinstance(self.samples, MemorySamples) and self._owns_samples:
            self.samples.X = step(self.samples.X, overwrite=True)
        else:
            self.samples = self.samples.transformed(step)
        (self.triplet_rng,) = self.solver_rngs[0].spawn(1)

    def _triplets(self) -> Source:
        if self.given is not None:
            return self.given
        assert self.plan.n_neighbors is not None
        by_anchor = self.recipe.triplets == "all-pairs"
        draw: Callable[..., Source] = AllPairsTriplets if by_anchor else DrawnTriplets
        return draw(
            self.samples,
            self.n_triplets,
            n_neighbors=self.plan.n_neighbors,
            rng=self.triplet_rng,
        )
