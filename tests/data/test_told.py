"""What is told about columns that are used, for only the user knows whether it is right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from calipers import TableEncoder
from calipers.data.tables import read

SIZES = [1.5, 2.5] * 15


def notes(**columns: object) -> list[str]:
    """Notes on a table of these columns."""
    return TableEncoder().fit(pd.DataFrame(columns)).notes_


def test_sentences_that_repeat_are_categories_and_told() -> None:
    sentences = ["The parcel came back to us.", "Paid in full."] * 15
    assert notes(status=sentences) == ["Read as categories: status (2)."]
    assert notes(size=["S", "L", "M"] * 10, status=sentences) == [
        "Read as categories: size (3), status (2)."
    ]


def test_rare_texts_that_are_no_category_are_told() -> None:
    many = [f"city {i % 60}" for i in range(150)]
    assert notes(city=many) == ["Read as categories: city (50 of 60 texts)."]


@pytest.mark.parametrize(
    ("cells", "first", "told"),
    [
        (["694 251 703", "512 400 118", "12"], 694251703.0, "'694 251 703' as 694251703"),
        (["694\u00a0251", "512\u202f400", "12"], 694251.0, "'694 251' as 694251"),
        (["3", "2-", "1-"], 3.0, "'2-' as -2"),
        (["3", "(2)", "1"], 3.0, "'(2)' as -2"),
        (["3,5", "1.065,5-", "(2,5)"], 3.5, ""),  # amounts, by their decimals
        (["1 065,5", "7,5", "8"], 1065.5, ""),
    ],
)
def test_numbers_that_may_be_something_else_are_told(
    cells: list[str], first: float, told: str, tmp_path: Path
) -> None:
    expected = f"Texts read as numbers: a ({told})." if told else ""
    encoder = TableEncoder().fit(pd.DataFrame({"a": cells}))
    assert encoder.transform(pd.DataFrame({"a": cells}))[0, 0] == first
    assert encoder.notes_ == ([expected] if told else [])
    (tmp_path / "a.csv").write_text("\n".join(["b;a", *(f"1;{cell}" for cell in cells)]))
    table = read(tmp_path / "a.csv")
    assert table.columns[1].values[0] == first
    assert ("Texts read as numbers" in table.remark, expected in table.remark) == (bool(told), True)


def test_a_column_that_may_be_an_id_is_told() -> None:
    rng = np.random.default_rng(0)
    customer = rng.permutation(90_000)[:30] + 10_000
    assert notes(size=SIZES, customer=customer) == [
        "Used as numbers: customer (a different whole number in each row: use --ignore if it is an "
        "ID)."
    ]
    assert notes(size=SIZES, customer=customer % 25) == []
    kept = TableEncoder(drop_ids=False).fit(pd.DataFrame({"customer": customer}))
    assert kept.notes_ == []


@pytest.mark.parametrize("sign", ["-", "\u2013", "\u2014", "--", ".", ":"])
def test_a_dash_is_no_number_however_often_it_comes(sign: str) -> None:
    table = pd.DataFrame({"size": [sign, "1.5", "2.5", sign] * 5})
    encoder = TableEncoder().fit(table)
    assert encoder.transform(table)[:4, 0].tolist() == [2.0, 1.5, 2.5, 2.0]
    assert encoder.notes_[-1] == f"Texts among numbers count as missing: size ({sign!r})."
    plain = TableEncoder().fit(pd.DataFrame({"size": ["1.5", "2.5"]}))
    assert plain.transform(table)[:2, 0].tolist() == [2.0, 1.5]
    categories = TableEncoder().fit(pd.DataFrame({"sign": ["+", sign, "+", sign]}))
    assert categories.columns_[0]["categories"] == sorted(["+", sign])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [(["1", "-"], "category"), (["1", "1.0", "-"], "category"), (["1", "2", "-"], "number")],
)
def test_dashes_beside_one_number_are_a_category(cells: list[str], kind: str) -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"mutated": cells * 5}))
    assert encoder.columns_[0]["type"] == kind


@pytest.mark.parametrize(
    ("cells", "what"), [(["2024-01-31", "2024-02-01"], "dates"), (["yes", "no"], "booleans")]
)
def test_dashes_among_dates_and_booleans_are_told(cells: list[str], what: str) -> None:
    told = notes(a=[*cells, "-"] * 5)
    assert told[-1] == f"Texts among {what} count as missing: a ('-')."
    assert len(notes(a=cells * 5)) == 0


def test_notes_on_many_columns_name_some() -> None:
    table = {f"c{i}": ["u", "v", None] * 4 for i in range(25)}
    assert notes(**table)[0].endswith("c18 (4), c19 (4), and 5 more.")


def test_a_fold_may_have_no_text_of_a_column_of_categories() -> None:
    sizes = pd.Series([1.0, "two", 3.5, "x"] * 5, dtype=object)
    encoder = TableEncoder().fit(pd.DataFrame({"size": sizes}))
    assert encoder.columns_[0]["categories"] == ["1", "3.5", "two", "x"]
    fold = pd.DataFrame({"size": pd.Series([1.0, 3.5, 1.0, 3.5])})
    assert encoder.refit(fold).transform(fold).tolist() == [[1, 0], [0, 1]] * 2


def test_columns_are_found_by_position_where_one_side_has_no_names() -> None:
    table = pd.DataFrame({"size": [1.5, 2.5, 4.5], "kind": ["a", "b", "a"]})
    named, plain = TableEncoder().fit(table), TableEncoder().fit(table.to_numpy())
    expected = named.transform(table).tolist()
    with pytest.warns(UserWarning, match="valid feature names"):
        assert named.transform(table.to_numpy()).tolist() == expected
    with pytest.warns(UserWarning, match="X has feature names"):
        assert plain.transform(table).tolist() == expected
    assert named.refit(table).transform(table).tolist() == expected


def test_a_lazy_table_is_refused() -> None:
    lazy = pl.LazyFrame({"size": [1.5, 2.5]})
    with pytest.raises(TypeError, match=r"X is a LazyFrame.*collect\(\)"):
        TableEncoder().fit(lazy)


def test_lists_in_cells_are_no_texts() -> None:
    table = pd.DataFrame({"size": SIZES, "vector": [[0.5, i] for i in range(30)]})
    left_out = TableEncoder().fit(table).left_out_
    assert left_out == {
        "vector": "lists such as '[0.5, 0]': give vectors as an array, without other columns"
    }
    ranges = TableEncoder().fit(pd.DataFrame({"age": ["[0, 10)", "[10, 20)"] * 15}))
    assert ranges.columns_[0]["categories"] == ["[0, 10)", "[10, 20)"]


IDS = ["37.494.876", "25.514.902", "40.588.466"]


def test_points_in_ids_make_no_decimal_comma(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": IDS, "size": ["8.222", "7.739", "5.767"], "x": ["2.51", "1", "2"]})
    encoder = TableEncoder().fit(table)
    assert encoder.transform(table)[:, -2:].tolist() == [[8.222, 2.51], [7.739, 1], [5.767, 2]]
    table.to_csv(tmp_path / "a.csv", index=False)
    found = read(tmp_path / "a.csv")
    assert found.decimal == "."
    assert found.columns[1].values.tolist() == [8.222, 7.739, 5.767]


def test_a_decimal_comma_that_no_cell_has_is_told(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": IDS, "size": ["8.222", "7.739", "5.767"]})
    encoder = TableEncoder().fit(table)
    assert encoder.transform(table)[0].tolist() == [37494876, 8222]
    how = "read as grouping thousands, as in '37.494.876'; if that is wrong,"
    assert f"Points are {how} set decimal='.'." in encoder.notes_
    assert TableEncoder(decimal=",").fit(table).notes_ == []
    path = tmp_path / "a.csv"
    table.to_csv(path, index=False)
    assert read(path).remark == f"The point of {path} is {how} say --decimal '.'."
