"""A user's table as samples: read, encoded, and split into folds."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calipers.cli.options import N_VOTERS, read_table
from calipers.cli.output import remark

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.data.encoder import TableEncoder
    from calipers.data.tables.columns import Columns


@dataclass(frozen=True)
class Labelled:
    """Samples and labels, and how columns of a table became features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Labels.
    names : list of str or None
        Names of the features, if the file names its columns.
    label : str or None
        Name of the column of labels.
    encoder : TableEncoder or None
        None where the file holds a matrix.
    table : Columns or None
        The columns that it encoded.
    left_out : list of str
        Columns that are no features, and why.
    notes : list of str
        What else was decided about columns and labels, and may be wrong.
    rows : ndarray of shape (n_samples,) or None
        Index of each sample in the file, where some of its rows have no label.
    """

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    names: list[str] | None = None
    label: str | None = None
    encoder: TableEncoder | None = None
    table: Columns | None = None
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: npt.NDArray[Any] | None = None

    def row(self, index: int) -> int:
        """Return the row of the file that a sample is, from 1."""
        return 1 + (index if self.rows is None else int(self.rows[index]))

    def split(
        self, is_test: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], list[str] | None]:
        """Return training and test samples and names of features.

        Means and categories are those of the training part.
        """
        if self.encoder is None or self.table is None:
            return self.X[~is_test], self.X[is_test], None
        known = self.table.take(~is_test)
        encoder = self.encoder.refit(known)
        names = encoder.get_feature_names_out().tolist()
        return encoder.transform(known), encoder.transform(self.table.take(is_test)), names


def read_labelled(options: argparse.Namespace) -> Labelled:
    """Read samples and labels; say on stderr which columns are left out, even if quiet.

    Raises
    ------
    FileError
        The data cannot be read or learned from, or have no labels.
    """
    from calipers.data.files import FileError
    from calipers.data.tables.columns import Columns

    table = read_table(options, label=options.label)
    chosen = table.choose(label=options.label, ignore=options.ignore)
    if chosen.y is None:
        some = ", ".join(column.name for column in table.columns[:8])
        where = f"one of {some}" if table.named and some else "a column, or a file such as y.npy"
        raise FileError(
            f"{options.data} is read without labels: name what to predict with --label ({where})."
        )
    notes = check_labels(chosen.y, source=options.data)
    left_out = [f"{name} ({why})" for name, why in chosen.left_out.items()]
    found, rows = chosen.labelled(), None
    if chosen.has_label is not None:
        rows = chosen.has_label.nonzero()[0]
        n, first = int((~chosen.has_label).sum()), int(chosen.has_label.argmin()) + 1
        left_out.append(f"{n:,} row{'s' * (n > 1)} without a label (the first is row {first:,})")
    encoder, names, columns = None, None, None
    if isinstance(found, Columns):
        encoder, columns = _encoder(options, found, table.decimal, left_out), found
        names = encoder.get_feature_names_out().tolist() if chosen.named else None
        left_out += [f"{name} ({why})" for name, why in encoder.left_out_.items()]
        notes += [note for note in encoder.notes_ if not note.startswith("Left out")]
        found = encoder.transform(found)
    if left_out and not options.json:  # JSON has them
        remark(f"Left out: {', '.join(left_out)}.")
    return Labelled(
        X=found,
        y=chosen.y,
        names=names,
        label=chosen.label,
        encoder=encoder,
        table=columns,
        left_out=left_out,
        notes=notes,
        rows=rows,
    )


def check_labels(y: npt.NDArray[Any], *, source: str) -> list[str]:
    """Raise unless labels are those of classes. Returns a remark on labels that are alike."""
    import numpy as np

    from calipers.data.files import FileError
    from calipers.data.tables.names import listed

    distinct, sizes = np.unique(y, return_counts=True)
    _check_not_measured(distinct, sizes, source)
    if len(distinct) < 2:
        raise FileError(
            f"{source} has one class only ({str(distinct[0])!r}): name a column of at least 2 "
            "classes with --label."
        )
    if sizes.max() == 1:
        raise FileError(
            f"{source} has a different label in every row: name a column of classes with --label."
        )
    times = Counter(str(label).lower() for label in distinct)
    alike = [str(label) for label in distinct if times[str(label).lower()] > 1]
    told = listed([*map(repr, sorted(alike, key=lambda label: (label.lower(), label)))])
    return [f"Labels that differ in capitals only are different classes: {told}."] if told else []


def _check_not_measured(distinct: npt.NDArray[Any], sizes: npt.NDArray[Any], source: str) -> None:
    """Raise if labels are measured numbers: most are in too few rows to win a vote, and not whole.

    Whole numbers may be measured or names of classes, which only the user knows.
    """
    import numpy as np

    from calipers.data.files import FileError
    from calipers.data.tables.numbers import as_number, decimal_sign

    sign = decimal_sign(map(str, distinct))
    numbers = [as_number(str(value), sign) for value in distinct]
    if 2 * (sizes <= N_VOTERS).sum() <= len(distinct) or None in numbers:
        return
    found = f"{len(distinct):,} different numbers in {sizes.sum():,} rows"
    if any(number != np.rint(number) for number in numbers if number is not None):
        raise FileError(
            f"{source}: the labels are {found}, which is regression, where classes are needed: "
            "learn by calipers.MLKR in Python, or cut the numbers into ranges first."
        )
    remark(
        f"The labels of {source} are {found}, each a class here; if they are measured, learn by "
        "calipers.MLKR in Python."
    )


def _encoder(
    options: argparse.Namespace, table: Columns, decimal: str, left_out: list[str]
) -> TableEncoder:
    from calipers.data.encoder import TableEncoder
    from calipers.data.files import FileError

    try:
        encoder = TableEncoder(decimal=decimal, drop_ids=options.drop_ids)
        return encoder.fit(table)
    except ValueError as wrong:
        told = f" (left out before: {', '.join(left_out)})." if left_out else "."
        raise FileError(f"{options.data}: {str(wrong).removesuffix('.')}{told}") from wrong
