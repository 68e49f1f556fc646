"""Calipers' solver."""

from __future__ import annotations

import numpy as np

from benchmarks.problem import METHODS, Outcome, Problem, paper_problem
from calipers.solvers.parts import ByGradientNorm, BySlope, EveryBatch, Policy, SmoothHinge
from calipers.solvers.sgd import Settings, SGDSolver

COUNTS = ("updates", "changes", "projections", "negatives")


def run(problem: Problem) -> Outcome:
    """Learn from all triplets."""
    solver = solver_of(problem)
    accepted = solver.advance(problem.X, problem.triplets)
    counts = {name: int(getattr(solver.core_state, name)) for name in COUNTS}
    return Outcome(accepted, solver.average, counts)


def solver_of(problem: Problem) -> SGDSolver:
    """The solver of a problem, before its first step."""
    settings = Settings(
        loss=SmoothHinge(problem.smoothness),
        policy=_policy(problem),
        batch_size=problem.batch_size,
        learning_rate=problem.learning_rate,
        radius=problem.radius,
    )
    d = problem.X.shape[1]
    accept_rng, pick_rng = problem.accept_rng(), problem.pick_rng()
    return SGDSolver(settings, d, accept_rng=accept_rng, pick_rng=pick_rng)


def _policy(problem: Problem) -> Policy:
    if problem.method in ("sgd", "mini-sgd"):
        return EveryBatch()
    if problem.method == "ha-sgd":
        return ByGradientNorm(problem.largest)
    return BySlope()


def warm_up(methods: tuple[str, ...] = METHODS) -> None:
    """Run some methods once, for few and for many features: libraries and caches are warm."""
    rng = np.random.default_rng(0)
    for d in (8, 400):
        X = rng.normal(size=(60, d)) / np.sqrt(d)
        triplets = np.argsort(rng.random((400, 60)), axis=1)[:, :3]
        for method in methods:
            run(paper_problem(X, triplets, method))
