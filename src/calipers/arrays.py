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


def refuse_lazy(X: object, name: str) -> None:
    """Raise if X is a LazyFrame of polars, whose columns are not in memory."""
    if type(X).__name__ == "LazyFrame":
        raise TypeError(f"{name} is a LazyFrame, which is not in memory: pass {name}.collect().")


def refuse_kinds(X: Any, name: str) -> None:
    """Raise if X is of a kind that NumPy would convert to meaningless numbers.

    These are masked, complex, structured and temporal arrays, and tables whose columns are
    missing, share a name or hold times.
    """
    refuse_masked(X, name)
    refuse_lazy(X, name)
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


_NO_NUMBERS = (
    "could not convert string to float",
    "float() argument must be a string or a real number",
    "setting an array element with a sequence",
)
"""What NumPy says of cells that are no numbers."""


@contextmanager
def within_float64(name: str, X: Any = None) -> Iterator[None]:
    """Say which whole numbers do not fit into float64, and where X holds something else."""
    try:
        yield
    except OverflowError as beyond:
        raise ValueError(
            f"{name} has whole numbers beyond float64 ({beyond}): divide them, or leave them out."
        ) from beyond
    except (TypeError, ValueError) as wrong:
        said = next((words for words in _NO_NUMBERS if words in str(wrong)), None)
        if said is None or X is None:
            raise
        kind = TypeError if isinstance(wrong, TypeError) else ValueError
        raise kind(f"{said}: {name} {_without_numbers(X)}.") from wrong


def _without_numbers(X: Any) -> str:
    """Say what X holds instead of numbers."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    cells = np.empty((0, 0)) if names is not None else np.asarray(X, dtype=object)
    if cells.ndim == 1 and all(hasattr(row, "__len__") for row in cells):
        if len({len(row) for row in cells}) > 1:
            return "has samples of different lengths: give each one number for every feature"
        return "has its samples in one column: pass numpy.stack(X)"
    if cells.ndim != 2:
        return (
            f"is of type {type(X).__name__}: pass numbers of shape (n_samples, n_features), as an "
            "array, a list of lists or a table that is in memory"
        )
    columns = enumerate(cells.T) if names is None else ((name, X[name]) for name in names)
    for name, column in columns:
        for cell in column:
            try:
                float(cell)
            except (TypeError, ValueError):
                return (
                    f"has {' '.join(repr(cell).split())[:40]} in the column {name!r}: encode the "
                    "table by calipers.TableEncoder, or leave the column out"
                )
    return "has cells that are no numbers"


LARGEST_WEIGHT = 2.0**53  # float64 counts no further


def checked_weights(owner: str, sample_weight: Any, n: int) -> FloatArray:
    """Return weights in float64; raise unless each sample has one."""
    refuse_masked(sample_weight, "sample_weight")
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"an array of type {given.dtype}")
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise ValueError(
            f"{owner} needs numbers for sample_weight, got something else ({problem}): a weight is "
            "how often a sample counts."
        ) from problem
    if weights.shape != (n,):
        raise ValueError(
            f"{owner} needs a sample_weight of shape ({n},), one for each sample of X, got shape "
            f"{weights.shape}: pass an array with one axis."
        )
    if not (weights.min() >= 0.0 and 0.0 < weights.max() <= LARGEST_WEIGHT):
        raise ValueError(
            f"{owner} needs weights from 0 to 2^53, and some above zero, got sample_weight "
            f"from {weights.min():g} to {weights.max():g}: a weight is how often a sample counts."
        )
    return weights


def exact_labels(y: Any) -> Any:
    """Return a list of labels as objects if NumPy would change some: 1 and "1", 2^53 + 1 and 0.5.

    >>> exact_labels([1, "1"])
    array([1, '1'], dtype=object)
    >>> exact_labels(["a", "b"])
    ['a', 'b']
    """
    if not isinstance(y, list | tuple):
        return y
    try:
        array = np.array(y)
    except (ValueError, OverflowError):  # of different shapes
        return y
    if array.ndim != 1 or array.tolist() == list(y):
        return y
    exact = np.empty(len(y), dtype=object)
    exact[:] = y
    return exact


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
    try:
        if hasattr(y, "isna"):
            return np.asarray(y.isna(), dtype=np.bool_)
        labels = y if isinstance(y, list | tuple) else np.asarray(y)
    except Exception as problem:  # of whatever library y is
        raise ValueError(
            f"y cannot be made an array of labels ({problem}): pass texts or whole numbers."
        ) from problem
    if getattr(labels, "ndim", 1) == 0:
        raise ValueError(
            f"y should be a 1d array of labels, got {type(y).__name__}: pass a list, an array or "
            "a column that is in memory."
        )
    kind = getattr(getattr(labels, "dtype", None), "kind", "O")
    if kind in ("m", "M"):
        return np.asarray(np.isnat(labels))
    if kind == "f":
        return np.asarray(np.isnan(labels))
    if kind == "O":
        return np.array([is_missing(label) for label in labels], dtype=np.bool_)
    return np.zeros(0, dtype=np.bool_)


def is_missing(label: object) -> bool:
    """Return whether a label is None, differs from itself, or cannot be compared with itself."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA
        return True
    except ValueError:  # an array
        return False
