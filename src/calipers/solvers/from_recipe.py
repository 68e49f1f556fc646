"""An SGD solver for a recipe, in the units of the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.solvers.losses import SmoothHinge
from calipers.solvers.recipes import Recipe
from calipers.solvers.sampling import (
    ByGradientNorm,
    ByRunningNorm,
    BySlope,
    EveryBatch,
    NormRule,
    Policy,
    largest_norm,
)
from calipers.solvers.sgd import Settings, SGDSolver


def sgd_solver(
    recipe: Recipe,
    X: npt.NDArray[Any],
    triplets: IndexArray,
    *,
    typical_squared: float,
    batch_size: int,
    all_pairs: int,
    learning_rate: float,
    smoothness: float,
    radius: float,
    rngs: list[np.random.Generator],
) -> SGDSolver:
    """Make a solver that starts at the identity in the units of the margin.

    Learning from ``sqrt(unit) * X`` from I is the same as learning from X from ``unit * I`` with
    the step times ``unit**2`` and the radius times ``unit``. ``typical_squared`` is the median
    squared distance of negatives (0 if unknown), ``triplets`` are the first ones.
    """
    accept_rng, pick_rng = rngs
    unit = 1.0 / typical_squared if recipe.margin_unit == "data" and typical_squared else 1.0
    loss = SmoothHinge(smoothness)
    clip_norm = recipe.clip * typical_squared**0.5 if recipe.clip else 0.0
    weight = recipe.max_importance_weight

    def norm(rule: NormRule) -> float:
        return largest_norm(
            X,
            triplets,
            loss=loss,
            start=unit,
            batch_size=batch_size,
            rule=rule,
            draws=recipe.norm_draws,
            rng=pick_rng,
        )

    adds_up = recipe.batch_reduce == "sum"
    gradient_bound = 0.0
    if recipe.projection == "frank-wolfe":
        gradient_bound = norm("bound") * (batch_size if adds_up else 1)
    settings = Settings(
        loss=loss,
        policy=_policy(recipe, norm),
        batch_size=batch_size,
        all_pairs=all_pairs,
        learning_rate=learning_rate * unit**2,
        radius=radius * unit,
        projection=recipe.projection_rule(
            unit=unit,
            radius=radius * unit,
            lipschitz=gradient_bound,
        ),
        max_importance_weight=np.inf if weight is None else float(weight),
        clip_norm=clip_norm or np.inf,
        sum_over_batch=adds_up,
        average=recipe.average,
    )
    d = X.shape[1]
    return SGDSolver(settings, d, accept_rng=accept_rng, pick_rng=pick_rng, init_scale=unit)


def _policy(recipe: Recipe, norm: Callable[[NormRule], float]) -> Policy:
    if recipe.sampling == "every":
        return EveryBatch()
    if recipe.sampling == "slope":
        return BySlope()
    if recipe.norm_bound == "running":
        return ByRunningNorm()
    return ByGradientNorm(norm(recipe.norm_bound))
