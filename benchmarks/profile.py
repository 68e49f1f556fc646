"""Where the solver's time goes: microseconds of a change of M, by what they are spent on.

Beside the whole run the pieces are timed one by one, on the M that the run ends with: the
margins that a change needs, its outer products, one factorisation, one eigenpair
where M is that of a step that left the cone. "cone" is what remains of the whole without the
margins and the outer products: mostly factorisations and the search for the negative pairs. It is
not made of the pieces beside it, since several pairs found at once cost less than one by one. The
plain reference pays "eigh" instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import limit, shapes
from benchmarks.clock import best_timed
from benchmarks.problem import METHODS, Problem, paper_problem
from benchmarks.rows import Column, Report
from benchmarks.solvers import ours
from calipers._core.compiled import (
    _add_outer_products,
    _all_negative,
    _is_positive_definite,
    _lanczos,
)
from calipers.arrays import FloatArray
from calipers.threads import single_threaded_blas

TABLES = {
    "profile": [
        Column("data", "data", width=18),
        Column("d", "n_features", width=4),
        Column("method", "method"),
        Column("changes", "changes", ",", 8),
        Column("rank", "rank", ".1f", 6),
        Column("negative", "negatives", ".2f", 8),
        Column("us a change", "whole", ".1f", 11),
        Column("x limit", "times_limit", ".2f", 7),
        Column("margins", "margins", ".1f", 8),
        Column("outer pr.", "outer", ".1f", 9),
        Column("factor", "factorisation", ".1f", 8),
        Column("a pair", "pair", ".1f", 8),
        Column("cone", "cone", ".1f", 8),
        Column("eigh", "eigh", ".1f", 8),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument("--only", nargs="+", choices=shapes.NAMES, default=("dna", "connect4"))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--triplets", type=int, default=100_000)


def run(args: argparse.Namespace, report: Report) -> None:
    """Profile method by method."""
    ours.warm_up(tuple(args.methods))
    report.say(
        "negative: pairs cut off per change; cone: the whole less margins and outer products, "
        "mostly factorisations and the search for negative pairs"
    )
    for name in args.only:
        data = shapes.data_set(name, data_dir=args.data_dir)
        triplets = shapes.triplets(data, args.triplets)
        floor = limit.measure(data.X, triplets)
        for method in args.methods:
            report.add(
                "profile",
                data=data.name,
                n_features=data.X.shape[1],
                method=method,
                **pieces(paper_problem(data.X, triplets, method), floor),
            )


def pieces(problem: Problem, floor: limit.Limit) -> dict[str, Any]:
    """Microseconds per change of the whole and of its pieces."""
    d = problem.X.shape[1]
    solver = ours.solver_of(problem)
    solver.advance(problem.X, problem.triplets)
    seconds, outcome = best_timed(lambda: ours.run(problem))
    changes = max(1, outcome.counts["changes"])
    state = solver.core_state
    rank = max(1, round(state.rank / changes))
    negatives = outcome.counts["negatives"] / changes
    evaluated = limit.evaluated(problem, outcome.counts["updates"])
    M = state.M + 1e-6 * state.norm * np.eye(d)
    with single_threaded_blas():
        measured = {
            "margins": 2 * evaluated * floor.difference / changes * 1e6,
            "outer": _microseconds(lambda n: _repeat_outer(M.copy(), rank, n)),
            "factorisation": _microseconds(lambda n: _repeat_factors(M, n)),
            "pair": _pair_microseconds(*_left(M)),
            "eigh": _microseconds(lambda n: [np.linalg.eigh(M) for _ in range(n)]),
        }
    whole = 1e6 * seconds / changes
    cone = whole - measured["margins"] - measured["outer"]
    return {
        "changes": changes,
        "rank": rank,
        "negatives": negatives,
        "whole": whole,
        "times_limit": seconds / floor.seconds(problem, outcome.counts["updates"]),
        "cone": cone,
        **measured,
    }


def _microseconds(repeat: Callable[[int], object]) -> float:
    repeat(1)
    return 1e6 * best_timed(lambda: repeat(10))[0] / 10


def _left(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """M after a typical step out of the cone, and the direction subtracted."""
    v = np.random.default_rng(0).normal(size=len(M))
    v *= np.sqrt(0.03 * np.linalg.norm(M)) / np.linalg.norm(v)
    return M - np.outer(v, v), v


def _repeat_outer(M: FloatArray, rank: int, n: int) -> None:
    vectors, signs = np.full((rank, len(M)), 1e-9), np.ones(rank)
    for _ in range(n):
        _add_outer_products(M, vectors, signs)


def _repeat_factors(M: FloatArray, n: int) -> None:
    for _ in range(n):
        _is_positive_definite(M)


def _pair_microseconds(M: FloatArray, v: FloatArray) -> float:
    """One pair by the tridiagonal form (or dsyevr), or by Lanczos if that finds it sooner."""
    seconds = [_microseconds(lambda n: [_all_negative(M, 1) for _ in range(n)])]
    if len(_lanczos(M, v, 1)[0]) == 1:
        seconds.append(_microseconds(lambda n: [_lanczos(M, v, 1) for _ in range(n)]))
    return min(seconds)
