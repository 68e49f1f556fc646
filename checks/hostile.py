"""Generated bad input against every learner, as many cases as you like, others each time.

Every case must give a metric that is one, or a sentence that names the cause; see
``tests/hostile.py``. A case that does neither is printed as hypothesis shrinks it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from time import perf_counter

from benchmarks.rows import Column, Report
from hypothesis import HealthCheck, given, settings

from hostile import LEARNERS, Case, cases, check

TABLES = {
    "hostile": [
        Column("learner", "learner", width=20),
        Column("cases", "cases", ","),
        Column("fitted", "fitted", ","),
        Column("refused", "refused", ","),
        Column("seconds", "seconds", ".1f"),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cases", type=int, default=100_000, help="in all (default: %(default)s)")
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))


def run(args: argparse.Namespace, report: Report) -> None:
    """Draw cases for one learner after the other."""
    for name in args.learners:
        _check(name, -(-args.cases // len(args.learners)), report)


def _check(name: str, n_cases: int, report: Report) -> None:
    seen: Counter[str] = Counter()

    @settings(
        max_examples=n_cases,
        deadline=None,
        derandomize=False,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def any_case(case: Case) -> None:
        seen[check(name, case)] += 1

    started, problem = perf_counter(), None
    try:
        any_case()
    except Exception as found:  # a learner that fails must not end the check of the others
        alone = found.exceptions if isinstance(found, ExceptionGroup) else [found]
        problem = "\n".join(line for one in alone for line in _told(one))
    report.add(
        "hostile",
        learner=name,
        cases=sum(seen.values()),
        fitted=seen["fitted"],
        refused=seen["refused"],
        seconds=perf_counter() - started,
        holds=problem is None,
        problem=problem,
    )
    if problem:
        report.say(problem)


def _told(problem: BaseException) -> list[str]:
    """What went wrong, and the case as hypothesis shows it."""
    return [f"{type(problem).__name__}: {problem}", *getattr(problem, "__notes__", ())]
