"""Users' files, whole and broken, in every format."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from calipers import FileError
from calipers.data import memmap
from calipers.data.tables import ReadOptions, check_output, read, write
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


def test_columns_of_numbers_are_found(tmp_path: Path) -> None:
    data = table_of(tmp_path, CSV, label="kind")
    np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)
    assert data.names == ["width", "height"]
    assert data.y.tolist() == ["a", "b", "a"]
    assert data.label == "kind"
    assert data.left_out == {"name": "text with 3 different values in 3 rows"}


@pytest.mark.parametrize("label", ["3", "-2", "kind"])
def test_the_label_by_name_or_position(label: str, tmp_path: Path) -> None:
    assert table_of(tmp_path, CSV, label=label).y.tolist() == ["a", "b", "a"]


def test_labels_that_are_numbers_are_whole_where_they_can_be(tmp_path: Path) -> None:
    assert table_of(tmp_path, "a,y\n1,3\n2,4\n", label="y").y.dtype == np.int64
    assert table_of(tmp_path, "a,y\n1,3.0\n2,4\n", label="y").y.tolist() == [3, 4]
    assert table_of(tmp_path, "a,y\n1,3\n2,4.5\n", label="y").y.tolist() == ["3", "4.5"]
    assert table_of(tmp_path, "a,y\n1,03\n2,x\n", label="y").y.tolist() == ["03", "x"]


@pytest.mark.parametrize(
    "labels", [(2**53, 2**53 + 1), ("7", "07"), ("1_0", "10"), ("\u0661", "1")]
)
def test_labels_that_are_written_differently_are_different(
    labels: tuple[Any, Any], tmp_path: Path
) -> None:
    rows = [f"{label},{i}.5" for i, label in enumerate(labels)]
    assert len({*table_of(tmp_path, "\n".join(["y,a", *rows]), label="y").y.tolist()}) == 2
    if isinstance(labels[0], int):
        lines = [f"{label} 1:1" for label in labels]
        assert table_of(tmp_path, "\n".join(lines), "a.svm").y.tolist() == list(labels)
        np.savez(tmp_path / "a.npz", X=np.array([labels, (1, 2)]).T)
        data = samples_of(tmp_path / "a.npz", label="1")
        assert data.X.dtype == np.float64
        assert data.y is not None
        assert data.y.tolist() == list(labels)
        pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
        parquet = pytest.importorskip("pyarrow.parquet")
        for kind in (pa.int64(), pa.uint64(), pa.decimal128(20, 0)):
            columns = {"y": pa.array([*map(int, labels)], kind), "a": [1.5, 2.5]}
            parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
            data = read(tmp_path / "a.parquet", ReadOptions(label="y")).choose(label="y")
            assert data.y is not None
            assert data.y.tolist() == list(labels)
    else:
        assert "is not in LIBSVM's format" in refused(tmp_path, f"1_0 1:{labels[0]}\n", "b.svm")


def test_only_numbers_as_tables_write_them_are_features(tmp_path: Path) -> None:
    data = table_of(tmp_path, "a,b,c\n1_234,\u0661,1e3\n5,6,7\n7,8,9\n")
    assert (data.names, data.X.tolist()) == (["c"], [[1000.0], [7.0], [9.0]])


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("0,1,2,3\n5,3,1,0\n4,3,1,0\n", True),  # as pandas writes columns without names
        (",0,1,2\n0,5.1,3.5,1\n1,4.9,3.0,1\n", True),
        ("species,0,1\nsetosa,5.1,3.5\n", True),
        ("species,2019,2020\nsetosa,5.1,3.5\n", True),
        ("0,1\n5.1,0.0\n4.9,1.0\n", True),
        ("a,7\n1,2\n", True),
        ("5.1,3.5,1.4,Iris-setosa\n4.9,3.0,1.4,Iris-setosa\n", False),
        ("M,0.455,15\nF,0.5,7\n", False),
        ("0,1\n1,0\n", False),
        ("5.1,?,0\n4.9,1,0\n", False),
        ("1,2,0\n3,4,1\n", False),
    ],
)
def test_whether_the_first_row_names_the_columns(text: str, is_named: bool, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(text)
    found = read(path)
    assert found.named is is_named
    assert "--header no" in found.remark if is_named else "--header yes" in found.remark
    for given in (True, False):
        table = read(path, ReadOptions(header=given))
        assert (table.named, table.remark) == (given, "")
    head = text.splitlines()[0].split(",")
    assert read(path, ReadOptions(names=[cell for cell in head if cell][:2])).named
    path.write_text(CSV)
    assert read(path).remark == ""


def test_names_are_no_positions(tmp_path: Path) -> None:
    table = "species,1,2,weight\na,5,6,7\n"
    told = refused(tmp_path, table, features=["1", "2", "3"])
    assert "no column '3' (a feature of the metric): give one of species, 1, 2, weight" in told
    assert "no column '4' (--label)" in refused(tmp_path, table, label="4")
    assert table_of(tmp_path, table, label="2").y.tolist() == [6]
    assert table_of(tmp_path, table, label="-1").y.tolist() == [7]


def test_long_texts_are_no_labels(tmp_path: Path) -> None:
    told = refused(tmp_path, f"a,y\n1,u\n2,{'v' * 100_000}\n", label="y")
    assert "a text of 100,000 characters in row 2 of the column 'y' of labels" in told


def test_a_file_without_a_header(tmp_path: Path) -> None:
    data = table_of(tmp_path, "1,2,0\n3,4,1\n", label="-1")
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert data.names is None
    assert data.y.tolist() == [0, 1]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(separator: str, tmp_path: Path) -> None:
    data = table_of(tmp_path, CSV.replace(",", separator), label="kind")
    np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)


def test_quotes_blank_lines_line_ends_and_a_mark_in_front(tmp_path: Path) -> None:
    text = '\ufeffwidth,kind\r\n1,"a, or ""b"""\r\n\r\n2,"two\r\nlines"\r\n'
    data = table_of(tmp_path, text, label="kind")
    assert data.names == ["width"]
    assert data.y.tolist() == ['a, or "b"', "two\r\nlines"]


def test_packed_files(tmp_path: Path) -> None:
    for name, pack in (("a.csv.gz", gzip.compress), ("a.csv.bz2", bz2.compress)):
        data = table_of(tmp_path, pack(CSV.encode()), name, label="kind")
        np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)
    data = table_of(tmp_path, lzma.compress(CSV.encode()), "a.csv.xz", label="kind")
    np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)
    half = gzip.compress(CSV.encode())[:-9]
    assert refused(tmp_path, half, "b.csv.gz").startswith("Cannot read")
    assert refused(tmp_path, b"no gzip", "c.csv.gz").startswith("Cannot read")


def test_many_rows_in_blocks(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(10_000, 3))
    lines = [",".join(map(repr, row)) + f",{i % 3}" for i, row in enumerate(X.tolist())]
    data = table_of(tmp_path, "a,b,c,y\n" + "\n".join(lines), label="y")
    np.testing.assert_array_equal(data.X, X)
    lines[9000] = "1,oops,2,0"
    data = table_of(tmp_path, "a,b,c,y\n" + "\n".join(lines), label="y")
    assert data.names == ["a", "b", "c"]
    assert data.notes[-1] == "Texts among numbers count as missing: b ('oops')."
    lines[9000], lines[9500] = "1,2,2,0", "1,2,2,last"
    assert table_of(tmp_path, "a,b,c,y\n" + "\n".join(lines), label="y").y[9500] == "last"


@pytest.mark.parametrize(
    ("text", "how", "expected"),
    [
        ("", {}, "FILE is empty: give a table"),
        (" \n\n", {}, "FILE is empty: give a table"),
        ("a,b\n", {}, "FILE has a header and no rows"),
        ("a,b\n1,2\n3\n", {}, "FILE has 1 cells in line 3 where the first row has 2"),
        ("a,b\n1,2\n1,2,3\n", {}, "FILE has 3 cells in line 3 where the first row has 2"),
        ("a,b,a\n1,2,3\n", {}, "FILE has 2 columns named 'a': give each its own name."),
        (
            "a,y\n1,\n2,?\n",
            {"label": "y"},
            "FILE has no label in the column 'y': name another column.",
        ),
        ("y\n1\n2\n", {"label": "y"}, "FILE has no column to learn from, only the label"),
        ("width,species\n1,a\n", {"label": "specis"}, "FILE has no column 'specis' (--label)"),
        ("width,species\n1,a\n", {"label": "specis"}, "did you mean 'species'?"),
        ("a,b\n1,2\n", {"label": "3"}, "a position from 1 to 2"),
        ("a,b\n1,2\n", {"label": "0"}, "a position from 1 to 2"),
        ("a,b\n1,2\n", {"ignore": ["c"]}, "FILE has no column 'c' (--ignore)"),
        ("a,b\n1,2\n", {"features": ["a", "z"]}, "no column 'z' (a feature of the metric)"),
        (b"a,b\n1,\x81\n", {}, "FILE is not UTF-8 throughout (byte 0x81"),
        ("a,b\n1," + "x" * 200_000, {}, "FILE is not a table of text (field larger than"),
    ],
)
def test_broken_tables(
    text: str | bytes, how: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    assert expected in refused(tmp_path, text, **how)


def test_empty_and_ignored_columns_are_left_out(tmp_path: Path) -> None:
    data = table_of(tmp_path, "id,a,\n1,5,\n2,6,\n", ignore=["id"])
    assert (data.names, data.left_out) == (["a"], {"column 3": "empty"})


def test_features_come_in_the_order_asked_for(tmp_path: Path) -> None:
    data = table_of(tmp_path, "a,b,c\n1,2,3\n", features=["c", "a"])
    np.testing.assert_array_equal(data.X, [[3, 1]])


def test_arrays(tmp_path: Path) -> None:
    X, y = np.arange(12.0).reshape(4, 3), np.array(["a", "b", "a", "b"])
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "both.npz", X=X, y=y, z=np.arange(4))
    np.savez(tmp_path / "one.npz", rows=X)
    table = read(tmp_path / "X.npy")
    assert isinstance(table.matrix, np.memmap)
    data = table.choose(label="-1")
    np.testing.assert_array_equal(data.X, X[:, :2])
    assert data.y is not None
    assert data.y.tolist() == [2, 5, 8, 11]
    label = str(tmp_path / "y.npy")
    beside = read(tmp_path / "X.npy", ReadOptions(label=label)).choose(label=label)
    assert isinstance(beside.X, np.memmap)
    for data, labels in (
        (beside, y),
        (read(tmp_path / "both.npz").choose(), y),
        (read(tmp_path / "both.npz", ReadOptions(label="z")).choose(label="z"), np.arange(4)),
    ):
        np.testing.assert_array_equal(data.X, X)
        assert data.y is not None
        assert data.y.tolist() == labels.tolist()
    np.testing.assert_array_equal(read(tmp_path / "one.npz").choose().X, X)


def test_broken_arrays(tmp_path: Path) -> None:
    def told(name: str, **how: Any) -> str:
        with pytest.raises(FileError) as caught:
            read(tmp_path / name, ReadOptions(**how)).choose(**how)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "Python objects" in told("objects.npy")
    np.save(tmp_path / "line.npy", np.arange(3))
    assert "shape (3,) and type int64: give numbers in rows and columns" in told("line.npy")
    np.save(tmp_path / "gap.npy", np.array([[1.0, 2.0], [3.0, np.inf]]))
    assert "has inf in row 2, column 2" in told("gap.npy")
    np.save(tmp_path / "X.npy", np.ones((3, 2)))
    assert "has no column 'y' (--label): its 2 columns have no names" in told("X.npy", label="y")
    np.save(tmp_path / "y.npy", np.ones(2))
    assert "labels of shape (2,)" in told("X.npy", label=str(tmp_path / "y.npy"))
    whole = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "half.npy").write_bytes(whole[:-8])
    assert told("half.npy").startswith("Cannot read")
    (tmp_path / "huge.npy").write_bytes(whole.replace(b"(3, 2), }    ", b"(3, 1<<50), }"))
    assert told("huge.npy").startswith("Cannot read")
    (tmp_path / "not.npz").write_bytes(b"PK\x03\x04 and nothing")
    assert told("not.npz").startswith("Cannot read")
    (tmp_path / "array.npz").write_bytes(whole)
    assert read(tmp_path / "array.npz").choose().X.shape == (3, 2)
    np.savez(tmp_path / "none.npz", a=np.ones((2, 2)), b=np.ones((2, 2)))
    assert "has no array 'X', only a, b" in told("none.npz")


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = {"width": [1.5, 2.5, 3.5], "kind": ["a", "b", "a"], "height": [2, 3, 4]}
    parquet.write_table(pa.table(columns), path)
    data = samples_of(path, label="kind")
    np.testing.assert_array_equal(data.X, WIDTH_HEIGHT)
    assert data.y.tolist() == ["a", "b", "a"]
    first = date(2024, 1, 1)
    when = [first, date(2024, 1, 3), None]
    parquet.write_table(pa.table({"a": [1, None, 2], "b": ["u", None, "v"], "c": when}), path)
    data = samples_of(path)
    day = (first - date(1970, 1, 1)).days
    assert data.X.tolist() == [[1, 1, 0, day], [1.5, 0, 0, day + 2], [2, 0, 1, day + 1]]
    assert data.notes == [
        "Filled missing values with the mean of the column: a (1), c (1).",
        "Missing values are no category, 0 in each feature of the column: b (1).",
        "Read as categories: b (2).",
    ]
    path.write_bytes(b"PAR1 and nothing")
    with pytest.raises(FileError, match=r"^Cannot read .* as Parquet"):
        read(path)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "uuid"])
def test_texts_of_parquet(encoding: str, kind: str, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra tables")
    parquet = pytest.importorskip("pyarrow.parquet")
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    values = [f"{i % 3:016d}" for i in range(20)]
    texts = pa.array([value.encode() for value in values] if kind == "uuid" else values)
    labels = texts.cast(pa.binary(16)).cast(pa.uuid()) if kind == "uuid" else texts.cast(
        getattr(pa, kind)()
    )  # fmt: skip
    path = tmp_path / "a.parquet"
    how = {"use_dictionary": False, "column_encoding": {"a": "PLAIN", "y": encoding}}
    if kind == "uuid":  # of one length, which has no lengths to be coded
        how = {}
    parquet.write_table(pa.table({"a": np.arange(20.0), "y": labels}), path, **how)
    chosen = read(path, ReadOptions(label="y")).choose(label="y")
    assert chosen.X.shape == (20, 1)
    assert len(np.unique(np.asarray(chosen.y))) == 3


def test_a_parquet_file_with_fewer_rows_than_it_declares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs the extra tables")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(memmap, "LARGEST_READ", 0)
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": np.arange(50.0)}), path)
    table = read(path)
    for rows in (40.0, 60.0):
        parquet.write_table(pa.table({"a": np.arange(rows)}), path)
        with pytest.raises(FileError, match="has not the 50 rows that it declares"):
            table.choose()


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").touch()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileError, match=r"needs the package pyarrow: pip install pyarrow\."):
        read(tmp_path / "a.parquet")


def test_libsvm(tmp_path: Path) -> None:
    X, y = np.array([[0.0, 1.5], [2.0, 0.0]]), np.array([1, 3])
    dump_svmlight_file(X, y, str(tmp_path / "a.libsvm"), zero_based=False)
    packed = tmp_path / "a.svm.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.libsvm").read_bytes()))
    for path in (tmp_path / "a.libsvm", packed):
        data = read(path).choose()
        np.testing.assert_array_equal(data.X, X)
        assert data.y is not None
        assert data.y.tolist() == [1, 3]
    assert "is not in LIBSVM's format" in refused(tmp_path, "1 a:b\n", "b.svm")
    assert "has no rows with values" in refused(tmp_path, "", "c.svm")
    huge = "\n".join(["1 1:1", "2 999999999:1"])
    assert "16,000,000,000 when dense: reduce it first" in refused(tmp_path, huge, "d.svm")
    assert "when dense: reduce it first" in refused(tmp_path, "1 200000000:1", "e.svm")


def test_formats_by_ending_or_by_name(tmp_path: Path) -> None:
    (tmp_path / "data").write_text(CSV)
    with pytest.raises(FileError, match=r"names no format: end it in one of \.csv, .*--format"):
        read(tmp_path / "data")
    np.testing.assert_array_equal(
        samples_of(tmp_path / "data", kind="csv", ignore=["kind"]).X, WIDTH_HEIGHT
    )
    with pytest.raises(FileError, match="does not exist: give the name of a data file"):
        read(tmp_path / "none.csv")
    (tmp_path / "a.npy.gz").touch()
    with pytest.raises(FileError, match="is packed, which npy cannot be read from"):
        read(tmp_path / "a.npy.gz")


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz", ".parquet"])
def test_what_is_written_is_read_again(ending: str, tmp_path: Path) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    path = tmp_path / f"out{ending}"
    X, y = np.random.default_rng(0).normal(size=(5000, 2)), np.array(["a", "b, c"] * 2500)
    check_output(path)
    write(path, X, ["u", "v"], carried={"kind": y}, y=y)
    label = None if ending == ".npz" else "kind"
    data = samples_of(path, label=label)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == y.tolist()
    write(path, X, ["u", "v"])
    np.testing.assert_array_equal(samples_of(path).X, X)


def test_outputs_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"must end in \.csv, \.tsv, \.xlsx, \.npy, \.npz, \.pa"):
        check_output(tmp_path / "out.xls")
    with pytest.raises(FileError, match="does not exist: create it first"):
        check_output(tmp_path / "no" / "out.csv")
