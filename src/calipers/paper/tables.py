"""Rows as the paper's Tables 1 to 4, ours beside the paper's, and the parameter study.

A cell is our mean, its standard deviation over runs, and in brackets the paper's number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean, stdev
from typing import Any, NamedTuple

from calipers.paper import published
from calipers.paper.datasets import is_stand_in
from calipers.paper.runs import Row
from calipers.paper.systems import STUDIED, SYSTEMS

ERROR_NEAR = 1.0
"""Points of error up to which ours and the paper's count as near each other."""

UPDATES_NEAR = 0.1
"""Share of the paper's updates up to which they do."""

NOTHING = "–"  # noqa: RUF001  an en dash, as tables have it
NEAR, LOWER, HIGHER = "≈", "▼", "▲"


class Table(NamedTuple):
    """Texts in rows and columns."""

    title: str
    headings: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Cell:
    """One number of a table: ours over some runs, and the paper's, where there are such."""

    values: Sequence[float] = ()
    paper: float | None = None
    trained_on: int | None = None

    @property
    def mean(self) -> float | None:
        """Mean over our runs."""
        return fmean(self.values) if self.values else None

    def text(self, show: Callable[[float], str], near: Callable[[float, float], bool]) -> str:
        """The cell as people read it."""
        mean = self.mean
        if mean is None:
            return NOTHING
        shown = show(mean)
        if len(self.values) > 1:
            shown += f" ± {show(stdev(self.values))}"
        if self.trained_on:
            shown += f" †{self.trained_on:,}"
        if self.paper is None:
            return shown
        if not isfinite(self.paper):
            return f"{shown} (N/A)"
        sign = NEAR if near(mean, self.paper) else LOWER if mean < self.paper else HIGHER
        return f"{sign} {shown} ({show(self.paper)})"


class Results:
    """Rows of one origin by data set and method."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        found = {row["dataset"]: row for row in rows}
        known = [name for name in published.SIZES if name in found]
        self.facts = {name: found[name] for name in [*known, *sorted(set(found) - set(known))]}
        self.methods = [name for name in SYSTEMS if any(row["method"] == name for row in rows)]

    @property
    def names(self) -> list[str]:
        """The data sets, in the paper's order."""
        return list(self.facts)

    def shown(self, name: str) -> str:
        """The name of a data set, with a star if it stands in for the paper's."""
        return f"{name}*" if is_stand_in(name, self.facts[name]["note"]) else name

    def first(self, name: str, method: str, part: str) -> Any:
        """A part of the first row of a cell that has it; else None."""
        return next((row[part] for row in self._of(name, method) if part in row), None)

    def cell(self, name: str, method: str, part: str, paper: published.Rows) -> Cell:
        """One cell."""
        values = [row[part] for row in self._of(name, method) if row.get(part) is not None]
        theirs = paper.get(name, {}).get(SYSTEMS[method].published)
        return Cell(values, theirs, self.first(name, method, "trained_on"))

    def _of(self, name: str, method: str) -> list[Row]:
        own = (row for row in self.rows if (row["dataset"], row["method"]) == (name, method))
        return sorted(own, key=lambda row: int(row["run"]))


def tables(results: Results) -> list[Table]:
    """All tables that have numbers, in the paper's order."""
    every = [
        _data(results),
        _by_method(
            results,
            "Table 2: error of 3-NN, per cent",
            lambda name, method: results.cell(name, method, "error", published.ERRORS).text(
                _tenths, lambda ours, paper: abs(round(ours - paper, 1)) <= ERROR_NEAR
            ),
        ),
        _by_method(results, "Table 3: seconds, without making triplets", _seconds_cell(results)),
        _by_method(results, "Table 3 as ratios: times faster than SGD", _ratio_cell(results)),
        _by_method(
            results,
            "Table 4: updates",
            lambda name, method: results.cell(name, method, "updates", published.UPDATES).text(
                _whole, lambda ours, paper: abs(ours / paper - 1) <= UPDATES_NEAR
            ),
        ),
        _bounds(results),
        _study(results),
    ]
    return [table for table in every if table.rows]


def _by_method(results: Results, title: str, text: Callable[[str, str], str]) -> Table:
    """A row for each method, a column for each data set."""
    rows = [[SYSTEMS[m].label, *(text(name, m) for name in results.names)] for m in results.methods]
    kept = [row for row in rows if any(cell != NOTHING for cell in row[1:])]
    return Table(title, ["", *map(results.shown, results.names)], kept)


def _seconds_cell(results: Results) -> Callable[[str, str], str]:
    def text(name: str, method: str) -> str:
        cell = results.cell(name, method, "seconds", published.SECONDS)
        if cell.mean is None:
            return NOTHING
        paper = _digits(cell.paper) if cell.paper and isfinite(cell.paper) else NOTHING
        return f"{_digits(cell.mean)} ({paper})"

    return text


def _ratio_cell(results: Results) -> Callable[[str, str], str]:
    def text(name: str, method: str) -> str:
        own, sgd = (
            results.cell(name, other, "seconds", published.SECONDS) for other in (method, "sgd")
        )
        if not own.mean or not sgd.mean or method == "sgd":
            return NOTHING
        paper = sgd.paper / own.paper if own.paper and sgd.paper and isfinite(own.paper) else None
        return f"{_digits(sgd.mean / own.mean)} ({_digits(paper) if paper else NOTHING})"

    return text


def _data(results: Results) -> Table:
    parts = ("n_classes", "n_features", "n_train", "n_test")
    rows = []
    for name, facts in results.facts.items():
        sizes = [f"{facts[part]:,}" for part in parts]
        runs = 1 + max(row["run"] for row in results.rows if row["dataset"] == name)
        rows.append([results.shown(name), *sizes, str(runs), facts["note"]])
    headings = ["", "classes", "features", "training samples", "test samples", "runs", "note"]
    return Table("Table 1: data", headings, rows)


def _bounds(results: Results) -> Table:
    rows = []
    for name in results.names:
        bound = results.cell(name, "as-sgd", "update_bound", {}).mean
        ours = results.cell(name, "as-sgd", "updates", {}).mean
        if bound is not None and ours is not None:
            rows.append([results.shown(name), _whole(ours), _whole(bound)])
    headings = ["", "updates of AS-SGD", "at most, with probability 0.98"]
    return Table("Theorem 2: bound on the number of updates", headings, rows)


def _study(results: Results) -> Table:
    rows = []
    for name in results.names:
        for system in STUDIED.values():
            if (error := results.first(name, system.name, "error")) is not None:
                numbers = (
                    results.first(name, system.name, part) for part in ("updates", "seconds")
                )
                updates, seconds = numbers
                value = f"{system.parameter} = {system.value:g}"
                shown = [_whole(updates), _tenths(error), _digits(seconds)]
                rows.append([results.shown(name), system.label, value, *shown])
    headings = ["", "method", "parameter", "updates", "error, %", "seconds"]
    return Table("Parameter study", headings, rows)


def _tenths(value: float) -> str:
    return f"{value:.1f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _digits(value: float) -> str:
    """Two digits at least.

    >>> _digits(0.01234), _digits(3.14159), _digits(32_762.7)
    ('0.012', '3.1', '32,763')
    """
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"
