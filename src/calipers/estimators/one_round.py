"""Learners of one round: they differ in the solver that they feed triplets or pairs to."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import Samples, relative_weights
from calipers.data.triplets import DrawnTriplets, GivenTriplets, PairsOfTriplets, Source
from calipers.estimators.base import FromPairs, FromTriplets, Learned, SteppedLearner
from calipers.estimators.checks import (
    Given,
    check_components,
    check_neighbors,
    check_varies,
)
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import LinearMap
from calipers.solvers.plan import random_streams
from calipers.solvers.training import Passes, Round, n_portions, portion_size

_LIMIT_PAIRS = 10_000  # random pairs whose distances tell what is near and what is far
_PERCENTILES = (5, 95)


@dataclass
class Examples:
    """What a round learns from: triplets, or pairs if ``n_index_columns`` is 2."""

    source: Source
    rngs: list[np.random.Generator]  # of the solver
    notes: list[str]
    mining_seconds: float
    n_index_columns: int = 3


class OneRound(FromTriplets, SteppedLearner):
    """A learner that takes triplets once, in order, or draws them among nearest neighbours."""

    n_triplets: int
    n_neighbors: int
    n_components: int | None
    random_state: Any

    def _examples(self, given: Given, *, as_pairs: bool = False) -> Examples:
        """The triplets or pairs that were given, or triplets drawn; each triplet is two pairs."""
        started, samples = perf_counter(), given.samples
        notes = check_varies(given)
        check_components(self, samples.shape[1])
        triplet_rng, *rngs = random_streams(self.random_state)
        source: Source
        if given.pairs is not None:
            source = GivenTriplets(given.pairs)
        elif given.triplets is not None:
            source = GivenTriplets(given.triplets)
        else:
            k, n = int(self.n_neighbors), int(self.n_triplets)
            notes += check_neighbors(self, given, k)
            source = DrawnTriplets(samples, n, n_neighbors=k, rng=triplet_rng)
        if as_pairs and given.pairs is None:
            source = PairsOfTriplets(source)
        return Examples(source, rngs, notes, perf_counter() - started, 2 if as_pairs else 3)

    def _run(
        self, given: Given, examples: Examples, solver: Any, max_iter: int | None = None
    ) -> Learned:
        """Feed the solver; with ``max_iter`` the same again and again until it has converged."""
        source, n_columns, samples = examples.source, examples.n_index_columns, given.samples
        whole = Coordinates(LinearMap())
        round_: Round | Passes
        if max_iter is None:
            size = portion_size(len(source), solver.batch_size)
            round_ = Round(solver, samples, source, size, n_columns)
            n_steps = n_portions(len(source), size, solver.batch_size)
        else:
            X, local = samples.local(next(source.portions(len(source))), n_columns=n_columns)
            round_, n_steps = Passes(solver, X, local, max_iter), max_iter

        def components() -> FloatArray:
            return whole.components(solver.metric, 1.0, samples, self.n_components)

        curve = "pair_curve_" if n_columns == 2 else "triplet_curve_"
        name = None if max_iter else curve
        learned, _ = self._trained(given, [round_], n_steps, components, name)
        return {
            **learned,
            "notes_": examples.notes,
            "mining_seconds_": examples.mining_seconds,
        }


class OfPairs(FromPairs, OneRound):
    """One that takes pairs, and has limits up to which pairs are near and from which far."""

    near_distance: float | None
    far_distance: float | None

    def _limits(self, samples: Samples, rng: np.random.Generator) -> tuple[float, float]:
        """Distances; those not set are percentiles of random samples that differ."""
        near, far = self.near_distance, self.far_distance
        if near is None or far is None:
            found = _percentiles(samples, rng)
            near, far = found[0] if near is None else near, found[1] if far is None else far
        if not near < far:
            raise ValueError(
                f"{type(self).__name__} needs near_distance below far_distance, got near_distance="
                f"{near:.4g} and far_distance={far:.4g} (those not set come from X): lower "
                "near_distance or raise far_distance."
            )
        return float(near), float(far)


def _percentiles(samples: Samples, rng: np.random.Generator) -> list[float]:
    n = samples.shape[0]
    weights = relative_weights(samples, np.arange(n))
    if weights is None:
        one = rng.integers(n, size=_LIMIT_PAIRS)
        other = (one + 1 + rng.integers(n - 1, size=_LIMIT_PAIRS)) % n
    else:
        one, other = rng.choice(n, size=(2, _LIMIT_PAIRS), p=weights / n)
    difference = samples.take(one).astype(np.float64) - samples.take(other)
    squared = np.einsum("ij,ij->i", difference, difference)
    squared = squared[squared > 0.0]
    if not len(squared):
        raise ValueError(
            "Limits are distances of random samples that differ, but nearly all of X, or of "
            "sample_weight, is on samples that are the same: set near_distance and far_distance."
        )
    found: list[float] = np.sqrt(np.percentile(squared, _PERCENTILES)).tolist()
    return found
