"""Data sets from the original files of their public homes.

Each is checked against Table 1 once read. Features come out as the paper used them, see
`paper`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from calipers.arrays import IndexArray
from calipers.paper.datasets.formats import libsvm, matlab, uci
from calipers.paper.datasets.formats.lines import MalformedError
from calipers.paper.datasets.formats.unpack import opened
from calipers.paper.datasets.reduce import principal_components
from calipers.paper.datasets.sources import DatasetError
from calipers.paper.datasets.split import Split, Table, features, labels
from calipers.paper.datasets.table1 import SIZES, Size

Result = TypeVar("Result")

N_TERMS = 47_236
"""Columns of LIBSVM's rcv1 files."""

PENDIGITS = Size(10, 16, 7_494, 3_498)
"""The one data set here that is not in Table 1."""


def semeion(path: Path) -> Table:
    """Read semeion.data."""
    return _whole(_text(path, "semeion.data", uci.semeion), "semeion", path)


def connect4(path: Path) -> Table:
    """Read connect-4.data, squares b / o / x as 1 / 2 / 3."""
    return _whole(_text(path, "connect-4.data", uci.connect4), "connect4", path)


def letter(path: Path) -> Split:
    """Read letter-recognition.data, scale 0..15 to [-1, 1]; the last 5,000 rows are the test."""
    X, y = _text(path, "letter-recognition.data", uci.letter)
    n = SIZES["letter"].n_train
    train, test = Table(X[:n] / 7.5 - 1, y[:n]), Table(X[n:] / 7.5 - 1, y[n:])
    return _standard(train, test, SIZES["letter"], (path, path))


def isolet(training: Path, testing: Path) -> Split:
    """Read isolet1+2+3+4.data and isolet5.data."""
    parse = partial(uci.class_last, n_features=617)
    train = _text(training, "isolet1+2+3+4.data", parse)
    test = _text(testing, "isolet5.data", parse)
    return _standard(train, test, SIZES["isolet"], (training, testing))


def poker(training: Path, testing: Path) -> Split:
    """Train on the million hands of poker-hand-testing.data, as the paper, test on the rest."""
    parse = partial(uci.class_last, n_features=10)
    train = _text(training, "poker-hand-testing.data", parse)
    test = _text(testing, "poker-hand-training-true.data", parse)
    return _standard(train, test, SIZES["poker"], (training, testing))


def from_libsvm(training: Path, testing: Path, *, files: tuple[str, str], size: Size) -> Split:
    """Read a training and a test file of LIBSVM into dense rows."""
    train, test = (
        Table(features(X.toarray()), y)
        for X, y in (
            _sparse(path, file, size.n_features)
            for path, file in zip((training, testing), files, strict=True)
        )
    )
    return _standard(train, test, size, (training, testing))


@cache
def tdt30(path: Path) -> Table:
    """Read TDT2.mat and reduce its raw term counts to 200 dimensions, once per process."""
    with opened(path, "TDT2.mat") as stream:
        X, y = _blamed(lambda: matlab.counts(stream), path, "TDT2.mat")
    _expect(X.shape[0], _total("tdt30"), "documents", path)
    return _whole(Table(principal_components(X), y), "tdt30", path)


@cache
def rcv20(training: Path, testing: Path) -> Split:
    """Keep the 20 largest classes of rcv1, reduce them to 200 dimensions, once per process.

    Table 1 trains on far more documents than it tests on, so LIBSVM's test file is the
    training part. Classes are counted and PCA is made over both files together.
    """
    from scipy.sparse import vstack

    parts = [
        _sparse(training, "rcv1_test.multiclass", N_TERMS),
        _sparse(testing, "rcv1_train.multiclass", N_TERMS),
    ]
    X, y = vstack([X for X, _ in parts], format="csr"), np.concatenate([y for _, y in parts])
    is_train = np.arange(len(y)) < len(parts[0][1])
    kept = np.isin(y, largest_classes(y, SIZES["rcv20"].n_classes))
    reduced, y, is_train = principal_components(X[kept]), y[kept], is_train[kept]
    return Split(
        reduced[is_train], y[is_train], reduced[~is_train], y[~is_train], _rcv20_note(is_train)
    )


def largest_classes(y: IndexArray, n: int) -> IndexArray:
    """Return the ``n`` classes with the most examples; of equally large ones the first.

    Examples
    --------
    >>> largest_classes(np.array([7, 7, 3, 3, 5]), 2)
    array([3, 7])
    """
    found, sizes = np.unique(y, return_counts=True)
    return labels(np.sort(found[np.argsort(-sizes, kind="stable")[:n]]))


def _rcv20_note(is_train: Any) -> str:
    """State what was assumed, and whether it gives the numbers of Table 1."""
    size = SIZES["rcv20"]
    n_train = int(np.count_nonzero(is_train))
    n_test = len(is_train) - n_train
    note = (
        "assumed: the 20 largest classes of LIBSVM's rcv1 multiclass, its test file as the "
        "training part, PCA on both parts"
    )
    if (n_train, n_test) == (size.n_train, size.n_test):
        return f"{note}; sizes as in Table 1"
    return (
        f"{note}; this gives {n_train:,} + {n_test:,} rows, "
        f"Table 1 has {size.n_train:,} + {size.n_test:,}"
    )


def _text(path: Path, file: str, parse: Callable[[str], Table]) -> Table:
    """Parse the text of a file, blaming the file and the line for what is wrong."""
    with opened(path, file) as stream:
        text = stream.read().decode("latin-1")
    return _blamed(lambda: parse(text), path, file)


def _sparse(path: Path, file: str, n_features: int) -> tuple[Any, IndexArray]:
    """Read a file of LIBSVM, blaming the file and the line for what is wrong."""
    reopen = partial(opened, path, file)
    return _blamed(lambda: libsvm.sparse_rows(reopen, n_features=n_features), path, file)


def _blamed(read: Callable[[], Result], path: Path, file: str) -> Result:
    try:
        return read()
    except MalformedError as wrong:
        line = f", line {wrong.line}" if wrong.line else ""
        raise DatasetError(f"{file}{line}: {wrong.reason} (in {str(path)!r}).") from wrong


def _whole(data: Table, name: str, path: Path) -> Table:
    """Return the examples if there are as many as in both parts of Table 1."""
    _expect(len(data.y), _total(name), "rows", path)
    _expect_columns_and_classes(data, SIZES[name], path)
    return data


def _standard(train: Table, test: Table, size: Size, paths: tuple[Path, Path]) -> Split:
    """Return both parts if they are as large as they should be."""
    _expect(len(train.y), size.n_train, "training rows", paths[0])
    _expect(len(test.y), size.n_test, "test rows", paths[1])
    _expect_columns_and_classes(train, size, paths[0])
    return Split(train.X, train.y, test.X, test.y)


def _expect_columns_and_classes(data: Table, size: Size, path: Path) -> None:
    _expect(data.X.shape[1], size.n_features, "columns", path)
    _expect(len(np.unique(data.y)), size.n_classes, "classes", path)


def _expect(found: int, expected: int, what: str, path: Path) -> None:
    if found != expected:
        raise DatasetError(
            f"{str(path)!r} holds {found:,} {what} where {expected:,} are expected: delete "
            "the file and load the data set again."
        )


def _total(name: str) -> int:
    return SIZES[name].n_train + SIZES[name].n_test
