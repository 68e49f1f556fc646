"""Damaged and hostile files of data: each is refused in one sentence, or gives finite rows."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import process_time

import numpy as np
import pytest

from calipers import FileError
from calipers.cli.main import main
from calipers.data.tables import packed, read
from damage import FILES, damaged, read_table, table_by_command
from table_rows import samples_of

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
    "Latin-1": (b"a,y\n1,x\n2,caf\xe9\n", "is not UTF-8 throughout (byte 0xe9"),
    "two encodings": ("a,y\n1,é\n".encode() + "2,é\n".encode("latin-1"), "is not UTF-8"),
    "UTF-16": ("a,y\n1,x\n".encode("utf-16"), "is in UTF-16"),
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
        read(path, label="y").choose(label="y")
    assert words in str(caught.value)
    output = tmp_path / "metric.safetensors"
    assert main(["fit", str(path), "--label", "y", "-o", str(output)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not output.exists()


def test_a_million_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    n = 1_000_000
    names, values = ",".join(f"c{i}" for i in range(n)), ",2" * n
    path.write_text(f"y,{names}\nx{values}\nx{values}\n")
    assert read(path, label="y").choose(label="y").X.shape == (2, n)
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
    assert read(path, label="y").choose(label="y").X.shape == (5000, 2)


def test_rows_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    for content in (b"1,", b'"\n",', b"1", b" 1"):
        path.write_bytes(gzip.compress(content * (48 << 20), 1))
        began = process_time()
        with pytest.raises(FileError):
            read(path)
        assert process_time() - began < 10


def test_parquet_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(packed, "MOST_UNPACKED", 1 << 20)
    path = tmp_path / "a.parquet"
    text = pa.DictionaryArray.from_arrays(np.zeros(5000, "i4"), ["x" * (1 << 18)])
    parquet.write_table(pa.table({"a": np.arange(5000.0), "y": text}), path, compression="zstd")
    before = pa.total_allocated_bytes()
    for label, told in ((None, ""), ("y", "a text of 262,144 characters")):
        with pytest.raises(FileError, match=told) if label else nullcontext():
            table = read(path, label=label).choose(label=label, ignore=[] if label else ["y"])
            assert table.X.shape == (5000, 1)
    assert pa.total_allocated_bytes() - before < 8 << 20
    cells = pa.array([np.zeros(1 << 20), np.zeros(1)], pa.list_(pa.float64()))
    parquet.write_table(pa.table({"a": [1.0, 2.0], "y": cells}), path)
    assert samples_of(path).X.tolist() == [[1.0], [2.0]]
    assert "no labels in the column 'y' (type list" in read_table(path, "y")
