"""Tables as programs of other countries, spreadsheets and models export them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import FileError
from calipers.data.tables import ReadOptions, read
from calipers.data.tables.columns import Columns
from table_rows import samples_of

GERMAN = (
    "Kunde;Datum;Größe;Preis;Gruppe\r\n"
    "K-1;24.08.2023;1,5;1.174,47 €;Süd\r\n"
    "K-2;15.01.2023;2,25;23,70 €;Nord\r\n"
    "K-3;01.02.2023;3;-1.000,00 €;Süd\r\n"
    "K-4;02.02.2023;4,5;99,00 €;Nord\r\n"
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_german_export(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(GERMAN.encode(encoding))
    data = samples_of(path, label="gruppe")
    assert data.names == ["Datum", "Größe", "Preis"]
    assert data.X[:, 1:].tolist() == [[1.5, 1174.47], [2.25, 23.7], [3, -1000], [4.5, 99]]
    assert data.y.tolist() == ["Süd", "Nord", "Süd", "Nord"]
    assert list(data.left_out) == ["Kunde"]
    assert ("so it is read as cp1252" in read(path).remark) == (encoding == "cp1252")


@pytest.mark.parametrize(
    ("text", "X"),
    [
        ('y,amount,when\na,"₹ 20,77,037",14-Mar-2023\nb,₹ 900,15-Mar-2023\n', [2077037, 900]),
        ('y,amount,when\na,"$1,200.50",3/14/23 4:05 PM\nb,($7),3/15/23 4:05 PM\n', [1200.5, -7]),
        ("y;amount;when\na;1 065,5 €;14/03/2023\nb;7,5 €;15/03/2023\n", [1065.5, 7.5]),
        ("sep=|\ny|amount|when\na|1.065,5-|14.03.23\nb|7,5|15.03.23\n", [-1065.5, 7.5]),
    ],
)
def test_amounts_and_dates_of_other_countries(text: str, X: list[float], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    data = samples_of(tmp_path / "a.csv", label="y")
    assert data.names == ["amount", "when"]
    assert data.X[:, 0].tolist() == X
    assert np.diff(data.X[:, 1]).tolist() == [1.0]
    assert int(data.X[0, 1]) == 19430


def test_a_title_above_and_a_total_below(tmp_path: Path) -> None:
    text = "Sales, 2023\nAs of May\n\nid;kind;size\n7;a;1,5\n8;b;2,5\nTotal;;4,0\n"
    (tmp_path / "a.csv").write_text(text)
    table = read(tmp_path / "a.csv", ReadOptions(label="kind"))
    assert table.remark.startswith("The first 2 rows are read as a title above the table in ")
    chosen = table.choose(label="kind", ignore=["id"])
    assert chosen.y is not None
    assert chosen.y.tolist() == ["a", "b"]
    assert chosen.has_label is not None
    assert chosen.has_label.tolist() == [True, True, False]
    assert chosen.labelled()["size"].tolist() == [1.5, 2.5]


def test_the_sheet_with_the_label_is_read(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs calipers[tables]")
    book = openpyxl.Workbook()
    book.active.append(["Confidential"])
    sheet = book.create_sheet("Data")
    for row in (["Report"], [], ["kind", "", "size"], ["a", None, 1], ["b", None, "2,5"]):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    assert "The sheet 'Data' of " in read(tmp_path / "a.xlsx", ReadOptions(label="kind")).remark
    for label in ("kind", "1"):
        data = samples_of(tmp_path / "a.xlsx", label=label)
        assert data.X.tolist() == [[1.0], [2.5]]
        assert data.y.tolist() == ["a", "b"]


def test_a_text_among_numbers_is_a_missing_value(tmp_path: Path) -> None:
    rows = [f"{i}.5,{'ab'[i % 2]}" for i in range(18)] + ["k. A.,a", "k. A.,b"]
    (tmp_path / "a.csv").write_text("\n".join(["size,y", *rows]))
    data = samples_of(tmp_path / "a.csv", label="y")
    assert data.X[-1].tolist() == [9.0]
    assert "Texts among numbers count as missing: size ('k. A.')." in data.notes


def test_vectors_are_features(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    rows = [{"id": f"d{i}", "y": "ab"[i % 2], "v": row} for i, row in enumerate(X.tolist())]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    data = samples_of(tmp_path / "a.jsonl", label="y")
    np.testing.assert_array_equal(data.X, X)
    assert data.left_out == {"id": "beside vectors"}
    twice = [row | {"w": [1.0]} for row in rows]
    (tmp_path / "b.jsonl").write_text("\n".join(map(json.dumps, twice)))
    with pytest.raises(FileError, match="has vectors in 'v' and 'w': leave one out with --ignore"):
        samples_of(tmp_path / "b.jsonl", label="y")
    lines = [f"{row['id']};{row['y']};{row['v']}" for row in rows]
    (tmp_path / "a.csv").write_text("\n".join(["id;y;v", *lines]))
    np.testing.assert_array_equal(samples_of(tmp_path / "a.csv", label="y").X, X)
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    for kind in (pa.list_(pa.float32()), pa.list_(pa.float64(), 3), pa.large_list(pa.float64())):
        columns = {"y": list("ababab"), "v": pa.array(X.tolist(), kind)}
        parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
        np.testing.assert_allclose(samples_of(tmp_path / "a.parquet", label="y").X, X, rtol=1e-6)
    columns["v"] = pa.array([[1.0], *X.tolist()[1:]])
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(FileError, match="lists, of 1 in row 1 and of 3 in row 2"):
        samples_of(tmp_path / "a.parquet", label="y")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("y.txt", "a\nb\na\nb\n"),
        ("y.csv", "kind\na\nb\na\nb\n"),
        ("y.tsv", "id\tkind\n1\ta\n2\tb\n3\ta\n4\tb\n"),
    ],
)
def test_an_array_and_a_text_of_labels(name: str, text: str, tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.arange(8.0).reshape(4, 2))
    (tmp_path / name).write_text(text)
    data = samples_of(tmp_path / "X.npy", label=str(tmp_path / name))
    assert data.y.tolist() == ["a", "b", "a", "b"]


def test_missing_values_of_arrays_are_filled(tmp_path: Path) -> None:
    X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    np.savez(tmp_path / "a.npz", embeddings=X, labels=np.array(["a", "b", "a"]))
    data = samples_of(tmp_path / "a.npz")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.notes == ["Filled missing values with the mean of the column: column 2 (1)."]


def test_the_row_with_the_label_names_the_columns_even_by_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("2019,2020,kind\n5,3,a\n6,4,b\n")
    assert samples_of(tmp_path / "a.csv", label="kind").names == ["2019", "2020"]


@pytest.mark.parametrize(
    "text",
    [
        "Person,,Result\nage,height,kind\n31,1.5,a\n32,1.75,b\n",
        "Kind\nExported,May\nage,height,kind\n31,1.5,a\n32,1.75,b\n",
        "age height kind\n31 1.5  a\n 32 1.75 b\n",
        '"age","height","kind"\n"1",31,1.5,"a"\n"2",32,1.75,"b"\n',
        '[{"age": 31, "height": 1.5, "kind": "a"},\n {"age": 32, "height": 1.75, "kind": "b"}]',
    ],
    ids=["two headers", "titles", "blanks", "names of rows by R", "one list of JSON"],
)
def test_where_the_table_begins(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text)
    options = ReadOptions(label="kind")
    chosen = read(tmp_path / "a.txt", options).choose(label="kind", features=["age", "height"])
    assert chosen.y is not None
    assert chosen.y.tolist() == ["a", "b"]
    assert isinstance(chosen.X, Columns)
    assert chosen.X.numbers().tolist() == [[31, 1.5], [32, 1.75]]


def test_a_label_that_is_not_in_the_header_is_sought_in_no_row_of_data(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,kind\n31,a\n32,species\n")
    with pytest.raises(FileError, match="has no column 'species'"):
        read(tmp_path / "a.csv", ReadOptions(label="species")).choose(label="species")


def test_vectors_as_numpy_prints_them(tmp_path: Path) -> None:
    text = 'vector,y\n"[ 0.5 1.\n 2.]",a\n"[1. 2. 3.]",b\n"[1. 2. 4.]",b\n'
    (tmp_path / "a.csv").write_text(text)
    X = samples_of(tmp_path / "a.csv", label="y").X
    assert X.tolist() == [[0.5, 1, 2], [1, 2, 3], [1, 2, 4]]
    (tmp_path / "a.csv").write_text(text.replace("1.\n", "..."))
    with pytest.raises(ValueError, match="vectors that were shortened"):
        samples_of(tmp_path / "a.csv", label="y")


def test_codes_with_a_zero_in_front_are_no_numbers(tmp_path: Path) -> None:
    lines = [f"{code},{i}.5,{'ab'[i % 2]}" for i, code in enumerate(["01067", "10115"] * 10)]
    (tmp_path / "a.csv").write_text("\n".join(["zip,size,y", *lines]))
    names = samples_of(tmp_path / "a.csv", label="y").names
    assert names == ["zip=01067", "zip=10115", "size"]


@pytest.mark.parametrize("ending", [".csv", ".xls", ""])
def test_a_file_is_what_its_first_bytes_say(ending: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"age": [31, 32], "height": [1.5, 1.75], "kind": ["a", "b"]})
    for write in (table.to_excel, table.to_parquet):
        whole = tmp_path / f"whole{'.xlsx' if write == table.to_excel else '.parquet'}"
        write(whole, index=False)
        path = whole.rename(tmp_path / f"a{ending}")
        assert samples_of(path, label="kind").X.tolist() == [[31, 1.5], [32, 1.75]]
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=np.arange(2))
    assert samples_of((tmp_path / "a.npz").rename(path)).X.shape == (2, 2)


@pytest.mark.parametrize("name", ["PAR1", "BZh", "BZh9", "%PDF"])
def test_a_name_of_a_column_is_no_sign_of_a_format(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{name},kind\n1.5,a\n2.5,b\n")
    assert samples_of(tmp_path / "a.csv", label="kind").names == [name]


def test_a_format_that_is_named_counts_more_than_the_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('{"a";kind\n1.5;a\n2.5;b\n')
    with pytest.raises(FileError, match="is not JSON"):
        read(path)
    assert samples_of(path, kind="csv", label="kind").X.tolist() == [[1.5], [2.5]]


@pytest.mark.parametrize(
    ("name", "known"),
    [("a.csv", {}), ("a.csv.gz", {}), ("a.txt", {"names": ["body mass"]}), ("a.txt", None)],
)
def test_blanks_in_the_only_name_of_a_csv(
    name: str, known: dict[str, Any] | None, tmp_path: Path
) -> None:
    pack = gzip.compress if name.endswith(".gz") else bytes
    (tmp_path / name).write_bytes(pack(b"body mass\n12 kg\n13 kg\n"))
    columns = read(tmp_path / name, ReadOptions(**(known or {}))).columns
    expected = ["body", "mass"] if known is None else ["body mass"]
    assert [column.name for column in columns] == expected


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"BZh91AY&SY\x00", "is a bzip2 file, not a table: end its name in .bz2."),
        (b"\x1f\x8b\x08\x00", "is a gzip file, not a table: end its name in .gz."),
        (b"\n <!DOCTYPE html><title>Sign in</title>", "is a web page, not a table: download"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file (.xls) or one with a password"),
        (b"version https://git-lfs.github.com/spec/v1", "fetch the file with 'git lfs pull'"),
        (b"%PDF-1.7", "is a PDF document, not a table: give a table, such as a CSV."),
        (b"\x80\x04\x00\x00\x00\x00\x00\x00{}", "is a safetensors file, not a table"),
    ],
)
def test_files_that_are_no_tables(content: bytes, told: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(FileError) as caught:
        read(tmp_path / "a.csv")
    assert told in str(caught.value)


def test_points_that_may_group_thousands(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("price;y\n1.234;a\n980;b\n5.678;a\n")
    table = read(file)
    assert table.columns[0].values.tolist() == [1.234, 980, 5.678]
    assert table.remark == (
        f"The point of {file} is read as the decimal sign, as in '1.234'; if that is wrong, say "
        "--decimal ','."
    )
    assert read(file, ReadOptions(decimal=",")).columns[0].values.tolist() == [1234, 980, 5678]
    for text in ("price;y\n1.234;a\n9.5;b\n", "price,y\n1.234,a\n5.678,b\n"):
        file.write_text(text)
        assert read(file).remark == ""
    file.write_text("price;y\n1.234.567;a\n980;b\n5.678;a\n")
    assert read(file).columns[0].values.tolist() == [1234567, 980, 5678]


def test_times_of_a_parquet_file(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    noon = datetime(2024, 7, 1, 12, tzinfo=UTC)
    moments = [noon, noon + timedelta(milliseconds=500), None]
    kinds = {"zone": pa.timestamp("us", "Europe/Berlin"), "plain": pa.timestamp("us")}
    columns = {name: pa.array(moments, kind) for name, kind in kinds.items()}
    columns["lasted"] = pa.array([timedelta(hours=6), timedelta(days=2), None])
    columns["day"] = pa.array([date(2024, 7, 1), None, date(2024, 7, 2)])
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    data = samples_of(tmp_path / "a.parquet")
    assert data.names == list(columns)
    days = noon.timestamp() / 86_400
    np.testing.assert_allclose(data.X[0], [days, days, 0.25, int(days)], rtol=1e-15)
    np.testing.assert_allclose((data.X[1] - data.X[0])[:3], [0.5 / 86_400] * 2 + [1.75], rtol=1e-4)
