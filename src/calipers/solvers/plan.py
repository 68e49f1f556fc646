"""How many neighbours, triplets and steps: every None of TripletSGD is resolved here.

Each number is a continuous function of the number of samples, of features, and of the numbers
above it; none depends on whether another was given or resolved. The documentation's page on the
defaults has the evidence for each constant.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

from calipers.solvers.recipes import Recipe

N_NEIGHBORS = 7
N_ROUNDS = 3
TRIPLETS_PER_ROOT = 3_000  # triplets of a round, times the root of the number of samples
TRIPLET_FEATURES = 70_000_000  # upper bound of triplets times (features + 100), for speed
BATCH_SIZE = 20


class Plan(NamedTuple):
    """The numbers of a fit."""

    n_neighbors: int | None  # None where triplets were given
    n_rounds: int
    n_triplets: int | None  # of each round; None in a stream
    batch_size: int  # anchors
    learning_rate: float
    all_pairs: int  # positives and negatives of an anchor that make all triplets; 1: single draws

    @property
    def batch_triplets(self) -> int:
        """Triplets of an update."""
        return self.batch_size * self.all_pairs**2


def plan_for_labels(shape: tuple[int, int], recipe: Recipe, estimator: Any) -> Plan:
    """Resolve what a fit from labels was not told.

    ``estimator`` has the parameters n_neighbors, n_rounds, n_triplets, batch_size and
    learning_rate, each a number or None.
    """
    n, d = shape  # from 26 samples on the root grows by at most 2 % with one sample more
    k = int(estimator.n_neighbors or min(N_NEIGHBORS, n - 1))
    n_triplets = min(isqrt(TRIPLETS_PER_ROOT**2 * max(n, 26)), TRIPLET_FEATURES // (d + 100))
    return _plan(
        estimator,
        recipe,
        n_neighbors=k,
        n_rounds=int(estimator.n_rounds or N_ROUNDS),
        n_triplets=int(estimator.n_triplets or n_triplets),
        all_pairs=k if recipe.triplets == "all-pairs" else 1,
    )


def plan_for_triplets(n_given: int, recipe: Recipe, estimator: Any) -> Plan:
    """Resolve what a fit from given triplets was not told; a round is one pass over them."""
    return _plan(
        estimator,
        recipe,
        n_neighbors=None,
        n_rounds=int(estimator.n_rounds or N_ROUNDS),
        n_triplets=int(estimator.n_triplets or n_given),
        all_pairs=1,
    )


def plan_for_stream(recipe: Recipe, estimator: Any, *, is_labelled: bool) -> Plan:
    """Resolve what the first batch of a stream was not told, which does not depend on its size."""
    k = int(estimator.n_neighbors or N_NEIGHBORS) if is_labelled else None
    return _plan(
        estimator,
        recipe,
        n_neighbors=k,
        n_rounds=1,
        n_triplets=None,
        all_pairs=k if k and recipe.triplets == "all-pairs" else 1,
    )


def _plan(
    estimator: Any,
    recipe: Recipe,
    *,
    n_neighbors: int | None,
    n_rounds: int,
    n_triplets: int | None,
    all_pairs: int,
) -> Plan:
    """Resolve batch size and learning rate, which follow from the rest."""
    batch_size = BATCH_SIZE if recipe.batched else 1
    if n_triplets is not None:
        batch_size = max(1, min(batch_size, n_triplets // all_pairs**2))
    batch_size = int(estimator.batch_size or batch_size)
    learning_rate = float(estimator.learning_rate or batch_size)
    return Plan(n_neighbors, n_rounds, n_triplets, batch_size, learning_rate, all_pairs)
