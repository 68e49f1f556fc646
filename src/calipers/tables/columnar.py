"""Parquet, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calipers.files import FileError
from calipers.files.errors import reason
from calipers.tables.packed import check_growth
from calipers.tables.table import Column, Table


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
        columns = [_column(name, table[name]) for name in table.column_names]
    except FileError:
        raise
    except Exception as wrong:  # ArrowException has subclasses of every kind
        raise FileError(
            f"Cannot read {str(path)!r} as Parquet ({reason(wrong)}): check its format."
        ) from wrong
    return Table(str(path), columns)


def _column(name: str, values: Any) -> Column:
    import pyarrow as pa

    kind = values.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = np.asarray(values.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
        finite = np.isfinite(numbers)
        gap = "" if finite.all() else _gap(int((~finite).argmax()), numbers)
        return Column(name, numbers, gap=gap)
    if pa.types.is_decimal(kind):
        return _column(name, values.cast(pa.float64(), safe=False))
    listed = values.to_pylist()
    missing = next((row for row, value in enumerate(listed) if value is None), None)
    gap = "" if missing is None else f"no value in row {missing + 1}"
    return Column(name, np.array([str(value) for value in listed]), f"type {kind}", gap)


def _gap(row: int, numbers: Any) -> str:
    what = "no value" if np.isnan(numbers[row]) else f"the value {numbers[row]}"
    return f"{what} in row {row + 1}"
