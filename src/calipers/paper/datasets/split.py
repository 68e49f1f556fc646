"""What a data set is once loaded, and how numbered splits are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray


@dataclass(frozen=True)
class Split:
    """A training part, a test part, and what a reader of results should know of them.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n_train, d) and (n_test, d)
        Features.
    y_train, y_test : ndarray of shape (n_train,) and (n_test,)
        Class numbers.
    note : str
        What to know of the data, above all where they differ from what their name
        promises; often empty.
    """

    X_train: FloatArray
    y_train: IndexArray
    X_test: FloatArray
    y_test: IndexArray
    note: str = ""


class Table(NamedTuple):
    """Examples without a standard split.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Features.
    y : ndarray of shape (n,)
        Class numbers.
    """

    X: FloatArray
    y: IndexArray


def features(values: npt.NDArray[Any]) -> FloatArray:
    """Return stored features, often compact integers, as floating point numbers."""
    return np.asarray(values, dtype=np.float64)


def labels(values: npt.NDArray[Any]) -> IndexArray:
    """Return stored class numbers, often of one byte, as plain integers."""
    return np.asarray(values, dtype=np.intp)


def numbered_split(table: Table, number: int) -> Split:
    """Draw the 70/30 split that ``number`` seeds: a plain permutation, not stratified.

    The training part has ``floor(0.7 n)`` rows, which gives the sizes of the paper's
    Table 1.

    Examples
    --------
    >>> table = Table(features(np.eye(10)), labels(np.arange(10)))
    >>> numbered_split(table, 0).X_train.shape
    (7, 10)
    """
    order = np.random.default_rng(number).permutation(len(table.y))
    n_train = 7 * len(order) // 10
    train, test = order[:n_train], order[n_train:]
    return Split(table.X[train], table.y[train], table.X[test], table.y[test])
