"""LIBSVM (svmlight) texts: a label, then ``column:value``; absent values are 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from calipers.data.files import FileError
from calipers.data.files.errors import reason
from calipers.data.tables.numbers import as_number, is_plain, labels_of_texts
from calipers.data.tables.packed import BoundedLines, check_growth, opened
from calipers.data.tables.table import Table

_EXAMPLE = "give lines such as '1 1:0.5 3:2'"


def read_svmlight(path: Path) -> Table:
    """Read rows and labels; columns are counted from 0 or 1, whichever fits."""
    from sklearn.datasets import load_svmlight_file

    try:
        labels, n_columns = _scanned(path)
        if not labels:
            raise FileError(f"{path} has no rows with values: {_EXAMPLE}.")
        check_growth(path, 8 * len(labels) * n_columns, when="when dense")
        with opened(path) as stream:
            X, y = load_svmlight_file(stream)
    except FileError:
        raise
    except (ValueError, OverflowError, MemoryError) as wrong:
        raise FileError(
            f"{path} is not in LIBSVM's format ({reason(wrong)}): {_EXAMPLE}."
        ) from wrong
    if 0 in X.shape or len(labels) != len(y):
        raise FileError(f"{path} has no rows with values: {_EXAMPLE}.")
    if not np.isfinite(y).all():
        raise FileError(f"{path} has labels that are not finite: correct them.")
    return Table(str(path), named=False, matrix=X.toarray(), labels=labels_of_texts(labels))


def _scanned(path: Path) -> tuple[list[str], int]:
    """Return the labels as they are written, and how many columns the rows have."""
    labels, last = [], 0
    with opened(path) as stream:
        lines = BoundedLines(path, stream)
        for number, line in enumerate(lines, 1):
            lines.begin_row()
            words = line.partition(b"#")[0].decode("ascii", "replace").split()
            if not words:
                continue
            if as_number(words[0]) is None or not all(map(is_plain, words)):
                raise FileError(f"{path} is not in LIBSVM's format (line {number}): {_EXAMPLE}.")
            labels.append(words[0].removeprefix("+"))
            values = [word for word in words[1:] if not word.startswith("qid:")]
            if values:
                last = max(last, int(values[-1].partition(":")[0]))
    return labels, last + 1
