"""The core broken in small ways, one at a time; the tests must notice each.

Each mutant of `checks.mutants` is applied to a copy of the sources, and the tests named with it
are run there until the first that fails. A mutant that no test notices has survived: it is
marked NO. Before that, these tests must pass in the copy as it is.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.rows import Column, Report

from calipers.compiled import PARTS
from checks import ROOT
from checks.mutants import MUTANTS, Mutant

LONGEST = 1800  # seconds; a mutant that never ends is noticed, too

TABLES = {
    "mutations": [
        Column("nr", "number", width=3),
        Column("file", "file", width=25),
        Column("noticed", "holds", width=7),
        Column("seconds", "seconds", ".0f"),
        Column("broken", "why", width=50),
        Column("by", "by", width=60),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("numbers", nargs="*", type=_number, help="only these (default: all)")


def _number(word: str) -> int:
    """Of a mutant."""
    if not word.isdecimal() or int(word) >= len(MUTANTS):
        raise argparse.ArgumentTypeError(
            f"mutants have the numbers 0 to {len(MUTANTS) - 1}, not {word!r}"
        )
    return int(word)


def run(asked: argparse.Namespace, report: Report) -> None:
    """Break, test, mend."""
    chosen = asked.numbers or range(len(MUTANTS))
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / "copy"
        for name in ("src", "tests", "benchmarks", "checks", "pyproject.toml", "README.md"):
            _copy(ROOT / name, copy / name)
        passed: set[tuple[str, ...]] = set()
        for number in chosen:
            tests = MUTANTS[number].tests
            if tests not in passed:
                problem = _failed(copy, tests, Path(temporary) / "compiled")
                if problem:
                    raise SystemExit(f"Without any mutant {' '.join(tests)} fails: {problem}")
                passed.add(tests)
            _check(number, MUTANTS[number], copy, Path(temporary), report)


def mutated(mutant: Mutant, text: str) -> str:
    """The text of the file with the break in it.

    Raises
    ------
    ValueError
        The old text is not there, or not once.
    """
    if text.count(mutant.old) != 1:
        raise ValueError(
            f"{mutant.old!r} occurs {text.count(mutant.old)} times in {mutant.file}, not once: "
            "bring the mutant up to date."
        )
    return text.replace(mutant.old, mutant.new)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _check(number: int, mutant: Mutant, copy: Path, temporary: Path, report: Report) -> None:
    file = copy / "src" / "calipers" / mutant.file
    whole, started = file.read_text(), perf_counter()
    # compiled code of a mutant of the kernels must not stay for the next
    is_compiled = "numba" in whole or file.name in PARTS
    cache = temporary / (f"compiled-{number}" if is_compiled else "compiled")
    try:
        file.write_text(mutated(mutant, whole))
        by = _failed(copy, mutant.tests, cache)
    finally:
        file.write_text(whole)
        if is_compiled:
            shutil.rmtree(cache, ignore_errors=True)
    report.add(
        "mutations",
        number=number,
        file=mutant.file,
        why=mutant.why,
        holds=bool(by),
        by=by or "SURVIVED",
        old=mutant.old,
        new=mutant.new,
        tests=" ".join(mutant.tests),
        seconds=perf_counter() - started,
    )


def _failed(copy: Path, tests: tuple[str, ...], cache: Path) -> str:
    """The first test that fails, or "" if all pass; ends the check if they cannot be tried."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy / "tests")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(cache),
    }
    words = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*words, *tests],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return "it does not end"
    if done.returncode == 0:
        return ""
    told = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    # what cannot be imported or compiled says nothing about the tests
    if done.returncode != 1 or not told or re.search("TypingError|LoweringError", told[0]):
        raise SystemExit(f"{' '.join(tests)} could not be tried:\n{done.stdout[-2000:]}")
    return told[0].split(" - ")[0].split("::", 1)[-1]
