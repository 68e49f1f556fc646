"""Metrics that are formulas of second moments.

S and D are the mean outer products of the differences of similar and of dissimilar pairs. Formulas
return L with M = L'L.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples, Samples, in_memory
from calipers.estimators.base import Learned, Learner, checking
from calipers.estimators.checks import (
    Given,
    check_classes,
    check_components,
    check_kinds_of_pairs,
    check_labels,
    check_one_order,
    check_samples,
)
from calipers.metric.coordinates import (
    complement,
    factor,
    principal_order,
    span_basis,
    with_positive_peaks,
)
from calipers.metric.init import SMALLEST_VARIANCE, shrinkage_of, std_or_one
from calipers.metric.moments import Moments, StreamedMoments, mean_outer_product, moments_of
from calipers.threads import single_threaded_blas

_NO_VARIANCE = 1e-12  # share of the largest variance up to which samples do not vary


def root_or_one(variances: FloatArray) -> FloatArray:
    """Standard deviations of features, 1 for a constant one."""
    return np.sqrt(np.where(variances > 0.0, variances, 1.0))


def standardised_covariance(samples: Samples) -> tuple[FloatArray, FloatArray]:
    """Covariance of features divided by their standard deviation, and these, 1 for a constant.

    >>> standardised_covariance(MemorySamples(np.array([[0.0, 5.0], [4.0, 5.0]])))
    (array([[1., 0.],
           [0., 0.]]), array([2., 1.]))
    """
    covariance = moments_of(samples).covariance
    unit = root_or_one(np.diag(covariance))
    return covariance / unit / unit[:, None], unit


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
    def shrunk(cls, matrix: FloatArray, n: float, n_features: int | None = None) -> Spectrum:
        """Of a mean over n, shrunk toward a multiple of the identity (Chen et al. 2010)."""
        shrinkage, mean = shrinkage_of(matrix, n, n_features or len(matrix))
        return cls.of((1.0 - shrinkage) * matrix + shrinkage * mean * np.eye(len(matrix)))

    def power(self, exponent: float) -> FloatArray:
        """The matrix to a power."""
        return np.asarray((self.vectors * self.values**exponent) @ self.vectors.T)


class Scatters(NamedTuple):
    """Mean outer products, of features that are divided by their ``unit``.

    Where samples do not vary in all directions, matrices are those in a ``basis`` of the others,
    with one more row and column, of zeros, that stands for every direction outside.
    """

    similar: FloatArray
    dissimilar: FloatArray
    within: FloatArray  # covariance within classes
    covariance: FloatArray
    n_similar: float  # samples, or pairs, that each is a mean of
    n_dissimilar: float
    n_classes: int
    unit: FloatArray  # the standard deviation of each feature, 1 for a constant
    basis: FloatArray | None = None  # (d, r) with orthonormal columns

    @classmethod
    def of_labels(cls, moments: Moments, unit: FloatArray | None = None) -> Scatters:
        """Of all pairs of samples; features are in units of their standard deviation."""
        n = moments.n
        if unit is None:
            unit = root_or_one(np.diag(moments.covariance))
        similar, dissimilar, within, covariance = (
            each / unit / unit[:, None]
            for each in (
                moments.similar,
                moments.dissimilar,
                moments.within / n,
                moments.covariance,
            )
        )
        return cls(similar, dissimilar, within, covariance, n, n, len(moments.sizes), unit)

    @classmethod
    def of_pairs(cls, samples: Samples, pairs: IndexArray) -> Scatters:
        """Of pairs, with their signs in the last column; the unit is of all samples."""
        covariance, unit = standardised_covariance(samples)
        near, far = (pairs[pairs[:, 2] == sign, :2] for sign in (1, -1))
        similar, dissimilar = (
            mean_outer_product(samples, some) / unit / unit[:, None] for some in (near, far)
        )
        sizes = len(near), len(far), 2
        return cls(similar, dissimilar, 0.5 * similar, covariance, *sizes, unit)

    @classmethod
    @single_threaded_blas()
    def of_few(cls, samples: Samples) -> Scatters:
        """Of all pairs of samples that are fewer than their features."""
        dense = in_memory(samples)
        X = dense.X.astype(np.float64)
        unit = std_or_one(X, dense.weights)
        X /= unit
        basis = span_basis(X)
        inside = MemorySamples(X @ basis, dense.labels, dense.weights)
        return (
            cls.of_labels(moments_of(inside), np.ones(basis.shape[1]))
            ._replace(unit=unit)
            .in_span(basis)
        )

    @single_threaded_blas()
    def in_span(self, basis: FloatArray | None = None) -> Scatters:
        """The same in a basis of the directions in which samples vary, if these are not all.

        With ``basis`` the matrices are in that basis already.
        """
        values, vectors = np.linalg.eigh(self.covariance)
        varies = values >= _NO_VARIANCE * values[-1]
        if basis is None and varies.all():
            return self
        inner = vectors[:, varies]
        padded = np.hstack([inner, np.zeros((len(inner), 1))])
        matrices = {
            name: padded.T @ getattr(self, name) @ padded
            for name in ("similar", "dissimilar", "within", "covariance")
        }
        return self._replace(basis=inner if basis is None else basis @ inner, **matrices)

    def check_counts(self) -> None:
        """Raise if weights are so small that no pair of a class is left."""
        if self.within.any() and not self.similar.any():
            raise ValueError(
                "sample_weight counts samples, and these make not even one pair of a class: "
                "multiply it."
            )

    @property
    def spectra(self) -> tuple[Spectrum, Spectrum]:
        """S and D, shrunk."""
        self.check_counts()
        return (
            self.shrunk(self.similar, self.n_similar),
            self.shrunk(self.dissimilar, self.n_dissimilar),
        )

    def shrunk(self, matrix: FloatArray, n: float) -> Spectrum:
        """One of the matrices, a mean over n, shrunk toward a multiple of the identity."""
        return Spectrum.shrunk(matrix, n, len(self.unit))

    @single_threaded_blas()
    def components(self, L: FloatArray, n_components: int | None) -> FloatArray:
        """Rows of a metric ``L'L`` of these, for X and by falling variance of the samples."""
        if self.basis is None:
            return principal_order(L, self.covariance)[:n_components] / self.unit
        M = L.T @ L
        inside = principal_order(factor(M[:-1, :-1]), self.covariance[:-1, :-1])
        rows = with_positive_peaks(inside @ self.basis.T)[:n_components]
        if n_components is None or n_components > len(rows):
            rows = np.vstack([rows, np.sqrt(M[-1, -1]) * complement(self.basis)])
        return np.asarray(rows[:n_components] / self.unit)


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
    """KISSME: ``M = inv(S) - inv(D)``, clipped to the cone; the identity where that is rounding.

    >>> likelihood_ratio(Spectrum.of(np.eye(1)), Spectrum.of(np.array([[2.0]]))) ** 2
    array([[0.5]])
    >>> likelihood_ratio(Spectrum.of(np.array([[2.0]])), Spectrum.of(np.eye(1)))
    array([[1.]])
    """
    near, far = S.power(-1.0), D.power(-1.0)
    L = factor(near - far)
    rounding = 8 * len(near) * np.finfo(np.float64).eps * float(np.abs(near).max())
    return L if float(np.square(L).sum(axis=1).max(initial=0.0)) > rounding else np.eye(len(near))


class MomentsLearner(Learner):
    """A learner whose metric is a formula of second moments: `fit` and `partial_fit`."""

    n_components: int | None
    _stream_: StreamedMoments | None = None

    def _formula(self, scatters: Scatters) -> FloatArray:
        """L for features divided by their unit."""
        raise NotImplementedError

    def _scatters(self, given: Given) -> Scatters:
        """What the formula is of."""
        if given.pairs is not None:
            check_kinds_of_pairs(self, given)
            return Scatters.of_pairs(given.samples, given.pairs)
        n, d = given.samples.shape
        if n < d:
            return Scatters.of_few(given.samples)
        return Scatters.of_labels(moments_of(given.samples))

    def _components(self, scatters: Scatters) -> FloatArray:
        if scatters.basis is None:
            scatters = scatters.in_span()
        L = self._formula(scatters)
        few = len(L) if len(L) < L.shape[1] else None
        return scatters.components(L, self.n_components or few)

    def _learn(self, given: Given) -> Learned:
        check_components(self, given.samples.shape[1])
        if len(given.classes):
            check_classes(self, given)
        return {"components_": self._components(self._scatters(given))}

    @checking
    def partial_fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Self:
        """Learn from one more batch: the metric is that of a fit to all batches together.

        A matrix of n_features by n_features is kept for each class. While all batches are of one
        class, for which `fit` raises, `RCA` and `WithinClass` have the metric of that class, `GMML`
        and `KISSME` the distance of standardised features, and `Discriminant` has none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples of the batch.
        y : array-like of shape (n_samples,)
            Class of each sample; batches need not have samples of every class. `Scaled` needs none.
        sample_weight : array-like of shape (n_samples,), optional
            How often each sample counts, as in `fit`.

        Returns
        -------
        Self
            The estimator, with the metric so far.
        """
        before = self._stream_
        if self._target == "none":
            given = check_samples(self, X, sample_weight, reset=before is None)
        else:
            given = check_labels(self, X, y, sample_weight, reset=before is None)
            if before is not None:
                check_one_order(self, [*before.classes.tolist(), *given.classes.tolist()])
        check_components(self, given.samples.shape[1])
        stream, batch = StreamedMoments(before), in_memory(given.samples)
        stream.add(batch.X, np.zeros(len(batch.X)) if given.y is None else given.y, batch.weights)
        learned: Learned = {"_stream_": stream, "feature_scale_": np.sqrt(stream.variances)}
        L = self._so_far(Scatters.of_labels(stream.moments()))
        if L is not None:
            learned["components_"] = L
        if given.y is not None:
            learned["classes_"] = stream.classes
        return self._keep(given, learned)

    def _so_far(self, scatters: Scatters) -> FloatArray | None:
        """L of a stream, None while there is none."""
        return self._components(scatters)


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
