"""Missing labels, of every kind."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calipers import Euclidean, Scaled
from calipers.arrays import missing_labels, refuse_kinds, refuse_missing

MISSING: list[Any] = [
    ["a", None, "b"],
    [1.0, float("nan"), 2.0],
    ("a", pd.NA, "b"),
    np.array([1.0, np.nan, 2.0]),
    np.array(["a", None, "b"], dtype=object),
    np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="datetime64[D]"),
    pd.Series([1, None, 2], dtype="Int64"),
    pd.Series(["a", None, "b"], dtype="category"),
]


@pytest.mark.parametrize("y", MISSING, ids=lambda y: f"{type(y).__name__}")
def test_missing_labels_are_found_and_refused(y: Any) -> None:
    assert missing_labels(y).tolist() == [False, True, False]
    with pytest.raises(ValueError, match=r"^Input y contains NaN or other signs .* \(1 of 3\): "):
        refuse_missing(y)


@pytest.mark.parametrize("kind", ["date", "number", "text"])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_nulls_of_other_libraries(library: str, kind: str) -> None:
    module = pytest.importorskip(library)
    labels = {"date": [date(2020, 1, 1), None], "number": [1, None], "text": ["a", None]}[kind]
    made = [module.Series(labels)] if library == "polars" else [module.array(labels)]
    made += [module.chunked_array([labels])] if library == "pyarrow" else []
    for y in made:
        assert missing_labels(y).tolist() == [False, True]


def test_tables_of_pyarrow() -> None:
    pa = pytest.importorskip("pyarrow")
    refuse_kinds(pa.table({"a": [1.0], "b": [2]}), "X")
    with pytest.raises(ValueError, match="Column 'b' of X is of date32"):
        refuse_kinds(pa.table({"a": [1.0], "b": [date(2020, 1, 1)]}), "X")


@pytest.mark.parametrize("y", [[1, 2], ["a", "b"], np.array([0, 1]), np.array(["a"]), [(1, 2)]])
def test_labels_that_are_there_are_accepted(y: Any) -> None:
    assert not missing_labels(y).any()
    refuse_missing(y)


@pytest.mark.parametrize(
    "as_table", [pd.DataFrame, pl.DataFrame, lambda table: [*zip(*table.values(), strict=True)]]
)
def test_a_text_in_x_is_told_with_its_column(as_table: Any) -> None:
    table = as_table({"width": [1.0, 2.0, 3.0], "colour": ["1", "red", "2"]})
    name = 1 if isinstance(table, list) else "colour"
    told = rf"^could not convert string to float: X has 'red' in the column {name!r}: encode"
    numbers = as_table({"width": [1.0, 2.0], "colour": [1.0, 2.0]})
    metric = Euclidean().fit(numbers)
    for call in (lambda: Scaled().fit(table), lambda: metric.transform(table)):
        with pytest.raises(ValueError, match=told):
            call()
