"""Parquet, by pyarrow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from calipers.data import memmap
from calipers.data.files import FileError
from calipers.data.files.errors import needs_package, reason
from calipers.data.tables import decoding
from calipers.data.tables.options import ReadOptions, Role
from calipers.data.tables.packed import check_growth, largest_size
from calipers.data.tables.sheets import why_no_vectors
from calipers.data.tables.table import Column, Table

LEAST_SECONDS = 10
"""Time to read any file, beside that for the bytes it may grow to."""

_MOST_ROWS = 1 << 14  # of a batch
_BYTES_A_SECOND = 16 << 20  # that are decoded at least, by far


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
        raise FileError(needs_package("Parquet", "pyarrow")) from missing
    return parquet


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """Read the columns of a Parquet file; of nested values only vectors of numbers are read."""
    with explained(path):
        schema, n_rows = parquet_facts(path)
        flat = [kind.name for kind in schema if is_vector(kind.type) or not is_nested(kind.type)]
        read = [name for name in flat if not options.leaves_out(name)]
        table = read_measured(path, read)
        if not n_rows or not schema.names:
            raise FileError(f"{path} has no rows: give a table with rows.")
        columns = [
            as_column(kind.name, table[kind.name], role)
            if kind.name in read
            else Column(kind.name, np.empty(0), f"type {kind.type}")
            for kind, role in zip(schema, options.roles(schema.names), strict=True)
        ]
    return Table(str(path), columns)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Tell what pyarrow cannot read in one sentence."""
    try:
        yield
    except FileError:
        raise
    except Exception as wrong:  # ArrowException has subclasses of every kind
        raise _unreadable(path, reason(wrong)) from wrong


def _unreadable(path: Path, why: str) -> FileError:
    return FileError(f"Cannot read {str(path)!r} as Parquet ({why}): check its format.")


def parquet_facts(path: Path) -> tuple[Any, int]:
    """Return the schema and the number of rows that a file declares, if it may be that large."""
    with parquet().ParquetFile(path) as file:
        schema, facts = file.schema_arrow, file.metadata
        if len(set(schema.names)) < len(schema.names):
            raise FileError(f"{path} has columns of the same name: give each its own name.")
        declared = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        numbers = sum(not is_nested(kind.type) for kind in schema)
        check_growth(path, max(declared, 8 * facts.num_rows * numbers))
        return schema, facts.num_rows


def read_measured(path: Path, names: list[str]) -> Any:
    """Read columns as one table of Arrow's, and count the bytes that come of them."""
    import pyarrow as pa

    kept, n_bytes = [], 0
    for batch in batches(path, names):
        n_bytes += batch.nbytes
        check_growth(path, n_bytes)
        kept.append(batch)
    schema = parquet().read_schema(path)
    return pa.Table.from_batches(kept) if kept else schema.empty_table()


def batches(path: Path, names: list[str]) -> Iterator[Any]:
    """Yield the columns of a file by batches, decoded in a process of its own.

    The process may take the memory that the file may grow to, and some seconds to fill it: a page
    may declare what it likes.

    Raises
    ------
    FileError
        The file is damaged, or takes more than that.
    """
    import pyarrow as pa

    if not names:
        return
    most_bytes = largest_size(path)
    request = {
        "path": os.fspath(path),
        "names": names,
        "rows": max(1, min(_MOST_ROWS, memmap.BLOCK_ELEMENTS // len(names))),
        "most_bytes": most_bytes,
        "most_seconds": LEAST_SECONDS + most_bytes // _BYTES_A_SECOND,
    }
    with _started(path) as process:
        try:
            with process.stdin as stdin:
                stdin.write(json.dumps(request).encode())
            yield from pa.ipc.open_stream(process.stdout)
        except (pa.ArrowException, OSError):  # it broke off; the exit code says why
            process.stdout.close()
        except BaseException:
            process.kill()
            raise
        why = process.stderr.read().decode(errors="replace")
    if process.returncode == decoding.UNREADABLE:
        raise _unreadable(path, " ".join(why.split())[:300])
    if process.returncode:
        raise FileError(
            f"{path} has {path.stat().st_size:,} bytes, but takes more than {most_bytes:,} bytes "
            f"of memory or {request['most_seconds']} s to read: if that is meant, write it again "
            "in smaller pages, or as CSV."
        )


def _started(path: Path) -> Any:
    settings = {"ARROW_DEFAULT_MEMORY_POOL": "system", "ARROW_IO_THREADS": "1"}
    settings |= {"MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"}  # each thread takes addresses
    try:
        return subprocess.Popen(
            [sys.executable, "-P", decoding.__file__],
            env=os.environ | settings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError as problem:
        raise FileError(
            f"Cannot start a process to read {str(path)!r} ({reason(problem)}): end some, or save "
            "the table as CSV."
        ) from problem


def as_column(name: str, values: Any, role: Role = "feature") -> Column:
    """A column of numbers, vectors or texts."""
    import pyarrow as pa

    kind = values.type
    if is_vector(kind):
        return _vectors(name, values)
    if pa.types.is_integer(kind) and not values.null_count:
        return Column(name, values.to_numpy())
    is_exact = role != "feature" and not pa.types.is_floating(kind)  # 3 in a decimal is no 3.0
    if is_number(kind) and not is_exact:
        floats = values.cast(pa.float64(), safe=False)
        return Column(name, np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64))
    chunked = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if not pa.types.is_dictionary(kind):
        chunked = chunked.dictionary_encode()
    codes = chunked.unify_dictionaries().combine_chunks()
    if isinstance(codes, pa.ChunkedArray):  # older versions
        codes = codes.combine_chunks()
    values = codes.dictionary.to_pylist()
    places = codes.indices.to_numpy(zero_copy_only=False)
    known = np.empty(len(values) + 1, dtype=object)  # the last one is for what is missing
    if role == "feature":
        values = [v if isinstance(v, date | timedelta) else str(v) for v in values]
    known[:-1] = values
    cells = known[np.where(np.isnan(places), -1, places).astype(np.intp)]
    return Column(name, cells, f"type {_plain(kind)}")


def _vectors(name: str, values: Any) -> Column:
    """Vectors as a matrix, or nothing where their lengths differ or one is missing."""
    import pyarrow as pa

    lists = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    flat = lists.flatten()
    lengths = lists.value_lengths().to_pylist()
    if len({*lengths}) != 1 or not {*lengths} - {None, 0} or not is_number(flat.type):
        return Column(name, np.empty(0), why_no_vectors(lengths))
    numbers = np.asarray(flat.to_numpy(zero_copy_only=False))
    dtype = np.float32 if pa.types.is_float32(flat.type) else np.float64
    return Column(name, numbers.astype(dtype, copy=False).reshape(len(lists), -1))


def is_vector(kind: Any) -> bool:
    """Whether a type of Arrow's is a list of numbers."""
    import pyarrow as pa

    kinds = pa.types
    is_list = kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind)
    return bool(is_list and is_number(kind.value_type))


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
