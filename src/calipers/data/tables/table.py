"""Columns as they were read, and how rows and labels are chosen among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data import memmap
from calipers.data.files import FileError
from calipers.data.memmap import blocks_of
from calipers.data.tables.columns import Columns
from calipers.data.tables.names import position_of
from calipers.data.tables.numbers import LONGEST_LABEL, labels_of_texts


@dataclass(frozen=True)
class Column:
    """A column: numbers, vectors, or texts and the reason why they are no numbers.

    Attributes
    ----------
    name : str
        Its name, or "column 3" where columns have none.
    values : ndarray of shape (n_rows,) or (n_rows, n_features)
        Numbers, NaN for a missing one; or vectors; or texts, None for a missing one; or nothing,
        where they were not kept because nothing can be learned from them. Cells of the label and
        of what is carried are as they were in the file, also dates and booleans.
    text : str
        What was found in place of a number, and where; empty for a column of numbers.
    """

    name: str
    values: npt.NDArray[Any]
    text: str = ""

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
    left_out : str
        Which row is no data and may be, which is told even if remarks are not.
    decimal : {"auto", ".", ","}
        The decimal sign of numbers in its texts.
    """

    source: str
    columns: list[Column] = field(default_factory=list)
    named: bool = True
    matrix: npt.NDArray[Any] | None = None
    labels: npt.NDArray[Any] | None = None
    remark: str = ""
    left_out: str = ""
    decimal: str = "auto"

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
        columns = [self.columns[i] for i in taken]
        vectors = [column for column in columns if column.values.ndim == 2]
        if len(vectors) > 1:
            names = " and ".join(repr(column.name) for column in vectors[:2])
            raise FileError(f"{self.source} has vectors in {names}: leave one out with --ignore.")
        lost = {column.name: column.text for column in columns if column.is_lost}
        if vectors:
            lost = {column.name: "beside vectors" for column in columns if column is not vectors[0]}
            columns = vectors
        X = self._checked(vectors[0].values) if vectors else self._gather(columns)
        y, has_label = (None, None) if at is None else self._label_values(self.columns[at])
        used = {column.name for column in columns}
        return Chosen(
            X=X,
            named=self.named and not vectors,
            y=y,
            label=None if at is None or not self.named else self.columns[at].name,
            left_out=lost,
            has_label=has_label,
            others=[column for column in self.columns if column.name not in used],
        )

    def carried(self, chosen: Chosen, ignore: Sequence[str] = ()) -> list[Column]:
        """Return the columns that are no features; ``ignore`` is that of `choose`."""
        return chosen.others

    def has(self, label: str) -> bool:
        """Whether there is a column of that very name."""
        return self.named and any(column.name == label for column in self.columns)

    def _position(self, column: str, what: str, *, by_name: bool = False) -> int:
        names = [column.name for column in self.columns]
        position = position_of(column, names, by_name=by_name)
        if position is not None:
            return position
        folded = {name.casefold(): name for name in names}
        close = get_close_matches(column.casefold(), folded, n=1, cutoff=0.6)
        hint = f"; did you mean {folded[close[0]]!r}?" if close else "."
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        position_too = "" if by_name else f", or a position from 1 to {len(names)}"
        raise FileError(
            f"{self.source} has no column {column!r} ({what}): give one of {shown}{position_too}"
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

    def _label_values(
        self, column: Column
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        """Return the labels, and which rows have one if not all do."""
        if not len(column.values):
            raise FileError(
                f"{self.source} has no labels in the column {column.name!r} ({column.text}): name "
                "a column of texts or whole numbers."
            )
        return self._labels(column.values, f"the column {column.name!r}")

    def _labels(
        self, values: npt.NDArray[Any], where: str
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        is_text = values.dtype == object
        if is_text:
            kept = np.array([value is not None for value in values.tolist()])
        else:
            kept = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), bool)
        if not kept.any():
            raise FileError(f"{self.source} has no label in {where}: name another column.")
        given = values[kept]
        if is_text:
            given = labels_of_texts([str(value) for value in given.tolist()])
        if given.dtype == object:
            long = next(i for i, label in enumerate(given) if len(label) > LONGEST_LABEL)
            raise FileError(
                f"{self.source} has a text of {len(given[long]):,} characters in row "
                f"{np.flatnonzero(kept)[long] + 1} of {where} of labels: labels are names of "
                f"classes, at most {LONGEST_LABEL} characters long."
            )
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            raise FileError(f"{self.source} has labels that are not finite: correct them.")
        return _as_labels(given), None if kept.all() else kept

    def _from_matrix(self, label: str | None, ignore: Sequence[str]) -> Chosen:
        matrix, labels = self.matrix, self.labels
        assert matrix is not None
        kept = np.ones(matrix.shape[1], dtype=bool)
        for name in ignore:
            kept[self._matrix_position(name, "--ignore")] = False
        if label is not None and labels is None:
            at = self._matrix_position(label, "--label")
            labels = np.concatenate([np.array(block[:, at]) for _, block in blocks_of(matrix)])
            kept[at] = False
        if not kept.any():
            raise FileError(f"{self.source} has no column beside the label: give more columns.")
        X = matrix[:, _as_slice(kept)]
        if X.dtype.kind != "f" and not isinstance(X, np.memmap):
            X = X.astype(np.float64)
        checked = self._checked(X, np.flatnonzero(kept))
        if labels is None:
            return Chosen(X=checked)
        y, has_label = self._labels(np.asarray(labels), "the labels")
        return Chosen(X=checked, y=y, has_label=has_label)

    def _checked(
        self, X: npt.NDArray[Any], places: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any] | Columns:
        """Return finite numbers as they are, and those with missing values as columns."""
        bad = first_gap(X)
        if bad is None:
            return X
        row, column = bad
        at = np.arange(X.shape[1]) if places is None else places
        if X.nbytes <= memmap.LARGEST_READ and not np.isinf(X).any():
            return Columns({f"column {place + 1}": X[:, i] for i, place in enumerate(at)})
        raise FileError(
            f"{self.source} has {float(X[row, column])} in row {row + 1}, column "
            f"{at[column] + 1}, where a finite number is needed: fill or remove such rows first."
        )

    def _matrix_position(self, column: str, what: str) -> int:
        assert self.matrix is not None
        d = self.matrix.shape[1]
        position = position_of(column, [""] * d)
        if position is None:
            raise FileError(
                f"{self.source} has no column {column!r} ({what}): its {d} columns have no names, "
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
    has_label : ndarray of shape (n_rows,) or None
        Which rows have a label, where not all do: ``y`` is of these.
    others : list of Column
        Columns that are no features: labels, IDs, texts.
    """

    X: npt.NDArray[Any] | Columns
    named: bool = False
    y: npt.NDArray[Any] | None = None
    label: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    has_label: npt.NDArray[np.bool_] | None = None
    others: list[Column] = field(default_factory=list)

    def labelled(self) -> npt.NDArray[Any] | Columns:
        """Return the rows that have a label.

        Raises
        ------
        FileError
            Some have none, and there are too many rows to copy.
        """
        if self.has_label is None:
            return self.X
        if isinstance(self.X, Columns):
            return self.X.take(self.has_label)
        if isinstance(self.X, np.memmap) and self.X.nbytes > memmap.LARGEST_READ:
            raise FileError(
                f"There is no label in row {int(self.has_label.argmin()) + 1}: fill or remove such "
                "rows first, for the file is too large to leave them out."
            )
        return self.X[self.has_label]


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
