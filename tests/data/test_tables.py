"""Users' files, whole and broken, in every format: right, or refused in one sentence."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.datasets import dump_svmlight_file

from calipers import FileError
from calipers.data.frames import Reader
from calipers.data.tables import check_output, read_table, write_table
from table_rows import samples_of

CSV = "name,width,kind,height\nx,1.5,a,2\ny,2.5,b,3\nz,3.5,a,4\n"
WIDTH_HEIGHT = [[1.5, 2.0], [2.5, 3.0], [3.5, 4.0]]


def table_of(folder: Path, text: str | bytes, name: str = "data.csv", **how: Any) -> Any:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return samples_of(path, **how)


def refused(folder: Path, text: str | bytes, name: str = "data.csv", **how: Any) -> str:
    with pytest.raises(FileError) as caught:
        table_of(folder, text, name, **how)
    told = str(caught.value)
    assert "\n" not in told
    assert name in told
    return told.replace(str(folder / name), "FILE")


@pytest.mark.parametrize("label", ["kind", "3", "-2"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_are_found(label: str, separator: str, tmp_path: Path) -> None:
    data = table_of(tmp_path, CSV.replace(",", separator), label=label)
    np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)
    assert data.names == ["width", "height"]
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.left_out == {"name": "3 different texts in 3 rows, such as 'x'"}


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["3", "4", "-5"], [3, 4, -5]),
        (["01", "1", "1.0"], ["01", "1", "1.0"]),
        (["NA", "None", "?"], ["NA", "None", "?"]),
        (["1_0", "10", "\u0661"], ["1_0", "10", "\u0661"]),
        ([str(2**53), str(2**53 + 1), "7"], [2**53, 2**53 + 1, 7]),
        (["True", "False", "true"], ["True", "False", "true"]),
        (["9" * 30, "1", "2"], ["9" * 30, "1", "2"]),
    ],
)
def test_labels_are_the_text_that_stands_there(
    cells: list[str], labels: list[Any], tmp_path: Path
) -> None:
    rows = "".join(f"{i}.5,{cell}\n" for i, cell in enumerate(cells))
    assert table_of(tmp_path, f"a,y\n{rows}", label="y").y.tolist() == labels
    assert table_of(tmp_path, rows, label="-1", header="none").y.tolist() == labels


def test_categories_are_the_text_that_stands_there(tmp_path: Path) -> None:
    cells = ["01", "1", "1.0", "NA", "x"] * 2
    rows = "".join(f"{cell},{i % 4}.5\n" for i, cell in enumerate([*cells, ""]))
    data = table_of(tmp_path, f"a,b\n{rows}")
    assert data.names == ["a=01", "a=1", "a=1.0", "a=NA", "a=x", "b"]
    assert data.X[-1, :-1].tolist() == [0] * 5


def test_numbers_keep_their_last_bit(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 3)) * 10.0 ** np.arange(-300, 301, 300)
    text = "a,b,c\n" + "".join(",".join(map(repr, row)) + "\n" for row in X.tolist())
    np.testing.assert_array_equal(table_of(tmp_path, text).X, X)
    lines = "\n".join(json.dumps(dict(zip("abc", row, strict=True))) for row in X.tolist())
    np.testing.assert_array_equal(table_of(tmp_path, lines, "a.jsonl").X, X)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "xlsx"])
def test_what_is_missing_or_beyond_float64(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{ending}"
    columns = {"a": [2**53 + 1, None, 3], "b": [1, None, 4], "y": ["u", None, "v"]}
    frame = pd.DataFrame(columns, dtype=object).convert_dtypes()
    writers: dict[str, Any] = {"csv": frame.to_csv, "parquet": frame.to_parquet}
    writers["xlsx"] = frame.to_excel
    if ending == "jsonl":
        path.write_text(frame.to_json(orient="records", lines=True))
    else:
        writers[ending](path, index=False)
    data = samples_of(path, label="y")
    assert [*data.left_out] == ["a"]
    assert data.X[:, -1].tolist() == [1, 4]
    assert data.y.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "FILE is empty: give a table."),
        (" \n\n", "FILE is empty"),
        ("a,b\n", "FILE has no rows"),
        ("a,b\n1,2\n3\n", "FILE has 1 cells in row 3 of its text, where the first row has 2"),
        ("a,b\n3\n1,2\n", "FILE has 1 cells in row 2"),
        ("a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("a,b\n1,2,3\n1,2\n", "Length of header or names does not match length of data"),
        ("a,b\n1,2,3\n1,2,3\n", "Length of header or names does not match length of data"),
        ("a,b,a\n1,2,3\n", "FILE has several columns named 'a': give each its own name."),
        ("5.1,3,b\n4.9,3,a\n", "the number 5.1 in its first row: say --header none if no row"),
        (b"a,b\n1,\x81\n", "Cannot read 'FILE' ('charmap' codec can't decode byte 0x81"),
        (b"PK\x03\x04\x14\x00a,b\n", "FILE is no text: give the file its own ending"),
        ('a,b\n1,"2\n', "EOF inside string"),
    ],
)
def test_broken_texts(text: str | bytes, told: str, tmp_path: Path) -> None:
    assert told in refused(tmp_path, text)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"label": "knd"}, "has no column 'knd' (--label): give one of name, width, kind, height"),
        ({"label": "knd"}, "did you mean 'kind'?"),
        ({"label": "5"}, "or a position from 1 to 4"),
        ({"label": "0"}, "has no column '0'"),
        ({"ignore": ["c"]}, "has no column 'c' (--ignore)"),
        ({"label": "kind", "ignore": ["1", "2", "4"]}, "has no column to learn from"),
    ],
)
def test_columns_that_are_not_there(how: dict[str, Any], told: str, tmp_path: Path) -> None:
    assert told in refused(tmp_path, CSV, **how)


def test_names_that_are_numbers_are_no_positions(tmp_path: Path) -> None:
    text = "species,1,2,weight\na,5,6,7\nb,6,7,8\n"
    assert "no column '4' (--label)" in refused(tmp_path, text, header="0", label="4")
    assert table_of(tmp_path, text, header="0", label="2").y.tolist() == [6, 7]
    data = table_of(tmp_path, "5,3,a\n4,3,b\n", header="none", label="-1")
    assert (data.names, data.y.tolist(), data.X.shape) == (None, ["a", "b"], (2, 2))


def test_labels_of_no_use(tmp_path: Path) -> None:
    assert "column 'y', has no label" in refused(tmp_path, "a,y\n1,\n2,\n", label="y")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    text = 'größe;kind\r\n1;"a; ""b"""\r\n\r\n2;"two\nlines"\r\n3;ü\r\n'
    data = table_of(tmp_path, text.encode(encoding), label="kind")
    assert data.names == ["größe"]
    assert data.y.tolist() == ['a; "b"', "two\nlines", "ü"]
    assert any("is read as cp1252" in note for note in data.notes) == (encoding == "cp1252")
    koi = text.replace("größe", "размер").replace("ü", "я").encode("koi8-r")
    assert table_of(tmp_path, koi, label="kind", encoding="koi8-r").names == ["размер"]


def test_the_options_of_the_reader(tmp_path: Path) -> None:
    german = "Verkauf\n\na;b\n1.234,5;2,5\n6;0,1\n"
    path = tmp_path / "a.csv"
    path.write_text(german)
    X = read_table(path, Reader(skiprows=2, decimal=",", thousands=".")).X
    assert X.to_numpy(float).tolist() == [[1234.5, 2.5], [6, 0.1]]
    told = refused(tmp_path, german, skiprows=2)
    assert "'a' ('1.234,5' is a number with --decimal ,)" in told
    assert "'b' ('2,5' is a number with --decimal ,)" in told
    assert table_of(tmp_path, "a:b\n1:2\n", sep=":").X.tolist() == [[1, 2]]


def test_packed_texts_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packs: dict[str, Any] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    for ending, pack in packs.items():
        data = table_of(tmp_path, pack(CSV.encode()), f"a.csv.{ending}", label="kind")
        np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)
        half = pack(CSV.encode())[:-9]
        assert refused(tmp_path, half, f"b.csv.{ending}").startswith("Cannot read")
    with (tmp_path / "data.csv").open("wb+") as stream:
        stream.write(CSV.encode())
        stream.seek(0)
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
        np.testing.assert_array_equal(read_table("-", label="kind").X.shape, (3, 3))


def test_an_index_that_pandas_wrote_is_left_out(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": np.arange(12) * 0.5, "y": list("ab") * 6})
    frame.index = pd.Index(np.random.default_rng(0).permutation(30)[:12])
    frame.to_csv(tmp_path / "a.csv")
    frame.to_parquet(tmp_path / "a.parquet")
    columns = {"__index_level_0__": frame.index.to_numpy(), **frame}
    parquet.write_table(pa.table(columns), tmp_path / "b.parquet")
    left_out = ("Unnamed: 0", None, "__index_level_0__")
    for name, index in zip(("a.csv", "a.parquet", "b.parquet"), left_out, strict=True):
        data = samples_of(tmp_path / name, label="y")
        assert data.names == ["size"]
        assert [*data.left_out] == ([] if index is None else [index])
    frame.rename_axis("mass").to_parquet(tmp_path / "c.parquet")
    assert samples_of(tmp_path / "c.parquet", label="y").names == ["mass", "size"]


def test_types_of_parquet(tmp_path: Path) -> None:
    moments = [datetime(2024, 7, 1, 12), datetime(2024, 7, 2), None]
    columns = {
        "when": pa.array(moments),
        "flag": pa.array([True, None, False]),
        "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
        "y": pa.array([1.0, 2.0, 1.0]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    data = samples_of(tmp_path / "a.parquet", label="y")
    assert data.X[:, 0].tolist() == [19905.5, 19906, 19905.75]
    assert data.X[:, 1].tolist() == [1, 0, 0]
    assert data.y.tolist() == [1, 2, 1]
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-300])
    with pytest.raises(FileError, match="Cannot read"):
        samples_of(tmp_path / "b.parquet")


def test_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Confidential"])
    sheet = book.create_sheet("Data")
    for row in (["Report"], ["kind", "size", "when"], ["a", 1, datetime(2024, 7, 1)], [None] * 3):
        sheet.append(row)
    sheet.append(["b", 2.5, datetime(2024, 7, 2)])
    book.save(tmp_path / "a.xlsx")
    data = samples_of(tmp_path / "a.xlsx", label="kind", sheet="Data", skiprows=1)
    assert data.X.tolist() == [[1, 19905], [2.5, 19906]]
    assert data.y.tolist() == ["a", "b"]
    with pytest.raises(FileError, match="Worksheet named 'no' not found"):
        samples_of(tmp_path / "a.xlsx", sheet="no")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1}\n[2]\n', "has rows that are no objects of JSON"),
        ('{"a": 1}\n{"a": \n', "(Expecting value: line 2 column 6"),
        ('[{"a": 1}, {"a"', "Cannot read"),
        ("\n", "has no rows"),
        ('{"a": ' * 100_000, "maximum recursion depth exceeded"),
    ],
)
def test_broken_json(text: str, told: str, tmp_path: Path) -> None:
    assert told in refused(tmp_path, text, "a.jsonl")


def test_a_name_twice_in_json(tmp_path: Path) -> None:
    told = refused(tmp_path, '{"a": 1, "a": 2, "y": 0}\n{"a": 3, "y": 1}\n', "a.jsonl")
    assert "has an object with a name twice" in told


def test_a_list_of_json(tmp_path: Path) -> None:
    rows = [{"a": 1, "when": "2024-07-01"}, {"a": 2.5, "when": None}, {"when": "2024-07-02"}]
    data = table_of(tmp_path, json.dumps(rows), "a.json")
    assert data.X.tolist() == [[1, 19905], [2.5, 19905.5], [1.75, 19906]]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_vectors_are_features(ending: str, tmp_path: Path) -> None:
    X, path = np.random.default_rng(0).normal(size=(6, 3)), tmp_path / f"a.{ending}"
    frame = pd.DataFrame({"id": [f"d{i}" for i in range(6)], "y": list("ababab"), "v": X.tolist()})
    frame["w"] = [[1.0], *X.tolist()[1:]]
    if ending == "jsonl":
        frame.to_json(path, orient="records", lines=True, double_precision=15)
    else:
        frame.to_parquet(path, index=False)
    data = samples_of(path, label="y")
    np.testing.assert_allclose(data.X, X, rtol=1e-12)
    assert data.notes == ["Left out beside vectors: id, w."]
    with pytest.raises(FileError, match="vectors of different lengths"):
        samples_of(path, label="y", ignore=["v"])


def test_arrays(tmp_path: Path) -> None:
    X, y = np.arange(12.0).reshape(4, 3), np.array(["a", "b", "a", "b"])
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "both.npz", X=X, y=y, z=np.arange(4))
    table = read_table(tmp_path / "X.npy", label="-1")
    assert isinstance(table.X, np.memmap)
    assert table.y is not None
    assert (table.X.shape, table.y.tolist()) == ((4, 2), [2, 5, 8, 11])
    data = samples_of(tmp_path / "X.npy", label=str(tmp_path / "y.npy"))
    assert isinstance(data.X, np.memmap)
    assert data.y.tolist() == y.tolist()
    assert samples_of(tmp_path / "both.npz", label="y").y.tolist() == y.tolist()
    assert samples_of(tmp_path / "both.npz", label="z").y.tolist() == [0, 1, 2, 3]
    dump_svmlight_file(X, [1, 2, 1, 2], str(tmp_path / "a.svm"), zero_based=False)
    data = samples_of(tmp_path / "a.svm")
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [1, 2, 1, 2]
    X[1, 1] = np.nan
    np.savez(tmp_path / "gap.npz", X=X, y=y)
    data = samples_of(tmp_path / "gap.npz", label="y")
    assert data.notes == ["Filled missing values with the mean of the column: column 2 (1)."]
    assert data.X[1, 1] == np.mean([1, 7, 10])


def test_broken_arrays(tmp_path: Path) -> None:
    def told(name: str, **how: Any) -> str:
        with pytest.raises(FileError) as caught:
            samples_of(tmp_path / name, **how)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "Python objects" in told("objects.npy")
    np.save(tmp_path / "line.npy", np.arange(3))
    assert "shape (3,) and type int64: give numbers in rows and columns" in told("line.npy")
    np.save(tmp_path / "X.npy", np.ones((3, 2)))
    assert "has no column 'y' (--label)" in told("X.npy", label="y")
    np.save(tmp_path / "y.npy", np.ones(2))
    assert "has labels of shape (2,)" in told("X.npy", label=str(tmp_path / "y.npy"))
    (tmp_path / "half.npy").write_bytes((tmp_path / "X.npy").read_bytes()[:-8])
    assert told("half.npy").startswith("Cannot read")
    np.savez(tmp_path / "rows.npz", rows=np.ones((2, 2)))
    assert "'X is not a file in the archive'" in told("rows.npz")
    (tmp_path / "not.npz").write_bytes(b"PK\x03\x04 and nothing")
    assert told("not.npz").startswith("Cannot read")
    (tmp_path / "a.svm").write_text("no numbers\n")
    assert told("a.svm").startswith("Cannot read")
    (tmp_path / "a.doc").write_text(CSV)
    assert "names no format" in told("a.doc")
    assert "(No such file or directory)" in told("b.csv")


def test_columns_of_a_metric_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,v,code,u\n007,1,1,3\n008,2,2,4\n")
    table = read_table(path, features={"u": "number", "v": "number", "code": "category"})
    assert table.others is not None
    assert table.X.columns.tolist() == ["u", "v", "code"]
    assert table.X.values.tolist() == [[3, 1, "1"], [4, 2, "2"]]
    assert table.others["id"].tolist() == ["007", "008"]
    with pytest.raises(FileError, match="has no column 'z', a feature of the metric"):
        read_table(path, features={"z": "number"})
    path.write_text("1,2\n3,4\n")
    table = read_table(path, Reader(header="none"), features={"u": "number", "v": "number"})
    assert table.X.to_numpy(float).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileError, match="has 2 columns beside the label, but the metric was"):
        read_table(path, Reader(header="none"), features={"u": "number"})


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_images_come_back(ending: str, tmp_path: Path) -> None:
    path, X = tmp_path / f"out{ending}", np.random.default_rng(0).normal(size=(3, 2))
    others = pd.DataFrame({"id": ["007", "8", None], "n": [1, None, 3]}).convert_dtypes()
    check_output(path)
    write_table(path, X, ["m0", "m1"], others=others)
    table = read_table(path, features={"m0": "number", "m1": "number"})
    np.testing.assert_allclose(table.X.to_numpy(float), X, rtol=1e-15 * (ending == ".xlsx"))
    assert table.others is not None
    assert table.others["id"].tolist()[:2] == ["007", "8"]
    assert table.others["n"].isna().tolist() == [False, True, False]
    with pytest.raises(FileError, match="The output must end in"):
        check_output(tmp_path / "a.doc")


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_texts_that_a_spreadsheet_would_run_are_made_harmless(ending: str, tmp_path: Path) -> None:
    path, cells = tmp_path / f"out{ending}", ["=1+1", "-1+1", "@a", "-0.25", "-0,25", "a=b"]
    write_table(path, np.ones((6, 1)), ["m0"], others=pd.DataFrame({"=a": cells}))
    table = read_table(path, features={"m0": "number"})
    assert table.others is not None
    assert table.others["'=a"].tolist() == ["'=1+1", "'-1+1", "'@a", *cells[3:]]


def test_damaged_files_are_right_or_refused(tmp_path: Path) -> None:
    X, rng = np.random.default_rng(0).normal(size=(6, 3)), np.random.default_rng(1)
    for ending in ("csv", "csv.gz", "parquet", "xlsx", "npz"):
        path = tmp_path / f"whole.{ending}"
        if ending == "csv.gz":
            path.write_bytes(gzip.compress((tmp_path / "whole.csv").read_bytes(), mtime=0))
        else:
            write_table(path, X, ["u", "v", "w"], others=pd.DataFrame({"y": list("ababab")}))
        data = path.read_bytes()
        for _ in range(25):
            broken = bytearray(data[: rng.integers(len(data))] if rng.random() < 0.3 else data)
            for place in rng.integers(len(broken), size=3) if broken else []:
                broken[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(broken)
            try:
                found = samples_of(path)
            except FileError:
                continue
            assert np.asarray(found.X).shape[1] >= 1
