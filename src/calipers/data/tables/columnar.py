"""Parquet, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calipers.data.tables.packed import check_growth
from calipers.data.tables.table import Column, Table
from calipers.io import FileError
from calipers.io.errors import reason


def parquet() -> Any:
    """Return pyarrow's module for Parquet.

    Raises
    ------
    FileError
        pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError as missing:
        raise FileError(
            "Parquet needs the package pyarrow: pip install 'calipers[tables]', or use CSV."
        ) from missing
    return parquet


def read_parquet(path: Path) -> Table:
    """Read the columns of a Parquet file."""
    reader = parquet()
    try:
        facts = reader.read_metadata(path)
        check_growth(path, 8 * facts.num_rows * facts.num_columns)
        table = reader.read_table(path)
        if len(set(table.column_names)) < table.num_columns:
            raise FileError(f"{path} has columns of the same name: give each its own name.")
        if not table.num_rows or not table.num_columns:
            raise FileError(f"{path} has no rows: give a table with rows.")
        columns = [as_column(name, table[name]) for name in table.column_names]
    except FileError:
        raise
    except Exception as wrong:  # ArrowException has subclasses of every kind
        raise FileError(
            f"Cannot read {str(path)!r} as Parquet ({reason(wrong)}): check its format."
        ) from wrong
    return Table(str(path), columns)


def as_column(name: str, values: Any, *, first_row: int = 0) -> Column:
    """A column of numbers or texts; rows are counted from ``first_row``."""
    import pyarrow as pa

    kind = values.type
    if is_number(kind):
        floats = values.cast(pa.float64(), safe=False)
        numbers = np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
        finite = np.isfinite(numbers)
        gap = "" if finite.all() else _gap(int((~finite).argmax()), numbers, first_row)
        return Column(name, numbers, gap=gap)
    codes = values.combine_chunks().dictionary_encode()
    if isinstance(codes, pa.ChunkedArray):  # older versions
        codes = codes.combine_chunks()
    texts = np.array([str(value) for value in codes.dictionary.to_pylist()])
    places = codes.indices.to_numpy(zero_copy_only=False)
    gap = ""
    if codes.null_count:
        gap = f"no value in row {first_row + int(np.isnan(places).argmax()) + 1}"
    filled = texts[np.nan_to_num(places).astype(np.intp)] if len(texts) else np.full(len(codes), "")
    return Column(name, filled, f"type {kind}", gap)


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow's is read as numbers."""
    import pyarrow as pa

    kinds = pa.types
    whole = kinds.is_boolean(kind) or kinds.is_integer(kind)
    return bool(whole or kinds.is_floating(kind) or kinds.is_decimal(kind))


def _gap(row: int, numbers: Any, first_row: int) -> str:
    what = "no value" if np.isnan(numbers[row]) else f"the value {numbers[row]}"
    return f"{what} in row {first_row + row + 1}"
