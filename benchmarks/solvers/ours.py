"""Calipers' solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.problem import METHODS, Outcome, Problem, paper_problem
from calipers import recipes
from calipers.losses import SmoothHinge
from calipers.sampling import ByGradientNorm
from calipers.solver import Recipe, Solver

COUNTS = ("updates", "changes", "projections", "negatives")


def run(problem: Problem) -> Outcome:
    """Walk through all triplets."""
    solver = Solver(
        recipe(problem),
        problem.X.shape[1],
        accept_rng=problem.accept_rng(),
        pick_rng=problem.pick_rng(),
    )
    accepted = solver.advance(problem.X, problem.triplets)
    average = solver.average
    tally = solver.iterate.tally[0]
    return Outcome(accepted, average, {name: int(tally[name]) for name in COUNTS})


def recipe(problem: Problem) -> Recipe:
    """The method's recipe with the problem's numbers."""
    parts: dict[str, Any] = {
        "loss": SmoothHinge(problem.smoothness),
        "learning_rate": problem.learning_rate,
        "radius": problem.radius,
    }
    if problem.method not in ("sgd", "as-sgd"):
        parts["batch_size"] = problem.batch_size
    if problem.method == "ha-sgd":
        parts["policy"] = ByGradientNorm(problem.largest)
    made: Recipe = getattr(recipes, problem.method.replace("-", "_"))(**parts)
    return made


def warm_up(methods: tuple[str, ...] = METHODS) -> None:
    """Compile or load the code of some methods, for few and for many features."""
    rng = np.random.default_rng(0)
    for d in (8, 400):
        X = rng.normal(size=(60, d)) / np.sqrt(d)
        triplets = np.argsort(rng.random((400, 60)), axis=1)[:, :3]
        for method in methods:
            run(paper_problem(X, triplets, method))
