"""Seconds of the learners in closed form, from samples of overlapping classes."""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from benchmarks.clock import best_clocked
from benchmarks.rows import Column, Report
from benchmarks.shapes import mixture
from calipers import GMML, KISSME, LFDA, RCA, Discriminant, Scaled, WithinClass

TABLES = {
    "closed-forms": [
        Column("learner", "learner", width=12),
        Column("shape", "shape", width=13),
        Column("classes", "n_classes", width=7),
        Column("seconds", "seconds", ".3f"),
        Column("CPU s", "cpu_seconds", ".3f"),
    ]
}
LEARNERS = (Scaled, WithinClass, Discriminant, RCA, KISSME, GMML, LFDA)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("--classes", type=int, default=20)
    names = [learner.__name__ for learner in LEARNERS]
    some = [name for name in names if name != "LFDA"]  # which searches neighbours as well
    parser.add_argument("--only", nargs="+", choices=names, default=some)


def run(args: argparse.Namespace, report: Report) -> None:
    """The best of three fits of each."""
    rng = np.random.default_rng(0)
    y = rng.integers(args.classes, size=args.samples)
    X = mixture(y, args.features, separation=1.0, rng=rng)
    for learner in LEARNERS:
        if learner.__name__ not in args.only:
            continue
        (seconds, cpu_seconds), _ = best_clocked(partial(learner().fit, X, y))
        report.add(
            "closed-forms",
            learner=learner.__name__,
            shape=f"{len(X):,} x {X.shape[1]}",
            n_classes=args.classes,
            seconds=seconds,
            cpu_seconds=cpu_seconds,
        )
