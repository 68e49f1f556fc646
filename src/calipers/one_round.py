"""What learners of one round share: SPML, OASIS, LEGO and ITML differ in solver and examples."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers import validation
from calipers.coordinates import Coordinates
from calipers.data.samples import Samples
from calipers.init import LinearMap
from calipers.rounds import random_streams
from calipers.training import AnyRound, History, Passes, Round, learn, n_steps, portion_size
from calipers.triplets import (
    DrawnTriplets,
    GivenTriplets,
    PairsOfTriplets,
    Source,
    check_pairs,
    check_triplets,
)
from calipers.validation import Given

_LIMIT_PAIRS = 10_000  # random pairs whose distances tell what is near and what is far
_PERCENTILES = (5, 95)


class Examples(NamedTuple):
    """What a round learns from, and the random streams of its solver."""

    source: Source
    rngs: list[np.random.Generator]
    started: float
    n_index_columns: int = 3

    def as_pairs(self) -> Examples:
        """The two pairs of each triplet."""
        return self._replace(source=PairsOfTriplets(self.source), n_index_columns=2)


def drawn_triplets(estimator: Any, given: Given) -> Examples:
    """Draw triplets among nearest neighbours; sets ``classes_`` and ``notes_``."""
    started = perf_counter()
    _check(estimator, given)
    k = int(estimator.n_neighbors)
    estimator.classes_ = given.classes
    estimator.notes_ += validation.check_labels_and_neighbors(estimator, given, k, stacklevel=5)
    triplet_rng, *rngs = random_streams(estimator.random_state)
    n_triplets = int(estimator.n_triplets)
    source = DrawnTriplets(given.samples, n_triplets, n_neighbors=k, rng=triplet_rng)
    return Examples(source, rngs, started)


def given_triplets(estimator: Any, given: Given, triplets: npt.ArrayLike) -> Examples:
    """Check a user's triplets."""
    started = perf_counter()
    _check(estimator, given)
    checked = check_triplets(triplets, given.samples.shape[0])
    return Examples(GivenTriplets(checked), random_streams(estimator.random_state)[1:], started)


def given_pairs(estimator: Any, given: Given, pairs: npt.ArrayLike, y: npt.ArrayLike) -> Examples:
    """Check a user's pairs."""
    started = perf_counter()
    _check(estimator, given)
    checked = check_pairs(pairs, y, given.samples.shape[0])
    rngs = random_streams(estimator.random_state)[1:]
    return Examples(GivenTriplets(checked), rngs, started, n_index_columns=2)


def _check(estimator: Any, given: Given) -> None:
    estimator.notes_ = validation.check_magnitude(given.samples)
    owner = type(estimator).__name__
    validation.check_components(owner, estimator.n_components, given.samples.shape[1])


def run(
    estimator: Any,
    given: Given,
    examples: Examples,
    solver: Any,
    *,
    max_iter: int | None = None,
    learned: Callable[[Any], dict[str, Any]] = lambda solver: {},
) -> History:
    """Feed the solver; sets ``components_`` and what every learner counts.

    With ``max_iter`` the same examples come again until the solver has converged. ``learned``
    says which further attributes follow from the solver.
    """
    prepared, source = perf_counter(), examples.source
    triplets = source.triplets if isinstance(source, GivenTriplets) else None
    checkpoint = estimator._checkpoint_observer(given.samples, triplets)
    whole = Coordinates(LinearMap())

    def attributes(solver: Any) -> dict[str, Any]:
        L = whole.components(solver.metric, 1.0, given.samples, estimator.n_components)
        return {"components_": L, **learned(solver)}

    round_: AnyRound
    if max_iter is None:
        size = portion_size(len(source), solver.batch_size)
        round_ = Round(solver, given.samples, source, size, examples.n_index_columns)
        n_portions = n_steps(len(source), size, solver.batch_size)
    else:
        everything = next(source.portions(len(source)))
        X, local = given.samples.local(everything, n_columns=examples.n_index_columns)
        round_, n_portions = Passes(solver, X, local, max_iter), max_iter
    history = learn(
        estimator,
        [round_],
        n_steps=n_portions,
        given=(given.X, given.y),
        learned=attributes,
        checkpoint=checkpoint,
        stacklevel=7,
    )
    for name, value in {**attributes(solver), **history.attributes()}.items():
        setattr(estimator, name, value)
    estimator.mining_seconds_ = prepared - examples.started
    estimator.solve_seconds_ = perf_counter() - prepared
    return history


def find_limits(estimator: Any, samples: Samples, rng: np.random.Generator) -> tuple[float, float]:
    """Squared distances up to which pairs are near, and from which they are far.

    Those not set are percentiles of the squared distances between random samples that differ.
    """
    n = samples.shape[0]
    one = rng.integers(n, size=_LIMIT_PAIRS)
    other = (one + 1 + rng.integers(n - 1, size=_LIMIT_PAIRS)) % n
    difference = samples.take(one).astype(np.float64) - samples.take(other)
    squared = np.einsum("ij,ij->i", difference, difference)
    squared = squared[squared > 0.0]
    validation.check_differences(float(np.median(squared)) if len(squared) else 0.0)
    found = np.sqrt(np.percentile(squared, _PERCENTILES)).tolist()
    near, far = (
        limit if asked is None else float(asked)
        for asked, limit in zip(
            (estimator.near_distance, estimator.far_distance), found, strict=True
        )
    )
    validation.check_limits(type(estimator).__name__, near, far)
    estimator.near_distance_, estimator.far_distance_ = near, far
    return near**2, far**2
