"""Samples written as the public homes have them, to test the readers with."""

from __future__ import annotations

import bz2
import io
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unix_compress import compress

Samples = npt.NDArray[np.generic]


def semeion_data(X: Samples, y: Samples) -> bytes:
    """semeion.data: pixels with four decimals, ten marks, blanks and carriage returns."""
    marks = np.eye(10, dtype=int)
    lines = (
        " ".join([f"{value:.4f}" for value in row] + [str(mark) for mark in marks[label]])
        for row, label in zip(X.astype(float), y.astype(int), strict=True)
    )
    return "".join(f"{line} \r\n" for line in lines).encode()


def letter_data(X: Samples, y: Samples) -> bytes:
    """letter-recognition.data."""
    rows = zip(X.astype(int), y.astype(int), strict=True)
    return "".join(f"{chr(65 + label)},{_commas(row)}\n" for row, label in rows).encode()


def connect4_data(X: Samples, y: Samples) -> bytes:
    """connect-4.data, from the codes 1 / 2 / 3 of b / o / x."""
    squares, outcomes = np.array(list("?box")), ("draw", "loss", "win")
    rows = zip(squares[X.astype(int)], y.astype(int), strict=True)
    return "".join(f"{_commas(row)},{outcomes[label]}\n" for row, label in rows).encode()


def poker_data(X: Samples, y: Samples) -> bytes:
    """poker-hand-training-true.data."""
    rows = zip(X.astype(int), y.astype(int), strict=True)
    return "".join(f"{_commas(row)},{label}\r\n" for row, label in rows).encode()


def isolet_data(X: Samples, y: Samples) -> bytes:
    """isolet5.data."""
    rows = zip(X.astype(float), y.astype(int), strict=True)
    return "".join(
        ", ".join([f"{value:.4f}" for value in row] + [f"{label}."]) + "\n" for row, label in rows
    ).encode()


def libsvm_data(X: Samples, y: Samples) -> bytes:
    """A file of the LIBSVM site; zeros are left out."""
    lines = (
        " ".join([str(label)] + [f"{j + 1}:{row[j]:.12g}" for j in np.flatnonzero(row)])
        for row, label in zip(X.astype(float), y.astype(int), strict=True)
    )
    return "".join(f"{line} \n" for line in lines).encode()


def write(path: Path, content: bytes) -> None:
    """Write content packed as the name of the file says."""
    if path.name.endswith(".Z"):
        content = compress(content)
    if path.name.endswith(".bz2"):
        content = bz2.compress(content)
    path.write_bytes(content)


def zipped(members: dict[str, bytes]) -> bytes:
    """A zip archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def _commas(row: Samples) -> str:
    return ",".join(map(str, row.tolist()))
