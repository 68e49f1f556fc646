"""LIBSVM (svmlight) texts: a label, then ``column:value``; absent values are 0."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from calipers.data.tables.packed import opened
from calipers.data.tables.table import Table
from calipers.io import FileError
from calipers.io.errors import reason

MOST_BYTES = 4 << 30
"""Largest matrix that is made dense of it."""


def read_svmlight(path: Path) -> Table:
    """Read rows and labels; columns are counted from 0 or 1, whichever fits."""
    from sklearn.datasets import load_svmlight_file

    with opened(path) as stream:
        try:
            X, y = load_svmlight_file(stream)
        except FileError:
            raise
        except (ValueError, OverflowError, MemoryError) as wrong:
            raise FileError(
                f"{path} is not in LIBSVM's format ({reason(wrong)}): give lines such as "
                "'1 1:0.5 3:2'."
            ) from wrong
    if 0 in X.shape:
        raise FileError(f"{path} has no rows with values: give lines such as '1 1:0.5 3:2'.")
    n_bytes = 8 * X.shape[0] * X.shape[1]
    if n_bytes > MOST_BYTES:
        raise FileError(
            f"{path} has {X.shape[0]:,} rows of {X.shape[1]:,} columns, {n_bytes / 2**30:,.0f} GB "
            "when dense: reduce it first, e.g. with sklearn.decomposition.TruncatedSVD."
        )
    if not np.isfinite(y).all():
        raise FileError(f"{path} has labels that are not finite: correct them.")
    return Table(str(path), named=False, matrix=X.toarray(), labels=y)
