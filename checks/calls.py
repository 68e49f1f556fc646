"""Which functions of ours a default fit, and ``calipers evaluate``, go through.

Each runs twice; the second run counts, after what is loaded or built once.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

from benchmarks.rows import Column, Report
from sklearn.datasets import load_iris

import calipers
from calipers import TripletSGD
from calipers.cli.main import main

PACKAGE = Path(calipers.__file__).parent
MOST = {"fit": (90, 14), "evaluate": (200, 35)}  # functions and files that are enough

TABLES = {
    "calls": [
        Column("what", "what", width=10),
        Column("functions", "functions", ","),
        Column("files", "files", ","),
        Column("calls", "calls", ","),
        Column("holds", "holds"),
    ],
    "functions": [
        Column("what", "what", width=10),
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
    """Add the options."""
    parser.add_argument("--each", action="store_true", help="list the functions, too")


def run(args: argparse.Namespace, report: Report) -> None:
    """Fit and evaluate on iris, and count."""
    data = load_iris(as_frame=True)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "iris.csv"
        data.frame.to_csv(table, index=False)
        model = TripletSGD(random_state=0)
        words = ["evaluate", str(table), "--label", "target"]
        tasks: dict[str, Callable[[], object]] = {
            "fit": lambda: model.fit(data.data.to_numpy(), data.target.to_numpy()),
            "evaluate": lambda: main(words),
        }
        for what, task in tasks.items():
            with redirect_stdout(StringIO()):
                task()
                counts = counted_calls(task)
            n, files = len(counts), len({function.file for function in counts})
            most, most_files = MOST[what]
            report.add(
                "calls",
                what=what,
                functions=n,
                files=files,
                calls=sum(counts.values()),
                holds=n <= most and files <= most_files,
            )
            for function, times in sorted(counts.items()) if args.each else []:
                report.add(
                    "functions",
                    what=what,
                    file=function.file,
                    function=function.name,
                    calls=times,
                    holds=True,
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
