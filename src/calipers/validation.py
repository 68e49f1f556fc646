"""The boundary: check what users pass and turn it into samples, or say what is wrong with it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.validation import validate_data

from calipers import init as inits
from calipers import memmap
from calipers.arrays import IndexArray, refuse_kinds, refuse_masked, refuse_missing
from calipers.dask import is_collection
from calipers.data.disk import DiskSamples
from calipers.data.samples import MemorySamples, Samples
from calipers.memmap import blocks_of
from calipers.plan import Plan

LARGEST_VALUE = 1e75  # fourth powers of larger differences overflow float64
SMALLEST_VALUE = 1e-75
LARGEST_RATIO = 1e37  # of two differences; its eighth power must not overflow
MOST_SAMPLES_COMPARED = 10_000
_LABELS_AT_ONCE = 2**20
_DENSE: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}


class DataWarning(UserWarning):
    """A learner can use the data, but not in the way that the user may expect."""


class Given(NamedTuple):
    """The input of a fit, checked."""

    samples: Samples
    classes: npt.NDArray[Any]  # labels of the samples are codes of these; empty without labels
    X: Any  # what callbacks receive
    y: Any


@contextmanager
def restored_on_failure(estimator: Any) -> Iterator[None]:
    """Leave an estimator as it was if what happens here fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


@contextmanager
def fresh_fit(estimator: Any) -> Iterator[None]:
    """Forget what earlier fits have learned, so that no two fits mix; bring it back on failure."""
    with restored_on_failure(estimator):
        for name in [*vars(estimator)]:
            if name.endswith("_") or name in ("_stream", "_theory_facts"):
                delattr(estimator, name)
        yield


@contextmanager
def given_labeled(estimator: Any, X: Any, y: Any, *, client: Any = None) -> Iterator[Given]:
    """Check labeled samples: in memory, in a memory-mapped file, or on a Dask cluster.

    The fit takes place within the context. If this starts a cluster, its end closes it.
    """
    with fresh_fit(estimator):
        if is_collection(X):
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
    from calipers.dask.cluster import client_of
    from calipers.dask.collections import column_names
    from calipers.dask.samples import cluster_samples

    with client_of(client) as used:
        samples, classes = cluster_samples(used, X, y)
        estimator.n_features_in_ = samples.shape[1]
        names = column_names(X)
        if names is not None:
            estimator.feature_names_in_ = names
        elif hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        yield Given(samples, np.empty(0) if classes is None else classes, X, y)


def _refuse_client(estimator: Any, client: Any) -> None:
    if client is not None:
        raise ValueError(
            f"{type(estimator).__name__} was given a Dask client for an X that is no Dask "
            "collection: pass a dask array or dataframe, or leave client out."
        )


def _labeled_memmap(estimator: Any, X: npt.NDArray[Any], y: Any) -> Given:
    checked = _checked_map(estimator, X)
    check_labels(estimator, y)
    labels = column_or_1d(y, warn=True)
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


def check_name(owner: str, parameter: str, name: str, allowed: tuple[str, ...]) -> None:
    """Raise if ``name`` is not allowed; suggest the closest allowed name."""
    if name in allowed:
        return
    close = get_close_matches(str(name).lower(), allowed, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidParameterError(
        f"The {parameter!r} parameter of {owner} must be one of "
        f"{', '.join(map(repr, allowed))}, got {name!r}.{hint}"
    )


def dense_samples(estimator: Any, X: Any, *, reset: bool = True) -> npt.NDArray[Any]:
    """Check X and return it dense. Sparse X is refused: differences of its samples are dense."""
    _refuse_sparse(estimator, X)
    refuse_kinds(X, "X")
    with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn checks the sum of X first
        samples: npt.NDArray[Any] = validate_data(estimator, X, reset=reset, **_DENSE)
    return samples


def dense_labeled(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, fewest: int = 2
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Check X, with ``fewest`` samples or more, and its labels; return both dense."""
    _refuse_sparse(estimator, X)
    refuse_kinds(X, "X")
    check_labels(estimator, y)
    more = {**_DENSE, "reset": reset, "ensure_min_samples": fewest}
    with np.errstate(over="ignore", invalid="ignore"):
        samples, labels = validate_data(estimator, X, y, **more)
    refuse_mixed(estimator, labels)
    return samples, labels


def check_labels(estimator: Any, y: Any) -> None:
    """Raise if there are no labels, or if some are missing."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: pass "
            "labels, or your own triplets to TripletSGD.fit_triplets."
        )
    refuse_masked(y, "y")
    refuse_missing(y)


def refuse_mixed(estimator: Any, labels: npt.NDArray[Any]) -> None:
    """Raise if the labels have types that Python cannot compare with each other."""
    if labels.dtype.kind != "O":
        return
    try:
        np.unique(labels)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise ValueError(
            f"{type(estimator).__name__} needs labels of one type, got labels of types "
            f"{', '.join(kinds)}: make them one, e.g. by y.astype(str), and leave out "
            "samples without a label."
        ) from problem


def _refuse_sparse(estimator: Any, X: Any) -> None:
    if issparse(X):
        raise TypeError(
            f"{type(estimator).__name__} needs a dense X, got a sparse {type(X).__name__} of shape "
            f"{X.shape}: reduce it first, e.g. with sklearn.decomposition.TruncatedSVD, or pass "
            "X.toarray()."
        )


def check_differences(squared: float) -> None:
    """Raise if samples differ by so little that float64 cannot hold a metric of them."""
    if squared < SMALLEST_VALUE**2:
        raise ValueError(
            f"Samples of X differ by {squared**0.5:.3g} only, so that fourth powers vanish in "
            f"float64: multiply X so that they differ by more than {SMALLEST_VALUE:.0e}, without "
            "features that are constant and large."
        )


def typical_squared_distance(X: npt.NDArray[Any], triplets: IndexArray) -> float:
    """Return the median squared distance of anchors and negatives that differ; 0 if none do."""
    first = triplets[:1000]
    far = X[first[:, 0]].astype(np.float64) - X[first[:, 2]]
    far = far[far.any(axis=1)]
    if not len(far):
        return 0.0
    squared = float(np.median(np.einsum("ij,ij->i", far, far)))
    check_differences(squared)
    return squared


def check_extent(X: npt.NDArray[Any], squared: float) -> None:
    """Raise if the largest difference of a feature is too large for the typical distance."""
    if not squared:
        return
    extent = float(np.ptp(X.astype(np.float64, copy=False), axis=0).max())
    if extent > LARGEST_RATIO * squared**0.5:
        raise ValueError(
            f"Samples of X differ by up to {extent:.3g}, but near ones by {squared**0.5:.3g} only, "
            "so that their powers overflow float64 in one metric: remove outliers, or bring "
            "features to one scale, e.g. with sklearn.preprocessing.StandardScaler."
        )


def check_range(samples: Samples) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Raise if powers of X's values leave float64. Returns the limits of each feature."""
    low, high = samples.limits()
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
    return low, high


def check_magnitude(samples: Samples) -> list[str]:
    """Raise if no metric can be learned from X's values. Returns remarks about them.

    Remarks are sentences that explain a metric but need no warning.
    """
    n, d = samples.shape
    low, high = check_range(samples)
    constant = np.flatnonzero(low == high)
    if len(constant) == d:
        raise ValueError(
            f"All {n} samples of X are the same, so that there is no distance to learn: "
            "check how X was made."
        )
    repeated = _on_repeated(samples.take(np.arange(n))) if n <= MOST_SAMPLES_COMPARED else []
    return _on_constant(constant, d) + repeated


def _on_constant(constant: IndexArray, n_features: int) -> list[str]:
    if not len(constant):
        return []
    return [
        f"{len(constant)} of {n_features} features are constant (the first has index "
        f"{constant[0]}): no distance depends on them, and their part of the metric keeps its "
        "initial value."
    ]


def _on_repeated(X: npt.NDArray[Any]) -> list[str]:
    n_repeated = len(X) - len({sample.tobytes() for sample in X + 0.0})  # -0.0 becomes 0.0
    if not n_repeated:
        return []
    return [
        f"{n_repeated} of {len(X)} samples repeat another sample: they are neighbours at distance "
        "0."
    ]


def first_batch(X: npt.NDArray[Any], labels: npt.NDArray[Any] | None) -> Given:
    """Return the first batch of a stream as the input of a fit."""
    if labels is None:
        return Given(MemorySamples(X), np.empty(0), X, None)
    classes, codes = np.unique(labels, return_inverse=True)
    return Given(MemorySamples(X, codes), classes, X, labels)


def check_init(owner: str, init: object, n_features: int, *, has_labels: bool) -> None:
    """Raise if ``init`` is no initial metric, or needs labels that are not there."""
    if isinstance(init, str):
        check_name(owner, "init", init, ("auto", *inits.NAMES))
        if init == "within-class" and not has_labels:
            raise ValueError(
                f"{owner}(init='within-class') needs classes of the samples, which triplets do not "
                "tell: choose init='scaled' or 'identity'."
            )
        return
    matrix = np.asarray(init)
    if matrix.ndim != 2 or matrix.shape[1] != n_features or matrix.dtype.kind not in "iuf":
        raise ValueError(
            f"{owner} needs init to be a name or a matrix L of numbers with {n_features} columns, "
            f"one for each feature, got an array of shape {matrix.shape} and type {matrix.dtype}."
        )
    if not np.isfinite(matrix).all() or not matrix.any():
        raise ValueError(
            f"{owner} needs an init matrix of finite numbers that are not all 0: check how it was "
            "made."
        )


def check_labels_and_neighbors(
    estimator: Any, given: Given, n_neighbors: int | None, *, stacklevel: int
) -> list[str]:
    """Raise unless the classes give triplets. Returns remarks."""
    owner, sizes = type(estimator).__name__, given.samples.class_sizes
    check_classes(owner, given.classes, sizes)
    remarks = check_neighbors(owner, n_neighbors, sizes)
    warn_singletons(given.classes, sizes, stacklevel=stacklevel + 1)
    return remarks


def check_enough_triplets(owner: str, n_triplets: int | None, n_given: int) -> None:
    """Raise if the user asks for more triplets than they gave."""
    if n_triplets is not None and n_triplets > n_given:
        raise ValueError(
            f"{owner} was asked for n_triplets={n_triplets}, but {n_given} triplets were given: "
            "lower n_triplets or leave it out."
        )


def check_classes(
    owner: str,
    classes: npt.NDArray[Any],
    sizes: IndexArray,
    *,
    takes_triplets: str = "TripletSGD",
) -> None:
    """Raise unless classes of these sizes give triplets.

    ``takes_triplets`` is the learner that the message names for triplets without labels.
    """
    if len(classes) < 2:
        raise ValueError(
            f"{owner} needs samples of at least 2 classes, got 1 class ({classes.tolist()[0]!r}): "
            "pass labels with more than one class, or your own triplets to "
            f"{takes_triplets}.fit_triplets."
        )
    if sizes.max() == 1:
        raise ValueError(
            f"{owner} needs a class with at least 2 samples, but each of the {len(sizes)} samples "
            "has a class of its own: pass labels that repeat (classes, not targets or ids)."
        )


def warn_singletons(classes: npt.NDArray[Any], sizes: IndexArray, *, stacklevel: int) -> None:
    """Warn once which classes are singletons: their samples are never anchors."""
    singletons = classes[sizes == 1]
    if len(singletons):
        some = ", ".join(repr(c) for c in singletons[:3].tolist()) + (
            ", ..." if len(singletons) > 3 else ""
        )
        warnings.warn(
            f"{len(singletons)} of {len(classes)} classes have one sample only ({some}): such a "
            "class has no positive, so its sample serves as a negative only.",
            DataWarning,
            stacklevel=stacklevel + 1,
        )


def check_neighbors(owner: str, n_neighbors: int | None, sizes: IndexArray) -> list[str]:
    """Raise if X has too few samples for so many neighbours. Returns a remark on small classes."""
    n_samples = int(sizes.sum())
    assert n_neighbors is not None  # given or resolved, in a fit from labels
    if n_neighbors >= n_samples:
        raise ValueError(
            f"{owner} was asked for n_neighbors={n_neighbors} nearest samples, but X has "
            f"{n_samples} samples, {n_samples - 1} besides the anchor: lower n_neighbors to at "
            f"most {n_samples - 1}, or pass more samples."
        )
    n_small = np.count_nonzero(sizes <= n_neighbors)
    if not n_small:
        return []
    return [
        f"{n_small} of {len(sizes)} classes have no more than n_neighbors={n_neighbors} samples: "
        "in such a class an anchor draws its positives among all other samples."
    ]


def check_radius(owner: str, radius: float, n_features: int, projection: object) -> None:
    """Raise if the norm or trace of the first iterate, the identity, exceeds ``radius``."""
    of = "trace" if projection == "frank-wolfe" else "norm"
    size = n_features if of == "trace" else n_features**0.5
    if size > radius:
        raise ValueError(
            f"{owner} starts at the identity, whose {of} {size:.4g} (for {n_features} features) "
            f"exceeds radius={radius:g}: raise radius above it."
        )


def check_components(owner: str, n_components: int | None, n_features: int) -> None:
    """Raise if the user asks for more components than X has features."""
    if n_components is not None and n_components > n_features:
        raise ValueError(
            f"{owner} was asked for n_components={n_components}, but X has {n_features} "
            f"features: ask for at most {n_features}, or None for all."
        )


def check_batches(owner: str, plan: Plan) -> None:
    """Raise if the triplets of a round do not fill one batch."""
    n_triplets, per_anchor = plan.n_triplets or 0, plan.all_pairs**2
    if n_triplets < per_anchor:
        raise ValueError(
            f"{owner} has n_triplets={n_triplets}, fewer than the {per_anchor} of one anchor with "
            f"n_neighbors={plan.n_neighbors}: raise n_triplets or lower n_neighbors."
        )
    if n_triplets < plan.batch_triplets:
        raise ValueError(
            f"{owner} has {n_triplets} triplets, fewer than one batch of "
            f"batch_size={plan.batch_size} anchors ({plan.batch_triplets} triplets): raise "
            "n_triplets or lower batch_size."
        )


def check_batch(owner: str, n_triplets: int, batch_size: int) -> None:
    """Raise if the triplets do not fill one batch."""
    if n_triplets < batch_size:
        raise ValueError(
            f"{owner} has {n_triplets} triplets, fewer than one batch of "
            f"batch_size={batch_size}: raise n_triplets or lower batch_size."
        )


def check_limits(owner: str, near_distance: float, far_distance: float) -> None:
    """Raise unless near_distance is below far_distance."""
    if not near_distance < far_distance:
        raise ValueError(
            f"{owner} needs near_distance below far_distance, got near_distance="
            f"{near_distance:.4g} and far_distance={far_distance:.4g} (those not set come "
            "from X): lower near_distance or raise far_distance."
        )
