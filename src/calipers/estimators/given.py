"""X and y as they were given become rows to ask: in memory, or in a file that is mapped."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import validate_data

from calipers import mapped
from calipers.arrays import IndexArray
from calipers.estimators import inputs
from calipers.mapped import blocks_of
from calipers.triplets import Rows, RowsInMemory, RowsOnDisk

_LABELS_AT_ONCE = 2**20


def given_rows(estimator: Any, X: Any) -> tuple[Rows, Any]:
    """Rows without labels, and X as callbacks are shown it."""
    if is_read_by_blocks(X):
        checked = _checked_map(estimator, X)
        return RowsOnDisk(checked), checked
    dense = inputs.dense_rows(estimator, X)
    return RowsInMemory(dense), dense


def given_labelled(
    estimator: Any, X: Any, y: Any
) -> tuple[Rows, npt.NDArray[Any], tuple[Any, Any]]:
    """Rows with their classes' codes, the classes, and X and y as callbacks are shown them."""
    if not is_read_by_blocks(X):
        dense, labels = inputs.dense_labelled(estimator, X, y)
        classes, codes = np.unique(labels, return_inverse=True)
        return RowsInMemory(dense, codes), classes, (dense, labels)
    checked = _checked_map(estimator, X)
    inputs.check_labels(estimator, y)
    labels = column_or_1d(y, warn=True)
    inputs.refuse_mixed(estimator, labels)
    if len(labels) != len(checked):
        raise ValueError(
            f"y has {len(labels)} labels for the {len(checked)} rows of X: give one for each row."
        )
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    classes, codes = encoded(labels)
    return RowsOnDisk(checked, codes), classes, (checked, labels)


def is_read_by_blocks(X: Any) -> bool:
    """Whether X is a mapped file that is too large to be read as a whole."""
    return isinstance(X, np.memmap) and X.nbytes > mapped.LARGEST_READ


def encoded(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IndexArray]:
    """Classes and codes as of ``np.unique``, with no more memory than the codes take.

    >>> encoded(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    parts = [slice(first, first + _LABELS_AT_ONCE) for first in range(0, len(y), _LABELS_AT_ONCE)]
    classes = np.unique(np.concatenate([np.unique(y[part]) for part in parts]))
    codes = np.empty(len(y), dtype=np.intp)
    for part in parts:
        codes[part] = np.searchsorted(classes, y[part])
    return classes, codes


def _checked_map(estimator: Any, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Refuse what scikit-learn refuses of rows in memory, block by block."""
    owner = type(estimator).__name__
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"{owner} needs X of shape (n_samples, n_features) with numbers, got a mapped file of "
            f"shape {X.shape} and type {X.dtype}: reshape or convert it."
        )
    validate_data(estimator, X, skip_check_array=True)  # sets the number of features
    for first, block in blocks_of(X):
        if block.dtype.kind == "f" and not np.isfinite(block.sum(dtype=np.float64)):
            wrong = ~np.isfinite(block)
            if wrong.any():
                row, column = divmod(int(wrong.argmax()), X.shape[1])
                raise ValueError(
                    f"Input X contains NaN or infinity: {block[row, column]} in row {first + row}, "
                    f"feature {column}; fill or remove such rows first."
                )
    return X
