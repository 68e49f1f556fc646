"""Which columns of a table are features, which is the label, and which are neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite

from calipers.data.encoder import listed
from calipers.data.files import FileError


@dataclass(frozen=True)
class Roles:
    """Which columns of a file are what: features, the label, and the rest.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    label : str or None
        The column of labels by name, or by position from 1 (-1 is the last).
    ignore : sequence of str
        Columns that are no features.
    features : mapping of str to str, or None
        Names of the columns to take, in this order, and their types as an encoder has them; None
        for all others.
    """

    source: str
    label: str | None = None
    ignore: Sequence[str] = ()
    features: Mapping[str, str] | None = None

    def knows(self, head: Sequence[str]) -> bool:
        """Whether a row has the names that are asked for."""
        if self.features is not None:
            return {*self.features} <= {*head}
        is_name = self.label is not None and not is_number(self.label)
        return is_name and position_of(str(self.label), head) is not None

    def texts(self, names: Sequence[str]) -> list[str]:
        """Return the columns that are read as they stand: labels, categories, no features."""
        asked = [*self.ignore, *filter(None, [self.label])]
        places = {position_of(name, names) for name in asked}
        features = self.features or {}
        found = {position_of(name, names, by_name=True): features[name] for name in features}
        if found and None not in found:
            places |= {i for i in range(len(names)) if found.get(i) not in ("number", "boolean")}
        return [name for i, name in enumerate(names) if i in places]

    def place(self, column: str, names: Sequence[str], what: str, *, by_name: bool = False) -> int:
        """Return the index of a column.

        Raises
        ------
        FileError
            There is none of that name or position.
        """
        place = position_of(column, names, by_name=by_name)
        if place is not None:
            return place
        close = get_close_matches(column, names, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        where = "" if by_name else f", or a position from 1 to {len(names)}"
        raise FileError(
            f"{self.source} has no column {column!r} ({what}): give one of {listed(names)}{where}"
            f"{hint}"
        )

    def taken(self, names: Sequence[str], *, named: bool) -> list[int]:
        """Return the indices of the features."""
        features = self.features
        if features is not None and (named or {*features} <= {*names}):
            what = "a feature of the metric"
            return [self.place(name, names, what, by_name=True) for name in features]
        others = {self.place(name, names, "--ignore") for name in self.ignore}
        if self.label is not None:
            others.add(self.place(self.label, names, "--label"))
        taken = [i for i in range(len(names)) if i not in others]
        if features is not None and len(taken) != len(features):
            raise FileError(
                f"{self.source} has {len(taken)} columns beside the label, but the metric was "
                f"learned from {len(features)}: give the same columns, and name those that are "
                "none of them with --label or --ignore."
            )
        if not taken:
            raise FileError(f"{self.source} has no column to learn from: give more columns.")
        return taken


def position_of(column: str, names: Sequence[str], *, by_name: bool = False) -> int | None:
    """Return the index of the column of that name or, unless ``by_name``, position; or None.

    Capitals make no difference where only one name fits. Where names are whole numbers a whole
    number is a name; only -1, -2 ... count from the end.

    >>> [position_of(column, ["a", "b", "c"]) for column in ("b", "B", "1", "-1", "0", "d")]
    [1, 1, 0, 2, None, None]
    >>> [position_of(column, ["0", "1", "2"]) for column in ("1", "3", "-1")]
    [1, None, 2]
    """
    if column in names:
        return names.index(column)
    same = [i for i, name in enumerate(names) if name.casefold() == column.strip().casefold()]
    if len(same) == 1:
        return same[0]
    places = [*range(1, len(names) + 1), *range(-len(names), 0)]
    if by_name or column not in map(str, places):
        return None
    place = int(column)
    if place > 0 and any(map(str.isdecimal, names)):
        return None
    return place - 1 if place > 0 else len(names) + place


def is_number(cell: str) -> bool:
    """Whether a text is a finite number, with a decimal point or comma."""
    try:
        return isfinite(float(cell.replace(",", ".")))
    except ValueError:
        return False
