"""Files of embeddings and of pairs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.io import FileError


def read_embeddings(path: Path) -> tuple[npt.NDArray[Any], list[Any] | None]:
    """Return vectors, memory-mapped if the file is NPY, and ids if the file has them.

    Raises
    ------
    FileError
        The file is not there, of another format, or has no vectors.
    """
    if path.suffix.lower() == ".npy":
        return _array(path), None
    columns = _columns(path)
    if "vector" not in columns:
        raise FileError(f"{path} has no column 'vector', only {_listed(columns)}: rename one.")
    try:
        vectors = np.array(columns["vector"], dtype=np.float32)
    except (ValueError, TypeError):
        raise FileError(f"{path} has vectors of different lengths, or none in a row.") from None
    return vectors, columns.get("id")


def read_pairs(path: Path) -> tuple[Any, npt.NDArray[np.float64] | None]:
    """Return pairs (query, document), and weights if the file has them.

    Raises
    ------
    FileError
        The file is not there, of another format, or has no such columns.
    """
    if path.suffix.lower() == ".npy":
        return _array(path), None
    columns = _columns(path)
    if not {"query", "document"} <= set(columns):
        raise FileError(
            f"{path} must have the columns 'query' and 'document', got {_listed(columns)}: rename "
            "its columns."
        )
    both = [_whole(columns[name]) for name in ("query", "document")]
    pairs = np.array(list(zip(*both, strict=True)), dtype=object).reshape(-1, 2)
    if "weight" not in columns:
        return pairs, None
    try:
        return pairs, np.array(columns["weight"], dtype=np.float64)
    except (ValueError, TypeError):
        raise FileError(f"{path} has weights that are no numbers.") from None


def _array(path: Path) -> npt.NDArray[Any]:
    try:
        return np.asanyarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError) as damaged:
        raise FileError(f"{path} is no NPY file of numbers: {damaged}") from None


def _columns(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a table by name."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        return _parquet(path)
    if kind not in (".jsonl", ".ndjson", ".csv", ".tsv"):
        raise FileError(f"{path} must end in .npy, .parquet, .jsonl, .csv or .tsv.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            if kind in (".csv", ".tsv"):
                rows = list(csv.DictReader(lines, delimiter="," if kind == ".csv" else "\t"))
            else:
                rows = [json.loads(line) for line in lines if line.strip()]
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error) as damaged:
        raise FileError(f"{path} cannot be read as {kind[1:]}: {damaged}") from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise FileError(f"{path} has no rows with named columns.")
    return {str(name): [row.get(name) for row in rows] for name in rows[0]}


def _parquet(path: Path) -> dict[str, list[Any]]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        raise ImportError(
            "Parquet files need the package pyarrow: pip install 'calipers[tables]'.",
            name="pyarrow",
        ) from missing
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException as damaged:
        raise FileError(f"{path} is no Parquet file: {damaged}") from None
    return {name: table[name].to_pylist() for name in table.column_names}


def _whole(values: list[Any]) -> list[Any]:
    """Return integers if all texts of a CSV are, else the values as they are."""
    if all(isinstance(value, str) and value.strip().isdecimal() for value in values):
        return [int(value) for value in values]
    return values


def _listed(columns: dict[str, Any]) -> str:
    return ", ".join(map(repr, columns)) or "none"
