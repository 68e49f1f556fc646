"""The array types of all layers, and what NumPy would turn into meaningless numbers or labels."""

from __future__ import annotations

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
    """Raise if X is masked or holds times, of which NumPy would make meaningless numbers."""
    refuse_masked(X, name)
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
    n_missing = np.count_nonzero(missing_labels(y))
    if n_missing:
        raise ValueError(
            f"Input y contains NaN or other signs of a missing label ({n_missing} of {len(y)}): "
            "leave out these samples, e.g. by X[keep], y[keep]."
        )


def missing_labels(y: Any) -> npt.NDArray[np.bool_]:
    """Return whether each label is missing.

    >>> missing_labels(["a", None, float("nan")])
    array([False,  True,  True])
    """
    labels = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if labels.dtype.kind in "fmM":
        return np.asarray(np.isnan(labels))
    if labels.dtype.kind == "O":
        return np.array([is_missing(label) for label in labels.ravel()], dtype=np.bool_)
    return np.zeros(labels.shape, dtype=np.bool_)


def is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, or NA and NaT of pandas."""
    if label is None or type(label).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(label, float | np.floating) and label != label
