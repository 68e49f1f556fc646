"""Metrics as formulas of second moments: GMML, KISSME and RCA.

S and D are the mean outer products of the differences of similar and of dissimilar pairs. All
functions return L with M = L'L.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calipers.arrays import FloatArray
from calipers.init import SMALLEST_VARIANCE, shrinkage_of
from calipers.metric import factor
from calipers.threads import single_threaded_blas


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

    It orders pairs by the ratio of their likelihoods under two normal distributions.

    >>> likelihood_ratio(Spectrum.of(np.eye(1)), Spectrum.of(np.array([[2.0]]))) ** 2
    array([[0.5]])
    """
    return factor(S.power(-1.0) - D.power(-1.0))
