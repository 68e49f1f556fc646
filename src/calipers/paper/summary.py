"""Rows made into the cells of the paper's tables: ours, the paper's, and the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from statistics import fmean, stdev
from typing import Any, NamedTuple

from calipers.paper import published
from calipers.paper.datasets.paper import SETS
from calipers.paper.runs import Row
from calipers.paper.systems import STUDIED, SYSTEMS

ERROR_NEAR = 1.0
"""Points of error up to which ours and the paper's count as near each other."""

UPDATES_NEAR = 10.0
"""Per cent of updates up to which they do."""


@dataclass(frozen=True)
class Cell:
    """One number of a table.

    Attributes
    ----------
    ours : float or None
        Mean over our runs.
    paper : float or None
        The paper's number; None where it has none.
    runs : int
        How many runs the mean is over.
    std : float or None
        Standard deviation over two or more runs.
    why : str
        Why there is no number of ours.
    says_none : bool
        Whether the paper says "N/A".
    trained_on : int or None
        Samples that it learned from, where those were not all.
    """

    ours: float | None = None
    paper: float | None = None
    runs: int = 0
    std: float | None = None
    why: str = ""
    says_none: bool = False
    trained_on: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether neither side has a number."""
        return self.ours is None and self.paper is None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper

    @property
    def per_cent(self) -> float | None:
        """The difference in per cent of the paper's."""
        if self.difference is None or not self.paper:
            return None
        return 100.0 * self.difference / self.paper


@dataclass(frozen=True)
class DataSet:
    """A data set as it was run.

    Attributes
    ----------
    name : str
        Its name.
    paper : Size or None
        Its row of Table 1.
    ours : Size or None
        What was measured; None if it could not be had.
    runs : int
        Most runs of any method.
    note : str
        What a reader should know, or why it could not be had.
    is_stand_in : bool
        Whether it is a part or a simulation of the paper's.
    """

    name: str
    paper: published.Size | None
    ours: published.Size | None
    runs: int
    note: str
    is_stand_in: bool


class StudyRow(NamedTuple):
    """One run of the parameter study."""

    dataset: str
    label: str
    parameter: str
    value: float
    updates: float | None
    error: float
    seconds: float | None


class Summary:
    """The tables of a set of rows that belong together (of one identity)."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)
        self.methods = list(SYSTEMS)
        names = {row["dataset"] for row in self.rows}
        known = [name for name in published.SIZES if name in names]
        self.names = known + sorted(names - set(known))
        self._rows: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            self._rows.setdefault((row["dataset"], row["method"]), []).append(row)
        for same in self._rows.values():
            same.sort(key=lambda row: int(row["run"]))

    def of(self, dataset: str, method: str) -> list[Row]:
        """The rows of a cell that hold a result."""
        return [row for row in self._rows.get((dataset, method), []) if "error" in row]

    def first(self, dataset: str, method: str, part: str) -> Any:
        """A part of the first row of a cell that has it, for pictures; else None."""
        return next((row[part] for row in self.of(dataset, method) if row.get(part)), None)

    @cached_property
    def datasets(self) -> list[DataSet]:
        """Table 1."""
        return [self._dataset(name) for name in self.names]

    def dataset(self, name: str) -> DataSet:
        """The row of Table 1 of one data set."""
        return self.datasets[self.names.index(name)]

    @cached_property
    def errors(self) -> Mapping[tuple[str, str], Cell]:
        """Table 4, in per cent."""
        return self._table("error", published.ERRORS)

    @cached_property
    def seconds(self) -> Mapping[tuple[str, str], Cell]:
        """Table 5, without the time to make triplets."""
        return self._table("seconds", published.SECONDS)

    @cached_property
    def mining_seconds(self) -> Mapping[tuple[str, str], Cell]:
        """What Table 5 leaves out."""
        return self._table("mining_seconds", {})

    @cached_property
    def updates(self) -> Mapping[tuple[str, str], Cell]:
        """Table 6."""
        return self._table("updates", published.UPDATES)

    def columns(self, table: Mapping[tuple[str, str], Cell]) -> list[str]:
        """Methods for which a table has a number."""
        return [m for m in self.methods if not all(table[n, m].is_empty for n in self.names)]

    def speed_up(self, dataset: str, method: str) -> Cell:
        """How many times faster than SGD, which does not depend on the machine."""
        sgd, own = self.seconds[dataset, "sgd"], self.seconds[dataset, method]
        return Cell(
            ours=sgd.ours / own.ours if sgd.ours and own.ours else None,
            paper=sgd.paper / own.paper if sgd.paper and own.paper else None,
        )

    @cached_property
    def study(self) -> list[StudyRow]:
        """The parameter study, parameter by parameter."""
        found = []
        for name in self.names:
            for system in STUDIED.values():
                for row in self.of(name, system.name)[:1]:
                    numbers = (row.get("updates"), row["error"], row.get("seconds"))
                    label = SYSTEMS[system.name.partition(":")[0]].label
                    found.append(StudyRow(name, label, system.parameter, system.value, *numbers))
        return found

    def _table(self, name: str, paper: published.Rows) -> dict[tuple[str, str], Cell]:
        return {
            (dataset, method): self._cell(dataset, method, name, paper)
            for dataset in self.names
            for method in self.methods
        }

    def _cell(self, dataset: str, method: str, name: str, paper: published.Rows) -> Cell:
        theirs = paper.get(dataset, {}).get(SYSTEMS[method].published)
        says_none = theirs is not None and not isfinite(theirs)
        theirs = None if says_none else theirs
        values = [float(row[name]) for row in self.of(dataset, method) if row.get(name) is not None]
        if not values:
            return Cell(paper=theirs, why=self._why(dataset, method), says_none=says_none)
        std = stdev(values) if len(values) > 1 else None
        trained_on = self.first(dataset, method, "trained_on")
        return Cell(
            fmean(values), theirs, len(values), std, says_none=says_none, trained_on=trained_on
        )

    def _why(self, dataset: str, method: str) -> str:
        """Why a cell has no result."""
        if self.of(dataset, method):
            return ""  # it has one, but not of this kind
        for row in [*self._rows.get((dataset, method), []), *self._rows.get((dataset, "*"), [])]:
            for word in ("skipped", "failed"):
                if row.get(word):
                    return str(row[word])
        if not SYSTEMS[method].is_here:
            return f"this version of calipers has no {SYSTEMS[method].label}"
        return "not run"

    def _dataset(self, name: str) -> DataSet:
        rows = [row for (own, _), same in self._rows.items() if own == name for row in same]
        measured = [row for row in rows if row.get("data")]
        paper = published.SIZES.get(name)
        if not measured:
            why = next((str(row["skipped"]) for row in rows if row.get("skipped")), "")
            return DataSet(name, paper, None, 0, why, False)
        facts = measured[-1]["data"]
        ours = published.Size(
            facts["n_classes"], facts["n_features"], facts["n_train"], facts["n_test"]
        )
        count = max((len(self.of(name, method)) for method in self.methods), default=0)
        note = facts["note"]
        parts = (
            {form.note for form in SETS[name].forms if not form.complete} if name in SETS else ()
        )
        return DataSet(name, paper, ours, count, note, note in parts)
