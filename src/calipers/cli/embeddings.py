"""Files of embeddings and of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.tables.arrays import load_npy
from calipers.data.tables.columnar import explained, parquet_facts, read_measured
from calipers.data.tables.numbers import as_number, decimal_sign
from calipers.data.tables.options import ReadOptions
from calipers.data.tables.packed import plain_suffix
from calipers.data.tables.read import check_is_file, read
from calipers.data.tables.sheets import json_objects
from calipers.io import FileError
from calipers.io.errors import reason
from calipers.search.relevance import is_whole

_NAMES = ("id", "vector", "query", "document", "weight")


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
    try:
        vectors = np.array(columns["vector"], dtype=np.float32)
    except (ValueError, TypeError):
        raise FileError(f"{path} has vectors of different lengths, or none in a row.") from None
    return vectors, _whole(columns["id"]) if "id" in columns else None


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
    """Return the columns of a table by name."""
    kind = plain_suffix(path)
    if kind == ".parquet":
        return _parquet(path)
    if kind in (".csv", ".tsv"):
        return _of_texts(path)
    if kind not in (".jsonl", ".ndjson"):
        raise FileError(f"{path} must end in .npy, .parquet, .jsonl, .csv or .tsv.")
    try:
        rows = list(json_objects(path))
    except (OSError, UnicodeDecodeError) as damaged:
        raise FileError(f"Cannot read {str(path)!r} ({reason(damaged)}): check it.") from None
    if not rows:
        raise FileError(f"{path} has no rows with named columns.")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] if name in _NAMES else [] for name in names}


def _of_texts(path: Path) -> dict[str, Any]:
    """Return texts as they are written, and vectors such as "[0.5, 1]" as an array."""
    wanted = tuple(name for name in _NAMES if name != "vector")
    return {
        column.name: column.values
        if column.values.ndim == 2
        else ["" if cell is None else cell for cell in column.values.tolist()]
        for column in read(path, ReadOptions(carried=wanted, header=True)).columns
    }


def _parquet(path: Path) -> dict[str, Any]:
    """Return columns as lists and vectors as an array; no other columns are read."""
    with explained(path):
        schema, _ = parquet_facts(path)
        table = read_measured(path, [name for name in schema.names if name in _NAMES])
        return {
            name: []
            if name not in _NAMES
            else _vectors(table[name])
            if name == "vector"
            else table[name].to_pylist()
            for name in schema.names
        }


def _vectors(column: Any) -> Any:
    """Return lists of one length as an array, else as they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_nested(column.type) or column.null_count:
        return column.to_pylist()
    lengths = pc.unique(pc.list_value_length(column)).to_pylist()
    if len(lengths) != 1 or not lengths[0]:
        return column.to_pylist()
    blocks = [part.flatten().to_numpy(zero_copy_only=False) for part in column.chunks]
    return np.concatenate(blocks).reshape(-1, lengths[0])


def _whole(values: list[Any]) -> list[Any]:
    """Return integers if all are texts of such, else the values: so IDs match in all formats."""
    if all(isinstance(value, str) and is_whole(value) for value in values):
        return [int(value) for value in values]
    return values


def _listed(columns: dict[str, Any]) -> str:
    names = [repr(name) for name in columns]
    return ", ".join(names[:8] + ["..."] * (len(names) > 8)) or "none"
