"""Rows first: every measurement is a JSON line with the facts of the machine.

Tables are made from rows, either while they are measured or later by
``python -m benchmarks show FILE``.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from benchmarks.blas import all_threads

Row: TypeAlias = dict[str, Any]

ROOT = Path(__file__).parents[1]
PACKAGES = ("numpy", "scipy", "scikit-learn", "calipers")


class Column(NamedTuple):
    """A column of a table: the key of the row it shows, and how."""

    heading: str
    key: str
    form: str = ""  # a format specification
    width: int = 8


Tables: TypeAlias = Mapping[str, Sequence[Column]]


class Report:
    """Writes rows to a file and shows them as tables while they come.

    Parameters
    ----------
    command : str
        Name of the benchmark, kept in every row.
    tables : mapping of str to columns
        Its tables by name; every row belongs to one.
    file : Path, optional
        Where to append; by default ``results/<command>.jsonl``.
    """

    def __init__(self, command: str, tables: Tables, *, file: Path | None = None) -> None:
        self.command = command
        self.file = file or Path("results") / f"{command}.jsonl"
        self.rows: list[Row] = []
        self._started = _now()
        self._printer = _Printer(tables)

    def add(self, table: str, **values: Any) -> None:
        """Append one measurement to the file, then show it."""
        row = {"command": self.command, "table": table, "run": self._started, **values}
        self.rows.append(row)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as lines:
            lines.write(json.dumps({**row, "date": _now(), "machine": machine()}) + "\n")
        self._printer.show(row)

    def skip(self, table: str, reason: str, **values: Any) -> None:
        """Append what was not measured, with the reason."""
        self.add(table, **values, skipped=reason)

    def show(self, table: str, **values: Any) -> None:
        """Print a line that is computed from rows, and store nothing."""
        self._printer.show({"table": table, **values})

    def say(self, sentence: str) -> None:
        """Print a sentence that a reader of the table needs."""
        print(sentence, flush=True)


class _Printer:
    """Prints a heading whenever the table changes."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._current = ""

    def show(self, row: Row) -> None:
        columns = self._tables[row["table"]]
        if row["table"] != self._current:
            self._current = row["table"]
            print(f"\n{_line(columns, [column.heading for column in columns])}")
        print(_line(columns, [_cell(column, row) for column in columns]), end="")
        print(f"  skipped: {row['skipped']}" if "skipped" in row else "", flush=True)


def _cell(column: Column, row: Row) -> str:
    value = row.get(column.key)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return format(value, column.form)


def _line(columns: Sequence[Column], cells: Sequence[str]) -> str:
    """Texts of the first column to the left, the rest to the right."""
    pairs = list(zip(columns, cells, strict=True))
    first, *rest = [f"{cell:<{column.width}}" for column, cell in pairs[:1]] + [
        f"{cell:>{column.width}}" for column, cell in pairs[1:]
    ]
    return " ".join([first, *rest])


def read(file: Path) -> Iterator[Row]:
    """Rows of a file, in the order they were measured."""
    with file.open() as lines:
        yield from (json.loads(line) for line in lines)


def show(file: Path, tables: Tables) -> None:
    """Print the tables of a file, run by run, with the machine of each."""
    printer, run = _Printer(tables), None
    for row in read(file):
        if row["run"] != run:
            run, printer = row["run"], _Printer(tables)
            print(f"\n{row['command']}, {run}\n{describe(row['machine'])}")
        printer.show(row)


def describe(facts: Mapping[str, Any]) -> str:
    """The facts of a machine in one line."""
    return ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)


@cache
def machine() -> Mapping[str, Any]:
    """Facts that explain a measurement: processor, cores, threads, versions, commit."""
    return {
        "cpu": _processor(),
        "cores": _usable_cores(),
        "blas_threads": all_threads(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "commit": _commit(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    """The commit, marked where the sources differ from it; None outside a repository."""
    head = _git("rev-parse", "--short", "HEAD")
    return head and head + ("+changes" if _git("status", "--porcelain", "src") else "")


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
