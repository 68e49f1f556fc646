"""Attacks drawn at random, others each time: see ``tests/attacks.py``.

Each must end with a right answer or with one sentence. What breaks is printed with its seed, by
which ``--seed`` draws it again.
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

from benchmarks.rows import Column, Report

from attacks import ATTACKS, attack

TABLES = {
    "attack": [
        Column("attack", "attack", width=14),
        Column("cases", "cases", ","),
        Column("held", "held", ","),
        Column("refused", "refused", ","),
        Column("broken", "broken", ","),
        Column("seconds", "seconds", ".1f"),
        Column("holds", "holds"),
    ],
}
MOST_PRINTED = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cases", type=int, default=2350, help="in all (default: %(default)s)")
    parser.add_argument("--only", nargs="+", choices=ATTACKS, default=list(ATTACKS))
    parser.add_argument("--seed", type=int, help="of the first case (default: any)")


def run(args: argparse.Namespace, report: Report) -> None:
    """Draw cases of one attack after the other."""
    first = secrets.randbelow(2**32) if args.seed is None else args.seed
    total = sum(ATTACKS[name][1] for name in args.only)
    for name in args.only:
        _attack(name, -(-args.cases * ATTACKS[name][1] // total), first, report)


def _attack(name: str, n_cases: int, first: int, report: Report) -> None:
    seen: Counter[str] = Counter()
    problems = []
    started = perf_counter()
    for seed in range(first, first + n_cases):
        with tempfile.TemporaryDirectory() as folder:
            try:
                seen[attack(name, seed, Path(folder))] += 1
            except Exception as broken:  # whatever it is, it should not have come
                problems.append(f"{name} --seed {seed}: {type(broken).__name__}: {broken}")
    report.add(
        "attack",
        attack=name,
        cases=n_cases,
        held=seen["held"],
        refused=seen["refused"],
        broken=len(problems),
        seconds=perf_counter() - started,
        holds=not problems,
        problems=problems,
    )
    for problem in problems[:MOST_PRINTED]:
        report.say(problem[:500])
