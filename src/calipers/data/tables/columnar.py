"""Parquet, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from calipers.data.tables.numbers import labels_of_texts
from calipers.data.tables.packed import check_growth
from calipers.data.tables.table import Column, Table, position_of
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


def read_parquet(path: Path, *, label: str | None = None) -> Table:
    """Read the columns of a Parquet file; lists and other nested values are not read."""
    try:
        file = opened_parquet(path)
        schema = file.schema_arrow
        if len(set(schema.names)) < len(schema.names):
            raise FileError(f"{path} has columns of the same name: give each its own name.")
        flat = [kind.name for kind in schema if not is_nested(kind.type)]
        table = read_measured(path, file, flat)
        if not file.metadata.num_rows or not schema.names:
            raise FileError(f"{path} has no rows: give a table with rows.")
        at = None if label is None else position_of(label, schema.names)
        columns = [
            Column(kind.name, np.empty(0), f"type {kind.type}")
            if is_nested(kind.type)
            else as_column(kind.name, table[kind.name], is_label=place == at)
            for place, kind in enumerate(schema)
        ]
    except FileError:
        raise
    except Exception as wrong:  # ArrowException has subclasses of every kind
        raise FileError(
            f"Cannot read {str(path)!r} as Parquet ({reason(wrong)}): check its format."
        ) from wrong
    return Table(str(path), columns)


def opened_parquet(path: Path) -> Any:
    """Open a file whose texts stay codes and a dictionary, however often they are repeated."""
    import pyarrow as pa

    schema, kinds = parquet().read_schema(path), pa.types
    texts = [
        kind.name for kind in schema if kinds.is_string(kind.type) or kinds.is_binary(kind.type)
    ]
    file = parquet().ParquetFile(path, read_dictionary=texts)
    facts = file.metadata
    declared = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
    numbers = sum(not is_nested(kind.type) for kind in schema)
    check_growth(path, max(declared, 8 * facts.num_rows * numbers))
    return file


def read_measured(path: Path, file: Any, names: list[str]) -> Any:
    """Read columns, and count the bytes that come of them: a file may declare what it likes."""
    import pyarrow as pa

    batches, n_bytes = [], 0
    for batch in file.iter_batches(columns=names):
        n_bytes += batch.nbytes
        check_growth(path, n_bytes)
        batches.append(batch)
    return pa.Table.from_batches(batches) if batches else file.schema_arrow.empty_table()


def as_column(name: str, values: Any, *, first_row: int = 0, is_label: bool = False) -> Column:
    """A column of numbers or texts; rows are counted from ``first_row``."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_integer(kind) and not values.null_count:
        return Column(name, values.to_numpy())
    if is_number(kind):
        floats = values.cast(pa.float64(), safe=False)
        numbers = np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)
        finite = np.isfinite(numbers)
        gap = "" if finite.all() else _gap(int((~finite).argmax()), numbers, first_row)
        labels = None
        if is_label and pa.types.is_decimal(kind):
            labels = labels_of_texts([str(value) for value in values.to_pylist()])
        return Column(name, numbers, gap=gap, labels=labels)
    chunked = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if not pa.types.is_dictionary(kind):
        chunked = chunked.dictionary_encode()
    codes = chunked.unify_dictionaries().combine_chunks()
    if isinstance(codes, pa.ChunkedArray):  # older versions
        codes = codes.combine_chunks()
    texts = [str(value) for value in codes.dictionary.to_pylist()]
    places = codes.indices.to_numpy(zero_copy_only=False)
    gap = ""
    if codes.null_count:
        gap = f"no value in row {first_row + int(np.isnan(places).argmax()) + 1}"
    known = np.array([*texts, None], dtype=object)  # the last one is for what is missing
    cells = known[np.where(np.isnan(places), -1, places).astype(np.intp)]
    return Column(name, cells, f"type {_plain(kind)}", gap)


def is_nested(kind: Any) -> bool:
    """Whether a type of Arrow's is a list, a map or the like, of which a cell may be any size."""
    import pyarrow as pa

    return bool(pa.types.is_nested(kind))


def _plain(kind: Any) -> Any:
    """The type of the values of a dictionary, else the type."""
    return getattr(kind, "value_type", kind)


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow's is read as numbers."""
    import pyarrow as pa

    kinds = pa.types
    whole = kinds.is_boolean(kind) or kinds.is_integer(kind)
    return bool(whole or kinds.is_floating(kind) or kinds.is_decimal(kind))


def _gap(row: int, numbers: Any, first_row: int) -> str:
    what = "no value" if np.isnan(numbers[row]) else f"the value {numbers[row]}"
    return f"{what} in row {first_row + row + 1}"
