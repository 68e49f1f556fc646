"""Ways to damage a table's file, and what must come of reading it.

Tests try some thousands; ``python -m checks files`` as many as one likes.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

from calipers import FileError
from calipers.cli.main import main
from calipers.data.tables import write
from table_rows import samples_of


def _one_line(error: FileError) -> str:
    assert "\n" not in str(error), str(error)
    return str(error)


def by_command(output: Path, *words: str) -> str:
    """The sentence by which a command refuses, or "" once its output is there."""
    output.unlink(missing_ok=True)
    told = io.StringIO()
    with redirect_stderr(told), redirect_stdout(io.StringIO()):
        code = main([*words, "--quiet"])
    lines = told.getvalue().splitlines()
    if code == 0:
        assert lines == [], lines
        assert words[0] == "inspect" or output.exists()
        return ""
    assert code == 2, (code, lines)
    assert len(lines) == 1, lines
    assert lines[0].startswith("calipers: ")
    assert not output.exists()
    return lines[0]


# Tables


X = np.random.default_rng(0).normal(size=(6, 3))
Y = np.array(list("ababab"))
SIGNS = [b",", b"\n", b'"', b"\0", b"nan", b"1e999", b":", b"-", b"\xff", b"{", b"("]


def text() -> bytes:
    rows = [",".join(map(repr, row)) + f",{y}" for row, y in zip(X.tolist(), Y, strict=True)]
    return "\n".join(["u,v,w,y", *rows]).encode()


def array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, X)
    return stream.getvalue()


def archive() -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, X=X, y=Y)
    return stream.getvalue()


def sparse() -> bytes:
    stream = io.BytesIO()
    dump_svmlight_file(X, Y == "a", stream, zero_based=False)
    return stream.getvalue()


def columns(folder: Path) -> bytes:
    write(folder / "whole.parquet", X, ["u", "v", "w"], carried={"y": Y})
    return (folder / "whole.parquet").read_bytes()


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits, cut the end or the middle, or put in signs that mean something."""
    changed, way = bytearray(data), int(rng.integers(4))
    if way == 0:
        return data[: rng.integers(len(data))]
    if way == 1:
        a, b = np.sort(rng.integers(len(data), size=2))
        return data[:a] + data[b:]
    for place in rng.integers(len(data), size=rng.integers(1, 5)):
        if way == 2:
            changed[place] ^= 1 << int(rng.integers(8))
        else:
            changed[place : place + 1] = SIGNS[int(rng.integers(len(SIGNS)))]
    return bytes(changed)


FILES: dict[str, tuple[Callable[[Path], bytes], str | None]] = {
    "a.csv": (lambda _: text(), "y"),
    "a.csv.gz": (lambda _: gzip.compress(text(), mtime=0), "y"),
    "a.npy": (lambda _: array(), "-1"),
    "a.npz": (lambda _: archive(), None),
    "a.svm": (lambda _: sparse(), None),
    "a.parquet": (columns, "y"),
}


def read_table(path: Path, label: str | None) -> str:
    """The sentence by which a file is refused, or "" for rows that are finite."""
    try:
        data = samples_of(path, label=label)
    except FileError as error:
        return _one_line(error)
    assert np.isfinite(np.asarray(data.X, dtype=float)).all()
    assert data.y is None or len(data.y) == len(data.X)
    return ""


def table_by_command(path: Path, label: str | None) -> str:
    """The same by the command line: `fit` refuses what the reader does, and what has no classes."""
    metric = path.with_name("metric.safetensors")
    words = [
        "fit",
        str(path),
        "--learner",
        "triplet-sgd",
        "--method",
        "mini-sgd",
        "--n-triplets",
        "10",
        "-o",
        str(metric),
    ]
    told = by_command(metric, *words, *(["--label", label] if label else []))
    assert told or not read_table(path, label)
    return told
