"""Rows first: every run is one JSON line, written when it is done; tables come later.

A file of rows survives being killed at any moment: a line that was not finished is dropped
when the file is read, and cut off before the next line is written.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import requires, version
from math import isfinite
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeAlias

import calipers
from calipers.threads import n_threads

Row: TypeAlias = dict[str, Any]

_ONLY_SHOW = {"cli", "paper", "plot"}  # sources that no number depends on, but for systems.py
_DRAW = {"rich", "matplotlib"}  # requirements that no number depends on
ROWS = "runs.jsonl"
"""Name of the file of rows in the folder of a report."""

_NEEDED = {"dataset": str, "method": str, "run": int, "identity": str}


def key(row: Mapping[str, Any]) -> tuple[str, str, int]:
    """What a row is about: data set, method, number of the run."""
    return row["dataset"], row["method"], row["run"]


@dataclass(frozen=True)
class Identity:
    """What must be equal for rows to stand in one table: settings, versions, machine.

    Examples
    --------
    >>> one = Identity({"n_triplets": 10}, {"numpy": "2.0"}, {"cores": 2})
    >>> one.digest == Identity({"n_triplets": 11}, {"numpy": "2.0"}, {"cores": 2}).digest
    False
    """

    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    machine: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """A short name for it."""
        parts = [dict(self.settings), dict(self.versions), dict(self.machine)]
        return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

    def as_row(self) -> Row:
        """The part of a row that tells it."""
        return {
            "identity": self.digest,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "machine": dict(self.machine),
        }


def identity(settings: Mapping[str, Any]) -> Identity:
    """The identity of what is run here and now with these settings."""
    return Identity(settings, versions(), machine())


@cache
def versions() -> Mapping[str, str]:
    """Versions of all that takes part; ``code`` tells apart states of the sources between them."""
    return {
        "calipers": calipers.__version__,
        "code": _sources_digest(Path(calipers.__file__).parent),
        "python": platform.python_version(),
        **{package: version(package) for package in _packages()},
    }


def _sources_digest(folder: Path) -> str:
    """Digest of all sources but those that only run, show and tabulate."""
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        own = file.relative_to(folder)
        if own.parts[0] not in _ONLY_SHOW or own.name == "systems.py":
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _packages() -> list[str]:
    """What calipers requires and numbers may depend on."""
    required = [text for text in requires("calipers") or () if "extra ==" not in text]
    names = [re.split(r"[^\w-]", text, maxsplit=1)[0] for text in required]
    return sorted(set(names) - _DRAW)


@cache
def commit() -> str:
    """The last commit of these sources; empty where they are in no repository."""
    folder = Path(calipers.__file__).parent
    try:
        words = ("git", "log", "-1", "--format=%h", "--", ".")
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def machine() -> Mapping[str, Any]:
    """Facts that explain seconds: processor, cores, threads, system."""
    return {
        "cpu": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": n_threads(),
        "system": f"{platform.system()} {platform.machine()}",
    }


@cache
def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@dataclass
class RunFile:
    """A file of rows that only grows.

    Attributes
    ----------
    path : Path
        Where it is; it need not exist yet.
    n_dropped : int
        Lines that the last `read` could not use.
    """

    path: Path
    n_dropped: int = field(default=0, init=False)

    def read(self) -> list[Row]:
        """All whole rows in the order in which they were written."""
        return [row for _, row in self.numbered()]

    def numbered(self) -> list[tuple[int, Row]]:
        """The same with the numbers of their lines, from 1."""
        self.n_dropped = 0
        rows: list[tuple[int, Row]] = []
        if not self.path.is_file():
            return rows
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), 1):
            row = _parsed(line)
            if row is not None:
                rows.append((number, row))
            elif line.strip():
                self.n_dropped += 1
        return rows

    def append(self, row: Row) -> None:
        """Write a row, so that it is on the disk when this returns."""
        line = json.dumps(_finite(row), allow_nan=False).encode() + b"\n"
        with self.path.open("a+b") as lines:
            self._cut_half_line(lines)
            lines.write(line)
            lines.flush()
            os.fsync(lines.fileno())

    def _cut_half_line(self, lines: Any) -> None:
        end = lines.seek(0, os.SEEK_END)
        if end == 0:
            return
        lines.seek(end - 1)
        if lines.read(1) != b"\n":
            lines.truncate(self.path.read_bytes().rfind(b"\n") + 1)


def check_folder(folder: Path, *, create: bool) -> None:
    """Raise OSError, before any work is done, if nothing can be written into the folder."""
    if create:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as problem:
            raise NotADirectoryError(
                f"{str(folder)!r} is a file: name a folder with --output."
            ) from problem
        except OSError as problem:
            raise PermissionError(
                f"Cannot make the folder {str(folder)!r} ({problem.strerror}): name another place "
                "with --output."
            ) from problem
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {str(folder)!r}: run something first.")
    try:
        TemporaryFile(dir=folder).close()
    except OSError as problem:
        raise PermissionError(
            f"Cannot write into the folder {str(folder)!r} ({problem.strerror}): name another "
            "place with --output."
        ) from problem


def _finite(value: Any) -> Any:
    """The same with None for numbers that JSON does not know."""
    if isinstance(value, Mapping):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _parsed(line: bytes) -> Row | None:
    """The row of a line, or None if it is not one of ours."""
    try:
        row = json.loads(line)
        json.dumps(row, ensure_ascii=False).encode()  # no half characters
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    return row if all(isinstance(row.get(name), kind) for name, kind in _NEEDED.items()) else None


def of_identity(rows: Sequence[Row], digest: str) -> list[Row]:
    """The rows of one identity: the last one about each run, and of the data last used.

    A data set whose files were exchanged starts afresh.
    """
    last = {key(row): row for row in rows if row["identity"] == digest}
    used = {row["dataset"]: row["files"] for row in rows if key(row) in last and "files" in row}
    return [row for row in last.values() if row.get("files", []) == used.get(row["dataset"], [])]


def latest(rows: Sequence[Row]) -> list[Row]:
    """The rows that belong together with the last one."""
    return of_identity(rows, rows[-1]["identity"]) if rows else []
