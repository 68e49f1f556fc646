"""The sparse texts of the LIBSVM site: a class, then ``column:value`` counted from 1."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import IO, Any, TypeAlias

import numpy as np

from calipers.arrays import IndexArray
from calipers.paper.datasets.formats.lines import MalformedError, is_number, numbered
from calipers.paper.datasets.split import labels

Reopen: TypeAlias = Callable[[], AbstractContextManager[IO[bytes]]]


def sparse_rows(reopen: Reopen, *, n_features: int) -> tuple[Any, IndexArray]:
    """Read a text as a sparse matrix and classes; ``reopen`` gives its bytes anew.

    The text is never in memory as a whole: that of rcv1 has a gigabyte.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        with reopen() as stream:
            X, y = load_svmlight_file(stream, n_features=n_features, zero_based=False)
        if not np.isfinite(X.data).all():
            raise ValueError("a value is not finite")
    except ValueError as wrong:
        with reopen() as stream:
            lines = (line.decode("latin-1") for line in stream)
            for number, line in numbered(lines):
                _check(number, line, n_features)
        raise MalformedError(0, str(wrong)) from wrong
    return X, labels(y)


def _check(number: int, line: str, n_features: int) -> None:
    """Raise `MalformedError` if the line is not a class and rising columns with values."""
    name, *pairs = line.split("#")[0].split() or [""]
    if not is_number(name):
        raise MalformedError(number, f"{name!r} is not the number of a class")
    last = 0
    for pair in pairs:
        column, colon, value = pair.partition(":")
        if not (colon and column.isdecimal() and is_number(value)):
            raise MalformedError(number, f"{pair!r} is not of the form column:value")
        if not last < int(column) <= n_features:
            raise MalformedError(
                number, f"columns must rise from 1 to at most {n_features}, got {column}"
            )
        last = int(column)
