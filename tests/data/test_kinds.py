"""Missing labels and kinds of input that NumPy would turn into something else."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calipers.data.samples import refuse_kinds, refuse_missing

pa = pytest.importorskip("pyarrow")
DAY = date(2020, 1, 1)
MISSING: list[Any] = [
    ["a", None, "b"],
    [1.0, float("nan"), 2.0],
    ("a", pd.NA, "b"),
    np.array(["a", None, "b"], dtype=object),
    np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
    pd.Series([1, None, 2], dtype="Int64"),
    pd.Series(["a", None, "b"], dtype="category"),
    pl.Series([DAY, None, DAY]),
    pa.array([1, None, 2]),
    pa.chunked_array([["a", None, "b"]]),
]


@pytest.mark.parametrize("y", MISSING, ids=lambda y: f"{type(y).__name__}")
def test_missing_labels_are_found_and_refused(y: Any) -> None:
    with pytest.raises(ValueError, match=r"^Input y contains NaN or other signs .* \(1 of 3\): "):
        refuse_missing(y)


@pytest.mark.parametrize("y", [[1, 2], ["a", "b"], np.array([0, 1]), np.array(["a"]), [(1, 2)]])
def test_labels_that_are_there_are_accepted(y: Any) -> None:
    refuse_missing(y)


@pytest.mark.parametrize(
    ("X", "told"),
    [
        (np.ma.masked_equal([[1.0, 2.0]], 2.0), "X has 1 masked values"),
        (pl.LazyFrame({"a": [1.0]}), "X is a LazyFrame, which is not in memory"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "X holds times .datetime64.D..: pass"),
        (pd.DataFrame({"a": [1.0], "b": pd.to_datetime([DAY])}), "X holds times .datetime64"),
        (pl.DataFrame({"a": [1.0], "b": [DAY]}), "X holds times .Date.: pass"),
        (pa.table({"a": [1.0], "b": [DAY]}), "X holds times .date32"),
    ],
)
def test_kinds_that_numpy_would_convert(X: Any, told: str) -> None:
    with pytest.raises((ValueError, TypeError), match=told):
        refuse_kinds(X, "X")


def test_numbers_are_accepted() -> None:
    for table in ({"a": [1.0], "b": [2]},):
        for X in (table, [[1.0]], pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
            refuse_kinds(X, "X")
