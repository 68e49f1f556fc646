"""Columns of a table as features."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from calipers import Scaled, TableEncoder

TABLE = pd.DataFrame(
    {
        "customer_id": range(700, 1000, 10),
        "row": range(30),
        "age": [31.0, None, 45.0] * 10,
        "income": ["6891", "1.2e4", "900"] * 10,
        "since": ["2020-01-31", "2021-12-01", None] * 10,
        "member": ["yes", "no", "yes"] * 10,
        "colour": ["red", None, "blue"] * 10,
        "remark": [f"text {i}" for i in range(30)],
        "nothing": [None] * 30,
        "kind": ["a", "b", "c"] * 10,
    }
)
FEATURES = ["age", "income", "since", "member", "colour=blue", "colour=red"]
ROWS = [
    [31.0, 6891.0, 18292.0, 1.0, 0.0, 1.0],
    [38.0, 12000.0, 18962.0, 0.0, 0.0, 0.0],
    [45.0, 900.0, 18627.0, 1.0, 1.0, 0.0],
]
LEFT_OUT = {
    "customer_id": "an ID by its name, with a different number in each row",
    "row": "row numbers",
    "remark": "30 different texts in 30 rows, such as 'text 0'",
    "nothing": "empty",
}


def rebuilt(encoder: TableEncoder) -> TableEncoder:
    return TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))


def fitted(cells: Any, **parameters: Any) -> TableEncoder:
    return TableEncoder(**parameters).fit(pd.DataFrame({"a": pd.Series(cells)}))


def kind_of(cells: Any, **parameters: Any) -> Any:
    """The type of a column, or why it is left out."""
    table = pd.DataFrame({"a": pd.Series(cells), "b": np.arange(len(cells)) % 2})
    encoder = TableEncoder(**parameters).fit(table)
    return encoder.left_out_.get("a") or encoder.columns_[0]["type"]


@parametrize_with_checks([TableEncoder()])  # type: ignore[untyped-decorator]
def test_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_real_table() -> None:
    X = TABLE.drop(columns="kind")
    for table in (X, pl.from_pandas(X), pa.Table.from_pandas(X), X.convert_dtypes()):
        encoder = TableEncoder().fit(table)
        np.testing.assert_allclose(encoder.transform(table)[:3], ROWS, rtol=1e-12)
        assert encoder.get_feature_names_out().tolist() == FEATURES
        assert encoder.left_out_ == LEFT_OUT
    assert encoder.notes_[1:] == [
        "Filled missing values with the mean of the column: age (10), since (10).",
        "Read as categories: colour (2).",
        "Rows without a value get 0 in each feature of the column: colour (10).",
    ]
    used = X[[entry["name"] for entry in encoder.columns_]]
    np.testing.assert_array_equal(rebuilt(encoder).transform(used), encoder.transform(X))
    assert "row" in TableEncoder(drop_ids=False).fit(X).get_feature_names_out()
    model = make_pipeline(TableEncoder(), Scaled(), KNeighborsClassifier(3))
    assert model.fit(X, TABLE["kind"]).score(X, TABLE["kind"]) == 1


def test_new_rows_are_encoded_as_the_old_ones() -> None:
    encoder = TableEncoder(max_categories=1).fit(
        pd.DataFrame({"a": list("xxxxyz"), "b": [1, 2, 3, 6, 1, 5]})
    )
    new = pd.DataFrame({"a": ["x", "y", "new", None], "b": [None, "1e3", "0.03", 7]})
    expected = [[1, 3.0], [0, 1000.0], [0, 0.03], [0, 7.0]]
    for each in (encoder, rebuilt(encoder)):
        np.testing.assert_allclose(each.transform(new), expected)
    half = encoder.refit(pd.DataFrame({"a": list("yyx"), "b": [1, 1, 4]}))
    assert (half.columns_[0]["categories"], half.columns_[1]["fill"]) == (["y"], 2.0)
    assert encoder.columns_[0]["categories"] == ["x"]
    empty = encoder.refit(pd.DataFrame({"a": [None, None], "b": [1, 2]}))
    assert empty.transform(new)[:, 0].tolist() == [1.5, 1000, 0.03, 7]


@pytest.mark.parametrize(
    ("cells", "wrong", "needed"),
    [
        ([1.5, 2.0], "many", "'many' in row 1, where a number is needed"),
        ([1.5, 2.0], 2**53, "'9007199254740992' in row 1, where a number is needed"),
        (["no", "yes"], "true", "'true' in row 1, where 'no' or 'yes' is needed"),
        ([True, False], 7.0, "'7.0' in row 1, where 'false' or 'true' is needed"),
        (["2024-01-31", "2024-02-01"], "1/2/2024", "where a date such as 2024-12-31 is needed"),
        (["2024-01-31", "2024-02-01"], 45000.0, "where a date such as 2024-12-31 is needed"),
        ([1.5, 2.0], np.inf, "Input X contains infinity"),
    ],
)
def test_cells_of_another_type_are_refused(cells: Any, wrong: Any, needed: str) -> None:
    encoder = fitted(cells)
    for each in (encoder, rebuilt(encoder)):
        with pytest.raises(ValueError, match=needed):
            each.transform(pd.DataFrame({"a": pd.Series([wrong], dtype=object)}))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["f", "n", "y", "f", "n", "y"], "category"),
        (["T", "F", "N", "T", "F", "N"], "category"),
        (["Yes", "no", "YES", None], "boolean"),
        ([True, None, False], "boolean"),
        ([True, True], "boolean"),
        (["NA", "x", "NA", "x"], "category"),
        (["01x", "1.0", "01x", "1.0"], "category"),
        (["NA", "?", "3", "4.5"], "number"),
        (["1_000", "\u0661", "1_000", "\u0661"], "category"),
        ([date(2024, 7, 1), None], "date"),
        (["2024-01", "2024-02-03T10:00+02:00"], "date"),
        (["1/2/2024", "1/2/2024", "3/2/2024", "3/2/2024"], "category"),
        ([f"2024-01-{day:02}" for day in range(1, 30)], "date"),
        (["01067", "10115"] * 3, "category"),
        (["x", "x"], "the same text in each row"),
        ([2**53 + 1, 3], "whole numbers beyond 2^53, which float64 cannot tell apart"),
        (["9" * 30, "1", "1", "9" * 30], "category"),
        ([*map(str, range(20)), "k.A."], "21 different texts in 21 rows, such as 'k.A.'"),
        (["1,5", "2,5"] * 3, "'1,5' is a number with --decimal ,"),
        (["6,891", "7"], "'6,891' is a number with --decimal , or --thousands ,"),
        (["1.234,5", "7"], "'1.234,5' is a number with --decimal ,"),
        (["1.9 %", "7 %", "$ 3"], "'1.9 %' is a number without its sign"),
        ([f"street {i}" for i in range(9)], "9 different texts in 9 rows, such as 'street 0'"),
    ],
)
def test_what_a_column_holds(cells: Any, kind: str) -> None:
    assert kind_of(cells) == kind


def test_whole_numbers_beyond_float64_with_gaps_are_found_in_every_library() -> None:
    cells = {"a": [2**53 + 1, None, 3], "b": [1, 2, 1]}
    for table in (pl.DataFrame(cells), pa.table(cells), pd.DataFrame(cells, dtype="Int64")):
        assert [*TableEncoder().fit(table).left_out_] == ["a"]


def test_the_signs_of_numbers_are_kept_with_the_encoder() -> None:
    table = pd.DataFrame({"a": ["1.234,5", "1,234", "3"]})
    encoder = TableEncoder(decimal=",", thousands=".").fit(table)
    assert encoder.transform(table).ravel().tolist() == [1234.5, 1.234, 3.0]
    assert rebuilt(encoder).transform(table[1:2]).tolist() == [[1.234]]
    assert kind_of(["1.5", "2.5"], decimal=",") == "'1.5' is a number with --decimal ."


def test_dates_are_days() -> None:
    noon = datetime(1970, 1, 2, 12, tzinfo=UTC)
    assert fitted([noon, None]).transform(pd.DataFrame({"a": ["1970-01-02"]})).item() == 1.0
    cells = ["1970-01-02", "1970-02", "1970-01-01T12:00+12:00"]
    assert fitted(cells).transform(pd.DataFrame({"a": cells})).ravel().tolist() == [1, 31, 0]
    table = pl.DataFrame({"a": [noon, None], "b": [1.5, 2.5]})
    assert TableEncoder().fit_transform(table)[:, 0].tolist() == [1.5, 1.5]


@pytest.mark.parametrize("step", [1, -1, 7])
def test_row_numbers_start_anywhere(step: int) -> None:
    numbers = 10001 + np.arange(0, 12 * step, step) % 12  # 7 puts them out of order
    table = pd.DataFrame({"n": numbers, "gaps": numbers * 2, "half": numbers + 0.5})
    encoder = TableEncoder().fit(table)
    assert encoder.left_out_ == {"n": "row numbers"}
    assert encoder.notes_[1].startswith("Used as numbers: gaps (a different whole number in each")
    assert TableEncoder().fit(pd.DataFrame({"a": [*numbers, 10001]})).left_out_ == {}


@pytest.mark.parametrize("name", ["Unnamed: 0", "__index_level_0__", "rownames", "CustomerID"])
def test_index_columns_and_ids_are_left_out(name: str) -> None:
    numbers = np.random.default_rng(0).permutation(100)[:20]
    table = pd.DataFrame({name: numbers, "size": [1.5, 2.5] * 10})
    assert [*TableEncoder().fit(table).left_out_] == [name]
    assert TableEncoder(drop_ids=False).fit(table).left_out_ == {}


def test_texts_in_one_row_only_are_no_category() -> None:
    encoder = fitted(["ok"] * 20 + [f"late again, {i} days" for i in range(9)])
    assert encoder.get_feature_names_out().tolist() == ["a=ok"]
    assert encoder.notes_ == ["Read as categories: a (1 of 10 texts)."]


def test_mistakes() -> None:
    with pytest.raises(ValueError, match=r"no column to learn from, only 'nothing' \(empty\)"):
        TableEncoder().fit(TABLE[["nothing"]])
    with pytest.raises(ValueError, match="masked"):
        TableEncoder().fit(np.ma.masked_less(np.eye(3), 1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 3},
        {"type": "text"},
        {"fill": None},
        {"fill": float("nan")},
        {"type": "category", "categories": [1]},
        {"type": "category", "categories": []},
        {"type": "boolean", "words": ["x", "y"]},
        {"type": "boolean"},
    ],
)
def test_what_is_no_encoder_is_refused(wrong: dict[str, Any]) -> None:
    entry = {"name": "a", "type": "number", "fill": 1.5}
    sound = {"decimal": ".", "thousands": None, "columns": [entry]}
    assert TableEncoder.from_json(sound).transform(pd.DataFrame({"a": [None]})).item() == 1.5
    for changed in ([entry | wrong], [entry, entry], [], "x", [3]):
        with pytest.raises(ValueError, match="does not say how columns become features"):
            TableEncoder.from_json(sound | {"columns": changed})
    for foreign in (None, [1], {"columns": 1}, sound | {"decimal": 5}, sound | {"thousands": [1]}):
        with pytest.raises(ValueError, match="does not say how columns become features"):
            TableEncoder.from_json(foreign)
