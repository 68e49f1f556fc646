"""Columns of a table as features, in Python and by the command line."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from calipers import FileError, Scaled, TableEncoder, load
from calipers.cli.main import main
from table_rows import samples_of

TABLE = pd.DataFrame(
    {
        "customer_id": range(700, 730),
        "row": range(30),
        "age": [31.0, None, 45.0] * 10,
        "income": ["6,891", "12,000", "900"] * 10,
        "rate": ["1.9 %", "2.5%", "0.1 %"] * 10,
        "since": ["2020-01-31", "2021-12-01", None] * 10,
        "member": ["yes", "no", "yes"] * 10,
        "colour": ["red", None, "blue"] * 10,
        "remark": [f"text {i}" for i in range(30)],
        "nothing": [None] * 30,
        "kind": ["a", "b", "c"] * 10,
    }
)
FEATURES = ["age", "income", "rate", "since", "member", "colour=blue", "colour=red"]
ROWS = [
    [31.0, 6891.0, 0.019, 18292.0, 1.0, 0.0, 1.0],
    [38.0, 12000.0, 0.025, 18962.0, 0.0, 0.0, 0.0],
    [45.0, 900.0, 0.001, 18627.0, 1.0, 1.0, 0.0],
]
LEFT_OUT = {
    "customer_id": "an ID by its name, with a different number in each row",
    "row": "row numbers",
    "remark": "text with 30 different values in 30 rows",
    "nothing": "empty",
}


@parametrize_with_checks([TableEncoder()])  # type: ignore[untyped-decorator]
def test_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_real_table() -> None:
    X = TABLE.drop(columns="kind")
    for table in (X, pl.from_pandas(X)):
        encoder = TableEncoder().fit(table)
        np.testing.assert_allclose(encoder.transform(table)[:3], ROWS, rtol=1e-12)
        assert encoder.get_feature_names_out().tolist() == FEATURES
        assert encoder.left_out_ == LEFT_OUT
    assert encoder.notes_[1:] == [
        "Filled missing values with the mean of the column: age (10), since (10).",
        "Missing values are no category, 0 in each feature of the column: colour (10).",
        "Read as numbers with a unit: rate (%).",
        "Read as categories: colour (2).",
    ]
    assert repr(encoder) == "TableEncoder(): 7 features of 6 columns, 4 left out"
    rebuilt = TableEncoder.from_columns(json.loads(json.dumps(encoder.columns_)))
    used = X[[entry["name"] for entry in encoder.columns_]]
    np.testing.assert_array_equal(rebuilt.transform(used), encoder.transform(X))
    assert "row" in TableEncoder(drop_ids=False).fit(X).get_feature_names_out()
    model = make_pipeline(TableEncoder(), Scaled(), KNeighborsClassifier(3))
    assert model.fit(X, TABLE["kind"]).score(X, TABLE["kind"]) == 1


def test_new_rows_are_encoded_as_the_old_ones() -> None:
    encoder = TableEncoder(max_categories=1).fit(
        pd.DataFrame({"a": list("xxxxyz"), "b": [1, 2, 3, 6, 1, 5]})
    )
    new = pd.DataFrame({"a": ["x", "y", "new", None], "b": [None, "1,000", "0.03", 7]})
    expected = [[1, 3], [0, 1000], [0, 0.03], [0, 7]]
    np.testing.assert_allclose(encoder.transform(new), np.array(expected, dtype=float))
    half = encoder.refit(pd.DataFrame({"a": list("yyx"), "b": [1, 1, 4]}))
    assert [entry["fill"] for entry in half.columns_] == [None, 2.0]
    assert half.columns_[0]["categories"] == ["y"]
    with pytest.raises(ValueError, match="column 'b' has 'many' in row 2, where a number"):
        encoder.transform(pd.DataFrame({"a": ["x", "x"], "b": ["1", "many"]}))
    with pytest.raises(ValueError, match="column 'b' has inf in row 1"):
        encoder.transform(pd.DataFrame({"a": ["x"], "b": [np.inf]}))


@pytest.mark.parametrize(
    ("dates", "style"),
    [
        (["31.12.2020", "1.2.2021"], "%d.%m.%Y"),
        (["12/31/2020", "1/2/2021"], "%m/%d/%Y"),
        (["1/2/2021", "31/12/2020"], "%d/%m/%Y"),
        (["2020-12-31T10:00:00Z", "2021-01-01T00:00:00+0100"], "%Y-%m-%dT%H:%M:%S%z"),
        (["2020-12-31 10:00:00+01:00", "2021-07-01 00:00:00+02:00"], "%Y-%m-%d %H:%M:%S%z"),
        (["2020-12-31T10:00", "2021-01-01T00:30"], "%Y-%m-%dT%H:%M"),
    ],
)
def test_dates(dates: list[str], style: str) -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"when": dates}))
    entry = encoder.columns_[0]
    assert (entry["type"], entry["format"]) == ("date", style)
    assert encoder.notes_ == []


@pytest.mark.parametrize("first", ["2024-07-06", datetime(2024, 7, 6), "13/7/2024"])
def test_dates_of_another_form_than_in_fit(first: Any) -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"when": [first]}))
    other = pd.DataFrame({"when": ["06.07.2024", "2024-07-06", "6 Jul 2024"]})
    assert np.ptp(encoder.transform(other)) == 0
    expected = "31/12/2024" if first == "13/7/2024" else "2024-12-31"
    with pytest.raises(ValueError, match=f"row 1, where a date such as {expected} is needed"):
        encoder.transform(pd.DataFrame({"when": ["7/13/2024"]}))


@pytest.mark.parametrize("first", [0, 10001])
@pytest.mark.parametrize("step", [1, -1, 7])
def test_row_numbers_start_anywhere(first: int, step: int) -> None:
    numbers = first + np.arange(0, 12 * step, step) % 12  # 7 puts them out of order
    table = pd.DataFrame({"Kundennr": numbers, "gaps": numbers * 2, "half": numbers + 0.5})
    assert TableEncoder().fit(table).left_out_ == {"Kundennr": "row numbers"}
    twice = pd.DataFrame({"a": [*numbers, first]})
    assert TableEncoder().fit(twice).left_out_ == {}


@pytest.mark.parametrize(
    ("form", "odd", "told"),
    [
        ("{},83", ["<5", "k.A."], "'<5' stands among numbers: write it as a number, or leave it"),
        ("2.{},83 kg", ["3 lb", "4 lb"], "numbers with different units, such as 'lb' and 'kg'"),
        ("{} kg", ["3", "4"], "numbers with different units, such as 'kg' and none"),
        ("0{}", [], "codes such as '0551'"),
        ("{}.5 kg", ["1,5"], "numbers such as '551.5 kg', where the decimal sign is ','"),
        ("{}.5E+04", ["1,5"], "numbers such as '551.5E+04', where the decimal sign is ','"),
        ("street {}", ["7"], "text with 13 different values in 13 rows"),
    ],
)
def test_a_column_meant_as_numbers_names_what_is_none(form: str, odd: list[str], told: str) -> None:
    cells = [form.format(551 + i) for i in range(12)] + odd
    encoder = TableEncoder().fit(
        pd.DataFrame({"price": cells, "size": [1.5, 2.5] * 6 + [9] * len(odd)})
    )
    assert encoder.left_out_["price"].startswith(told)


def test_one_unit_behind_all_numbers_is_read() -> None:
    table = pd.DataFrame({"weight": ["12 kg", "3,5 kg", "k.A.", *[f"{i} kg" for i in range(9)]]})
    encoder = TableEncoder().fit(table)
    assert encoder.notes_ == [
        "Filled missing values with the mean of the column: weight (1).",
        "Texts among numbers count as missing: weight ('k.A.').",
        "Read as numbers with a unit: weight (kg).",
    ]
    rebuilt = TableEncoder.from_columns(json.loads(json.dumps(encoder.columns_)))
    for each in (encoder, rebuilt, encoder.refit(table)):
        image = each.transform(pd.DataFrame({"weight": ["1.250,5 kg", "0,5kg", None, "k.A."]}))
        assert image[:2, 0].tolist() == [1250.5, 0.5]
        assert image[2, 0] == image[3, 0] == pytest.approx(51.5 / 11)
        with pytest.raises(ValueError, match="'7 lb' in row 1, where a number in 'kg' is needed"):
            each.transform(pd.DataFrame({"weight": ["7 lb"]}))
        assert each.transform(pd.DataFrame({"weight": [7.0]})).tolist() == [[7.0]]


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["ja", "nein", "ja"], "boolean", [1, 0, 1]),
        (["WAHR", "FALSCH", "WAHR"], "boolean", [1, 0, 1]),
        (["n", "f", "n"], "category", None),
        (["06:00", "18:30", "06:00"], "date", [0.25, 18.5 / 24, 0.25]),
        (["2024-01", "2024-02", "2024-01"], "date", [19723, 19754, 19723]),
        (["01067", "01069", "01067"], "category", None),
        (["5.50 EUR", "7 €", "€ 7"], "number", [5.5, 7, 7]),
        (["1. Mai", "2. Mai", "1. Mai"], "category", None),
        (["2x4", "2x4", "3x4"], "category", None),
        (["30 m2", "2,5 m2", "30 m2"], "number", [30, 2.5, 30]),
        ([timedelta(hours=6), timedelta(days=2), None], "number", [0.25, 2, 1.125]),
    ],
)
def test_kinds_of_cells(cells: list[Any], kind: str, values: list[float] | None) -> None:
    table = pd.DataFrame({"a": pd.Series(cells)})
    encoder = TableEncoder().fit(table)
    assert encoder.columns_[0]["type"] == kind
    if values is not None:
        assert encoder.transform(table)[:, 0].tolist() == values


def test_texts_in_one_row_only_are_no_category() -> None:
    table = pd.DataFrame({"comment": ["ok"] * 20 + [f"late again, {i} days" for i in range(9)]})
    encoder = TableEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == ["comment=ok"]
    assert encoder.notes_ == ["Read as categories: comment (1 of 10 texts)."]


@pytest.mark.parametrize("name", ["Kunden-Nr", "Kundennummer", "Order No.", "orderNo", "api_key"])
def test_ids_by_their_names(name: str) -> None:
    table = pd.DataFrame({name: range(1000, 1220, 11), "size": [1.5, 2.5] * 10})
    assert "an ID by its name" in TableEncoder().fit(table).left_out_[name]


def test_a_date_among_numbers_counts_as_missing() -> None:
    cells = [*map(float, range(20)), datetime(2024, 5, 1)]
    encoder = TableEncoder().fit(pd.DataFrame({"price": pd.Series(cells, dtype=object)}))
    assert encoder.columns_[0]["missing"] == ["2024-05-01 00:00:00"]
    image = encoder.transform(pd.DataFrame({"price": pd.Series(cells, dtype=object)}))
    np.testing.assert_allclose(image[:, 0], [*range(20), 9.5])


def test_missing_booleans_are_told() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"member": ["yes", "no", "yes", None]}))
    assert encoder.notes_ == ["Filled missing values with the more frequent value: member (1)."]


def test_a_loaded_metric_names_the_column_that_a_table_lacks(tmp_path: Path) -> None:
    X = TABLE[["age", "income", "colour"]]
    encoder = TableEncoder().fit(X)
    Scaled().fit(encoder.transform(X)).save(tmp_path / "m", encoder=encoder)
    loaded = load(tmp_path / "m")
    with pytest.raises(ValueError, match="X has no column 'income', which the metric"):
        loaded.transform(X.drop(columns="income"))
    with pytest.raises(ValueError, match="X has no column 'age', 'income', which"):
        loaded.transform(X[["colour"]])
    names = encoder.get_feature_names_out()
    encoded = pd.DataFrame(encoder.transform(X), columns=names)
    np.testing.assert_array_equal(loaded.transform(encoded), loaded.transform(X))


def test_ambiguous_dates_are_told() -> None:
    table = pd.DataFrame({"when": ["3/4/2024", "5/4/2024 "], "other": ["3/4/2024", "25/4/2024"]})
    encoder = TableEncoder().fit(table)
    assert encoder.transform(table)[0, 0] == np.datetime64("2024-03-04").astype(int)
    assert encoder.notes_ == [
        "Read as month/day/year; if the day comes first, write year-month-day: when."
    ]


@pytest.mark.parametrize(
    ("decimal", "values"), [("auto", ["1,5", "6,891"]), (",", ["6,891", "1.000,5"])]
)
def test_decimal_commas(decimal: str, values: list[str]) -> None:
    table = pd.DataFrame({"a": values})
    features = TableEncoder(decimal=decimal).fit_transform(table)
    assert features.ravel().tolist() == ([1.5, 6.891] if decimal == "auto" else [6.891, 1000.5])


def test_parameters_without_a_meaning() -> None:
    for wrong, told in (
        ({"decimal": "x"}, "'auto', '.' or ','"),
        ({"max_categories": 0}, "least 1"),
    ):
        with pytest.raises(ValueError, match=told):
            TableEncoder(**wrong).fit(TABLE)
    with pytest.raises(ValueError, match="no column to learn from, only 'nothing' \\(empty\\)"):
        TableEncoder().fit(TABLE[["nothing"]])


def write(folder: Path, ending: str) -> Path:
    path = folder / f"table{ending}"
    if ending == ".csv":
        TABLE.to_csv(path, index=False)
    elif ending == ".xlsx":
        TABLE.to_excel(path, index=False)
    elif ending == ".jsonl":
        TABLE.to_json(path, orient="records", lines=True)
    else:
        TABLE.to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".jsonl", ".parquet"])
def test_from_a_file_to_a_metric_and_back(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, ending)
    data = samples_of(path, label="kind")
    np.testing.assert_allclose(data.X[:3], ROWS, rtol=1e-12)
    assert (data.names, data.left_out) == (FEATURES, LEFT_OUT)
    assert data.y.tolist() == TABLE["kind"].tolist()
    metric, images = tmp_path / "m", tmp_path / "images.npy"
    fit = ["fit", str(path), "--label", "kind", "--learner", "scaled", "-o", str(metric)]
    assert main([*fit, "--quiet"]) == 0
    assert capsys.readouterr().err.count("row (row numbers)") == 1  # even if quiet
    assert main(["transform", str(metric), str(path), "-o", str(images)]) == 0
    loaded = load(metric)
    assert loaded.feature_names_in_.tolist() == FEATURES
    np.testing.assert_allclose(np.load(images), data.X @ loaded.components_.T)
    np.testing.assert_allclose(loaded.transform(TABLE), np.load(images))
    np.testing.assert_allclose(loaded.transform(pl.from_pandas(TABLE)), np.load(images))


def test_a_table_of_another_country(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("gewicht;preis;art\n1,5;1.200;x\n2,25;900;z\n3;12.000,50;x\n")
    data = samples_of(path, label="art")
    assert data.X.tolist() == [[1.5, 1200.0], [2.25, 900.0], [3.0, 12000.5]]
    words = ["fit", str(path), "--label", "art", "--learner", "scaled", "-o", str(tmp_path / "m")]
    assert main(words) == 0
    told = f"The comma of {path} is read as the decimal sign, as in '1,5'; if that is wrong, say "
    assert f"{told}--decimal '.'." in capsys.readouterr().err
    assert main([*words, "--decimal", "."]) == 2
    assert "has no column to learn from" in capsys.readouterr().err


def test_a_column_that_turns_out_to_be_text_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.data.tables.text._CELLS", 4)
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,2\n" * 9 + "5,x\n5,x\n")
    assert samples_of(path).names == ["a", "b=2", "b=x"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.jsonl", b'{"a": 1}\n[2]\n', "has no object in line 2"),
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "is not JSON in line 2"),
        ("a.jsonl", b"\n", "has no rows"),
        (
            "a.jsonl",
            b'{"a": [1, "b"]}\n',
            "has no column to learn from, only 'a' (lists or objects)",
        ),
        ("a.json", b'[{"a": 1}, 2]', "has no object in item 2"),
        ("a.json", b'[{"a": 1}, {"a"', "is not JSON in item 2"),
        ("a.json", b'[{"a": 1}, {"a": 2}', "has a list of JSON that does not end"),
        ("a.xlsx", b"PK no workbook", "as .xlsx"),
    ],
)
def test_broken_files(name: str, content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError) as caught:
        samples_of(tmp_path / name)
    assert told in str(caught.value)
