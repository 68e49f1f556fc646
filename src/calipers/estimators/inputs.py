"""The boundary: every sentence a user is told about the data given."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import validate_data

from calipers.arrays import IndexArray, refuse_kinds, refuse_masked, refuse_missing
from calipers.triplets import Rows

LARGEST_VALUE = 1e75  # beyond it fourth powers of differences overflow float64
SMALLEST_VALUE = 1e-75
LARGEST_RATIO = 1e37  # of differences, whose eighth powers must not overflow
MOST_ROWS_COMPARED = 10_000
_DENSE: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}


class DataWarning(UserWarning):
    """The data can be learned from, but not in the way one might think."""


def check_name(owner: str, parameter: str, name: str, allowed: tuple[str, ...]) -> None:
    """Raise if ``name`` is not allowed, and suggest the nearest that is."""
    if name in allowed:
        return
    close = get_close_matches(name.lower(), allowed, n=1, cutoff=0.3)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidParameterError(
        f"The {parameter!r} parameter of {owner} must be one of "
        f"{', '.join(map(repr, allowed))}, got {name!r}.{hint}"
    )


def dense_rows(estimator: Any, X: Any, *, reset: bool = True) -> npt.NDArray[Any]:
    """X as every learner takes it; sparse rows are refused, their differences are dense."""
    _refuse_sparse(estimator, X)
    refuse_kinds(X, "X")
    with np.errstate(over="ignore", invalid="ignore"):  # of sums, by which numbers are looked at
        rows: npt.NDArray[Any] = validate_data(estimator, X, reset=reset, **_DENSE)
    return rows


def dense_labelled(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, fewest: int = 2
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """X, of so many rows, and its labels as every learner takes them."""
    _refuse_sparse(estimator, X)
    refuse_kinds(X, "X")
    check_labels(estimator, y)
    more = {**_DENSE, "reset": reset, "ensure_min_samples": fewest}
    with np.errstate(over="ignore", invalid="ignore"):
        rows, labels = validate_data(estimator, X, y, **more)
    refuse_mixed(estimator, labels)
    return rows, labels


def check_labels(estimator: Any, y: Any) -> None:
    """Raise if there are no labels, or not for every row."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: pass "
            "labels, or your own triplets to TripletSGD.fit_triplets."
        )
    refuse_masked(y, "y")
    refuse_missing(y)


def refuse_mixed(estimator: Any, labels: npt.NDArray[Any]) -> None:
    """Raise if labels are of types that cannot be put in an order together."""
    if labels.dtype.kind != "O":
        return
    try:
        np.unique(labels)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"{type(estimator).__name__} needs labels of one type, got labels of types "
            f"{', '.join(kinds)}: make them one, e.g. by y.astype(str), and leave out rows "
            "without a label."
        ) from problem


def _refuse_sparse(estimator: Any, X: Any) -> None:
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} needs a dense X, got a sparse {type(X).__name__} of shape "
            f"{X.shape}: reduce it first, e.g. with sklearn.decomposition.TruncatedSVD, or pass "
            "X.toarray()."
        )


def check_differences(squared: float) -> None:
    """Raise if rows differ by so little that no metric can be made of it."""
    if squared < SMALLEST_VALUE**2:
        raise ValueError(
            f"Rows of X differ by {squared**0.5:.3g} only, so that fourth powers vanish in "
            f"float64: multiply X so that they differ by more than {SMALLEST_VALUE:.0e}, without "
            "features that are constant and large."
        )


def typical_far(X: npt.NDArray[Any], triplets: IndexArray) -> float:
    """Median squared length of far differences that are not 0; 0 if all are."""
    sample = triplets[:1000]
    far = X[sample[:, 0]].astype(np.float64) - X[sample[:, 2]]
    far = far[far.any(axis=1)]
    if not len(far):
        return 0.0
    squared = float(np.median(np.einsum("ij,ij->i", far, far)))
    check_differences(squared)
    return squared


def margin_unit(X: npt.NDArray[Any], triplets: IndexArray) -> float:
    """The factor that turns squared lengths of X into the units of the margin."""
    squared = typical_far(X, triplets)
    if not squared:
        return 1.0
    _check_extent(X, squared)
    return 1.0 / squared


def _check_extent(X: npt.NDArray[Any], squared: float) -> None:
    """Raise if rows lie so much farther apart than usual that one metric cannot hold both."""
    extent = float(np.ptp(X.astype(np.float64, copy=False), axis=0).max())
    if extent > LARGEST_RATIO * squared**0.5:
        raise ValueError(
            f"Rows of X differ by up to {extent:.3g}, but near ones by {squared**0.5:.3g} only, so "
            "that their powers overflow float64 in one metric: remove outliers, or bring features "
            "to one scale, e.g. with sklearn.preprocessing.StandardScaler."
        )


def check_magnitude(rows: Rows) -> list[str]:
    """Raise if a metric cannot be made of X's values; returns remarks about them.

    Remarks are sentences that explain a metric but need no warning.
    """
    n, d = rows.shape
    low, high = rows.limits()
    largest = float(max(-low.min(), high.max()))
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"X has values up to {largest:.3g}, whose fourth powers overflow float64: "
            f"divide X so that they stay below {LARGEST_VALUE:.0e}."
        )
    if 0.0 < largest < SMALLEST_VALUE:
        raise ValueError(
            f"X has no value above {largest:.3g}, so that fourth powers vanish in float64: "
            f"multiply X so that its largest value is above {SMALLEST_VALUE:.0e}."
        )
    constant = np.flatnonzero(low == high)
    if len(constant) == d:
        raise ValueError(
            f"All {n} rows of X are the same, so that there is no distance to learn: "
            "check how X was made."
        )
    repeated = _on_repeated(rows.take(np.arange(n))) if n <= MOST_ROWS_COMPARED else []
    return _on_constant(constant, d) + repeated


def _on_constant(constant: IndexArray, n_features: int) -> list[str]:
    if not len(constant):
        return []
    return [
        f"{len(constant)} of {n_features} features are constant (the first is number "
        f"{constant[0]}): no distance depends on them, their part of the metric is as at the "
        "start."
    ]


def _on_repeated(X: npt.NDArray[Any]) -> list[str]:
    n_repeated = len(X) - len({row.tobytes() for row in X + 0.0})  # there are two zeros
    if not n_repeated:
        return []
    return [f"{n_repeated} of {len(X)} rows repeat another row: they are neighbours at distance 0."]


def check_classes(
    owner: str,
    classes: npt.NDArray[Any],
    sizes: IndexArray,
    *,
    takes_triplets: str = "TripletSGD",
) -> None:
    """Raise unless triplets can be made of classes of these sizes.

    ``takes_triplets`` is the learner to be advised where labels cannot be learned from.
    """
    if len(classes) < 2:
        raise ValueError(
            f"{owner} needs rows of at least 2 classes, got 1 class ({classes.tolist()[0]!r}): "
            "pass labels with more than one class, or your own triplets to "
            f"{takes_triplets}.fit_triplets."
        )
    if sizes.max() == 1:
        raise ValueError(
            f"{owner} needs a class with at least 2 rows, but each of the {len(sizes)} rows has a "
            "class of its own: pass labels that repeat (classes, not targets or ids)."
        )


def warn_lonely(classes: npt.NDArray[Any], sizes: IndexArray, *, stacklevel: int) -> None:
    """Say once which classes have one row and so are no anchors."""
    lonely = classes[sizes == 1]
    if len(lonely):
        some = ", ".join(repr(c) for c in lonely[:3].tolist()) + (
            ", ..." if len(lonely) > 3 else ""
        )
        warnings.warn(
            f"{len(lonely)} of {len(classes)} classes have one row only ({some}): they have no "
            "near row, so they serve as far rows only.",
            DataWarning,
            stacklevel=stacklevel + 1,
        )


def check_neighbors(owner: str, n_neighbors: int, sizes: IndexArray) -> list[str]:
    """Raise if X has fewer rows than neighbours; returns a remark if classes have."""
    n_rows = int(sizes.sum())
    if n_neighbors >= n_rows:
        raise ValueError(
            f"{owner} was asked for n_neighbors={n_neighbors} nearest rows, but X has {n_rows} "
            f"rows, {n_rows - 1} beside the anchor: lower n_neighbors to at most {n_rows - 1}, "
            "or pass more rows."
        )
    n_small = np.count_nonzero(sizes <= n_neighbors)
    if not n_small:
        return []
    return [
        f"{n_small} of {len(sizes)} classes have no more than n_neighbors={n_neighbors} rows: "
        "near rows are drawn among all others of such a class."
    ]


def check_radius(owner: str, radius: float, n_features: int, *, of: str) -> None:
    """Raise if the norm or trace of the first iterate, the identity, exceeds ``radius``."""
    start = n_features if of == "trace" else n_features**0.5
    if start > radius:
        raise ValueError(
            f"{owner} starts at the identity, whose {of} {start:.4g} (for {n_features} features) "
            f"exceeds radius={radius:g}: raise radius above it."
        )


def check_components(owner: str, n_components: int | None, n_features: int) -> None:
    """Raise if more components are asked for than there are features."""
    if n_components is not None and n_components > n_features:
        raise ValueError(
            f"{owner} was asked for n_components={n_components}, but X has {n_features} "
            f"features: ask for at most {n_features}, or None for all."
        )


def check_batches(owner: str, n_triplets: int, batch_size: int) -> None:
    """Raise if the triplets do not fill one batch."""
    if n_triplets < batch_size:
        raise ValueError(
            f"{owner} has {n_triplets} triplets, fewer than one batch of "
            f"batch_size={batch_size}: raise n_triplets or lower batch_size."
        )


def check_limits(owner: str, near_distance: float, far_distance: float) -> None:
    """Raise if no pair can be as it should be."""
    if not near_distance < far_distance:
        raise ValueError(
            f"{owner} needs near_distance below far_distance, got near_distance="
            f"{near_distance:.4g} and far_distance={far_distance:.4g} (those not set are taken "
            "from X): lower near_distance or raise far_distance."
        )
