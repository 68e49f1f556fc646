"""M = L'L, one L for one M; the coordinates of rounds of learning, and the way back to X."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, lapack, qr

from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples, Samples, relative_weights
from calipers.metric.init import (
    MOMENT_SAMPLES,
    Init,
    LinearMap,
    class_centered,
    evenly_spaced,
    initial_map,
    product,
    whitening,
)
from calipers.threads import single_threaded_blas

_GRADED = 1e8  # ratio of squared units beyond which half the digits of a feature are lost
_BELOW_ZERO = 1e-8  # share of the largest eigenvalue that may be below zero by rounding
_TIED = 1e-9  # share of a variance by which two that are the same may differ by rounding


@dataclass(frozen=True)
class Coordinates:
    """An initial metric, the span of few samples, and what rounds have learned so far.

    Samples fewer than their features span few directions, and no step of a solver leaves their
    span: learning takes place in an orthonormal basis of it, and outside the metric is a multiple
    of the initial one.
    """

    init: LinearMap
    basis: FloatArray | None = None  # (d, r) with orthonormal columns
    learned: FloatArray | None = None  # (r, r)
    outside: float = 1.0  # the metric outside the basis

    @classmethod
    def of(cls, init: Init, samples: Samples) -> tuple[Coordinates, Samples]:
        """Coordinates of an initial metric, and the samples in them."""
        n, d = samples.shape
        if n >= d:
            linear = initial_map(init, samples)
            return cls(linear), samples if linear.matrix is None else samples.transformed(linear)
        whitened = isinstance(init, str) and init == "within-class"
        return cls._of_few(initial_map("scaled" if whitened else init, samples), samples, whitened)

    @classmethod
    @single_threaded_blas()
    def _of_few(
        cls, linear: LinearMap, samples: Samples, whitened: bool
    ) -> tuple[Coordinates, Samples]:
        """The same in the span of the samples, ``whitened`` within classes there."""
        indices = np.arange(samples.shape[0])
        labels = samples.labels_of(indices) if len(samples.class_sizes) else None
        X = linear(samples.take(indices).astype(np.float64))
        basis = span_basis(X)
        Z = product(X, basis.T)
        if not whitened or labels is None:
            return cls(linear, basis), MemorySamples(Z, labels, samples.weights)
        roots, outside = whitening(class_centered(Z, labels), n_features=X.shape[1])
        white = MemorySamples(product(Z, roots), labels, samples.weights)
        return cls(linear, basis, roots, outside**2), white

    def then(self, M: FloatArray, unit: float) -> tuple[Coordinates, LinearMap]:
        """Coordinates under a metric M learned in these, and the map from these to them.

        ``unit`` is the first iterate's diagonal, which M has outside the basis.
        """
        L = factor(M)
        learned = L if self.learned is None else L @ self.learned
        return replace(self, learned=learned, outside=unit * self.outside), LinearMap(L)

    @single_threaded_blas()
    def components(
        self, M: FloatArray, unit: float, samples: Samples, n_components: int | None = None
    ) -> FloatArray:
        """L of the metric of X that is M here, rows by falling variance of the samples.

        ``samples`` are in these coordinates.
        """
        L = principal_order(factor(M), sample_covariance(samples))
        for earlier in (self.learned, None if self.basis is None else self.basis.T):
            if earlier is not None:
                L = np.asarray(L @ earlier)
        if self.basis is not None and (n_components is None or n_components > len(L)):
            L = np.vstack([L, np.sqrt(unit * self.outside) * complement(self.basis)])
        return self.init.then(L[:n_components])


@single_threaded_blas()
def low_rank_components(init: LinearMap, L: FloatArray, samples: Samples) -> FloatArray:
    """L of a low-rank metric of X, from its rows for the samples, which ``init`` has mapped."""
    return init.then(principal_order(L, sample_covariance(samples)))


def initial_components(init: Init, samples: Samples, n_components: int | None) -> FloatArray:
    """L of an initial metric, rows by falling variance of the samples."""
    coordinates, mapped = Coordinates.of(init, samples)
    return coordinates.components(np.eye(mapped.shape[1]), 1.0, mapped, n_components)


def sample_covariance(samples: Samples) -> FloatArray:
    """Covariance of the samples, in units of their largest deviation: its square may overflow."""
    some = evenly_spaced(samples.shape[0], MOMENT_SAMPLES)
    X, weights = samples.take(some).astype(np.float64), relative_weights(samples, some)
    X -= X.mean(axis=0) if weights is None else np.average(X, axis=0, weights=weights)
    X /= float(max(X.max(), -X.min())) or 1.0
    if weights is not None:
        X *= np.sqrt(weights)[:, None]
    covariance = X.T @ X
    covariance /= len(X)
    return np.asarray(covariance)


@single_threaded_blas()
def span_basis(X: FloatArray) -> FloatArray:
    """Orthonormal columns, as many as samples, that span the differences of the samples.

    >>> np.abs(span_basis(np.array([[1.0, 0.0, 5.0], [1.0, 2.0, 5.0]]))[:, 0])
    array([0., 1., 0.])
    """
    centered = X - X.mean(axis=0)
    largest = np.abs(centered).max()
    return np.asarray(np.linalg.qr((centered / largest if largest > 0.0 else centered).T)[0])


def complement(basis: FloatArray) -> FloatArray:
    """Orthonormal rows, orthogonal to the columns of a basis; they depend on its span alone.

    With J as many features as columns and K the others, a rotation makes the basis W with W_J
    symmetric; then ``[-W_K, I - W_K inv(I + W_J) W_K']`` completes it.

    >>> complement(np.array([[0.0], [0.8], [0.6]]))
    array([[ 1. ,  0. ,  0. ],
           [ 0. , -0.6,  0.8]])
    """
    d, r = basis.shape
    J = np.sort(qr(basis.T, mode="r", pivoting=True)[1][:r])
    K = np.setdiff1d(np.arange(d), J)
    left, _, right = np.linalg.svd(basis[J])
    W = basis @ (left @ right).T
    rows = np.empty((d - r, d))
    rows[:, J] = -W[K]
    rows[:, K] = np.eye(d - r) - W[K] @ np.linalg.solve(np.eye(r) + W[J], W[K].T)
    return rows + 0.0


def factor(M: FloatArray, n_components: int | None = None) -> FloatArray:
    """Return L of shape (n_components, d) with ``L'L`` nearest to a positive semi-definite M.

    The rows of L are scaled eigenvectors, by falling eigenvalue. The largest entry of each row
    is positive, so that M determines L.

    >>> factor(np.diag([1.0, 4.0]))
    array([[0., 2.],
           [1., 0.]])
    >>> factor(np.diag([1.0, 4.0]), n_components=1)
    array([[0., 2.]])
    """
    if not np.isfinite(M).all():
        raise ValueError(
            "The metric has grown beyond what float64 holds: divide X by its largest value, or "
            "take shorter steps."
        )
    squared = np.diag(M)
    seen = squared[squared > 0.0]
    rows = None
    with single_threaded_blas():
        if len(seen) and seen.max() > _GRADED * seen.min():
            rows = _graded_factor(M, np.where(squared > 0.0, squared, seen.max()))
        if rows is None:
            values, vectors = _eigenpairs(M)
            rows = np.asarray(vectors.T * np.sqrt(np.maximum(values, 0.0))[:, None])
    rows = rows[::-1] if n_components is None else rows[: -1 - n_components : -1]
    return with_positive_peaks(rows)


def principal_order(L: FloatArray, covariance: FloatArray) -> FloatArray:
    """Rotate L so that its rows are the principal axes of the samples' images, largest first.

    ``L'L`` stays the same, and the first k rows keep more of the samples' variance under the
    metric than any other k directions do. ``covariance`` is that of the samples, in any unit.
    Rows of the same variance are made triangular, so that the metric determines L.

    >>> principal_order(np.eye(2), np.diag([1.0, 4.0]))
    array([[0., 1.],
           [1., 0.]])
    """
    length = float(max(L.max(), -L.min())) or 1.0  # without it squares might overflow
    scaled = L / length
    values, axes = _eigenpairs(scaled @ covariance @ scaled.T)
    variances, rows = values[::-1], (axes.T @ L)[::-1]
    is_lower = -np.diff(variances) > _TIED * np.abs(variances[1:]) + 1e-4 * _TIED * variances[0]
    for tied in np.split(rows, np.flatnonzero(is_lower) + 1):
        if len(tied) > 1:
            tied[...] = np.linalg.qr(tied, mode="r")
    return with_positive_peaks(rows)


def with_positive_peaks(rows: FloatArray) -> FloatArray:
    """Flip rows, in place, so that the entry of largest magnitude is positive: one L for one M."""
    largest = np.array([row[np.abs(row).argmax()] for row in rows])
    rows *= np.where(largest < 0, -1.0, 1.0)[:, None]
    rows += 0.0  # no zero is negative
    return np.ascontiguousarray(rows)


def _graded_factor(M: FloatArray, squared_units: FloatArray) -> FloatArray | None:
    """Return rows of L, by rising length, for features of very different units.

    Rounding errors of the largest features would hide the smallest. So this factors M in units in
    which the diagonal is about 1, and rotates the factor by Jacobi's method, which keeps the digits
    of every column. If M has negative eigenvalues in such units, its small entries are rounding
    errors: None.
    """
    units = np.ldexp(1.0, np.frexp(np.sqrt(squared_units))[1])
    values, vectors = _eigenpairs(M / units / units[:, None])
    if values[0] < -_BELOW_ZERO * values[-1]:
        return None
    rows = vectors.T * np.sqrt(np.maximum(values, 0.0))[:, None]
    lengths, _, turned, scales, *_ = lapack.dgejsv(rows * units, joba=0)
    return np.asarray((turned * (lengths * scales[0] / scales[1])).T[::-1])


def _eigenpairs(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    try:
        values, vectors = eigh(M)
    except np.linalg.LinAlgError:
        values, vectors = eigh(M, driver="ev")  # slower, converges where the other did not
    return values, vectors
