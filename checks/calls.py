"""Which of our Python functions a default ``TripletSGD().fit(iris)`` goes through.

A first fit loads and compiles what is needed, a second one is counted, in the thread that calls it.
Comprehensions are not counted, a generator once however often it is resumed; compiled functions
are not seen.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from benchmarks.rows import Column, Report
from sklearn.datasets import load_iris

import calipers
from calipers import TripletSGD

PACKAGE = Path(calipers.__file__).parent

TABLES = {
    "calls": [
        Column("file", "file", width=28),
        Column("function", "function", width=44),
        Column("calls", "calls", ","),
    ],
}


class Function(NamedTuple):
    """One of our functions."""

    file: str  # below src/calipers
    name: str  # qualified


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: argparse.Namespace, report: Report) -> None:
    """Fit, fit again and count."""
    X, y = load_iris(return_X_y=True)
    model = TripletSGD(random_state=0).fit(X, y)
    counts = counted_calls(lambda: model.fit(X, y))
    for function, n in sorted(counts.items()):
        report.add("calls", file=function.file, function=function.name, calls=n, holds=True)
    n_files = len({function.file for function in counts})
    report.say(
        f"\n{len(counts)} functions in {n_files} files, {sum(counts.values()):,} calls, "
        f"{_ending(counts, '.fit')} fits, {_ending(counts, 'Solver.__init__')} solvers"
    )


def counted_calls(call: Callable[[], object]) -> Counter[Function]:
    """How often each of our functions is called."""
    counts: Counter[Function] = Counter()
    generators: set[FrameType] = set()

    def count(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or frame in generators or not _is_ours(code):
            return
        if code.co_flags & inspect.CO_GENERATOR:
            generators.add(frame)
        file = Path(code.co_filename).relative_to(PACKAGE)
        counts[Function(str(file), code.co_qualname)] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return counts


def _is_ours(code: CodeType) -> bool:
    """Whether it is a function of the package, or a lambda; neither a class nor a comprehension."""
    is_function = bool(code.co_flags & inspect.CO_NEWLOCALS)
    is_named = not code.co_name.startswith("<") or code.co_name == "<lambda>"
    return is_function and is_named and code.co_filename.startswith(str(PACKAGE))


def _ending(counts: Counter[Function], ending: str) -> int:
    return sum(n for function, n in counts.items() if function.name.endswith(ending))
