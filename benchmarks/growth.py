"""Time and memory of a complete fit as N, n, d and b grow by factors of 2 to 16.

One of the four grows at a time. A size whose time would exceed the cap, going by the one
before, is skipped.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.clock import SHORT, timed, traced_megabytes
from benchmarks.problem import METHODS
from benchmarks.rows import Column, Report, Row
from benchmarks.searches import ours as search
from benchmarks.shapes import mixture
from benchmarks.solvers import ours as solver
from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.recipes import recipe_of

TABLES = {
    "growth": [
        Column("grows", "grows", width=6),
        Column("method", "method"),
        Column("N", "N", ",", 9),
        Column("n", "n", ",", 7),
        Column("d", "d", ",", 5),
        Column("b", "b", ",", 5),
        Column("mining s", "mining_seconds", ".3f"),
        Column("x", "mining_seconds_ratio", ".2f", 6),
        Column("solve s", "solve_seconds", ".3f"),
        Column("x", "solve_seconds_ratio", ".2f", 6),
        Column("peak MB", "megabytes", ".1f"),
        Column("x", "megabytes_ratio", ".2f", 6),
        Column("updates", "updates", ",", 9),
        Column("x", "updates_ratio", ".2f", 6),
    ]
}

MEASURED = ("mining_seconds", "solve_seconds", "megabytes", "updates")


@dataclass(frozen=True)
class Size:
    """Triplets, samples, features, batch size."""

    N: int = 50_000
    n: int = 4_000
    d: int = 50
    b: int = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--only", nargs="+", choices=("N", "n", "d", "b"), default="Nndb")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=("as-sgd", "ha-sgd"))
    parser.add_argument("--factors", nargs="+", type=int, default=(1, 2, 4, 8, 16))
    parser.add_argument("--seconds", type=float, default=60.0, help="cap of one fit")
    parser.add_argument("--shrink", type=int, default=1, help="divide N, n and d to start from")


def run(args: argparse.Namespace, report: Report) -> None:
    """Let one after the other grow, for each method."""
    first, k = Size(), args.shrink
    first = replace(first, N=first.N // k, n=first.n // k, d=max(8, first.d // k))
    _warm_up(tuple(args.methods))
    report.say("x: ratio to the row before; peak MB: largest allocation of the fit above X")
    for letter in args.only:
        for method in args.methods:
            _grow(letter, method, first, args, report)


def _warm_up(methods: tuple[str, ...]) -> None:
    """Compile or load every way to search and to solve, and what a fit adds to them."""
    search.warm_up()
    solver.warm_up(methods)
    for method in methods:
        measure(method, Size(N=500, n=300, d=8))


def _grow(letter: str, method: str, first: Size, args: argparse.Namespace, report: Report) -> None:
    if letter == "b" and not recipe_of(method).batched:
        report.skip("growth", "takes one triplet at a time", grows=letter, method=method)
        return
    before: Row | None = None
    for factor in args.factors:
        size = replace(first, **{letter: factor * getattr(first, letter)})
        facts = {"grows": letter, "method": method, **asdict(size)}
        if before and _expected(before, asdict(size)[letter] / before[letter]) > args.seconds:
            report.skip("growth", f"would take more than {args.seconds:g} s", **facts)
            return
        row = {**facts, **measure(method, size)}
        ratios = {f"{key}_ratio": _ratio(row[key], before[key]) for key in MEASURED if before}
        report.add("growth", **row, **ratios)
        before = row


def _expected(before: Row, factor: float) -> float:
    """Seconds if time grows with the square, as mining does in n and a product in d."""
    return float(factor**2 * (before["mining_seconds"] + before["solve_seconds"]))


def _ratio(now: float, before: float) -> float | None:
    return now / before if before else None


def measure(method: Any, size: Size) -> Row:
    """Best times of up to three fits, and the peak memory of one more."""
    X, y = noisy_classes(size.n, size.d)
    batch_size = size.b if recipe_of(method).batched else None
    settings: dict[str, Any] = {"n_rounds": 1, "n_triplets": size.N, "batch_size": batch_size}
    model = TripletSGD(method, init="identity", **settings, random_state=0)
    seconds, _ = timed(lambda: model.fit(X, y))
    times = [(model.mining_seconds_, model.solve_seconds_)]
    if seconds < SHORT:
        for _ in range(2):
            model.fit(X, y)
            times.append((model.mining_seconds_, model.solve_seconds_))
    mining, solving = zip(*times, strict=True)
    return {
        "mining_seconds": min(mining),
        "solve_seconds": min(solving),
        "megabytes": traced_megabytes(lambda: model.fit(X, y)),
        "updates": model.n_updates_,
        "projections": model.n_projections_,
    }


def noisy_classes(n: int, d: int) -> tuple[FloatArray, IndexArray]:
    """Classes that overlap so much that updates do not die out."""
    rng = np.random.default_rng(0)
    y = rng.integers(10, size=n)
    return mixture(y, d, separation=0.3, rng=rng), y
