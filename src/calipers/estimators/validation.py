"""Checks of settings and data: one sentence that says what is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from hashlib import blake2b
from numbers import Integral, Number, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Hidden, Interval, InvalidParameterError

from calipers.arrays import IndexArray
from calipers.data.samples import Samples
from calipers.estimators.inputs import Given
from calipers.metric import init as inits
from calipers.notices import DataWarning, warn_user
from calipers.solvers.plan import Plan

AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")  # what parameters may be
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
A_LEARNER = Hidden(HasMethods("get_mahalanobis_matrix"))  # refused, by a sentence of its own
LARGEST_VALUE = 1e75  # fourth powers of larger differences overflow float64
SMALLEST_VALUE = 1e-75
LARGEST_RATIO = 1e37  # of two differences; its eighth power must not overflow
MOST_SAMPLES_COMPARED = 10_000


def check_name(
    owner: str, parameter: str, name: str, allowed: tuple[str, ...], otherwise: str = ""
) -> None:
    """Raise if ``name`` is not allowed; suggest the closest allowed name, or what else to do."""
    if name in allowed:
        return
    close = get_close_matches(str(name).lower(), allowed, n=1, cutoff=0.5)
    hint = f" Did you mean {close[0]!r}?" if close else otherwise
    raise InvalidParameterError(
        f"The {parameter!r} parameter of {owner} must be one of "
        f"{', '.join(map(repr, allowed))}, got {name!r}.{hint}"
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
    seen = {blake2b((sample + 0.0).tobytes()).digest() for sample in X}  # -0.0 becomes 0.0
    n_repeated = len(X) - len(seen)
    if not n_repeated:
        return []
    return [
        f"{n_repeated} of {len(X)} samples repeat another sample: they are neighbours at distance "
        "0."
    ]


def refuse_parameters(estimator: Any, where: str, **reasons: str) -> None:
    """Raise for a parameter that is set although it has no meaning here."""
    for name, reason in reasons.items():
        value = getattr(estimator, name)
        if value is not None:
            raise ValueError(
                f"{name}={value!r} has no meaning for {where}, which {reason}: leave {name} out."
            )


def check_init(owner: str, init: object, n_features: int, *, has_labels: bool) -> None:
    """Raise if ``init`` is no initial metric, or needs labels that are not there."""
    if isinstance(init, str):
        by_matrix = " For another metric pass its L, as in init=metric.components_."
        check_name(owner, "init", init, ("auto", *inits.NAMES), by_matrix)
        if init == "within-class" and not has_labels:
            raise ValueError(
                f"{owner}(init='within-class') needs classes of the samples, and there are none: "
                "choose init='scaled' or 'identity'."
            )
        return
    if hasattr(init, "get_mahalanobis_matrix"):
        learner = getattr(init, "__name__", type(init).__name__)
        raise ValueError(
            f"{owner} needs init to be a name or a matrix L, got a {learner}, whose fit a clone "
            "would forget: pass its L once it is fitted, as in init=metric.components_."
        )
    try:
        matrix = np.asarray(init)
    except ValueError as ragged:
        raise ValueError(
            f"{owner} needs init to be a name or a matrix L, got rows of several lengths: give "
            f"every row {n_features} numbers."
        ) from ragged
    fits = matrix.ndim == 2 and matrix.shape[1] == n_features and len(matrix)
    if not fits or matrix.dtype.kind not in "iuf":
        raise ValueError(
            f"{owner} needs init to be a name or a matrix L of numbers with {n_features} columns, "
            f"one for each feature, got an array of shape {matrix.shape} and type {matrix.dtype}."
        )
    if not np.isfinite(matrix).all() or not matrix.any():
        raise ValueError(
            f"{owner} needs an init matrix of finite numbers that are not all 0: check how it was "
            "made."
        )


def check_init_and_components(estimator: Any, n_features: int, *, has_labels: bool) -> None:
    """Raise unless ``init`` is an initial metric with at least ``n_components`` rows."""
    owner, init, n_components = type(estimator).__name__, estimator.init, estimator.n_components
    check_components(owner, n_components, n_features)
    check_init(owner, init, n_features, has_labels=has_labels)
    if not isinstance(init, str) and n_components is not None and n_components > len(init):
        raise ValueError(
            f"{owner} has n_components={n_components}, but init has {len(init)} rows: set at most "
            f"{len(init)}, or pass an init with more rows."
        )


def check_labels_and_neighbors(estimator: Any, given: Given, n_neighbors: int | None) -> list[str]:
    """Raise unless the classes give triplets. Returns remarks."""
    owner, sizes = type(estimator).__name__, given.samples.class_sizes
    check_classes(owner, given.classes, sizes)
    remarks = check_neighbors(owner, n_neighbors, sizes)
    warn_singletons(given.classes, sizes)
    return remarks


def check_enough_triplets(owner: str, n_triplets: int | None, n_given: int) -> None:
    """Raise if the user asks for more triplets than they gave."""
    if n_triplets is not None and n_triplets > n_given:
        raise ValueError(
            f"{owner} has n_triplets={n_triplets}, but {n_given} triplets were given: "
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
            "has a class of its own: pass labels that repeat (for targets of regression, use MLKR)."
        )


def check_kinds_of_labels(classes: npt.NDArray[Any], so_far: Iterable[Any]) -> None:
    """Raise for labels of a batch that are not of the kind of those before."""
    before = next(iter(so_far), None)
    for label in classes.tolist() if before is not None else []:
        if _kind(label) != _kind(before):
            raise ValueError(
                f"Labels of this batch are of type {type(label).__name__}, those before of "
                f"type {type(before).__name__}: pass labels of one type."
            )


def _kind(label: object) -> type:
    """The type of a label, where whole and other numbers are of one type."""
    is_number = isinstance(label, Number) and not isinstance(label, bool)
    return float if is_number else type(label)


def warn_singletons(classes: npt.NDArray[Any], sizes: npt.NDArray[Any]) -> None:
    """Warn once which classes are singletons: their samples are never anchors."""
    singletons = classes[sizes == 1]
    if len(singletons):
        warn_user(
            f"{len(singletons)} of {len(classes)} classes have one sample only "
            f"({_first_of(singletons)}): such a class has no positive, so its sample serves as a "
            "negative only.",
            DataWarning,
        )


def warn_small_classes(classes: npt.NDArray[Any], sizes: IndexArray, n_neighbors: int) -> None:
    """Warn once how many classes have fewer than ``n_neighbors`` targets."""
    small = classes[(sizes > 1) & (sizes <= n_neighbors)]
    if len(small):
        warn_user(
            f"{len(small)} of {len(classes)} classes have no more than n_neighbors={n_neighbors} "
            f"samples ({_first_of(small)}): their samples have all others of the class as targets.",
            DataWarning,
        )


def _first_of(classes: npt.NDArray[Any]) -> str:
    return ", ".join(map(repr, classes[:3].tolist())) + (", ..." if len(classes) > 3 else "")


def check_neighbors(owner: str, n_neighbors: int | None, sizes: IndexArray) -> list[str]:
    """Raise if X has too few samples for so many neighbours. Returns a remark on small classes."""
    n_samples = int(sizes.sum())
    assert n_neighbors is not None  # given or resolved, in a fit from labels
    if n_neighbors >= n_samples:
        raise ValueError(
            f"{owner} has n_neighbors={n_neighbors}, but X has "
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
            f"{owner} has n_components={n_components}, but X has {n_features} "
            f"features: set at most {n_features}, or None for all."
        )


def check_closed_form(estimator: Any, given: Given) -> None:
    """Raise if no metric follows from the moments of these samples."""
    owner = type(estimator).__name__
    check_components(owner, estimator.n_components, given.samples.shape[1])
    check_range(given.samples)
    if len(given.classes):
        check_classes(owner, given.classes, given.samples.class_sizes)


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
