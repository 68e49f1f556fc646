"""Damaged files by the thousand: metrics and tables, through Python and by the command line.

Each must be refused in one sentence, or be a metric or a table that works; see
``tests/damage.py``. Metrics go through `calipers.load`, ``calipers inspect`` and ``calipers
transform``, tables through their readers and ``calipers fit``. Every run of the check damages
other places.
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

from damage import (
    DAMAGES,
    FILES,
    damaged,
    metric_by_commands,
    read_metric,
    read_table,
    table_by_command,
)
from metric_files import small_file

TABLES = {
    "files": [
        Column("file", "kind", width=12),
        Column("damage", "damage", width=16),
        Column("through", "through", width=8),
        Column("files", "files", ","),
        Column("refused", "refused", ","),
        Column("slowest s", "slowest", ".2f", 10),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--each", type=int, default=10_000, help="of a kind (default: %(default)s)")
    parser.add_argument(
        "--commands",
        type=int,
        default=1250,
        help="of a kind by the command line, too (default: %(default)s)",
    )


def run(args: argparse.Namespace, report: Report) -> None:
    """Damage and read."""
    seed = randbits(63)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        whole = small_file(folder).read_bytes()
        ways = {"Python": args.each, "commands": args.commands}
        for damage in DAMAGES:
            path, spoil = folder / "damaged.safetensors", partial(damage, whole)
            for (way, n), look in zip(ways.items(), (read_metric, metric_by_commands), strict=True):
                facts = _count(n, seed, path, spoil, look)
                about = {"kind": "metric", "damage": damage.__name__, "through": way}
                report.add("files", **about, seed=seed, **facts)
        for name, (make, label) in FILES.items():
            spoil = partial(damaged, make(folder))
            for (way, n), read in zip(ways.items(), (read_table, table_by_command), strict=True):
                facts = _count(n, seed, folder / name, spoil, partial(read, label=label))
                about = {"kind": name, "damage": "any", "through": way}
                report.add("files", **about, seed=seed, **facts)


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
