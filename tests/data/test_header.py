"""Where a table begins: titles, names, units."""

from __future__ import annotations

from pathlib import Path

import pytest

from calipers.data.tables import ReadOptions, read
from table_rows import samples_of

UNITS = "weight,height,kind\nkg,cm,\n60.5,170,a\n71,,b\n65,180,a\n80,175,b\n"


def test_a_row_of_units_is_no_sample(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(UNITS)
    data = samples_of(tmp_path / "a.csv", label="kind")
    assert data.X.tolist() == [[60.5, 170], [71, 175], [65, 180], [80, 175]]
    assert read(tmp_path / "a.csv").left_out == (
        f"The row below the names in {tmp_path / 'a.csv'} is read as units, as in 'kg'; if that is "
        "wrong, say --header yes."
    )
    one = read(tmp_path / "a.csv", ReadOptions(header=True))
    assert (len(one.columns[0].values), one.left_out, one.remark) == (5, "", "")


def test_a_row_of_units_in_a_sheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Sizes"], ["weight", "kind"], ["kg", None], [1.5, "a"], [2.5, "b"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read(tmp_path / "a.xlsx", ReadOptions(label="kind"))
    assert table.columns[0].values.tolist() == [1.5, 2.5]
    assert "is read as units, as in 'kg'" in table.left_out


@pytest.mark.parametrize(
    "text",
    [
        "weight,height,kind\n60,k. A.,a\n71,170,b\n65,180,a\n",  # a number beside the text
        "weight,height,kind\nk. A.,k. A.,a\n71,170,b\n65,180,a\n",  # a text column is filled
        "weight,height,kind\nk. A.,,\n71,170,b\nk. A.,180,a\n",  # the text comes again
        "weight,height,kind\nn.d.,n.d.,\n71,170,b\n65,180,a\n",  # the same in each column
        "weight,height,kind\n<5,,\n71,170,b\n65,180,a\n",
        "weight,height,kind\n>90,<100,\n71,170,b\n65,180,a\n",
        "weight,height,kind\n,,\n71,170,b\n65,180,a\n65,180,a\n",  # nothing, which is no row
    ],
)
def test_a_row_of_data_is_none_of_units(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    table = read(tmp_path / "a.csv", ReadOptions(label="kind"))
    assert len(table.columns[0].values) == 3
    assert table.remark == table.left_out == ""


def test_what_a_metric_knows_as_missing_is_no_unit(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("weight,height\nn.d.,cm\n60.5,170\n71,180\n")
    assert len(read(tmp_path / "a.csv").columns[0].values) == 2
    table = read(tmp_path / "a.csv", ReadOptions(missing=frozenset({"n.d."})))
    assert (len(table.columns[0].values), table.left_out) == (3, "")


@pytest.mark.parametrize("row", ["5,1;3,5;setosa", "5,1;3;setosa", "1.005,1;3,5;setosa"])
def test_a_first_row_with_decimal_commas_is_data(row: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{row}\n4,9;3,0;setosa\n6,1;2,8;virginica\n")
    table = read(tmp_path / "a.csv")
    assert not table.named
    assert len(table.columns[0].values) == 3
    assert "is read as data; if that is wrong, say --header yes." in table.remark


def test_whole_numbers_above_decimal_commas_are_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("400;500;600\n0,1;0,2;0,3\n0,4;0,5;0,6\n")
    assert [column.name for column in read(tmp_path / "a.csv").columns] == ["400", "500", "600"]


@pytest.mark.parametrize("label", [None, "missing"])
def test_a_row_of_groups_above_the_names(label: str | None, tmp_path: Path) -> None:
    text = ",Body,,Other\nname,weight,height,kind\nann,60.5,170,a\nbob,71,180,b\n"
    (tmp_path / "a.csv").write_text(text)
    table = read(tmp_path / "a.csv", ReadOptions(label=label))
    assert [column.name for column in table.columns] == ["name", "weight", "height", "kind"]
    assert table.remark.startswith("The first row is read as a title above the table")


@pytest.mark.parametrize(
    "text",
    [
        ",size,kind\nr1,x,a\nr2,y,b\n",  # names of rows have no name
        ",size,kind\nr1,5,a\nr2,7,b\n",
        ",size,\nr1,k. A.,a\nr2,few,b\n",
        ",size,score,kind\nr1,x,unk,a\nr2,x,1.5,b\n",  # as pandas and R write the index
    ],
)
def test_a_name_that_is_empty_makes_no_title(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    table = read(tmp_path / "a.csv")
    assert [column.name for column in table.columns][1] == "size"
    assert len(table.columns[0].values) == 2
