"""The array types of all layers, and checks that refuse kinds of input before any work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]
"""Indices of samples; they always index the full X."""


def refuse_masked(values: object, name: str) -> None:
    """Raise if some values are masked: NumPy would use the numbers below the mask."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError(
            f"{name} has {np.count_nonzero(values.mask)} masked values, and the numbers below "
            "the mask have no meaning: fill them in, or leave out their samples."
        )


def refuse_kinds(X: Any, name: str) -> None:
    """Raise if X is of a kind that NumPy would convert to meaningless numbers.

    These are masked, complex, structured and temporal arrays, and tables whose columns are
    missing, share a name or hold times.
    """
    refuse_masked(X, name)
    columns = getattr(X, "column_names", getattr(X, "columns", None))  # the former of pyarrow
    if columns is not None:
        _refuse_columns(X, list(columns), name)
    dtype: Any = getattr(X, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} is of {dtype}; pass real and imaginary parts as "
            "features of their own."
        )
    if kind == "V":
        raise ValueError(
            f"{name} is a structured array with fields {', '.join(map(repr, dtype.names or ()))}: "
            "pass its fields as columns, e.g. by "
            "numpy.lib.recfunctions.structured_to_unstructured."
        )
    if kind in ("m", "M"):
        raise ValueError(
            f"{name} is of {dtype}: pass times as numbers, e.g. seconds since a moment of your "
            "choice."
        )


def _refuse_columns(table: Any, names: list[Any], name: str) -> None:
    if not names:
        raise ValueError(f"{name} is a table without columns: at least one feature is needed.")
    often, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"{name} has {times} columns named {often!r}: give each its own name.")
    dtypes = table.dtypes if hasattr(table, "dtypes") else table.schema.types
    for column, dtype in zip(names, dtypes, strict=True):
        is_temporal = getattr(dtype, "is_temporal", lambda: False)()  # of polars
        is_temporal |= str(dtype).startswith(("date", "time", "duration"))  # of pyarrow
        if getattr(dtype, "kind", "") in ("m", "M") or is_temporal:
            raise ValueError(
                f"Column {column!r} of {name} is of {dtype}: pass times as numbers, e.g. seconds "
                "since a moment of your choice."
            )


@contextmanager
def within_float64(name: str, X: Any = None) -> Iterator[None]:
    """Say which whole numbers do not fit into float64, and which column of X holds a text."""
    try:
        yield
    except OverflowError as beyond:
        raise ValueError(
            f"{name} has whole numbers beyond float64 ({beyond}): divide them, or leave them out."
        ) from beyond
    except ValueError as wrong:
        found = _first_text(X) if "could not convert string" in str(wrong) else None
        if found is None:
            raise
        raise ValueError(
            f"could not convert string to float: {name} has {found[1][:40]!r} in the column "
            f"{found[0]!r}: encode the table by calipers.TableEncoder, or leave the column out."
        ) from wrong


def _first_text(X: Any) -> tuple[Any, str] | None:
    """Return the first column with a text that is no number, and that text."""
    names = getattr(X, "columns", None)
    table = X if names is not None else np.asarray(X, dtype=object)
    if names is None and table.ndim != 2:
        return None
    for name in range(table.shape[1]) if names is None else names:
        column = table[:, name] if names is None else table[name]
        for cell in column:
            if isinstance(cell, str):
                try:
                    float(cell)
                except ValueError:
                    return name, cell
    return None


def refuse_missing(y: Any) -> None:
    """Raise if a label is missing: NaN, None, or NA and NaT of pandas."""
    missing = missing_labels(y)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or other signs of a missing label ({np.count_nonzero(missing)} "
            f"of {len(missing)}): leave out these samples."
        )


def missing_labels(y: Any) -> npt.NDArray[np.bool_]:
    """Return whether each label is missing; an empty array for types that have no missing value.

    >>> missing_labels(["a", None, float("nan")])
    array([False,  True,  True])
    """
    if hasattr(y, "isna"):
        return np.asarray(y.isna(), dtype=np.bool_)
    try:
        labels = y if isinstance(y, list | tuple) else np.asarray(y)
    except Exception as problem:  # of whatever library y is
        raise ValueError(
            f"y cannot be made an array of labels ({problem}): pass texts or whole numbers."
        ) from problem
    kind = getattr(getattr(labels, "dtype", None), "kind", "O")
    if kind in ("m", "M"):
        return np.asarray(np.isnat(labels))
    if kind == "f":
        return np.asarray(np.isnan(labels))
    if kind == "O":
        return np.array([_is_missing(label) for label in labels], dtype=np.bool_)
    return np.zeros(0, dtype=np.bool_)


def _is_missing(label: object) -> bool:
    """Return whether a label is None, differs from itself, or cannot be compared with itself."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA
        return True
    except ValueError:  # an array
        return False
