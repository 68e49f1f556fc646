"""Objectives of all pairs of samples as functions of L: MMC's and MCML's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.solvers.lbfgs import Value
from calipers.solvers.soft_neighbors import AllAnchors, squared_distances


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
