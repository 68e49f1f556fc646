"""Files of embeddings and of pairs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.files import FileError
from calipers.data.tables.arrays import load_npy
from calipers.data.tables.numbers import as_number, decimal_sign
from calipers.data.tables.options import ReadOptions
from calipers.data.tables.read import check_is_file, read

_IN_A_SEARCH = ("id", "vector", "query", "document", "weight")


def read_embeddings(path: Path) -> tuple[npt.NDArray[Any], list[Any] | None]:
    """Return vectors, memory-mapped if the file is NPY, and ids if the file has them.

    Raises
    ------
    FileError
        The file is not there, of another format, or has no vectors.
    """
    check_is_file(path)
    if path.suffix.lower() == ".npy":
        return load_npy(path), None
    columns = _columns(path)
    if "vector" not in columns:
        raise FileError(f"{path} has no column 'vector', only {_listed(columns)}: rename one.")
    vectors = columns["vector"]
    if not isinstance(vectors, np.ndarray):
        raise FileError(f"{path} has vectors of different lengths, or none in a row.")
    return vectors.astype(np.float32), _whole(columns["id"]) if "id" in columns else None


def read_pairs(path: Path) -> tuple[Any, npt.NDArray[np.float64] | None]:
    """Return pairs (query, document), and weights if the file has them.

    Raises
    ------
    FileError
        The file is not there, of another format, or has no such columns.
    """
    check_is_file(path)
    if path.suffix.lower() == ".npy":
        return load_npy(path), None
    columns = _columns(path)
    if not {"query", "document"} <= set(columns):
        raise FileError(
            f"{path} must have the columns 'query' and 'document', got {_listed(columns)}: rename "
            "its columns."
        )
    both = [_whole(columns[name]) for name in ("query", "document")]
    pairs = np.array(list(zip(*both, strict=True)), dtype=object).reshape(-1, 2)
    weights = columns.get("weight")
    return pairs, None if weights is None else _numbers(path, weights)


def _numbers(path: Path, weights: list[Any]) -> npt.NDArray[np.float64]:
    """Return weights as numbers; texts are read as in tables, with a decimal point or comma."""
    texts = ["" if weight is None else str(weight) for weight in weights]
    sign = decimal_sign(texts)
    numbers = [as_number(text, sign) for text in texts]
    if None in numbers:
        row = numbers.index(None)
        raise FileError(
            f"{path} has weights that are no numbers: {weights[row]!r} in row {row + 1}; correct "
            "it, or leave the column out."
        )
    return np.array(numbers, dtype=np.float64)


def _columns(path: Path) -> dict[str, Any]:
    """Return the columns of a table by name: vectors as an array, others as lists."""
    others = tuple(name for name in _IN_A_SEARCH if name != "vector")
    table = read(path, ReadOptions(carried=others, only=_IN_A_SEARCH))
    return {
        column.name: column.values if column.values.ndim == 2 else column.values.tolist()
        for column in table.columns
    }


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number, or the text of one that int64 holds."""
    if isinstance(value, str):
        return re.fullmatch(r"\s*-?\d{1,18}\s*", value) is not None
    return isinstance(value, int)


def _whole(values: list[Any]) -> list[Any]:
    """Return integers if all are texts of such, else the values: so IDs match in all formats."""
    if all(isinstance(value, str) and is_whole(value) for value in values):
        return [int(value) for value in values]
    return values


def _listed(columns: dict[str, Any]) -> str:
    names = [repr(name) for name in columns]
    return ", ".join(names[:8] + ["..."] * (len(names) > 8)) or "none"
