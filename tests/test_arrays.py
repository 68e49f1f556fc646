"""Missing labels, of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from calipers.arrays import missing_labels, refuse_missing

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


@pytest.mark.parametrize("y", [[1, 2], ["a", "b"], np.array([0, 1]), np.array(["a"]), [(1, 2)]])
def test_labels_that_are_there_are_accepted(y: Any) -> None:
    assert not missing_labels(y).any()
    refuse_missing(y)
