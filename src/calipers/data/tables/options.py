"""What a user, or a metric, says about a file before it is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from calipers.data.tables.names import position_of
from calipers.data.tables.numbers import MISSING, as_number

Role = Literal["feature", "label", "carried"]

MISSING_IN: dict[Role, frozenset[str]] = {
    "feature": MISSING,
    "label": MISSING,
    "carried": frozenset({""}),
}
"""What stands for a missing value, by what a column is read for: NA may be somebody's ID."""


@dataclass(frozen=True)
class ReadOptions:
    """What is said about a file; None leaves the decision to the reader.

    Attributes
    ----------
    label : str or None
        The column of labels, by name or position; or a file of labels.
    carried : tuple of str
        Columns, by name or position, whose texts are wanted as they are.
    all_labels : bool
        Whether any column may be the one of labels.
    names : collection of str or None
        Names of the columns that a metric was learned from; all others are carried.
    header : bool or None
        Whether the first row names the columns.
    encoding : str or None
        How characters are coded.
    decimal : str or None
        The decimal sign.
    only : collection of str or None
        Columns to read, by name; what Parquet and JSON have beside them is not kept.
    missing : frozenset of str
        Texts that a metric counts as missing values.
    """

    label: str | None = None
    carried: tuple[str, ...] = ()
    all_labels: bool = False
    names: Collection[str] | None = None
    header: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    only: Collection[str] | None = None
    missing: frozenset[str] = frozenset()

    def leaves_out(self, column: str) -> bool:
        """Whether a column is not to be read."""
        return self.only is not None and column not in self.only

    def has_names_in(self, cells: Sequence[str]) -> bool:
        """Whether a row has all names that the metric needs, and there are some."""
        return bool(self.names) and {*(self.names or ())} <= {cell.strip() for cell in cells}

    def has_label_in(self, cells: Sequence[str]) -> bool:
        """Whether a row has the name of the label beside another cell; a position is no name."""
        is_name = self.label is not None and as_number(self.label) is None
        is_alone = sum(bool(cell.strip()) for cell in cells) < 2
        return is_name and not is_alone and position_of(str(self.label), cells) is not None

    def roles(self, columns: Sequence[str]) -> list[Role]:
        """Say of each column what it is read for."""
        by_name = self.has_names_in(columns)
        roles: list[Role] = [
            "label"
            if self.all_labels
            else "carried"
            if by_name and name not in (self.names or ())
            else "feature"
            for name in columns
        ]
        others: dict[str, Role] = dict.fromkeys(self.carried, "carried")
        if self.label is not None:
            others[self.label] = "label"
        for column, role in others.items():
            at = position_of(column, columns)
            if at is not None and not (by_name and roles[at] == "feature"):
                roles[at] = role
        return roles
