"""The array types that every layer speaks of."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]
"""Row numbers; they always index the full X."""


def refuse_masked(values: object, name: str) -> None:
    """Raise if values are masked: as plain numbers they would be learned from after all."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError(
            f"{name} has {np.count_nonzero(values.mask)} masked values, whose places hold numbers "
            "that no one vouches for: fill them in, or leave out their rows."
        )


def refuse_kinds(X: Any, name: str) -> None:
    """Raise if X is of a kind that would be taken for numbers without being any.

    Also tables without columns, or with two of one name, are told here: what looks at them
    later does so in other words.
    """
    refuse_masked(X, name)
    columns = getattr(X, "columns", None)
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
    for column, dtype in zip(names, table.dtypes, strict=True):
        is_temporal = getattr(dtype, "is_temporal", lambda: False)  # of polars
        if getattr(dtype, "kind", "") in ("m", "M") or is_temporal():
            raise ValueError(
                f"Column {column!r} of {name} is of {dtype}: pass times as numbers, e.g. seconds "
                "since a moment of your choice."
            )


def refuse_missing(y: Any) -> None:
    """Raise if labels are missing; pandas' NA and NaT would be classes, or errors elsewhere."""
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    if hasattr(y, "isna"):
        missing = np.asarray(y.isna())
    elif kind in ("m", "M"):
        missing = np.isnat(y)
    elif isinstance(y, list | tuple) or kind == "O":
        missing = np.array([_is_missing(label) for label in y], dtype=bool)
    else:
        return
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or other signs of a missing label ({np.count_nonzero(missing)} "
            f"of {len(missing)}): leave out these rows."
        )


def _is_missing(label: object) -> bool:
    """Whether a label is not equal to itself, or cannot say so."""
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA
        return True
    except ValueError:  # an array
        return False
