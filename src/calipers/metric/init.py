"""Initial metrics: where learning starts, and the coordinates that neighbours are found in.

A solver starts at the identity, so an initial metric ``M = L'L`` is a linear map of the samples,
``x -> L x``. The three named ones are "identity", "scaled" (each feature divided by its standard
deviation) and "within-class" (the inverse of the shrunk covariance within classes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import vote
from calipers.data.samples import MemorySamples, Samples
from calipers.metric.moments import class_sums
from calipers.threads import parallel_map, single_threaded_blas

NAMES = ("identity", "scaled", "within-class")
MOMENT_SAMPLES = 20_000  # at most, evenly spaced, from which means and covariances are estimated
VOTE_SAMPLES = 4_000  # at most, evenly spaced, whose leave-one-out error "auto" compares
N_VOTES = 3
SMALLEST_VARIANCE = 1e-6  # share of the largest below which a variance is taken for this share
_TILE = 256  # samples of a product
_COLUMNS = 16  # its columns are a multiple of this

Init: TypeAlias = str | FloatArray


@dataclass(frozen=True)
class LinearMap:
    """``x -> L x`` for L the identity (None), a diagonal (d,) or a matrix (r, d)."""

    matrix: FloatArray | None = None

    def __call__(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Map samples, in X's precision, each independently of those beside it."""
        if self.matrix is None:
            return X
        if self.matrix.ndim == 1:
            return np.ascontiguousarray(X * self.matrix.astype(X.dtype))
        return product(X, self.matrix)

    def then(self, L: FloatArray) -> FloatArray:
        """The matrix of this map followed by ``L``."""
        if self.matrix is None:
            return L
        return np.asarray(L * self.matrix if self.matrix.ndim == 1 else L @ self.matrix)


def product(X: npt.NDArray[Any], L: FloatArray) -> npt.NDArray[Any]:
    """``X @ L.T`` in X's precision, each sample's image the same whatever samples are beside it.

    A matrix product of another shape may be summed in another order. So all products here have
    one shape, filled up with zeros, and are in float64.
    """
    n, d = X.shape
    k = len(L)
    filled = np.zeros((-(-d // _COLUMNS) * _COLUMNS, -(-k // _COLUMNS) * _COLUMNS))
    filled[:d, :k] = L.T
    mapped = np.empty((n, k), dtype=X.dtype)

    def fill(first: int) -> None:
        tile = np.zeros((_TILE, len(filled)))
        some = X[first : first + _TILE]
        tile[: len(some), :d] = some
        mapped[first : first + _TILE] = (tile @ filled)[: len(some), :k]

    with single_threaded_blas():
        parallel_map(fill, range(0, n, _TILE))
    return mapped


def evenly_spaced(n_samples: int, most: int) -> IndexArray:
    """Indices of at most so many samples, evenly over all: they may be in order of class."""
    return np.linspace(0, n_samples - 1, min(n_samples, most)).astype(np.intp)


def initial_map(init: Init, samples: Samples) -> LinearMap:
    """The map of an initial metric; "scaled" leaves constant features as they are."""
    if not isinstance(init, str):
        matrix = np.asarray(init, dtype=np.float64)
        if len(matrix) > matrix.shape[1]:  # the same metric by fewer rows
            matrix = np.asarray(np.linalg.qr(matrix, mode="r"))
        return LinearMap(matrix)
    if init == "identity":
        return LinearMap()
    if init == "within-class":
        return within_class(samples)
    X = samples.take(evenly_spaced(samples.shape[0], MOMENT_SAMPLES)).astype(np.float64)
    return LinearMap(1.0 / std_or_one(X))


def resolved_init(init: Init, samples: Samples, targets: FloatArray | None = None) -> Init:
    """What `init` stands for: the name or the matrix given, or what "auto" chooses.

    That is whichever of "identity" and "scaled" has the lower leave-one-out 3-NN error: the former
    if they are equal, or if there are no labels. With ``targets``, for which the classes stand, the
    error is that of predicting them.
    """
    if not isinstance(init, str):
        return np.array(init, dtype=np.float64)
    if init != "auto":
        return init
    if not len(samples.class_sizes):
        return "identity"
    indices = evenly_spaced(samples.shape[0], VOTE_SAMPLES)
    X, labels = samples.take(indices), samples.labels_of(indices)
    as_given = MemorySamples(X, np.unique(labels, return_inverse=True)[1])
    divided = as_given.transformed(initial_map("scaled", samples))
    values = None if targets is None else targets[labels]
    before, after = (leave_one_out_error(each, values) for each in (as_given, divided))
    return "scaled" if after < before else "identity"


def leave_one_out_error(samples: MemorySamples, targets: FloatArray | None = None) -> float:
    """Share of the samples whose three nearest others vote for another class.

    Singletons are left out. With ``targets`` it is the mean squared error of predicting each by the
    mean of those of the nearest others.

    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    >>> leave_one_out_error(MemorySamples(X, np.array([0, 1, 1, 1, 0])))
    0.4
    """
    X, labels = samples.X, samples.labels
    anchors = np.arange(len(X))
    if targets is None:
        anchors = np.flatnonzero(samples.class_sizes[labels] > 1)
    if not len(anchors):
        return 0.0
    apart = MemorySamples(X, np.arange(len(X)))  # each a class of its own
    _, nearest = apart.nearest(anchors, n_same=0, n_other=min(N_VOTES, len(X) - 1))
    if targets is None:
        return float(np.mean(vote(labels[nearest]) != labels[anchors]))
    return float(np.mean((targets[nearest].mean(axis=1) - targets) ** 2))


def std_or_one(X: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Standard deviation of each column, 1 where it is constant.

    >>> std_or_one(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([1., 1.])
    """
    if weights is None:
        spread = X.std(axis=0)
    else:
        mean = np.average(X, axis=0, weights=weights)
        spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    deviation = np.where(X.min(axis=0) < X.max(axis=0), spread, 0.0)
    return np.where(deviation > 0.0, deviation, 1.0)


@single_threaded_blas()
def within_class(samples: Samples) -> LinearMap:
    """The inverse root of the shrunk covariance within classes, of scaled features."""
    indices = evenly_spaced(samples.shape[0], MOMENT_SAMPLES)
    X, labels = samples.take(indices).astype(np.float64), samples.labels_of(indices)
    deviation = std_or_one(X)
    roots, _ = whitening(class_centered(X / deviation, labels))
    return LinearMap(roots / deviation)


def whitening(centered: FloatArray, n_features: int | None = None) -> tuple[FloatArray, float]:
    """Inverse root of the covariance, shrunk toward a multiple of the identity.

    The shrinkage is the oracle approximating one (Chen et al. 2010). The columns may be those of a
    basis of fewer dimensions than there are features: the second number is the inverse root
    outside of it, where all variances are equal.
    """
    n, width = centered.shape
    d = n_features or width
    covariance = centered.T @ centered / n
    shrinkage, mean_variance = shrinkage_of(covariance, n, d)
    if not mean_variance > 0.0:  # the samples of every class are one and the same
        return np.eye(width), 1.0
    values, vectors = np.linalg.eigh(covariance)
    values = (1.0 - shrinkage) * values + shrinkage * mean_variance
    smallest = SMALLEST_VARIANCE * values[-1]
    roots = (vectors / np.sqrt(np.maximum(values, smallest))) @ vectors.T
    return np.asarray(roots), float(1.0 / np.sqrt(max(shrinkage * mean_variance, smallest)))


def shrinkage_of(covariance: FloatArray, n: float, n_features: int) -> tuple[float, float]:
    """Oracle approximating shrinkage of a covariance of n samples, and the mean variance.

    As in scikit-learn, without the term of Chen et al. (2010) that vanishes for many features.
    """
    d = n_features
    mean_variance = float(np.trace(covariance)) / d
    squared = float(np.sum(covariance**2)) / d**2
    rest = (n + 1.0) * (squared - mean_variance**2 / d)
    shrinkage = min(1.0, (squared + mean_variance**2) / rest) if rest > 0.0 else 1.0
    return shrinkage, mean_variance


def _class_means(X: FloatArray, labels: IndexArray) -> FloatArray:
    """Mean of each class, of shape (n_classes, d)."""
    sizes = np.bincount(labels)
    sums = class_sums(X, labels, np.ones(len(X)), len(sizes))
    return np.asarray(sums / np.maximum(sizes, 1)[:, None])


def class_centered(X: FloatArray, labels: IndexArray) -> FloatArray:
    """X without the means of its classes."""
    return X - _class_means(X, labels)[labels]


@single_threaded_blas()
def discriminant_axes(X: FloatArray, labels: IndexArray, rank: int) -> FloatArray:
    """Orthonormal axes along which class means differ most, one fewer than classes.

    Those beyond are the axes of most remaining variance.
    """
    means = _class_means(X, labels)
    sizes = np.bincount(labels)
    weighted = np.sqrt(sizes)[:, None] * (means - sizes @ means / sizes.sum())
    n_axes = min(int(np.count_nonzero(sizes)) - 1, X.shape[1])
    axes = np.linalg.svd(weighted, full_matrices=False)[2][:n_axes]
    if rank <= n_axes:
        return np.asarray(axes[:rank])
    centered = X - X.mean(axis=0)
    rest = centered - (centered @ axes.T) @ axes
    further = np.linalg.svd(rest, full_matrices=False)[2][: rank - n_axes]
    return np.vstack([axes, further])
