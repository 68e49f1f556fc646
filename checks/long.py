"""A run over ten million triplets, watched for drift.

After every tenth M and the average must be symmetric to the last bit, positive semi-definite to
1e-10 and within the ball, and the norm and the floor that are kept of M must be true of it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import perf_counter

import numpy as np
from benchmarks.problem import METHODS, paper_problem
from benchmarks.rows import Column, Report
from benchmarks.solvers.ours import solver_of

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.sgd import SGDSolver

RADIUS = 8.0
N_SAMPLES = 12

TABLES = {
    "long": [
        Column("method", "method"),
        Column("triplets", "triplets", ",", 12),
        Column("updates", "updates", ",", 12),
        Column("lowest", "lowest", ".1e", 10),
        Column("norm", "norm", ".6f", 10),
        Column("norm drifts", "drift", ".1e", 12),
        Column("seconds", "seconds", ".1f"),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--triplets", type=int, default=10_000_000)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--features", type=int, default=6)


def run(args: argparse.Namespace, report: Report) -> None:
    """Advance, check, go on."""
    portion = max(10, args.triplets // 100)
    for method in args.methods:
        problem = paper_problem(*noise(args.features, portion, seed=0), method)
        solver = solver_of(replace(problem, radius=RADIUS))
        started = perf_counter()
        for number in range(100):
            solver.advance(*noise(args.features, portion, seed=number))
            if number % 10 == 9:
                facts = _facts(solver)
                report.add("long", method=method, seconds=perf_counter() - started, **facts)


def noise(n_features: int, n_triplets: int, *, seed: int) -> tuple[FloatArray, IndexArray]:
    """Few samples without structure, and triplets that contradict each other.

    No metric satisfies them, so that steps keep leaving the cone.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, n_features)) / np.sqrt(n_features)
    return X, np.argsort(rng.random((n_triplets, N_SAMPLES)), axis=1)[:, :3]


def _facts(solver: SGDSolver) -> dict[str, object]:
    last, average, state = solver.last, solver.average, solver.core_state
    lowest = min(float(np.linalg.eigvalsh(M)[0] / np.linalg.norm(M)) for M in (last, average))
    norm = max(float(np.linalg.norm(M)) for M in (last, average))
    drift = abs(float(state.norm / np.linalg.norm(state.M)) - 1.0)
    floor = float(state.floor - np.linalg.eigvalsh(state.M)[0])
    symmetric = bool((last == last.T).all() and (average == average.T).all())
    return {
        "triplets": solver.n_iterations * solver.batch_size,
        "updates": solver.n_updates,
        "lowest": lowest,
        "norm": norm,
        "drift": drift,
        "holds": symmetric
        and lowest >= -1e-10
        and norm <= RADIUS * (1 + 1e-12)
        and drift <= 1e-12
        and floor <= 1e-10 * float(state.norm),
    }
