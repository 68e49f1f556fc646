"""The one entry: input is checked here, once, and everything after trusts it.

What NumPy and scikit-learn say of wrong input is passed on. Sentences of our own are about labels,
classes, and settings that do not fit the data. Nothing here changes an estimator.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, validate_data

from calipers.arrays import FloatArray, IndexArray
from calipers.data import samples as data
from calipers.data.cluster import client_of, cluster_samples
from calipers.data.samples import (
    DiskSamples,
    MemorySamples,
    Samples,
    is_collection,
    refuse_kinds,
    refuse_missing,
)
from calipers.metric.init import NAMES
from calipers.notices import DataWarning, warn_user

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")  # what parameters may be
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
INITS: list[Any] = [StrOptions({"auto", *NAMES}), "array-like"]
LARGEST_VALUE = 1e75  # fourth powers of larger differences overflow float64
SMALLEST_VALUE = 1e-75
LARGEST_COUNT = 2.0**53  # of samples; float64 counts no further


@dataclass(frozen=True)
class Given:
    """The input of a fit, checked."""

    samples: Samples
    classes: npt.NDArray[Any]  # labels of the samples are codes of these; empty without labels
    X: Any  # what callbacks receive
    y: Any
    names: npt.NDArray[Any] | None  # of features
    constant: IndexArray  # features that do not vary
    triplets: IndexArray | None = None  # (anchor, positive, negative), if triplets were given
    pairs: IndexArray | None = None  # (one, other, +1 or -1), if pairs were given
    client: Any = None  # of the cluster, if samples are on one

    @property
    def examples(self) -> Any:
        """What is learned from: triplets, pairs or labels."""
        return next((each for each in (self.triplets, self.pairs) if each is not None), self.y)


@contextmanager
def cluster_of(X: Any, client: Any) -> Iterator[Any]:
    """The client of a Dask cluster, if X is on one; one that is started here is closed."""
    if is_collection(X):
        with client_of(client) as used:
            yield used
    elif client is None:
        yield None
    else:
        raise ValueError("A client is for Dask collections, and X is none: leave client out.")


def check_labels(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    client: Any = None,
    *,
    reset: bool = True,
) -> Given:
    """Check labelled samples, in memory, in a file or, with a client, on its cluster."""
    on_cluster = client is not None and y is not None
    labels = y if on_cluster else checked_labels(estimator, y)
    return check_samples(estimator, X, sample_weight, client, labels=labels, reset=reset)


def check_samples(
    estimator: Any,
    X: Any,
    sample_weight: Any = None,
    client: Any = None,
    *,
    labels: Any = None,
    reset: bool = True,
) -> Given:
    """Check samples, and wrap them with their labels, which are checked, and weights.

    Samples of weight 0 are left out. Powers of the others' values are within float64.
    """
    samples: Samples
    classes, codes = np.empty(0), None
    if client is not None:
        on_cluster = cluster_samples(client, X, labels)
        samples, classes, names = on_cluster, on_cluster.classes, on_cluster.feature_names
    else:
        X, names, wrapped = _checked(estimator, X, reset=reset)
        if labels is not None:
            check_consistent_length(X, labels)
            classes, codes = np.unique(labels, return_inverse=True)
        samples = wrapped(X, codes)
    if sample_weight is not None:
        samples.weights = _checked_weights(sample_weight, samples.shape[0])
        if not samples.weights.all():
            samples, classes = _counted(samples, classes)
            X, labels = samples.X, classes[samples.labels] if len(classes) else None
    low, high = samples.limits()
    largest = float(max(-low.min(), high.max()))
    if largest > LARGEST_VALUE or 0.0 < largest < SMALLEST_VALUE:
        raise ValueError(
            f"X has values up to {largest:.3g}, whose fourth powers leave float64: multiply X so "
            f"that its largest value is between {SMALLEST_VALUE:.0e} and {LARGEST_VALUE:.0e}."
        )
    constant = np.flatnonzero(low == high)
    return Given(samples, classes, X, labels, names, constant, client=client)


def _checked(
    estimator: Any, X: Any, *, reset: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None, type[DiskSamples | MemorySamples]]:
    """X, dense or in its file if that is large, the names of its features, and what wraps it."""
    copied = copy(estimator)  # on which scikit-learn sets names and width
    is_large = isinstance(X, np.memmap) and X.nbytes > data.LARGEST_READ
    if is_large and X.ndim == 2 and X.dtype.kind in "biuf":
        validate_data(copied, X, reset=reset, skip_check_array=True)
        for _, block in data.blocks_of(X):
            assert_all_finite(block, input_name="X")
        return X, getattr(copied, "feature_names_in_", None), DiskSamples
    refuse_kinds(X, "X")
    with np.errstate(over="ignore", invalid="ignore"):  # of the sum of X
        X = validate_data(copied, X, reset=reset, dtype=[np.float64, np.float32], order="C")
    return X, getattr(copied, "feature_names_in_", None), MemorySamples


def _checked_weights(sample_weight: Any, n: int) -> FloatArray:
    refuse_kinds(sample_weight, "sample_weight")
    weights: FloatArray = _check_sample_weight(
        sample_weight, np.empty(n), dtype=np.float64, ensure_non_negative=True
    )
    if weights.sum() > LARGEST_COUNT:
        raise ValueError(
            f"sample_weight says how often each sample counts, and sums to {weights.sum():.3g}: "
            "divide it."
        )
    return weights


def _counted(samples: Samples, classes: npt.NDArray[Any]) -> tuple[MemorySamples, npt.NDArray[Any]]:
    """Samples with a weight, in memory, and the classes that they have."""
    assert samples.weights is not None
    indices = np.flatnonzero(samples.weights)
    X, weights = samples.take(indices), samples.weights[indices]
    if not len(classes):
        return MemorySamples(X, weights=weights), classes
    present, codes = np.unique(samples.labels_of(indices), return_inverse=True)
    return MemorySamples(X, codes, weights), classes[present]


def checked_labels(estimator: Any, y: Any) -> npt.NDArray[Any]:
    """Return labels as an array of one axis; raise unless they can be put in one order."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: pass "
            "one value for each sample."
        )
    refuse_kinds(y, "y")
    refuse_missing(y)
    labels: npt.NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    if labels.dtype.kind == "O":
        check_one_order(estimator, labels.tolist())
    return labels


def check_one_order(estimator: Any, labels: list[Any]) -> None:
    """Raise for labels that cannot be put in one order: texts and numbers, or sets."""
    try:
        order = sorted(set(labels))
        if not all(a < b for a, b in pairwise(order)):  # of sets, only subsets come first
            raise TypeError("no order")
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"{type(estimator).__name__} needs labels of one type that can be sorted, got labels "
            f"of types {', '.join(kinds)}: make texts of them, e.g. by y.astype(str)."
        ) from problem


def check_varies(given: Given) -> list[str]:
    """Raise if all samples are the same. Returns a remark about constant features."""
    n, d = given.samples.shape
    if len(given.constant) == d:
        raise ValueError(
            f"All {n} samples of X are the same, so that there is no distance to learn: "
            "check how X was made."
        )
    if not len(given.constant):
        return []
    return [
        f"{len(given.constant)} of {d} features are constant (the first has index "
        f"{given.constant[0]}): no distance depends on them, and their part of the metric keeps "
        "its initial value."
    ]


def check_components(estimator: Any, n_features: int) -> None:
    """Raise if the user asks for more components than X has features."""
    n_components = estimator.n_components
    if n_components is not None and n_components > n_features:
        raise ValueError(
            f"{type(estimator).__name__} has n_components={n_components}, but X has {n_features} "
            f"features: set at most {n_features}, or None for all."
        )


def check_init(estimator: Any, given: Given) -> None:
    """Raise unless ``init`` is a metric of X with at least ``n_components`` rows."""
    owner, init, n_components = type(estimator).__name__, estimator.init, estimator.n_components
    d = given.samples.shape[1]
    check_components(estimator, d)
    if isinstance(init, str):
        if init == "within-class" and not len(given.classes):
            raise ValueError(
                f"{owner}(init='within-class') needs classes of the samples, and there are none: "
                "choose init='scaled' or 'identity'."
            )
        return
    matrix = check_array(init, input_name="init")
    if matrix.shape[1] != d:
        raise ValueError(
            f"{owner} needs an init of {d} columns, one for each feature, got shape "
            f"{matrix.shape}: pass the L of a metric of X."
        )
    if n_components is not None and n_components > len(matrix):
        raise ValueError(
            f"{owner} has n_components={n_components}, but init has {len(matrix)} rows: set at "
            f"most {len(matrix)}, or pass an init with more rows."
        )


def check_classes(estimator: Any, given: Given) -> None:
    """Raise unless the classes tell samples apart, and bring some together."""
    owner, sizes = type(estimator).__name__, given.samples.class_sizes
    if len(sizes) < 2:
        raise ValueError(
            f"{owner} needs samples of at least 2 classes, got 1 class "
            f"({given.classes.tolist()[0]!r}): pass labels with more than one class, or your own "
            "triplets to TripletSGD.fit_triplets."
        )
    if sizes.max() == 1:
        raise ValueError(
            f"{owner} needs a class with at least 2 samples, but each of the {len(sizes)} samples "
            "has a class of its own: pass labels that repeat (for targets of regression, use MLKR)."
        )


def check_neighbors(estimator: Any, given: Given, n_neighbors: int) -> list[str]:
    """Raise unless classes give triplets of so many neighbours. Returns remarks."""
    check_classes(estimator, given)
    warn_singletons(given)
    sizes, n = given.samples.class_sizes, given.samples.shape[0]
    if n_neighbors >= n:
        raise ValueError(
            f"{type(estimator).__name__} has n_neighbors={n_neighbors}, but X has {n} samples, "
            f"{n - 1} besides the anchor: lower n_neighbors to at most {n - 1}, or pass more "
            "samples."
        )
    n_small = np.count_nonzero(sizes <= n_neighbors)
    if not n_small:
        return []
    return [
        f"{n_small} of {len(sizes)} classes have no more than n_neighbors={n_neighbors} samples: "
        "in such a class an anchor draws its positives among all other samples."
    ]


def warn_singletons(given: Given) -> None:
    """Warn once which classes are singletons: their samples are never anchors."""
    singletons = given.classes[given.samples.class_sizes == 1]
    if len(singletons):
        shown = ", ".join(map(repr, singletons[:3].tolist())) + ", ..." * (len(singletons) > 3)
        warn_user(
            f"{len(singletons)} of {len(given.classes)} classes have one sample only "
            f"({shown}): such a class has no positive, so its sample serves as a "
            "negative only.",
            DataWarning,
        )


def check_kinds_of_pairs(estimator: Any, given: Given, *, needs_far: bool = True) -> None:
    """Raise unless there are pairs of both kinds, or of the one that is needed."""
    assert given.pairs is not None
    for sign, kind in ((1, "near"), (-1, "far"))[: 1 + needs_far]:
        if not np.any(given.pairs[:, 2] == sign):
            raise ValueError(
                f"{type(estimator).__name__} needs pairs that should be {kind} ({sign:+}), got "
                f"none among {len(given.pairs)}: add some."
            )


def check_batch(estimator: Any, n_triplets: int, batch_triplets: int) -> None:
    """Raise if the triplets do not fill one batch."""
    if n_triplets < batch_triplets:
        raise ValueError(
            f"{type(estimator).__name__} has {n_triplets} triplets, fewer than the "
            f"{batch_triplets} of one batch: raise n_triplets, or lower batch_size or n_neighbors."
        )
