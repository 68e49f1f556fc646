"""Metrics that are formulas of second moments: GMML, KISSME, RCA, and LFDA of local ones.

S and D are the mean outer products of the differences of similar and of dissimilar pairs. Formulas
return L with M = L'L.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from calipers import validation
from calipers.arrays import FloatArray, IndexArray
from calipers.coordinates import sample_covariance
from calipers.data.samples import MemorySamples, Samples
from calipers.fitting import checking
from calipers.init import SMALLEST_VARIANCE, scaled, shrinkage_of
from calipers.inputs import Given, dense_labeled, restored_on_failure
from calipers.metric import factor, principal_order
from calipers.moments import Moments, StreamedMoments, mean_outer_product, moments_of
from calipers.solvers.soft_neighbors import squared_distances
from calipers.threads import single_threaded_blas

_AFFINITIES = 2**19  # of a block of samples to all of their class


class Spectrum(NamedTuple):
    """Eigenvalues and eigenvectors of a positive definite matrix."""

    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, matrix: FloatArray) -> Spectrum:
        """Of a matrix, small eigenvalues raised to `SMALLEST_VARIANCE` of the largest."""
        values, vectors = np.linalg.eigh(matrix)
        if not values[-1] > 0.0:  # nothing differs: the identity
            return cls(np.ones(len(values)), vectors)
        return cls(np.maximum(values, SMALLEST_VARIANCE * values[-1]), vectors)

    @classmethod
    def shrunk(cls, matrix: FloatArray, n: float) -> Spectrum:
        """Of a mean over n, shrunk toward a multiple of the identity (Chen et al. 2010)."""
        shrinkage, mean = shrinkage_of(matrix, n, len(matrix))
        return cls.of((1.0 - shrinkage) * matrix + shrinkage * mean * np.eye(len(matrix)))

    def power(self, exponent: float) -> FloatArray:
        """The matrix to a power."""
        return np.asarray((self.vectors * self.values**exponent) @ self.vectors.T)


class Scatters(NamedTuple):
    """Mean outer products of differences, of features that are divided by their ``unit``."""

    similar: FloatArray
    dissimilar: FloatArray
    within: FloatArray  # covariance within classes
    n_similar: float  # samples, or pairs, that each is a mean of
    n_dissimilar: float
    unit: FloatArray  # the standard deviation of each feature, 1 for a constant
    covariance: FloatArray  # of the samples as they are

    @classmethod
    def of_labels(cls, moments: Moments) -> Scatters:
        """Of all pairs of samples."""
        covariance = moments.covariance
        deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
        rounding = np.finfo(np.float64).eps * np.abs(moments.means).max(axis=0)
        unit = np.where(deviation > rounding, deviation, 1.0)
        similar, dissimilar, within = (
            each / unit / unit[:, None]
            for each in (moments.similar, moments.dissimilar, moments.within / moments.n)
        )
        return cls(similar, dissimilar, within, moments.n, moments.n, unit, covariance)

    @classmethod
    def of_pairs(cls, samples: Samples, pairs: IndexArray) -> Scatters:
        """Of pairs, with their signs in the last column."""
        unit = 1.0 / np.asarray(scaled(samples).matrix)
        near, far = (pairs[pairs[:, 2] == sign, :2] for sign in (1, -1))
        similar, dissimilar = (
            mean_outer_product(samples, some) / unit / unit[:, None] for some in (near, far)
        )
        covariance = sample_covariance(samples)
        return cls(similar, dissimilar, 0.5 * similar, len(near), len(far), unit, covariance)

    @property
    def spectra(self) -> tuple[Spectrum, Spectrum]:
        """S and D, shrunk."""
        return (
            Spectrum.shrunk(self.similar, self.n_similar),
            Spectrum.shrunk(self.dissimilar, self.n_dissimilar),
        )


@single_threaded_blas()
def geometric_mean(S: Spectrum, D: Spectrum, t: float) -> FloatArray:
    """GMML: ``M = S^-1/2 (S^1/2 D S^1/2)^t S^-1/2``, on the geodesic from inv(S) to D.

    >>> identity = Spectrum.of(np.eye(1))
    >>> geometric_mean(identity, Spectrum.of(np.array([[16.0]])), 0.5)  # M = 4
    array([[2.]])
    """
    root = S.power(0.5)
    return Spectrum.of(root @ D.power(1.0) @ root).power(t / 2.0) @ S.power(-0.5)


@single_threaded_blas()
def likelihood_ratio(S: Spectrum, D: Spectrum) -> FloatArray:
    """KISSME: ``M = inv(S) - inv(D)``, clipped to the cone.

    >>> likelihood_ratio(Spectrum.of(np.eye(1)), Spectrum.of(np.array([[2.0]]))) ** 2
    array([[0.5]])
    """
    return factor(S.power(-1.0) - D.power(-1.0))


class FromMoments:
    """``partial_fit`` and ``_learn`` of a learner whose metric is a formula of second moments.

    The learner has ``_formula(scatters)``, which returns L for features divided by their unit.
    """

    n_components: int | None
    components_: FloatArray
    classes_: npt.NDArray[Any]
    _formula: Callable[[Scatters], FloatArray]
    _of_pairs: Callable[[Samples, IndexArray], Scatters] = staticmethod(Scatters.of_pairs)
    _needs_far: bool = True
    _stream: StreamedMoments | None = None

    @checking
    def partial_fit(self, X: npt.ArrayLike, y: npt.ArrayLike) -> Self:
        """Learn from one more batch: the metric is that of a fit to all batches together.

        A matrix of n_features by n_features is kept for each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the batch.
        y : array-like of shape (n_samples,)
            Class of each sample; batches need not have samples of every class.

        Returns
        -------
        Self
            The estimator, with the metric so far.
        """
        with restored_on_failure(self):
            dense, labels = dense_labeled(self, X, y, reset=self._stream is None, fewest=1)
            validation.check_range(MemorySamples(dense))
            validation.check_components(type(self).__name__, self.n_components, dense.shape[1])
            stream = StreamedMoments(self._stream)
            stream.add(dense, labels)
            self.classes_ = stream.classes
            self._set(Scatters.of_labels(stream.moments()))
            self._stream = stream
        return self

    def _learn(self, given: Given) -> None:
        validation.check_closed_form(self, given)
        if given.pairs is None:
            self._set(Scatters.of_labels(moments_of(given.samples)))
            return
        check_kinds(type(self).__name__, given.pairs, needs_far=self._needs_far)
        self._set(type(self)._of_pairs(given.samples, given.pairs))

    def _set(self, scatters: Scatters) -> None:
        L = self._formula(scatters) / scatters.unit
        largest = float(np.abs(scatters.covariance).max()) or 1.0  # squares might overflow
        self.components_ = principal_order(L, scatters.covariance / largest)[: self.n_components]
        self.n_updates_ = 0


def check_kinds(owner: str, pairs: IndexArray, *, needs_far: bool = True) -> None:
    """Raise unless there are pairs of both kinds, or of the one that is needed."""
    for sign, kind in ((1, "near"), (-1, "far"))[: 1 + needs_far]:
        if not np.any(pairs[:, 2] == sign):
            raise ValueError(
                f"{owner} needs pairs that should be {kind} ({sign:+}), got none among "
                f"{len(pairs)}: add some."
            )


def chunklets(samples: Samples, pairs: IndexArray) -> MemorySamples:
    """Samples that are connected by pairs that should be near: each connected set is a class.

    >>> X = np.arange(5.0)[:, None]
    >>> chunklets(MemorySamples(X), np.array([[0, 2, 1], [2, 4, 1], [1, 3, 1], [0, 1, -1]])).labels
    array([0, 1, 0, 1, 0])
    """
    near = pairs[pairs[:, 2] == 1]
    indices, places = np.unique(near[:, :2], return_inverse=True)
    one, other = places.reshape(-1, 2).T
    graph = coo_array((np.ones(len(near)), (one, other)), shape=(len(indices), len(indices)))
    codes = connected_components(graph, directed=False)[1]
    return MemorySamples(samples.take(indices), codes.astype(np.intp))


@single_threaded_blas()
def local_scatters(
    samples: MemorySamples, moments: Moments, k: int
) -> tuple[FloatArray, FloatArray]:
    """LFDA's scatter within classes and between them, where near samples of a class count more.

    The affinity of two samples of a class is ``exp(-d(i, j)^2 / (s_i s_j))``, with s_i the distance
    to the k-th nearest sample of the class (Zelnik-Manor and Perona 2004).
    """
    within, mixture = np.zeros((2, samples.shape[1], samples.shape[1]))
    for code, size in enumerate(samples.class_sizes.tolist()):
        X = samples.X[samples.labels == code].astype(np.float64)
        X -= X.mean(axis=0)
        scatter = _affine_scatter(X, min(k, size - 1))
        within += scatter / size
        mixture += scatter / moments.n
    between = moments.within + moments.between - moments.by_size / moments.n
    return within, mixture + between - within


def _affine_scatter(X: FloatArray, k: int) -> FloatArray:
    """Half the sum of (x - y)(x - y)' over all pairs, each by its affinity; blocks of samples."""
    step = max(1, _AFFINITIES // len(X))
    blocks = [slice(first, first + step) for first in range(0, len(X), step)]
    width = np.concatenate(
        [np.partition(squared_distances(X[some], X), k, axis=1)[:, k] for some in blocks]
    )
    total = np.zeros((X.shape[1], X.shape[1]))
    for some in blocks:
        unit = np.sqrt(width[some, None] * width)
        with np.errstate(divide="ignore", invalid="ignore"):
            A = np.exp(-squared_distances(X[some], X) / unit)
        A[unit == 0.0] = 0.0  # such samples repeat others: their differences vanish
        total += X[some].T @ (A.sum(axis=1)[:, None] * X[some] - A @ X)
    return 0.5 * (total + total.T)


@single_threaded_blas()
def local_discriminants(within: FloatArray, between: FloatArray, rank: int) -> FloatArray:
    """Rows v with the largest ratios r of v'(between)v to v'(within)v = 1, times the root of r.

    >>> local_discriminants(np.diag([1.0, 4.0]), np.diag([9.0, 16.0]), 1) ** 2
    array([[9., 0.]])
    """
    root = Spectrum.of(within).power(-0.5)
    values, vectors = np.linalg.eigh(root @ between @ root)
    best = slice(None, -1 - rank, -1)
    return np.asarray((vectors[:, best] * np.sqrt(np.maximum(values[best], 0.0))).T @ root)
