"""Rounds of learning from triplets: mine, solve, and mine again under what was learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from calipers.arrays import FloatArray
from calipers.data.samples import Samples
from calipers.data.triplets import (
    LARGEST_PORTION,
    AllPairsTriplets,
    DrawnTriplets,
    Source,
    each_negative_once,
)
from calipers.metric.coordinates import Coordinates
from calipers.solvers.plan import Plan
from calipers.solvers.sgd import SGDSolver
from calipers.solvers.training import Round, n_portions, portion_size


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
        for number in range(self.plan.n_rounds):
            started = perf_counter()
            if number:
                self._move()
            source = self._drawn() if self.given is None else self.given
            self.solver = self.start(self.samples, source)
            self.mining_seconds += perf_counter() - started
            yield Round(self.solver, self.samples, source, self.portion_size)

    def components(self) -> FloatArray:
        """L of the metric learned so far."""
        assert self.solver is not None
        metric, unit = self.solver.metric, self.solver.init_scale
        return self.coordinates.components(metric, unit, self.samples, self.n_components)

    @property
    def facts(self) -> dict[str, Any] | None:
        """What the paper's theorems are evaluated with, of the last round."""
        smoothness = self.plan.smoothness
        return None if self.solver is None else {**self.solver.facts, "smoothness": smoothness}

    def start(self, samples: Samples, source: Source) -> SGDSolver:
        """A solver at the identity, in units of the first triplets."""
        X, first = samples.local(next(source.portions(LARGEST_PORTION)), n_columns=3)
        return self.plan.solver(X, each_negative_once(first, self.plan.all_pairs), self.solver_rngs)

    def _move(self) -> None:
        """Take what the last round has learned as the new coordinates."""
        assert self.solver is not None
        self.coordinates, step = self.coordinates.then(self.solver.metric, self.solver.init_scale)
        self.samples = self.samples.transformed(step)
        (self.triplet_rng,) = self.solver_rngs[0].spawn(1)

    def _drawn(self) -> Source:
        assert self.plan.n_neighbors is not None
        by_anchor = self.plan.recipe.triplets == "all-pairs"
        draw: Callable[..., Source] = AllPairsTriplets if by_anchor else DrawnTriplets
        k, n = self.plan.n_neighbors, self.n_triplets
        return draw(self.samples, n, n_neighbors=k, rng=self.triplet_rng)
