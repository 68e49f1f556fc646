"""Damaged and hostile files of data: each is refused in one sentence, or gives finite rows."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from calipers import FileError
from calipers.cli.embeddings import read_embeddings
from calipers.cli.main import main
from calipers.data.tables import ReadOptions, columnar, decoding, packed, read
from damage import FILES, damaged, read_table, table_by_command

N_EACH = 200
N_COMMANDS = 5


@pytest.mark.parametrize("name", FILES)
def test_damage_is_told_or_harmless(name: str, tmp_path: Path) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    make, label = FILES[name]
    whole, path = make(tmp_path), tmp_path / name
    n_refused = 0
    for seed in range(N_EACH):
        path.write_bytes(damaged(whole, np.random.default_rng(seed)))
        n_refused += bool(read_table(path, label))
        if seed < N_COMMANDS:
            table_by_command(path, label)
    assert n_refused > N_EACH // 5


TEXTS: dict[str, tuple[bytes, str]] = {
    "ragged": (b"a,b,y\n1,2,x\n1,2\n3,4,x\n", "has 2 cells in line 3 where the first row has 3"),
    "too long": (b"a,y\n1,x\n1,2,3,4,x\n", "has 5 cells in line 3"),
    "two encodings": ("a,y\n1,é\n".encode() + "2,é\n".encode("latin-1"), "is not UTF-8"),
    "half of UTF-16": ("a,y\n1,x\n".encode("utf-16")[:-1], "is not UTF-16-LE throughout"),
    "an open quote": (b'a,y\n1,"x\n' + b"2,z\n" * 50_000, "not a table of text"),
    "one endless cell": (b"a,y\n1," + b"x" * 200_000 + b"\n", "not a table of text"),
    "zero bytes": (b"\0" * 1000, ""),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_texts(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, words = TEXTS[kind]
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read(path, ReadOptions(label="y")).choose(label="y")
    assert words in str(caught.value)
    output = tmp_path / "metric.safetensors"
    assert main(["fit", str(path), "--label", "y", "-o", str(output)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not output.exists()


def test_many_columns(tmp_path: Path) -> None:
    """Seconds, which grow with their number: a square of it would take hours."""
    path = tmp_path / "wide.csv"
    n = 200_000
    names, values = ",".join(f"c{i}" for i in range(n)), ",2" * n
    path.write_text(f"y,{names}\nx{values}\nx{values}\n")
    assert read(path, ReadOptions(label="y")).choose(label="y").X.shape == (2, n)
    path.write_text(f"y{',a' * n}\nx{values}\n")
    assert read_table(path, "y").endswith("columns named 'a': give each its own name.")


BOMBS: dict[str, Callable[[bytes], bytes]] = {
    "a.csv.gz": gzip.compress,
    "a.csv.bz2": bz2.compress,
    "a.csv.xz": lzma.compress,
    "a.svm.gz": gzip.compress,
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("content", [b"0", b"0 1:0\n"])
def test_files_that_grow_beyond_measure(
    name: str, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the limit is 256 MB, it is lowered: nobody wants to wait for it."""
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)
    path = tmp_path / name
    path.write_bytes(BOMBS[name](content * (2 << 20)))
    with pytest.raises(FileError) as caught:
        read(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path} has {path.stat().st_size:,} bytes, but unpacks to ")
    assert sentence.endswith(" or more: unpack it yourself if that is meant.")


def test_archives_that_grow_beyond_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)
    zeros = np.zeros((1 << 16, 8))
    np.savez_compressed(tmp_path / "a.npz", X=zeros)
    with pytest.raises(FileError, match="but unpacks to 4,194,"):
        read(tmp_path / "a.npz")
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"a": np.zeros(1 << 19)}), tmp_path / "a.parquet")
    with pytest.raises(FileError, match="but unpacks to 4,194,304 or more"):
        read(tmp_path / "a.parquet")


def test_packed_files_of_usual_growth_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 10)
    path = tmp_path / "a.csv.gz"
    rows = "".join(f"{i},{i % 7},{'xy'[i % 2]}\n" for i in range(5000))
    path.write_bytes(gzip.compress(("a,b,y\n" + rows).encode()))
    assert read(path, ReadOptions(label="y")).choose(label="y").X.shape == (5000, 2)


def test_rows_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    for content in (b"1,", b'"\n",', b"1", b" 1"):
        path.write_bytes(gzip.compress(content * (48 << 20), 1))
        began = process_time()
        with pytest.raises(FileError):
            read(path)
        assert process_time() - began < 10


def parquet_bombs() -> dict[str, Callable[[Path], None]]:
    """Files of kilobytes that unfold to gigabytes, none of which their footers declare."""
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")

    plain: dict[str, Any] = {"use_dictionary": False}

    def repeated(path: Path, kind: Any, **how: Any) -> None:
        """One cell of a megabyte, 2,560 times: dictionary pages, or prefixes of the cell before."""
        cell = pa.array([b"x" * (1 << 20)] * 64, kind)
        table = pa.table({"a": np.arange(64.0), "id": cell})
        with parquet.ParquetWriter(path, table.schema, compression="zstd", **how) as writer:
            for _ in range(40):
                writer.write_table(table)

    def lying_page(path: Path) -> None:
        """A page of 256 MB whose footer declares half a kilobyte."""
        table = pa.table({"a": [1.0, 2.0], "id": ["x" * (1 << 28), "x"]})
        parquet.write_table(table, path, compression="zstd", **plain, write_statistics=False)
        group = parquet.read_metadata(path).row_group(0)
        content = path.read_bytes()
        end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        footer = content[end:]
        for size in (group.total_byte_size, group.column(1).total_uncompressed_size):
            footer = footer.replace(varint(size), varint(500, len(varint(size))))
        path.write_bytes(content[:end] + footer)
        assert parquet.read_metadata(path).row_group(0).total_byte_size == 500

    delta = plain | {"column_encoding": {"a": "PLAIN", "id": "DELTA_BYTE_ARRAY"}}
    return {
        "text": lambda path: repeated(path, pa.string()),
        "large text": lambda path: repeated(path, pa.large_string()),
        "text view": lambda path: repeated(path, pa.string_view()),
        "bytes": lambda path: repeated(path, pa.binary()),
        "bytes of one length": lambda path: repeated(path, pa.binary(1 << 20)),
        "prefixes": lambda path: repeated(path, pa.string(), **delta),
        "lying page": lying_page,
    }


def varint(number: int, width: int = 0) -> bytes:
    """A number as Thrift writes it in compact form, at least ``width`` bytes long."""
    left = number << 1
    out: list[int] = []
    while left or len(out) < width:
        out.append(left & 127 | 128)
        left >>= 7
    out[-1] &= 127
    return bytes(out)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound memory")
@pytest.mark.parametrize(
    "kind",
    ["text", "large text", "text view", "bytes", "bytes of one length", "prefixes", "lying page"],
)
def test_parquet_bombs(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MOST_UNPACKED", 64 << 20)
    path = tmp_path / "a.parquet"
    parquet_bombs()[kind](path)
    assert path.stat().st_size < 600_000
    for act in (read, read_embeddings):
        began = process_time()
        with pytest.raises(FileError, match="takes more than 67,108,864 bytes of memory or 14 s"):
            act(path)
        assert process_time() - began < 10


def test_a_parquet_file_that_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table({"a": [1.0]}), tmp_path / "a.pq")
    endless = tmp_path / "endless.py"
    script = Path(decoding.__file__).read_text()
    endless.write_text(script.replace("    writer = None\n", "    while True: pass\n"))
    monkeypatch.setattr(decoding, "__file__", str(endless))
    monkeypatch.setattr(columnar, "LEAST_SECONDS", 1)
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)
    with pytest.raises(FileError, match="bytes of memory or 1 s to read"):
        read(tmp_path / "a.pq")


def test_lists_of_parquet_that_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)
    path = tmp_path / "a.parquet"
    cells = pa.array([np.zeros(1 << 20), np.zeros(1)], pa.list_(pa.float64()))
    parquet.write_table(pa.table({"a": [1.0, 2.0], "y": cells}), path)
    assert "unpacks to" in read_table(path, "a")


SPARSE: dict[str, list[str]] = {
    "a name a row": [f'{{"k{i}":1}}' for i in range(20_000)],
    "names at the end": ['{"a":1}'] * 20_000 + [json.dumps({f"k{i}": 1 for i in range(20_000)})],
    "names first": [json.dumps({f"k{i}": 1 for i in range(20_000)})] + ["{}"] * 20_000,
}


@pytest.mark.parametrize("kind", SPARSE)
def test_lines_of_json_with_many_names(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(SPARSE[kind]))
    began = process_time()
    with pytest.raises(FileError, match=r"bytes, but [0-9,]{9,} as a full table: reduce it first"):
        read(path)
    assert process_time() - began < 5


@pytest.mark.parametrize("line", ['{"a": 1, " a": 2, "y": 3}', '{"a": 1, "a": 2, "y": 3}'])
def test_a_line_of_json_that_names_a_value_twice(line: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": 5, "y": 6}}\n{line}\n')
    with pytest.raises(FileError, match=r"not JSON in line 2 \(an object names a value twice\)"):
        read(path)


CELL = "<c r='{0}{1}'><v>1</v></c>"
SHEETS: dict[str, tuple[str, str]] = {
    "the last column in every row": (
        "".join(f"<row r='{i}'>{CELL.format('XFD', i)}</row>" for i in range(1, 5000)),
        "as a full table: reduce it first",
    ),
    "one wide row": (
        f"<row>{CELL.format('XFD', 1)}</row>" + "<row><c><v>1</v></c></row>" * 5000,
        "as a full table: reduce it first",
    ),
    "a row far below": (f"<row r='{10**12}'>{CELL.format('A', 10**12)}</row>", "than Excel knows"),
    "a column far right": (f"<row r='1'>{CELL.format('ZZZZZZ', 1)}</row>", "not a valid column"),
    "many cells": ("<row>" + "<c><v>1</v></c>" * 3_000_000 + "</row>", "but unpacks to"),
    "entities": ("<row><c t='inlineStr'><is><t>&l8;</t></is></c></row>", "Cannot read"),
}


@pytest.mark.parametrize("kind", SHEETS)
def test_sheets_that_grow(kind: str, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs calipers[tables]")
    openpyxl.Workbook().save(tmp_path / "empty.xlsx")
    rows, told = SHEETS[kind]
    laughs = [f"<!ENTITY l{i} '{f'&l{i - 1};' * 20}'>" for i in range(1, 9)]
    document = f"<!DOCTYPE w [<!ENTITY l0 'ha'>{''.join(laughs)}]>"
    sheet = (
        f"{document if '&' in rows else ''}"
        "<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData>"
        f"{rows}</sheetData></worksheet>"
    )
    path = tmp_path / "a.xlsx"
    with (
        zipfile.ZipFile(tmp_path / "empty.xlsx") as empty,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in empty.namelist():
            content: Any = sheet if name.endswith("sheet1.xml") else empty.read(name)
            archive.writestr(name, content)
    began = process_time()
    with pytest.raises(FileError, match=told):
        read(path)
    assert process_time() - began < 20
