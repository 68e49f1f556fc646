"""What learners of one round share: SPML, OASIS, LEGO and ITML differ in solver and examples."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from calipers.data.samples import Samples, relative_weights
from calipers.data.triplets import DrawnTriplets, GivenTriplets, PairsOfTriplets, Source
from calipers.estimators import validation
from calipers.estimators.inputs import Given
from calipers.estimators.rounds import random_streams
from calipers.interrupt import InterruptedFitWarning, interrupt_requested
from calipers.metric.coordinates import Coordinates
from calipers.metric.init import LinearMap
from calipers.notices import warn_user
from calipers.solvers.lbfgs import Descent
from calipers.solvers.training import (
    AnyRound,
    CallbackObserver,
    History,
    Passes,
    Round,
    learn,
    n_steps,
    portion_size,
)

_LIMIT_PAIRS = 10_000  # random pairs whose distances tell what is near and what is far
_PERCENTILES = (5, 95)


class Examples(NamedTuple):
    """What a round learns from, and the random streams of its solver."""

    source: Source
    rngs: list[np.random.Generator]
    mining_seconds: float
    n_index_columns: int = 3  # 3 for triplets, 2 for pairs

    def as_pairs(self) -> Examples:
        """The two pairs of each triplet; pairs as they are."""
        if self.n_index_columns == 2:
            return self
        return self._replace(source=PairsOfTriplets(self.source), n_index_columns=2)


def examples_of(estimator: Any, given: Given) -> Examples:
    """The triplets or pairs given, or triplets drawn among nearest neighbours; sets ``notes_``."""
    started, d = perf_counter(), given.samples.shape[1]
    estimator.notes_ = validation.check_magnitude(given.samples)
    validation.check_components(type(estimator).__name__, estimator.n_components, d)
    triplet_rng, *rngs = random_streams(estimator.random_state)
    if given.pairs is not None:
        return Examples(GivenTriplets(given.pairs), rngs, perf_counter() - started, 2)
    source: Source
    if given.triplets is not None:
        source = GivenTriplets(given.triplets)
    else:
        k = int(estimator.n_neighbors)
        estimator.notes_ += validation.check_labels_and_neighbors(estimator, given, k)
        n_triplets = int(estimator.n_triplets)
        source = DrawnTriplets(given.samples, n_triplets, n_neighbors=k, rng=triplet_rng)
    return Examples(source, rngs, perf_counter() - started)


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
    started, source, samples = perf_counter(), examples.source, given.samples
    round_: AnyRound
    if max_iter is None:
        size = portion_size(len(source), solver.batch_size)
        round_ = Round(solver, samples, source, size, examples.n_index_columns)
        n_portions = n_steps(len(source), size, solver.batch_size)
    else:
        everything = next(source.portions(len(source)))
        X, local = samples.local(everything, n_columns=examples.n_index_columns)
        round_, n_portions = Passes(solver, X, local, max_iter), max_iter
    attributes = _attributes(estimator, samples, learned)
    history = learn(
        estimator,
        [round_],
        n_steps=n_portions,
        given=(given.X, given.y),
        learned=attributes,
    )
    _set(estimator, attributes(solver) | history.attributes())
    name = {2: "pair_curve_", 3: "triplet_curve_"}.get(examples.n_index_columns)
    if max_iter is None and name is not None:
        setattr(estimator, name, history.example_curve())
    estimator.mining_seconds_ = examples.mining_seconds
    estimator.solve_seconds_ = perf_counter() - started
    return history


def minimise(
    estimator: Any,
    given: Given,
    solver: Descent,
    *,
    learned: Callable[[Any], dict[str, Any]] = lambda solver: {},
) -> None:
    """Let L-BFGS take its steps, under callbacks and Ctrl-C.

    Sets ``components_``, ``objective_curve_``, ``converged_`` and the counts, and warns if
    `max_iter` steps were too few. ``learned`` says which further attributes follow from the solver.
    """
    started = perf_counter()
    attributes = _attributes(estimator, given.samples, learned)
    with (
        CallbackObserver(
            estimator, given.X, given.y, solver.max_iter, lambda: attributes(solver)
        ) as callbacks,
        interrupt_requested() as requested,
    ):
        solver.run(lambda: callbacks.step() | requested())
        estimator.interrupted_ = requested()
    _set(estimator, attributes(solver))
    estimator.objective_curve_ = np.array(solver.objectives)
    estimator.objective_ = solver.objectives[-1]
    estimator.n_iter_ = estimator.n_updates_ = solver.n_updates
    estimator.converged_ = solver.converged
    estimator.solve_seconds_ = perf_counter() - started
    owner, n_steps = type(estimator).__name__, f"{solver.n_updates} of {solver.max_iter} steps"
    if estimator.interrupted_:
        warn_user(
            f"{owner} was interrupted after {n_steps}: the metric is the one learned by then.",
            InterruptedFitWarning,
        )
    elif not solver.converged and solver.n_updates == solver.max_iter:
        warn_user(
            f"{owner} stopped after max_iter={solver.max_iter} steps, while the objective still "
            "fell: raise max_iter or tol.",
            ConvergenceWarning,
        )


def _attributes(
    estimator: Any, samples: Samples, learned: Callable[[Any], dict[str, Any]]
) -> Callable[[Any], dict[str, Any]]:
    """What an estimator gets from a solver: the components of its metric, and what is learned."""
    whole = Coordinates(LinearMap())

    def attributes(solver: Any) -> dict[str, Any]:
        more = learned(solver)
        if "components_" in more:
            return more
        L = whole.components(solver.metric, 1.0, samples, estimator.n_components)
        return {"components_": L, **more}

    return attributes


def _set(estimator: Any, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        setattr(estimator, name, value)


def find_limits(estimator: Any, samples: Samples, rng: np.random.Generator) -> tuple[float, float]:
    """Squared distances up to which pairs are near, and from which they are far.

    Those not set are percentiles of the distances between random samples that differ.
    """
    owner, limits = type(estimator).__name__, [estimator.near_distance, estimator.far_distance]
    if None in limits:
        found = _percentiles(owner, samples, rng)
        limits = [new if old is None else old for old, new in zip(limits, found, strict=True)]
    near, far = map(float, limits)
    validation.check_limits(owner, near, far)
    estimator.near_distance_, estimator.far_distance_ = near, far
    return near**2, far**2


def _percentiles(owner: str, samples: Samples, rng: np.random.Generator) -> list[float]:
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
            f"{owner} sets its limits by random samples that differ, but nearly all of X, or of "
            "sample_weight, is on samples that are the same: set near_distance and far_distance."
        )
    validation.check_differences(float(np.median(squared)))
    return cast(list[float], np.sqrt(np.percentile(squared, _PERCENTILES)).tolist())
