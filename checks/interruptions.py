"""Fits and experiments stopped at random moments by SIGKILL and SIGTERM, and started again.

After each stop nothing half is found under a final name, and what is found is what an
undisturbed command finds; the same command, started again, goes on and ends with the same
bits. See ``tests/interrupted.py``; every run of the check stops at other moments.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from secrets import randbits
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from benchmarks.rows import Column, Report

from interrupted import JOBS, SIGNALS, a_table, stopped, undisturbed

TABLES = {
    "interruptions": [
        Column("command", "job", width=18),
        Column("undisturbed s", "whole", ".1f", 13),
        Column("times", "times"),
        Column("stopped", "stopped"),
        Column("part done", "partly", width=10),
        Column("seconds", "seconds", ".0f"),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--times", type=int, default=30, help="of a command (default: %(default)s)")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))


def run(args: argparse.Namespace, report: Report) -> None:
    """Stop, look, start again."""
    seed = randbits(63)
    for name in args.jobs:
        _check(name, args.times, seed, report)


def _check(name: str, times: int, seed: int, report: Report) -> None:
    """Stop a command up to three times in a row, then let it end; over and over."""
    started, job = perf_counter(), JOBS[name]
    n_stopped, n_partly, problem = 0, 0, None
    with TemporaryDirectory() as temporary:
        expected, whole = undisturbed(job, _folder(Path(temporary), "undisturbed"))
        for number in range(times):
            rng = np.random.default_rng([seed, number])
            folder = _folder(Path(temporary), str(number))
            try:
                for how in rng.choice(SIGNALS, size=rng.integers(1, 4)):
                    found = stopped(job, folder, SIGNALS[SIGNALS.index(how)], rng.uniform(0, whole))
                    assert found.items() <= expected.items(), "found something else"
                    n_stopped += len(found) < len(expected)
                    n_partly += (folder / "state").exists() or 0 < len(found) < len(expected)
                assert undisturbed(job, folder)[0] == expected, "ended with something else"
            except Exception as wrong:  # one moment must not end the check of the others
                problem = f"number {number}: {type(wrong).__name__}: {wrong}"
    report.add(
        "interruptions",
        job=name,
        whole=whole,
        times=times,
        stopped=n_stopped,
        partly=n_partly,
        seconds=perf_counter() - started,
        seed=seed,
        holds=problem is None,
        problem=problem,
    )
    if problem:
        report.say(problem)


def _folder(parent: Path, name: str) -> Path:
    (parent / name).mkdir()
    a_table(parent / name)
    return parent / name
