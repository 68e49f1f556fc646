"""The input of a fit: samples in memory, in a file or on a cluster, and what is known of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.validation import validate_data

from calipers.arrays import (
    IndexArray,
    checked_weights,
    exact_labels,
    refuse_kinds,
    refuse_masked,
    refuse_missing,
)
from calipers.data import memmap
from calipers.data.cluster import client_of, cluster_samples, is_collection
from calipers.data.memmap import blocks_of
from calipers.data.samples import DiskSamples, MemorySamples, Samples, weighted, weights_of

_LABELS_AT_ONCE = 2**20
_fitting: dict[tuple[int, int], tuple[int, object]] = {}  # thread and mark of each fit under way
_DENSE: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}


class Given(NamedTuple):
    """The input of a fit, checked."""

    samples: Samples
    classes: npt.NDArray[Any]  # labels of the samples are codes of these; empty without labels
    X: Any  # what callbacks receive
    y: Any
    triplets: IndexArray | None = None  # (anchor, positive, negative), if triplets were given
    pairs: IndexArray | None = None  # (one, other, +1 or -1), if pairs were given
    client: Any = None  # of the cluster, if one was given

    @property
    def examples(self) -> Any:
        """What is learned from: triplets, pairs or labels."""
        return next((each for each in (self.triplets, self.pairs) if each is not None), self.y)


_OF_CALLBACKS = ("_callback_fit_ctx", "_skl_callbacks_to_teardown")
"""By these `sklearn.callback.with_callbacks` ends callbacks, also of a fit that failed."""


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if what happens here fails; one thread at a time."""
    place, mine = (os.getpid(), id(estimator)), (threading.get_ident(), object())
    holder = _fitting.setdefault(place, mine)
    if holder[0] != mine[0]:
        raise RuntimeError(
            f"Another thread is fitting this {type(estimator).__name__}: fit a clone of it in each "
            "thread (sklearn.base.clone)."
        )
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        after = vars(estimator)
        kept = {name: after[name] for name in _OF_CALLBACKS if name in after}
        after.clear()
        after.update(before | kept)
        raise
    finally:
        if holder is mine:
            del _fitting[place]


@contextmanager
def fresh_fit(estimator: Any) -> Iterator[None]:
    """Forget what earlier fits have learned, so that no two fits mix; bring it back on failure."""
    with restored_on_failure(estimator):
        for name in [*vars(estimator)]:
            if name.endswith("_") or name == "_stream":
                delattr(estimator, name)
        yield


@contextmanager
def given_labeled(estimator: Any, X: Any, y: Any, *, client: Any = None) -> Iterator[Given]:
    """Check labeled samples: in memory, in a memory-mapped file, or on a Dask cluster.

    The fit takes place within the context. If this starts a cluster, its end closes it.
    """
    with fresh_fit(estimator):
        if is_collection(X):
            refuse_no_labels(estimator, y)
            with _on_cluster(estimator, X, y, client) as given:
                yield given
            return
        _refuse_client(estimator, client)
        if is_read_by_blocks(X):
            yield _labeled_memmap(estimator, X, y)
            return
        dense, labels = dense_labeled(estimator, X, y)
        classes, codes = np.unique(labels, return_inverse=True)
        yield Given(MemorySamples(dense, codes), classes, dense, labels)


def with_weights(estimator: Any, given: Given, sample_weight: Any) -> Given:
    """The samples with their weights, as they were passed."""
    if sample_weight is None:
        return given
    owner = type(estimator).__name__
    weights = checked_weights(owner, sample_weight, given.samples.shape[0])
    return given._replace(samples=weighted(given.samples, weights))


def counted_part(given: Given) -> Given:
    """The samples whose weight is not 0; in memory if some are left out."""
    weights = given.samples.weights
    if weights is None or weights.all():
        return given
    return part_of(given, weights > 0.0)


def part_of(given: Given, kept: npt.NDArray[np.bool_]) -> Given:
    """Some of the samples, in memory, with the classes that they have."""
    indices = np.flatnonzero(kept)
    X = given.samples.take(indices)
    weights = weights_of(given.samples, indices)
    if not len(given.samples.class_sizes):
        return given._replace(samples=MemorySamples(X, weights=weights), X=X)
    present, codes = np.unique(given.samples.labels_of(indices), return_inverse=True)
    classes = given.classes[present]
    return Given(MemorySamples(X, codes, weights), classes, X, classes[codes])


@contextmanager
def given_unlabeled(estimator: Any, X: Any, *, client: Any = None) -> Iterator[Given]:
    """Check samples without labels, wherever they are; the fit takes place within the context."""
    with fresh_fit(estimator):
        if is_collection(X):
            with _on_cluster(estimator, X, None, client) as given:
                yield given
            return
        _refuse_client(estimator, client)
        if is_read_by_blocks(X):
            checked = _checked_map(estimator, X)
            yield Given(DiskSamples(checked), np.empty(0), checked, None)
            return
        dense = dense_samples(estimator, X)
        yield Given(MemorySamples(dense), np.empty(0), dense, None)


@contextmanager
def _on_cluster(estimator: Any, X: Any, y: Any, client: Any) -> Iterator[Given]:
    with client_of(client) as used:
        samples = cluster_samples(used, X, y)
        estimator.n_features_in_ = samples.shape[1]
        if samples.feature_names is not None:
            estimator.feature_names_in_ = samples.feature_names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        yield Given(samples, samples.classes, X, y, client=client)


def _refuse_client(estimator: Any, client: Any) -> None:
    if client is not None:
        raise ValueError(
            f"{type(estimator).__name__} was given a Dask client for an X that is no Dask "
            "collection: pass a dask array or dataframe, or leave client out."
        )


def _labeled_memmap(estimator: Any, X: npt.NDArray[Any], y: Any) -> Given:
    checked = _checked_map(estimator, X)
    labels = column_or_1d(checked_labels(estimator, y), warn=True)
    refuse_mixed(estimator, labels)
    if len(labels) != len(checked):
        raise ValueError(
            f"y has {len(labels)} labels for the {len(checked)} samples of X: give one for each."
        )
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    classes, codes = encoded(labels)
    return Given(DiskSamples(checked, codes), classes, checked, labels)


def is_read_by_blocks(X: Any) -> bool:
    """Return whether X is a memory-mapped file too large to read as a whole."""
    return isinstance(X, np.memmap) and X.nbytes > memmap.LARGEST_READ


def encoded(y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IndexArray]:
    """Return classes and codes as ``np.unique`` does, in no more memory than the codes take.

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
    """Refuse what scikit-learn refuses of arrays in memory; read X block by block."""
    owner = type(estimator).__name__
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"{owner} needs X of shape (n_samples, n_features) with numbers, got a memory map of "
            f"shape {X.shape} and type {X.dtype}: reshape or convert it."
        )
    validate_data(estimator, X, skip_check_array=True)  # sets the number of features
    for first, block in blocks_of(X):
        if block.dtype.kind == "f" and not np.isfinite(block.sum(dtype=np.float64)):
            wrong = ~np.isfinite(block)
            if wrong.any():
                i, feature = divmod(int(wrong.argmax()), X.shape[1])
                raise ValueError(
                    f"Input X contains NaN or infinity: {block[i, feature]} in sample {first + i}, "
                    f"feature {feature}; fill or remove such samples first."
                )
    return X


def dense_samples(estimator: Any, X: Any, *, reset: bool = True) -> npt.NDArray[Any]:
    """Check X and return it dense. Sparse X is refused: differences of its samples are dense."""
    _refuse_sparse(estimator, X)
    refuse_kinds(X, "X")
    with np.errstate(over="ignore", invalid="ignore"):  # of the sum of X
        samples: npt.NDArray[Any] = validate_data(estimator, X, reset=reset, **_DENSE)
    return samples


def dense_labeled(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, fewest: int = 2
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Check X, with ``fewest`` samples or more, and its labels; return both dense."""
    _refuse_sparse(estimator, X)
    refuse_kinds(X, "X")
    _refuse_tuples(estimator, X)
    y = checked_labels(estimator, y)
    more = {**_DENSE, "reset": reset, "ensure_min_samples": fewest}
    with np.errstate(over="ignore", invalid="ignore"):
        samples, labels = validate_data(estimator, X, y, **more)
    refuse_mixed(estimator, labels)
    return samples, labels


def _refuse_tuples(estimator: Any, X: Any) -> None:
    """Raise if X has pairs or triplets of samples."""
    try:
        shape = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    except ValueError:  # samples of different lengths
        return
    if len(shape) == 3:
        owner = type(estimator).__name__
        pairs = owner if hasattr(estimator, "fit_pairs") else "GMML"
        triplets = owner if hasattr(estimator, "fit_triplets") else "TripletSGD"
        raise ValueError(
            f"{owner} learns from samples, of shape (n_samples, n_features), got shape {shape}: "
            f"pass pairs of samples to PairClassifier({pairs}()), triplets to "
            f"TripletClassifier({triplets}()), or their indices to fit_pairs or fit_triplets."
        )


def refuse_no_labels(estimator: Any, y: Any) -> None:
    """Raise if there are no labels."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: pass "
            "a label for each, or learn from your own triplets by TripletSGD.fit_triplets."
        )


def checked_labels(estimator: Any, y: Any) -> Any:
    """Return labels as they are; raise if there are none, or if some are missing."""
    refuse_no_labels(estimator, y)
    refuse_masked(y, "y")
    refuse_missing(y)
    return exact_labels(y)


def refuse_mixed(estimator: Any, labels: npt.NDArray[Any]) -> None:
    """Raise if Python cannot put the labels in one order: mixed types, sets."""
    if labels.dtype.kind != "O":
        return
    try:
        classes = np.unique(labels).tolist()
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"{type(estimator).__name__} needs labels of one type, got labels of types "
            f"{', '.join(kinds)}: make them one, e.g. by y.astype(str), and leave out "
            "samples without a label."
        ) from problem
    for before, after in pairwise(classes):
        if not before < after:
            raise ValueError(
                f"{type(estimator).__name__} needs labels that can be put in one order, got "
                f"{before!r} and {after!r}: make them texts or numbers."
            )


def _refuse_sparse(estimator: Any, X: Any) -> None:
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} needs a dense X, got a sparse {type(X).__name__} of shape "
            f"{X.shape}: reduce it first, e.g. with sklearn.decomposition.TruncatedSVD, or pass "
            "X.toarray()."
        )


def first_batch(X: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> Given:
    """Return the first batch of a stream as the input of a fit."""
    if labels is None:
        return Given(MemorySamples(X), np.empty(0), X, None)
    classes, codes = np.unique(labels, return_inverse=True)
    return Given(MemorySamples(X, codes), classes, X, labels)
