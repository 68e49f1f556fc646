"""Figure 1: the loss of a fixed sample of training triplets, at the average so far."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.rounds import random_streams
from calipers.paper.runs import Row
from calipers.solvers.from_recipe import sgd_solver
from calipers.solvers.losses import SmoothHinge

N_TRIPLETS = 1000
"""Triplets whose mean loss is the training error; the same for all methods."""

CURVE_POINTS = 30
"""Points of a curve, denser at its beginning."""


def training_curve(learner: Any, X: FloatArray, triplets: IndexArray, *, seed: int) -> Row:
    """Run a fitted learner's method once more, and look at it from outside at every point.

    Returns the triplets seen so far and the training error there, beginning with the first metric.
    """
    b, L = int(learner.batch_size), float(learner.smoothness)
    solver = sgd_solver(
        learner.method,
        X,
        triplets,
        typical_squared=0.0,
        batch_size=b,
        all_pairs=1,
        learning_rate=float(learner.learning_rate),
        smoothness=L,
        radius=float(learner.radius),
        rngs=random_streams(seed)[1:],
    )
    chosen = triplets[np.random.default_rng(0).permutation(len(triplets))[:N_TRIPLETS]]
    anchors, positives, negatives = (X[column].astype(np.float64) for column in chosen.T)
    near, far = anchors - positives, anchors - negatives

    def error() -> float:
        M = solver.average
        margins = np.sum((far @ M) * far, axis=1) - np.sum((near @ M) * near, axis=1)
        return float(f"{SmoothHinge(L).value(margins).mean():.5g}")

    ends = (len(triplets) // b * np.linspace(0.0, 1.0, CURVE_POINTS + 1) ** 2).astype(int)
    seen, losses = [0], [error()]
    for first, last in pairwise(ends):
        if last > first:
            solver.advance(X, triplets[first * b : last * b])
            seen.append(int(last) * b)
            losses.append(error())
    return {"triplets": seen, "loss": losses}
