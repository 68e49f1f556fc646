r"""Losses of all pairs of samples, for metrics that are learned by their factor L.

An anchor i picks another sample j as its neighbour with probability

.. math:: p_{ij} = e^{-d_{ij}^2} / \sum_{k \ne i} e^{-d_{ik}^2}.

A loss is a function ``loss(squared, anchors, references, weights)`` of squared distances (infinite
between a sample and itself), of the classes or targets of both sides, and of the references'
weights, if they have any: one of weight w counts like w samples in one place. It returns the
derivative of their sum by each squared distance, and its value for each anchor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.solvers.lbfgs import Value
from calipers.threads import parallel_map, single_threaded_blas

Loss: TypeAlias = Callable[
    [FloatArray, npt.NDArray[Any], npt.NDArray[Any], FloatArray | None],
    tuple[FloatArray, FloatArray],
]
WIDTH = 4.0  # median squared distance of samples of two classes at the first step
_WIDTH_SAMPLES = 1000  # at most
_BLOCK_DISTANCES = 2**19  # distances of a block of anchors to all samples: 4 MB


def expected_errors(
    squared: FloatArray,
    anchors: npt.NDArray[Any],
    references: npt.NDArray[Any],
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """``1 - p_i``: NCA (Goldberger, Roweis, Hinton and Salakhutdinov 2004)."""
    is_same = anchors[:, None] == references
    shares = _softmax(squared, weights)
    p = np.sum(shares, axis=1, where=is_same)
    slopes = is_same - p[:, None]
    slopes *= shares
    return slopes, np.maximum(1.0 - p, 0.0)


def squared_errors(
    squared: FloatArray,
    anchors: npt.NDArray[Any],
    references: npt.NDArray[Any],
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Squared errors of kernel regression: MLKR (Weinberger and Tesauro 2007)."""
    shares = _softmax(squared, weights)
    predicted = shares @ references
    error = predicted - anchors
    slopes = predicted[:, None] - references
    slopes *= 2.0 * error[:, None]
    slopes *= shares
    return slopes, error**2


def divergences(
    squared: FloatArray,
    anchors: npt.NDArray[Any],
    references: npt.NDArray[Any],
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """``KL(p0 || p)``, with p0 the same for all others of the anchor's class: MCML.

    Anchors without a positive are left out.
    """
    others = np.isfinite(squared)
    is_same = (anchors[:, None] == references) & others
    own = _counted(is_same, weights)
    n_same = own.sum(axis=1)
    has_same = n_same > 0
    size = np.where(has_same, n_same, 1)
    wanted = own / size[:, None]
    nearest = squared.min(axis=1)
    shares = _counted(np.exp(nearest[:, None] - squared), weights)
    total = shares.sum(axis=1)
    slopes = wanted - shares / total[:, None]
    mean = np.sum(wanted * np.where(others, squared, 0.0), axis=1)
    lost = mean - nearest + np.log(total) - np.log(size)
    return np.where(has_same[:, None], slopes, 0.0), np.where(has_same, lost, 0.0)


def separations(
    squared: FloatArray,
    anchors: npt.NDArray[Any],
    references: npt.NDArray[Any],
    weights: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Distances to samples of other classes; not a loss, since they should grow."""
    is_apart = (anchors[:, None] != references) & (squared > 0.0)
    distances = np.sqrt(np.where(is_apart, squared, 0.0))
    slopes = 0.5 / np.where(is_apart, distances, np.inf)
    return _counted(slopes, weights), _counted(distances, weights).sum(axis=1)


def _counted(values: npt.NDArray[Any], weights: FloatArray | None) -> npt.NDArray[Any]:
    """Values of references, each as often as it counts."""
    return values if weights is None else np.asarray(values * weights)


def _softmax(squared: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Shares of exp(-squared), times weights, in each row; 0 where nothing is finite."""
    nearest = squared.min(axis=1, initial=np.inf)
    shares = np.where(np.isfinite(nearest), nearest, 0.0)[:, None] - squared
    np.exp(shares, out=shares)
    if weights is not None:
        shares *= weights
    total = shares.sum(axis=1)
    shares /= np.where(total > 0.0, total, 1.0)[:, None]
    return np.asarray(shares)


def squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """Squared Euclidean distances between the rows of A and of B."""
    squared = A @ B.T
    squared *= -2.0
    squared += np.sum(A**2, axis=1)[:, None]
    squared += np.sum(B**2, axis=1)
    return np.maximum(squared, 0.0, out=squared)


def width_factor(apart: FloatArray) -> float:
    """Factor of squared distances by which neighbours are neither all near nor all out of sight.

    ``apart`` are distances of samples that differ in class or target.
    """
    typical = float(np.median(apart)) if apart.size else 0.0
    return WIDTH / typical if typical > 0.0 else 1.0


class AllAnchors:
    """A loss of all samples as anchors and references, in blocks: memory grows with n, not n^2.

    Parameters
    ----------
    loss : Loss
        The loss of a block of anchors.
    X : array of shape (n, d)
        Samples.
    targets : array of shape (n,)
        Their classes or targets.
    weights : array of shape (n,), optional
        How often each counts, as an anchor and as a reference.
    """

    def __init__(
        self,
        loss: Loss,
        X: FloatArray,
        targets: npt.NDArray[Any],
        weights: FloatArray | None = None,
    ) -> None:
        self.X = X - X.mean(axis=0)  # far from the origin distances would be lost in rounding
        self.loss, self.targets, self.weights = loss, targets, weights

    def at(self, L: FloatArray) -> Value:
        """The loss at L."""
        Z = self.X @ L.T

        def of_block(first: int) -> tuple[float, FloatArray]:
            block = slice(first, first + size)
            squared = squared_distances(Z[block], Z)
            rows = np.arange(len(squared))
            squared[rows, first + rows] = np.inf
            slopes, values = self.loss(squared, self.targets[block], self.targets, self.weights)
            counts = np.ones(len(rows)) if self.weights is None else self.weights[block]
            slopes *= counts[:, None]
            of_anchors = slopes.sum(axis=1)[:, None] * Z[block] - slopes @ Z
            of_references = slopes.sum(axis=0)[:, None] * Z - slopes.T @ Z[block]
            slope = 2.0 * (of_anchors.T @ self.X[block] + of_references.T @ self.X)
            return float(values @ counts), slope

        size = max(1, _BLOCK_DISTANCES // len(Z))
        with single_threaded_blas():
            blocks = parallel_map(of_block, range(0, len(Z), size))
        slope = np.sum([slope for _, slope in blocks], axis=0)
        return Value(L, float(sum(value for value, _ in blocks)), slope)

    def start(self, L: FloatArray) -> Value:
        """The loss at the multiple of L by which some samples have the right width."""
        some = slice(None, None, -(-len(self.X) // _WIDTH_SAMPLES))
        Z, targets = self.X[some] @ L.T, self.targets[some]
        apart = squared_distances(Z, Z)[targets[:, None] != targets]
        return self.at(L * np.sqrt(width_factor(apart)))


class Collapse:
    """MCML: the mean divergence of soft neighbours from the samples of the own class."""

    def __init__(
        self, X: FloatArray, labels: npt.NDArray[Any], weights: FloatArray | None = None
    ) -> None:
        self._all = AllAnchors(divergences, X, labels, weights)
        self._total = float(len(X) if weights is None else weights.sum())

    def at(self, L: FloatArray) -> Value:
        """The objective at L."""
        total, found = self._total, self._all.at(L)
        return Value(L, max(0.0, found.objective / total), found.slope / total)


class Separation:
    r"""MMC: :math:`\|L\|_F` over the mean distance of dissimilar pairs, whatever the scale of L.

    In coordinates in which similar pairs have the mean outer product I, :math:`\|L\|_F^2` is their
    mean squared distance.

    Parameters
    ----------
    X : array of shape (n, d)
        Samples with ``labels``, or the differences of dissimilar pairs.
    labels : array of shape (n,), optional
        Classes of the samples.
    weights : array of shape (n,), optional
        How often each sample counts.
    diagonal : bool
        Whether L stays diagonal.
    """

    def __init__(
        self,
        X: FloatArray,
        labels: npt.NDArray[Any] | None = None,
        weights: FloatArray | None = None,
        *,
        diagonal: bool,
    ) -> None:
        self.X = X
        self.diagonal = diagonal
        self._all = None if labels is None else AllAnchors(separations, X, labels, weights)
        sizes = np.zeros(0) if labels is None else np.bincount(labels, weights)
        self.n_pairs = float(len(X) if labels is None else sizes @ (sizes.sum() - sizes))

    def at(self, L: FloatArray) -> Value:
        """The objective at L."""
        if self._all is not None:
            found = self._all.at(L)
            total, slope = found.objective, found.slope
        else:
            images = self.X @ L.T
            distances = np.sqrt(np.sum(images**2, axis=1))
            total = float(distances.sum())
            apart = np.where(distances > 0.0, distances, np.inf)
            slope = (images / apart[:, None]).T @ self.X
        if not total > 0.0:
            return Value(L, np.inf, np.zeros_like(L))
        mean, norm = total / self.n_pairs, float(np.linalg.norm(L))
        of_ratio = L / (norm * mean) - (norm / mean**2 / self.n_pairs) * slope
        if self.diagonal:
            of_ratio = np.diag(np.diag(of_ratio))
        return Value(L, norm / mean, of_ratio)


def of_typical_width(X: FloatArray) -> FloatArray:
    """The multiple of I under which samples are 2 apart, in the median of some."""
    some = X[:: -(-len(X) // 500)]
    squared = squared_distances(some, some)
    apart = squared[squared > 0.0]
    return np.eye(X.shape[1]) * (2.0 / np.sqrt(np.median(apart)) if len(apart) else 1.0)
