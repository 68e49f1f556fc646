"""Samples without a label: which they are, by the value of y that the user names, and the others.

A sample without a label gets any label of another sample while X and y are checked, so that values
for none (NaN, NA, -1 among names) need not be of the labels' type. Then it is left out.
"""

from __future__ import annotations

from collections.abc import Sized
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import exact_labels, is_missing, missing_labels, refuse_masked
from calipers.data.dask import is_collection
from calipers.estimators.inputs import Given, part_of

Mask = npt.NDArray[np.bool_]


def unlabeled_samples(owner: str, X: Any, y: Any, unlabeled: Any) -> Mask | None:
    """Return which samples have no label, None if all have one, or if X is on a cluster.

    >>> unlabeled_samples("GMML", None, ["a", -1, "b"], -1)
    array([False,  True, False])
    """
    if isinstance(unlabeled, Sized) and not isinstance(unlabeled, str | bytes | tuple):
        raise ValueError(
            f"{owner} needs unlabeled to be one value of y, got a {type(unlabeled).__name__}: pass "
            "the value that stands for no label, and give all samples without a label that one."
        )
    if unlabeled is None or y is None or is_collection(X):
        return None
    refuse_masked(y, "y")
    none = missing_labels(y) if is_missing(unlabeled) else _equal(y, unlabeled)
    if none.ndim != 1 or not none.any():
        return None
    if none.all():
        raise ValueError(
            f"Input y contains no label, all {len(none)} are missing: pass some."
            if is_missing(unlabeled)
            else _no_labels(owner, len(none), unlabeled)
        )
    return none


def one_column(y: Any) -> Any:
    """Return labels of shape (n, 1) as one column, others as they are.

    >>> one_column(np.array([["a"], ["b"]])).shape
    (2,)
    """
    if getattr(y, "ndim", len(getattr(y, "shape", ()))) != 2 or y.shape[1] != 1:
        return y
    return y.iloc[:, 0] if hasattr(y, "iloc") else y[:, 0]


def with_any_label(y: Any, none: Mask | None) -> Any:
    """Return labels of the same kind, that of another sample where there is none.

    >>> with_any_label(["a", -1, "b"], np.array([False, True, False]))
    ['a', 'a', 'b']
    """
    if none is None:
        return y
    indices = np.where(none, np.flatnonzero(~none)[0], np.arange(len(none)))
    if isinstance(y, list | tuple):
        return [y[i] for i in indices]
    return y.iloc[indices] if hasattr(y, "iloc") else np.asarray(y)[indices]


def labelled_part(estimator: Any, given: Given, none: Mask | None, unlabeled: Any) -> Given:
    """The samples with a label, in memory; all if no label is the value for none."""
    owner, classes = type(estimator).__name__, given.classes.tolist()
    if none is None:
        if unlabeled is None or is_missing(unlabeled):
            return given
        places = [place for place, label in enumerate(classes) if _is(label, unlabeled)]
        if not places:
            if given.classes.dtype.kind not in "mM":  # of times NumPy makes numbers
                _refuse_other_kind(owner, classes, unlabeled)
            return given
        n = given.samples.shape[0]
        if len(classes) == 1:
            raise ValueError(_no_labels(owner, n, unlabeled))
        none = given.samples.labels_of(np.arange(n)) == places[0]
    return part_of(given, ~none)


def _equal(y: Any, value: Any) -> Mask:
    """Return which labels are the value; none of those that cannot be made an array."""
    try:
        labels = np.asarray(exact_labels(y))
    except Exception:  # of whatever library y is, which the check of y refuses
        return np.zeros(0, dtype=np.bool_)
    if labels.ndim != 1:
        return np.zeros(0, dtype=np.bool_)
    if labels.dtype.kind == "O":
        same = [not is_missing(label) and _is(label, value) for label in labels]
        return np.array(same, dtype=np.bool_)
    of_value = [label for label in np.unique(labels) if _is(label, value)]
    return labels == of_value[0] if of_value else np.zeros(0, dtype=np.bool_)


def _is(label: Any, value: Any) -> bool:
    if isinstance(label, bool | np.bool_) != isinstance(value, bool | np.bool_):
        return False  # though 1 == True
    same = label == value
    return isinstance(same, bool | np.bool_) and bool(same)


def _no_labels(owner: str, n: int, unlabeled: Any) -> str:
    return (
        f"{owner} needs labels, but all {n} are {unlabeled!r}, which unlabeled says is none: pass "
        "labels of some samples."
    )


def _refuse_other_kind(owner: str, classes: list[Any], unlabeled: Any) -> None:
    """Raise if no label of this kind could be the value for none."""
    if all(_kind(label) != _kind(unlabeled) for label in classes):
        raise ValueError(
            f"{owner} got unlabeled={unlabeled!r}, which no label can be, because labels are of "
            f"type {type(classes[0]).__name__} (such as {classes[0]!r}): pass the value of y that "
            "stands for no label, or leave unlabeled out."
        )


def _kind(label: Any) -> str:
    kinds = {"text": str, "bytes": bytes, "truth": bool | np.bool_, "number": Number}
    return next((name for name, kind in kinds.items() if isinstance(label, kind)), "other")
