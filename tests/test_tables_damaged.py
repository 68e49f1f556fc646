"""Damaged files of data: each is refused in one sentence, or gives finite rows."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from calipers import FileError
from calipers.tables import read, write

N_EACH = 200
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
    pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    write(folder / "whole.parquet", X, ["u", "v", "w"], y=Y, label="y")
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


@pytest.mark.parametrize("name", FILES)
def test_damage_is_told_or_harmless(name: str, tmp_path: Path) -> None:
    make, label = FILES[name]
    whole, path = make(tmp_path), tmp_path / name
    n_refused = 0
    for seed in range(N_EACH):
        path.write_bytes(damaged(whole, np.random.default_rng(seed)))
        data: Any = None
        sentence = ""
        try:
            data = read(path, label=label).choose(label=label)
        except FileError as error:
            sentence = str(error)
        n_refused += data is None
        assert "\n" not in sentence, seed
        if data is not None:
            assert np.isfinite(np.asarray(data.X, dtype=float)).all(), seed
            assert data.y is None or len(data.y) == len(data.X), seed
    assert n_refused > N_EACH // 5
