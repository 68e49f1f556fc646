"""Dask arrays, dataframes and delayed parts become partitions of rows with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.dask import partitions


def delayed_partitions(X: Any, y: Any = None, *, keys: Any) -> list[Any]:
    """One delayed :class:`~calipers.dask.partitions.Partition` for each part of X.

    Raises
    ------
    TypeError
        X or y is no dask collection.
    ValueError
        y is cut otherwise than X.
    """
    from dask import delayed

    of_rows = _parts(_by_rows(X), "X")
    if y is None:
        return [delayed(partitions.read)(part, dask_key_name=keys("read")) for part in of_rows]
    of_labels = _parts(_cut_as(y, X), "y")
    if len(of_labels) != len(of_rows):
        raise ValueError(
            f"y has {len(of_labels)} partitions for the {len(of_rows)} of X: cut both alike, for "
            "example with rechunk or repartition."
        )
    read = delayed(partitions.read)
    return [
        read(part, labels, dask_key_name=keys("read"))
        for part, labels in zip(of_rows, of_labels, strict=True)
    ]


def column_names(X: Any) -> npt.NDArray[np.object_] | None:
    """Names of the columns of a dataframe, if all are strings."""
    columns = list(getattr(X, "columns", []))
    named = bool(columns) and all(isinstance(name, str) for name in columns)
    return np.array(columns, dtype=object) if named else None


def is_array(X: Any) -> bool:
    """Whether X is a dask array."""
    from dask.array import Array

    return isinstance(X, Array)


def is_dataframe(X: Any) -> bool:
    """Whether X is a dask dataframe or series."""
    from dask import is_dask_collection

    return is_dask_collection(X) and hasattr(X, "map_partitions") and not is_array(X)


def _by_rows(X: Any) -> Any:
    """X cut between rows only."""
    if not is_array(X):
        return X
    if X.ndim != 2:
        raise ValueError(
            f"X must have shape (n_samples, n_features), got a dask array of {X.ndim} dimensions: "
            "reshape it."
        )
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _cut_as(y: Any, X: Any) -> Any:
    """Y in the pieces of X, where the sizes of both are known."""
    if not (is_array(y) and is_array(X)):
        return y
    y = y.reshape(-1) if y.ndim != 1 else y
    sizes = X.chunks[0]
    known = not np.isnan([*sizes, *y.chunks[0]]).any()
    if known and sum(sizes) != sum(y.chunks[0]):
        raise ValueError(
            f"y has {sum(y.chunks[0])} labels for the {sum(sizes)} rows of X: give one for each."
        )
    return y.rechunk((sizes,)) if known else y


def _parts(collection: Any, name: str) -> list[Any]:
    from dask.delayed import Delayed

    if is_array(collection) or is_dataframe(collection):
        found = collection.to_delayed()
        return list(np.ravel(found)) if is_array(collection) else list(found)
    if isinstance(collection, Delayed):
        return [collection]
    parts = list(collection) if isinstance(collection, (list, tuple)) else []
    if parts and all(isinstance(part, Delayed) for part in parts):
        return parts
    raise TypeError(
        f"{name} must be a dask array, a dask dataframe or a list of delayed parts, got "
        f"{type(collection).__name__}: use the learner of calipers itself for data in memory, or "
        "dask.array.from_array."
    )
