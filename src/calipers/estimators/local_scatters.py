"""Scatters in which near samples count more, and the directions that they tell apart."""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples
from calipers.estimators.closed_forms import Spectrum
from calipers.metric.moments import Moments
from calipers.solvers.soft_neighbors import squared_distances
from calipers.threads import InOrder, parallel_map, single_threaded_blas

_AFFINITIES = 2**20  # of a block of samples to all of their class: 8 MB


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
        scatter = _affinity_scatter(X, weight[of_class], max(0.0, min(k, size - 1)))
        within += scatter / size
        mixture += scatter / moments.n
    if moments.within.any() and not within.any():
        raise ValueError(
            f"In no class does a sample have a neighbour that differs from it among its {k} "
            "nearest ones: raise n_neighbors, drop repeated samples, or scale sample_weight, which "
            "counts copies of a sample."
        )
    between = moments.within + moments.between - moments.by_size / moments.n
    return within, mixture + between - within


def _affinity_scatter(X: FloatArray, weight: FloatArray, k: float) -> FloatArray:
    """Half the sum of (x - y)(x - y)' over all pairs, each by its affinity A and its weights.

    It is X'(D - A)X with D the sums of A's rows. Time grows with the square of the samples; memory
    holds a block of A's rows for each thread, from the diagonal on since A is symmetric.
    """
    width = np.concatenate(
        parallel_map(lambda b: _distance_to(k, squared_distances(X[b], X), weight), _blocks(X))
    )
    # the others repeat k samples: what is left of their differences is rounding
    rounding = (X.shape[1] + 8) * np.finfo(np.float64).eps * np.sum(X**2, axis=1).max(initial=0.0)
    differs = width > rounding
    X, weight, width = X[differs], weight[differs], np.sqrt(width[differs])[:, None]
    squared = np.sum(X**2, axis=1)[:, None]
    left = np.hstack([2.0 * X, -squared, -np.ones_like(squared)]) / width
    right = np.hstack([X, np.ones_like(squared), squared]) / width
    weighted, D, in_order = weight[:, None] * X, np.zeros(len(X)), InOrder()

    def part(numbered: tuple[int, slice]) -> FloatArray:
        number, block = numbered
        first, n = block.start, len(X[block])
        A = np.minimum(left[block] @ right[first:].T, 0.0)
        np.exp(A, out=A)
        sums = np.zeros(len(X))
        sums[first:] = weight[block] @ A
        sums[block] += A[:, n:] @ weight[first + n :]
        in_order.add(number, sums, D)
        A[:, :n] *= 0.5
        return np.asarray(weighted[block].T @ (A @ weighted[first:]))

    half = sum(parallel_map(part, enumerate(_blocks(X))), np.zeros((X.shape[1], X.shape[1])))
    return np.asarray((X.T * (weight * D)) @ X - half - half.T)


def _blocks(X: FloatArray) -> list[slice]:
    """Blocks of samples whose affinities to all fit in memory."""
    step = max(1, _AFFINITIES // max(1, len(X)))
    return [slice(first, first + step) for first in range(0, len(X), step)]


def _distance_to(k: float, squared: FloatArray, weight: FloatArray) -> FloatArray:
    """Of each row the smallest entry up to which, with it, columns weigh more than k."""
    enough = int(min(len(weight), k / max(weight.min(), np.finfo(np.float64).tiny) + 1))
    near = np.argpartition(squared, enough - 1, axis=1)[:, :enough]
    rows = np.arange(len(squared))
    order = np.take_along_axis(
        near, np.argsort(squared[rows[:, None], near], axis=1, kind="stable"), axis=1
    )
    reached = np.argmax(np.cumsum(weight[order], axis=1) > k, axis=1)
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
