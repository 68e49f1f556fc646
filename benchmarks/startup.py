"""What a user waits for before the work begins, each in fresh processes.

Compiled code is on disk before the clock starts, which is what every process but the very
first one meets.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial
from statistics import median

from benchmarks import fresh
from benchmarks.clock import timed
from benchmarks.problem import METHODS
from benchmarks.rows import ROOT, Column, Report

COMMANDS = {
    "python alone": ["-c", "pass"],
    "import sklearn": ["-c", "import sklearn"],
    "import sklearn, calipers": ["-c", "import sklearn, calipers"],
    "import sklearn.neighbors": ["-c", "import sklearn.neighbors"],
    "import sklearn.neighbors, calipers": ["-c", "import sklearn.neighbors, calipers"],
    "calipers --help": ["-m", "calipers", "--help"],
}

TABLES = {
    "process": [
        Column("process", "process", width=36),
        Column("best s", "best_seconds", ".3f"),
        Column("median s", "median_seconds", ".3f"),
        Column("adds", "added_seconds", ".3f"),
    ],
    "first fit": [
        Column("method", "method"),
        Column("shape", "shape", width=12),
        Column("first fit s", "first_seconds", ".3f", 12),
        Column("second fit s", "second_seconds", ".3f", 12),
        Column("beyond the work s", "beyond_seconds", ".3f", 17),
    ],
}

MOST_FITS = 3  # processes that fit, per method and shape


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--features", nargs="+", type=int, default=(16, 256))


def run(asked: argparse.Namespace, report: Report) -> None:
    """Start processes; then look at the first fit in a process."""
    report.say(f"whole processes, {asked.repeats} each after one that is not counted")
    best: dict[str, float] = {}
    for process, words in COMMANDS.items():
        readings = [timed(partial(_start, words))[0] for _ in range(asked.repeats + 1)]
        best[process] = min(readings[1:])
        without = process.removesuffix(", calipers")
        report.add(
            "process",
            process=process,
            best_seconds=best[process],
            median_seconds=median(readings[1:]),
            added_seconds=best[process] - best[without] if without != process else None,
            readings=readings[1:],
        )
    for method in asked.methods:
        for d in asked.features:
            _first_fit(method, d, min(asked.repeats, MOST_FITS), report)


def _start(words: list[str]) -> None:
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)


def _first_fit(method: str, n_features: int, repeats: int, report: Report) -> None:
    n_samples = 1_000
    answers = [
        fresh.call("two_fits", method=method, n_samples=n_samples, n_features=n_features)
        for _ in range(repeats + 1)
    ]
    first, second = (
        min(answer[key] for answer in answers[1:]) for key in ("first_seconds", "second_seconds")
    )
    report.add(
        "first fit",
        method=method,
        shape=f"{n_samples:,} x {n_features}",
        first_seconds=first,
        second_seconds=second,
        beyond_seconds=first - second,
        readings=answers[1:],
    )
