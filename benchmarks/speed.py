"""Solve seconds per data set and method: plain NumPy, ours, and the limit.

Both solvers learn from the same triplets with the same random numbers. Where the plain
one would take longer than the cap it is stopped, and the ratio is of the seconds that both
take for exactly the iterations it did.
"""

from __future__ import annotations

import argparse

from threadpoolctl import threadpool_limits

from benchmarks import blas, limit, ours, plain, shapes
from benchmarks.clock import best_clocked
from benchmarks.problem import METHODS, Problem, paper_problem, same_until
from benchmarks.rows import Column, Report, Row

TABLES = {
    "speed": [
        Column("data", "data", width=18),
        Column("shape", "shape", width=15),
        Column("method", "method"),
        Column("N", "n_triplets", ",", 7),
        Column("of its", "n_iterations", ",", 7),
        Column("plain did", "plain_iterations", ",", 9),
        Column("thr.", "plain_threads", width=4),
        Column("plain s", "plain_seconds", ".2f"),
        Column("ours s", "prefix_seconds", ".4f"),
        Column("ratio", "ratio", ".1f", 7),
        Column("CPU ratio", "cpu_ratio", ".1f", 9),
        Column("same", "same_decisions", ",", 7),
        Column("ours all s", "seconds", ".3f", 10),
        Column("updates", "updates", ",", 7),
        Column("changes", "changes", ",", 7),
        Column("proj.", "projections", ",", 7),
        Column("limit s", "limit_seconds", ".3f"),
        Column("x limit", "times_limit", ".2f", 7),
        Column("x strict", "times_strict_limit", ".2f"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument("--only", nargs="+", choices=shapes.NAMES, default=shapes.NAMES)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="cap of the plain reference (0: leave it out)"
    )
    parser.add_argument("--triplets", type=int, default=100_000)
    parser.add_argument("--shrink", type=int, default=1, help="divide the samples of the data")


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set."""
    ours.warm_up(tuple(args.methods))
    report.say(
        f"plain: NumPy, with the BLAS threads named (one or all, whichever is faster), stopped "
        f"after {args.seconds:g} s; 'ours s' and ratio are of the iterations that it did\n"
        "same: decisions in common from the start; changes: updates not lost in rounding\n"
        "limit: product of all margins needed + a Cholesky factorisation per update "
        "(strict: per change)"
    )
    for name in args.only:
        data = shapes.data_set(name, data_dir=args.data_dir, shrink=args.shrink)
        if data.note:
            report.say(f"{data.name}: {data.note}")
        _run_data(data, args, report)


def _run_data(data: shapes.Data, args: argparse.Namespace, report: Report) -> None:
    triplets = shapes.triplets(data, args.triplets)
    floor = limit.measure(data.X, triplets)
    threads = blas.for_eigendecomposition(data.X.shape[1])
    for method in args.methods:
        problem = paper_problem(data.X, triplets, method)
        report.add(
            "speed",
            data=data.name,
            note=data.note,
            shape=data.shape,
            method=method,
            n_triplets=len(triplets),
            n_iterations=problem.n_iterations,
            cap=args.seconds,
            plain_threads=threads,
            **compare(problem, floor, cap=args.seconds, threads=threads),
        )


def compare(problem: Problem, floor: limit.Limit, *, cap: float, threads: int) -> Row:
    """Both solvers on one problem; decisions are compared after the clock has stopped."""
    with threadpool_limits(threads, user_api="blas"):
        (plain_seconds, plain_cpu), expected = best_clocked(lambda: plain.run(problem, seconds=cap))
    (seconds, cpu_seconds), outcome = best_clocked(lambda: ours.run(problem))
    n_plain = len(expected.accepted)
    prefix_seconds, prefix_cpu = seconds, cpu_seconds
    if n_plain < problem.n_iterations:
        (prefix_seconds, prefix_cpu), _ = best_clocked(lambda: ours.run(problem.prefix(n_plain)))
    counts = outcome.counts
    limit_seconds = floor.seconds(problem, counts["updates"])
    strict_seconds = limit_seconds - floor.factorisation * (counts["updates"] - counts["changes"])
    return {
        "plain_iterations": n_plain,
        "plain_seconds": plain_seconds,
        "prefix_seconds": prefix_seconds,
        "ratio": plain_seconds / prefix_seconds,
        "cpu_ratio": plain_cpu / prefix_cpu,
        "same_decisions": same_until(expected, outcome),
        "seconds": seconds,
        **counts,
        "limit_seconds": limit_seconds,
        "times_limit": seconds / limit_seconds,
        "times_strict_limit": seconds / strict_seconds,
    }
