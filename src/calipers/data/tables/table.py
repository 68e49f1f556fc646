"""Columns as they were read, and how rows and labels are chosen among them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.tables.columns import Columns
from calipers.data.tables.numbers import LONGEST_LABEL, as_texts
from calipers.io import FileError
from calipers.memmap import blocks_of


@dataclass(frozen=True)
class Column:
    """A column: numbers, or texts and the reason why they are none.

    Attributes
    ----------
    name : str
        Its name, or "column 3" where columns have none.
    values : ndarray of shape (n_rows,)
        Numbers, NaN for a missing one; or texts, None for a missing one; or nothing, where they
        were not kept because nothing can be learned from them.
    text : str
        What was found in place of a number, and where; empty for a column of numbers.
    gap : str
        Where the first value is missing or not finite, and what is there; empty if nowhere.
    labels : ndarray of shape (n_rows,) or None
        The values as exact labels, where they were read as such.
    """

    name: str
    values: npt.NDArray[Any]
    text: str = ""
    gap: str = ""
    labels: npt.NDArray[Any] | None = None

    @property
    def is_lost(self) -> bool:
        """Whether nothing of the column was kept."""
        return bool(self.text) and not len(self.values)


@dataclass(frozen=True)
class Table:
    """A file as columns, or as a matrix with labels beside it.

    Attributes
    ----------
    source : str
        Name of the file, for messages.
    columns : list of Column
        Columns; empty where the file holds a matrix.
    named : bool
        Whether the file names its columns.
    matrix : ndarray of shape (n_rows, n_features) or None
        Rows, where the file holds a matrix.
    labels : ndarray of shape (n_rows,) or None
        Labels, where the file has them beside the matrix.
    remark : str
        What was decided about the file and may be wrong; empty for nothing.
    decimal : str
        The decimal sign of its numbers.
    """

    source: str
    columns: list[Column] = field(default_factory=list)
    named: bool = True
    matrix: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None
    remark: str = ""
    decimal: str = "."

    def choose(
        self,
        *,
        label: str | None = None,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
    ) -> Chosen:
        """Choose the labels and the rows.

        Parameters
        ----------
        label : str, optional
            Name of the column of labels, or its position from 1; -1 is the last.
        features : sequence of str, optional
            Names of the columns to take, in this order; by default all columns, as where
            the file names none.
        ignore : sequence of str
            Columns, by name or position, to leave out.

        Raises
        ------
        FileError
            A column is not there, or none is left to learn from.
        """
        if self.matrix is not None:
            return self._from_matrix(label, ignore)
        left_out = {self._position(name, "--ignore") for name in ignore}
        at = None if label is None else self._position(label, "--label")
        if features is not None and self.named:
            what = "a feature of the metric"
            taken = [self._position(name, what, by_name=True) for name in features]
        else:
            taken = [i for i in range(len(self.columns)) if i != at and i not in left_out]
        y = None if at is None else self._label_values(self.columns[at])
        return Chosen(
            X=self._gather([self.columns[i] for i in taken]),
            named=self.named,
            y=y,
            label=None if at is None or not self.named else self.columns[at].name,
            left_out={c.name: c.text for c in map(self.columns.__getitem__, taken) if c.is_lost},
        )

    def has(self, label: str) -> bool:
        """Whether there is a column of that very name."""
        return self.named and any(column.name == label for column in self.columns)

    def _position(self, asked: str, what: str, *, by_name: bool = False) -> int:
        names = [column.name for column in self.columns]
        if asked in names:
            return names.index(asked)
        position = None if by_name else position_of(asked, names)
        if position is not None:
            return position
        close = get_close_matches(asked, names, n=1, cutoff=0.6)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        position_too = "" if by_name else f", or a position from 1 to {len(names)}"
        raise FileError(
            f"{self.source} has no column {asked!r} ({what}): give one of {shown}{position_too}"
            f"{hint}"
        )

    def _gather(self, columns: list[Column]) -> npt.NDArray[Any] | Columns:
        """Return the columns that were kept."""
        kept = {column.name: column.values for column in columns if not column.is_lost}
        if not kept:
            found = ", ".join(f"{column.name!r} ({column.text})" for column in columns[:5])
            raise FileError(
                f"{self.source} has no column to learn from, only {found or 'the label'}: give "
                "columns of numbers or categories."
            )
        return Columns(kept)

    def _label_values(self, column: Column) -> npt.NDArray[Any]:
        if column.gap:
            raise FileError(
                f"{self.source} has {column.gap} in the column {column.name!r} of labels: fill or "
                "remove such rows first."
            )
        labels = column.values if column.labels is None else column.labels
        if labels.dtype == object:
            labels = as_texts([str(label) for label in labels.tolist()])
        if not len(labels):
            raise FileError(
                f"{self.source} has no labels in the column {column.name!r} ({column.text}): name "
                "a column of texts or whole numbers."
            )
        if labels.dtype == object:
            row = next(i for i, label in enumerate(labels) if len(label) > LONGEST_LABEL)
            raise FileError(
                f"{self.source} has a text of {len(labels[row]):,} characters in row {row + 1} of "
                f"the column {column.name!r} of labels: labels are names of classes, at most "
                f"{LONGEST_LABEL} characters long."
            )
        return _as_labels(labels)

    def _from_matrix(self, label: str | None, ignore: Sequence[str]) -> Chosen:
        matrix, labels = self.matrix, self.labels
        assert matrix is not None
        d = matrix.shape[1]
        kept = np.ones(d, dtype=bool)
        for name in ignore:
            kept[self._matrix_position(name, "--ignore")] = False
        if label is not None and labels is None:
            at = self._matrix_position(label, "--label")
            labels = np.concatenate([np.array(block[:, at]) for _, block in blocks_of(matrix)])
            kept[at] = False
            if not np.isfinite(labels).all():
                raise FileError(f"{self.source} has labels that are not finite: correct them.")
        if not kept.any():
            raise FileError(f"{self.source} has no column beside the label: give more columns.")
        X = matrix[:, _as_slice(kept)]
        if X.dtype.kind != "f" and not isinstance(X, np.memmap):
            X = X.astype(np.float64)
        bad = first_gap(X)
        if bad is not None:
            row, column = bad
            also = ", or give a CSV, whose missing values are filled" * bool(np.isnan(X[bad]))
            raise FileError(
                f"{self.source} has {float(X[row, column])} in row {row + 1}, column "
                f"{int(np.flatnonzero(kept)[column]) + 1}, where a finite number is needed: fill "
                f"or remove such rows first{also}."
            )
        return Chosen(X=X, y=None if labels is None else _as_labels(np.asarray(labels)))

    def _matrix_position(self, asked: str, what: str) -> int:
        assert self.matrix is not None
        d = self.matrix.shape[1]
        position = position_of(asked, [""] * d)
        if position is None:
            raise FileError(
                f"{self.source} has no column {asked!r} ({what}): its {d} columns have no names, "
                f"give a position from 1 to {d}, or -1 for the last."
            )
        return position


@dataclass(frozen=True)
class Chosen:
    """Rows to learn from or to map, and their labels if there are any.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features) or Columns
        A matrix of finite numbers; or columns, which are to be encoded.
    named : bool
        Whether the file names its columns.
    y : ndarray of shape (n_rows,) or None
        Labels.
    label : str or None
        Name of their column.
    left_out : dict of str to str
        Names of columns of which nothing was kept, and what is in them.
    """

    X: npt.NDArray[Any] | Columns
    named: bool = False
    y: npt.NDArray[Any] | None = None
    label: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)


def first_gap(X: npt.NDArray[Any]) -> tuple[int, int] | None:
    """Row and column of the first value that is not finite, a block of rows at a time."""
    if X.dtype.kind != "f":
        return None
    for first, block in blocks_of(X):
        bad = ~np.isfinite(block)
        if bad.any():
            row, column = divmod(int(bad.argmax()), X.shape[1])
            return first + row, column
    return None


def _as_slice(kept: npt.NDArray[np.bool_]) -> slice | npt.NDArray[np.bool_]:
    """Columns that lie side by side as a slice, which copies nothing of a mapped file."""
    first, last = int(kept.argmax()), len(kept) - int(kept[::-1].argmax())
    return slice(first, last) if kept[first:last].all() else kept


def _as_labels(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels as they are; whole numbers that were read as floats are whole again."""
    if values.dtype.kind != "f" or not np.abs(values).max(initial=0) < 2**53:
        return values
    return values.astype(np.int64) if (values == np.rint(values)).all() else values


def position_of(asked: str, names: Sequence[str]) -> int | None:
    """Return the index of the column of that name or position, or None.

    Where names are whole numbers a whole number is a name; only -1, -2 ... count from the end.

    Examples
    --------
    >>> [position_of(asked, ["a", "b", "c"]) for asked in ("b", "1", "-1", "0", "d")]
    [1, 0, 2, None, None]
    >>> [position_of(asked, ["0", "1", "2"]) for asked in ("1", "3", "-1")]
    [1, None, 2]
    """
    if asked and asked in names:
        return names.index(asked)
    if not re.fullmatch("-?[1-9][0-9]{0,8}", asked):
        return None
    position = int(asked)
    if abs(position) > len(names) or (position > 0 and any(map(str.isdecimal, names))):
        return None
    return position - 1 if position > 0 else len(names) + position
