"""Damaged files by the thousand: metrics through `calipers.load`, tables through their readers.

Each must be refused in one sentence, or be a metric or a table that works; see
``tests/damage.py``. Every run of the check damages other places.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from secrets import randbits
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from benchmarks.rows import Column, Report

from damage import DAMAGES, FILES, damaged, read_metric, read_table
from metric_files import small_file

TABLES = {
    "files": [
        Column("file", "kind", width=12),
        Column("damage", "damage", width=16),
        Column("files", "files", ","),
        Column("refused", "refused", ","),
        Column("slowest s", "slowest", ".2f", 10),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("--each", type=int, default=10_000, help="of a kind (default: %(default)s)")


def run(asked: argparse.Namespace, report: Report) -> None:
    """Damage and read."""
    seed = randbits(63)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        whole = small_file(folder).read_bytes()
        for damage in DAMAGES:
            path = folder / "damaged.safetensors"
            facts = _count(asked.each, seed, path, partial(damage, whole), read_metric)
            report.add("files", kind="metric", damage=damage.__name__, seed=seed, **facts)
        for name, (make, label) in FILES.items():
            spoil, look = partial(damaged, make(folder)), partial(read_table, label=label)
            facts = _count(asked.each, seed, folder / name, spoil, look)
            report.add("files", kind=name, damage="any", seed=seed, **facts)


def _count(
    n: int,
    seed: int,
    path: Path,
    make: Callable[[np.random.Generator], bytes],
    look: Callable[[Path], str],
) -> dict[str, object]:
    """Read n damaged files; what goes wrong is kept with the number that makes it again."""
    refused, slowest, problem = 0, 0.0, None
    for number in range(n):
        path.write_bytes(make(np.random.default_rng([seed, number])))
        started = perf_counter()
        try:
            refused += bool(look(path))
        except Exception as found:  # whatever it is, it should have been a sentence
            problem = f"number {number}: {type(found).__name__}: {found}"
        slowest = max(slowest, perf_counter() - started)
    return {
        "files": n,
        "refused": refused,
        "slowest": slowest,
        "holds": problem is None,
        "problem": problem,
    }
