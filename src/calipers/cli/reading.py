"""Files that commands read: tables with labels, tables to transform, embeddings and pairs."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import N_VOTERS, advanced, mistakes_in
from calipers.cli.output import remark

if TYPE_CHECKING:
    import numpy.typing as npt
    from pandas import DataFrame, Series

    from calipers.arrays import IndexArray
    from calipers.data.encoder import TableEncoder
    from calipers.data.tables import Table
    from calipers.metric.saved import SavedMetric


@dataclass(frozen=True)
class Labelled:
    """Samples and labels, and how columns of a table became features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Labels.
    rows : ndarray of shape (n_samples,)
        Number of each sample in the file, from 1; some rows may have no label.
    names : list of str or None
        Names of the features, if the file names its columns.
    label : str or None
        Name of the column of labels.
    encoder : TableEncoder or None
        None where the file holds a matrix.
    table : DataFrame or None
        The columns that it encoded.
    left_out : list of str
        Columns that are no features, and why.
    notes : list of str
        What else was decided about columns and labels, and may be wrong.
    """

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    rows: IndexArray
    names: list[str] | None = None
    label: str | None = None
    encoder: TableEncoder | None = None
    table: DataFrame | None = None
    left_out: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def split(
        self, is_test: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], list[str] | None]:
        """Return training and test samples and names of features.

        Means and categories are those of the training part.
        """
        if self.encoder is None or self.table is None:
            return self.X[~is_test], self.X[is_test], self.names
        known = self.table[~is_test]
        encoder = self.encoder.refit(known)
        names = encoder.get_feature_names_out().tolist()
        return encoder.transform(known), encoder.transform(self.table[is_test]), names


def add_data(command: argparse.ArgumentParser, *, label_needed: bool) -> None:
    """Add the options on which data to read, and how."""
    about = "; of an NPY also a file of labels" if label_needed else ", which is no feature"
    label = f"column of labels: its name, or its position from 1, -1 for the last{about}"
    command.add_argument("--label", metavar="COLUMN", help=label)
    ids = "a column that is no feature, such as an ID; may be repeated"
    command.add_argument("--ignore", metavar="COLUMN", action="append", default=[], help=ids)
    more = advanced(command)
    found, either = "leave out row numbers and IDs (default: yes)", argparse.BooleanOptionalAction
    more.add_argument("--drop-ids", action=either, default=True, help=found)
    more.add_argument("--sep", help="what separates cells (default: found among , ; tab |)")
    more.add_argument("--decimal", metavar="SIGN", help="decimal sign (default: .)")
    more.add_argument("--thousands", metavar="SIGN", help="what groups thousands (default: none)")
    more.add_argument("--encoding", help="encoding (default: UTF-8, UTF-16 or cp1252)")
    more.add_argument("--skiprows", type=int, default=0, help="lines above the table (default: 0)")
    head = "none if no row names the columns; 0 if the first does, even by numbers"
    more.add_argument("--header", choices=("none", "0"), help=head)
    more.add_argument("--sheet", help="sheet of a workbook (default: the first)")


def read_labelled(options: argparse.Namespace) -> Labelled:
    """Read samples and labels; say on stderr which columns are left out, even if quiet.

    Raises
    ------
    FileError
        The data cannot be read or learned from, or have no labels.
    """
    from calipers.data.encoder import TableEncoder
    from calipers.data.files import FileError

    table = _read(options)
    if table.y is None:
        raise FileError(f"{options.data} is read without labels: name what to predict by --label.")
    notes, left_out, has_label = check_labels(table.y, source=options.data), [], table.has_label
    X = table.X if has_label.all() else table.X[has_label]
    if not has_label.all():
        n, first = int((~has_label).sum()), int(has_label.argmin()) + 1
        left_out.append(f"{n:,} row{'s' * (n > 1)} without a label (the first is row {first:,})")
    encoder = names = columns = None
    if hasattr(X, "columns"):
        encoder = TableEncoder(
            decimal=options.decimal or ".", thousands=options.thousands, drop_ids=options.drop_ids
        )
        with mistakes_in(options.data):
            columns, X = X, encoder.fit(X).transform(X)
        names = encoder.get_feature_names_out().tolist() if table.named else None
        left_out += [f"{name} ({why})" for name, why in encoder.left_out_.items()]
        notes += [note for note in encoder.notes_ if not note.startswith("Left out")]
    if left_out and not options.json:  # JSON has them
        remark(f"Left out: {', '.join(left_out)}.")
    rows = has_label.nonzero()[0] + 1
    return Labelled(X, table.y, rows, names, table.label, encoder, columns, left_out, notes)


def read_new(options: argparse.Namespace, metric: SavedMetric) -> Table:
    """Read samples to transform: columns are read as those that the metric was learned from."""
    encoder, names = metric.encoder_, getattr(metric, "feature_names_in_", None)
    features = None if names is None else dict.fromkeys(names.tolist(), "number")
    if encoder is not None:
        features = {entry["name"]: entry["type"] for entry in encoder.columns_}
    return _read(options, features, encoder)


def _read(
    options: argparse.Namespace,
    features: dict[str, str] | None = None,
    encoder: TableEncoder | None = None,
) -> Table:
    """Read the data; signs of numbers are those of an encoder unless given."""
    from calipers.data.frames import Reader
    from calipers.data.tables import read_table

    reader = Reader(
        sep=options.sep,
        decimal=options.decimal or getattr(encoder, "decimal", "."),
        thousands=options.thousands or getattr(encoder, "thousands", None),
        encoding=options.encoding,
        skiprows=options.skiprows,
        header=options.header,
        sheet=options.sheet,
    )
    table = read_table(
        options.data, reader, label=options.label, ignore=options.ignore, features=features
    )
    for note in [] if options.quiet else table.notes:
        remark(note)
    return table


def check_labels(y: npt.NDArray[Any], *, source: str) -> list[str]:
    """Raise if labels are no classes. Returns a remark on labels that are alike.

    Numbers are measured if most are in too few rows to win a vote, and one is not whole.
    """
    import numpy as np

    from calipers.data.encoder import listed
    from calipers.data.files import FileError
    from calipers.data.frames import is_number

    values, sizes = np.unique(y, return_counts=True)
    distinct = [str(label) for label in values]
    if sizes.max() == 1:
        raise FileError(f"{source} has a different label in every row: name classes by --label.")
    numbers = [float(label.replace(",", ".")) for label in distinct if is_number(label)]
    are_measured = len(numbers) == len(distinct) and not all(map(float.is_integer, numbers))
    if are_measured and 2 * (sizes <= N_VOTERS).sum() > len(distinct):
        raise FileError(
            f"{source}: the labels are {len(distinct):,} different numbers in {len(y):,} rows, "
            "which is regression, where classes are needed: learn by calipers.MLKR in Python, or "
            "cut the numbers into ranges first."
        )
    times = Counter(map(str.lower, distinct))
    alike = sorted((label.lower(), label) for label in distinct if times[label.lower()] > 1)
    told = listed([repr(label) for _, label in alike])
    return [f"Labels that differ in capitals only are different classes: {told}."] if told else []


def read_embeddings(path: Path) -> tuple[npt.NDArray[Any], list[Any] | None]:
    """Return vectors, memory-mapped if the file is NPY, and ids if the file has them.

    Raises
    ------
    FileError
        The file is not there, of another format, or has no vectors.
    """
    import numpy as np

    from calipers.data.frames import format_of, load_npy
    from calipers.data.tables import stacked

    if format_of(path) == "npy":
        return load_npy(path), None
    columns = _columns(path, ("vector",))
    vectors = stacked(str(path), columns["vector"]).astype(np.float32)
    return vectors, _ids(columns["id"]) if "id" in columns else None


def read_pairs(path: Path) -> tuple[Any, npt.NDArray[Any] | None]:
    """Return pairs (query, document), and weights if the file has them.

    Raises
    ------
    FileError
        The file is not there, of another format, or has no such columns.
    """
    import numpy as np

    from calipers.data.frames import format_of, load_npy

    if format_of(path) == "npy":
        return load_npy(path), None
    columns = _columns(path, ("query", "document"))
    both = [_ids(columns[name]) for name in ("query", "document")]
    pairs = np.array(list(zip(*both, strict=True)), dtype=object).reshape(-1, 2)
    if "weight" not in columns:
        return pairs, None
    with mistakes_in(str(path)):
        return pairs, columns["weight"].to_numpy(np.float64)


def _columns(path: Path, needed: tuple[str, ...]) -> DataFrame:
    """Return the columns of a table; ids are read as the text that stands there."""
    from calipers.data.encoder import listed
    from calipers.data.files import FileError
    from calipers.data.frames import Roles, read_frame, sentences

    with sentences(path):
        frame, _, _ = read_frame(path, roles=Roles(str(path), ignore=("id", *needed)))
    if not {*needed} <= {*frame.columns}:
        raise FileError(
            f"{path} must have the columns {' and '.join(map(repr, needed))}, got "
            f"{listed([*map(repr, frame.columns)])}: rename its columns."
        )
    return frame


def _ids(column: Series) -> list[Any]:
    """Return integers if all are texts of such, else the values: so IDs match in all formats."""
    from calipers.data.tables import WHOLE

    values: list[Any] = column.astype(object).where(column.notna(), None).tolist()
    if all(isinstance(value, str) and WHOLE.fullmatch(value) for value in values):
        return [int(value) for value in values]
    return values
