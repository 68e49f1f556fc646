"""LFDA: local Fisher discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from calipers.arrays import FloatArray
from calipers.data.samples import MemorySamples, in_memory
from calipers.estimators.base import Learned, Learner
from calipers.estimators.checks import AT_LEAST_ONE, Given, check_classes, check_components
from calipers.estimators.closed_forms import Scatters, local_discriminants
from calipers.metric.init import std_or_one
from calipers.metric.moments import Moments, moments_of
from calipers.solvers.soft_neighbors import squared_distances
from calipers.threads import InOrder, parallel_map, single_threaded_blas

_AFFINITIES = 2**20  # of a block of samples to all of their class: 8 MB


class LFDA(Learner):
    """Local Fisher discriminant analysis: discriminants of classes that have several clusters.

    Implements Sugiyama, "Dimensionality Reduction of Multimodal Labeled Data by Local Fisher
    Discriminant Analysis" (2007). Within a class, samples that are far apart need not come near:
    pairs count by an affinity that falls with their distance. Rows of L are the directions with
    the largest ratio of the scatter between classes to that within, times the root of the ratio;
    unlike `Discriminant` it has as many as features. Features are scaled first. Time grows with the
    square of the number of samples of a class, memory with the number.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.
    n_neighbors : int, default=7
        The affinity of a sample falls on the scale of its distance to the so many-th nearest of
        its class.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    n_updates_ : int
        0: nothing is learned by steps.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from calipers import LFDA
    >>> X, y = load_wine(return_X_y=True)
    >>> LFDA(n_components=2).fit(X, y).transform(X).shape
    (178, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [AT_LEAST_ONE, None],
        "n_neighbors": [AT_LEAST_ONE],
    }

    def __init__(self, n_components: int | None = None, *, n_neighbors: int = 7) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors

    def _learn(self, given: Given) -> Learned:
        check_components(self, given.samples.shape[1])
        check_classes(self, given)
        dense = in_memory(given.samples)
        unit = std_or_one(dense.X.astype(np.float64), dense.weights)
        samples = MemorySamples(dense.X / unit, dense.labels, dense.weights)
        moments = moments_of(samples)
        within, between = local_scatters(samples, moments, int(self.n_neighbors))
        local = Scatters.of_labels(moments, np.ones_like(unit))._replace(
            within=within, dissimilar=between, unit=unit
        )
        local = local.in_span()
        rank = int(self.n_components or len(local.within))
        L = local_discriminants(local.within, local.dissimilar, rank)
        return {"components_": local.components(L, self.n_components)}


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
