"""A metric M and its factor L with M = L'L: one L for one M, however features are scaled."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, lapack

from calipers.arrays import FloatArray
from calipers.threads import single_threaded_blas

_GRADED = 1e8  # ratio of squared units beyond which half the digits of a feature are lost
_BELOW_ZERO = 1e-8  # share of the largest eigenvalue that may be below zero by rounding
_TIED = 1e-9  # share of a variance by which two that are the same may differ by rounding


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
    with single_threaded_blas():
        rows = _scaled_vectors(M)
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


def _scaled_vectors(M: FloatArray) -> FloatArray:
    """Return eigenvectors as rows, by rising eigenvalue, scaled by the root of the eigenvalue.

    If features have very different units, rounding errors of the largest hide the smallest. This
    then factors M in units in which the diagonal is about 1, and rotates the factor by Jacobi's
    method, which keeps the digits of every column. If M has negative eigenvalues in such units,
    its small entries are rounding errors, and this factors M itself.
    """
    squared = np.diag(M)
    seen = squared[squared > 0.0]
    if not len(seen) or seen.max() <= _GRADED * seen.min():
        return _rows(*_eigenpairs(M))
    units = np.ldexp(1.0, np.frexp(np.sqrt(np.where(squared > 0.0, squared, seen.max())))[1])
    values, vectors = _eigenpairs(M / units / units[:, None])
    if values[0] < -_BELOW_ZERO * values[-1]:
        return _rows(*_eigenpairs(M))
    lengths, _, turned, scales, *_ = lapack.dgejsv(_rows(values, vectors) * units, joba=0)
    return np.asarray((turned * (lengths * scales[0] / scales[1])).T[::-1])


def _rows(values: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors.T * np.sqrt(np.maximum(values, 0.0))[:, None])


def _eigenpairs(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    try:
        values, vectors = eigh(M)
    except np.linalg.LinAlgError:
        values, vectors = eigh(M, driver="ev")  # slower, converges where the other did not
    return values, vectors
