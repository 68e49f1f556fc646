"""Scatters in which near samples count more, and the directions that they tell apart."""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray
from calipers.closed_forms import Spectrum
from calipers.data.samples import MemorySamples
from calipers.moments import Moments
from calipers.solvers.soft_neighbors import squared_distances
from calipers.threads import single_threaded_blas

_AFFINITIES = 2**19  # of a block of samples to all of their class


@single_threaded_blas()
def local_scatters(
    samples: MemorySamples, moments: Moments, k: int
) -> tuple[FloatArray, FloatArray]:
    """LFDA's scatter within classes and between them, where near samples of a class count more.

    The affinity of two samples of a class is ``exp(-d(i, j)^2 / (s_i s_j))``, with s_i the distance
    to the k-th nearest sample of the class (Zelnik-Manor and Perona 2004).
    """
    weight = np.ones(len(samples.X)) if samples.weights is None else samples.weights
    within, mixture = np.zeros((2, samples.shape[1], samples.shape[1]))
    for code, size in enumerate(moments.sizes.tolist()):
        of_class = samples.labels == code
        X = samples.X[of_class] - moments.means[code]
        scatter = _affine_scatter(X, weight[of_class], min(k, size - 1))
        within += scatter / size
        mixture += scatter / moments.n
    between = moments.within + moments.between - moments.by_size / moments.n
    return within, mixture + between - within


def _affine_scatter(X: FloatArray, weight: FloatArray, k: float) -> FloatArray:
    """Half the sum of (x - y)(x - y)' over all pairs, each by its affinity; blocks of samples."""
    step = max(1, _AFFINITIES // len(X))
    blocks = [slice(first, first + step) for first in range(0, len(X), step)]
    width = np.concatenate([_distance_to(k, squared_distances(X[b], X), weight) for b in blocks])
    total = np.zeros((X.shape[1], X.shape[1]))
    for some in blocks:
        unit = np.sqrt(width[some, None] * width)
        with np.errstate(divide="ignore", invalid="ignore"):
            A = np.exp(-squared_distances(X[some], X) / unit)
        A[unit == 0.0] = 0.0  # such samples repeat others: their differences vanish
        A *= weight[some, None] * weight
        total += X[some].T @ (A.sum(axis=1)[:, None] * X[some] - A @ X)
    return 0.5 * (total + total.T)


def _distance_to(k: float, squared: FloatArray, weight: FloatArray) -> FloatArray:
    """Of each row the smallest entry up to which, with it, columns weigh more than k."""
    order = np.argsort(squared, axis=1, kind="stable")
    reached = np.argmax(np.cumsum(weight[order], axis=1) > k, axis=1)
    rows = np.arange(len(squared))
    return np.asarray(squared[rows, order[rows, reached]])


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
