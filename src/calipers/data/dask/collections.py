"""Dask arrays, dataframes and lists of delayed: recognise them, split them, transform them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.data.dask import partitions
from calipers.notices import warn_user


def is_collection(X: Any) -> bool:
    """Return whether X is a dask array, a dask dataframe, a delayed or a list of delayed.

    Does not import dask: an object of dask exists only if dask is imported already.

    >>> is_collection([[0.0, 1.0]])
    False
    """
    if "dask" not in sys.modules:
        return False
    if isinstance(X, list | tuple):
        return bool(X) and all(_is_delayed(part) for part in X)
    return is_array(X) or is_dataframe(X) or _is_delayed(X)


def is_array(X: Any) -> bool:
    """Return whether X is a dask array."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def is_dataframe(X: Any) -> bool:
    """Return whether X is a dask dataframe or series."""
    if "dask" not in sys.modules or is_array(X):
        return False
    from dask.base import is_dask_collection

    return is_dask_collection(X) and hasattr(X, "map_partitions") and hasattr(X, "_meta")


def _is_delayed(X: Any) -> bool:
    module = sys.modules.get("dask.delayed")
    return module is not None and isinstance(X, module.Delayed)


def column_names(X: Any) -> npt.NDArray[np.object_] | None:
    """Return the names of a dataframe's columns if all are strings, else None."""
    columns = list(getattr(X, "columns", []))
    named = bool(columns) and all(isinstance(name, str) for name in columns)
    return np.array(columns, dtype=object) if named else None


def delayed_partitions(X: Any, y: Any = None, *, keys: Callable[[str], str]) -> list[Any]:
    """Return one delayed :class:`~calipers.data.dask.partitions.Partition` for each part of X.

    Raises
    ------
    TypeError
        X or y is not a dask collection.
    ValueError
        y is split otherwise than X.
    """
    from dask import delayed

    read = delayed(partitions.read)
    of_samples = _parts(_by_samples(X), "X")
    if y is None:
        return [read(part, dask_key_name=keys("read")) for part in of_samples]
    of_labels = _parts(_split_as(y, X), "y")
    if len(of_labels) != len(of_samples):
        raise ValueError(
            f"y has {len(of_labels)} partitions for the {len(of_samples)} of X: cut both alike, "
            "for example with rechunk or repartition."
        )
    return [
        read(part, labels, dask_key_name=keys("read"))
        for part, labels in zip(of_samples, of_labels, strict=True)
    ]


def transform_lazily(
    X: Any,
    components: FloatArray,
    names_in: Sequence[str] | None = None,
    names_out: Sequence[str] | None = None,
) -> Any:
    """Return ``X @ components.T``, lazily and block by block.

    Parameters
    ----------
    X : dask array or dask dataframe of shape (n_samples, n_features)
        Samples.
    components : array of shape (n_components, n_features)
        The linear map L.
    names_in : sequence of str, optional
        Names of the features in fit, if they had names.
    names_out : sequence of str, optional
        Column names of the result, if X is a dataframe; by default ``"0"``, ``"1"``, ...

    Returns
    -------
    dask array or dask dataframe of shape (n_samples, n_components)
        Of the kind of X, in float64.

    Raises
    ------
    ValueError
        X has another number of features than ``components``, or a dataframe has other column
        names than ``names_in``, or the same in another order. Values that are not finite raise
        it when the result is computed.
    TypeError
        X is neither a dask array nor a dask dataframe.
    """
    if is_array(X):
        X = _by_samples(X)
        _check_width(X.shape[1], components)
        if names_in is not None:
            warn_user(
                "X does not have valid feature names, but the metric was fitted with feature names"
            )
        chunks = (X.chunks[0], (len(components),))
        meta = np.empty((0, 0))
        return X.map_blocks(_Images(components), dtype=np.float64, chunks=chunks, meta=meta)
    if not is_dataframe(X) or X.ndim != 2:
        raise TypeError(
            f"X must be a dask array or a dask dataframe, got {type(X).__name__}: compute it, then "
            "transform the result."
        )
    columns = list(X.columns)
    _check_width(len(columns), components)
    if names_in is None:
        if column_names(X) is not None:
            warn_user("X has feature names, but the metric was fitted without feature names")
    else:
        check_names(columns, list(names_in))
    names = [str(i) for i in range(len(components))] if names_out is None else list(names_out)
    meta = X._meta.iloc[:0, :0].reindex(columns=names).astype(np.float64)
    return X.map_partitions(_Images(components).of_frame, columns, names, meta=meta)


def check_names(columns: list[Any], names_in: list[Any]) -> None:
    """Raise unless the columns are those of fit, in the same order, as scikit-learn does."""
    if columns == names_in:
        return
    should = "The feature names should match those that were passed during fit"
    unseen = [name for name in columns if name not in names_in]
    missing = [name for name in names_in if name not in columns]
    if not unseen and not missing:
        raise ValueError(
            f"{should}: the columns of X are the same in another order, pass "
            "X[list(feature_names_in_)]."
        )
    found = [f"has {_some(unseen)}, unseen at fit time"] if unseen else []
    found += [f"lacks {_some(missing)}, seen at fit time"] if missing else []
    raise ValueError(f"{should}: X {' and '.join(found)}.")


def _some(names: list[Any]) -> str:
    """Return up to five names, for a message."""
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _check_width(n_features: float, components: FloatArray) -> None:
    expected = components.shape[1]
    if not np.isnan(n_features) and n_features != expected:
        raise ValueError(
            f"X has {n_features} features, but the metric is expecting {expected} features as "
            "input."
        )


class _Images:
    """Transforms one block; unlike a lambda it can be pickled."""

    def __init__(self, components: FloatArray) -> None:
        self.components = components

    def __call__(self, block: Any) -> FloatArray:
        samples = np.asarray(block, dtype=np.float64)
        if not np.isfinite(samples).all():
            raise ValueError("Input X contains NaN or infinity: fill or remove such samples first.")
        return np.asarray(samples @ self.components.T)

    def of_frame(self, frame: Any, columns: list[Any], names: list[str]) -> Any:
        """Transform a dataframe, whose columns must be those that its collection announced."""
        import pandas as pd

        check_names(list(frame.columns), columns)
        return pd.DataFrame(self(frame), columns=names, index=frame.index)


def _by_samples(X: Any) -> Any:
    """Rechunk X so that every block has all features."""
    if not is_array(X):
        return X
    if X.ndim != 2:
        raise ValueError(
            f"X must have shape (n_samples, n_features), got a dask array of {X.ndim} dimensions: "
            "reshape it."
        )
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _split_as(y: Any, X: Any) -> Any:
    """Rechunk y like X, where both are arrays with known chunk sizes."""
    if not (is_array(y) and is_array(X)):
        return y
    y = y.reshape(-1) if y.ndim != 1 else y
    sizes = X.chunks[0]
    known = not np.isnan([*sizes, *y.chunks[0]]).any()
    if known and sum(sizes) != sum(y.chunks[0]):
        raise ValueError(
            f"y has {sum(y.chunks[0])} labels for the {sum(sizes)} samples of X: give one for each."
        )
    return y.rechunk((sizes,)) if known else y


def _parts(collection: Any, name: str) -> list[Any]:
    """Return the delayed parts of a collection."""
    if is_array(collection):
        return list(np.ravel(collection.to_delayed()))
    if is_dataframe(collection):
        return list(collection.to_delayed())
    parts = list(collection) if isinstance(collection, list | tuple) else [collection]
    if parts and all(_is_delayed(part) for part in parts):
        return parts
    raise TypeError(
        f"{name} must be a dask array, a dask dataframe or a list of delayed parts, got "
        f"{type(collection).__name__}: use data in memory for both X and y, or "
        "dask.array.from_array."
    )
