"""The array types of all layers, and what NumPy would turn into meaningless numbers or labels."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IndexArray: TypeAlias = npt.NDArray[np.intp]
"""Indices of samples; they always index the full X."""


def refuse_absent(X: object, name: str) -> None:
    """Raise if X is masked, where NumPy would use the numbers below the mask, or lazy."""
    if isinstance(X, np.ma.MaskedArray) and np.any(X.mask):
        raise ValueError(
            f"{name} has {np.count_nonzero(X.mask)} masked values, and the numbers below the mask "
            "have no meaning: fill them in, or leave out their samples."
        )
    if type(X).__name__ == "LazyFrame":  # of polars
        raise TypeError(f"{name} is a LazyFrame, which is not in memory: pass {name}.collect().")


def refuse_kinds(X: Any, name: str) -> None:
    """Raise if X is masked, lazy or holds times, of which NumPy would make meaningless numbers."""
    refuse_absent(X, name)
    if hasattr(X, "column_names"):  # of Arrow
        dtypes = X.schema.types
    else:
        dtypes = X.dtypes if hasattr(X, "columns") else [getattr(X, "dtype", None)]
    for dtype in dtypes:
        if str(dtype).lower().startswith(("date", "time", "duration")):
            raise ValueError(
                f"{name} holds times ({dtype}): pass them as numbers, e.g. seconds since a moment "
                "of your choice."
            )


def refuse_missing(y: Any) -> None:
    """Raise if a label is missing: NaN, None, or NA and NaT of pandas."""
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if labels.dtype.kind == "O":
        n_missing = sum(map(is_missing, labels.ravel()))
    else:
        n_missing = np.isnan(labels).sum() if labels.dtype.kind in "fmM" else 0
    if n_missing:
        raise ValueError(
            f"Input y contains NaN or other signs of a missing label ({n_missing} of {len(y)}): "
            "leave out these samples, e.g. by X[keep], y[keep]."
        )


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, or NA and NaT of pandas."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and label != label
