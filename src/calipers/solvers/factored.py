"""A solver for metrics of low rank: it learns the factor L of M = L'L, of shape (rank, d)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.sgd import Point, State, curve_array, points_of

STEP = 0.05  # length of the first step, as a share of the size of L; later ones are shorter
WIDTH = 4.0  # median squared distance of samples of two classes at the first step
MOMENTUM, SQUARE_MOMENTUM = 0.9, 0.99  # of the running means of gradients and their squares


class FactoredSolver:
    r"""Minimise a soft triplet loss over L by steps of mini-batches.

    An example is a batch of anchors and reference samples. Of an anchor, reference samples of its
    class are positives and all others negatives. The loss is the paper's smooth hinge of the
    margin between the negatives and the positives that are softly nearest,

    .. math:: \log(1 + e^{-z}), \quad
        z = \operatorname{softmin}(d_-^2) - \operatorname{softmin}(d_+^2), \quad
        \operatorname{softmin}(a) = -\log \sum e^{-a}.

    In few dimensions the hard nearest neighbours of one moment are not those of the next step,
    so all reference samples count. Steps follow Adam with one common second moment, so that
    rotating X rotates L with it, and are a falling share of the size of L.

    Parameters
    ----------
    init : array of shape (rank, d)
        The first L; its scale does not matter.
    n_anchors : int
        Anchors of an example: its first indices; the others are reference samples.
    n_examples : int
        Examples, hence steps, in all.
    """

    batch_size = 1

    def __init__(self, init: FloatArray, *, n_anchors: int, n_examples: int) -> None:
        self.L = np.array(init, dtype=np.float64)
        self.n_anchors, self.n_examples = n_anchors, n_examples
        self.n_iterations = 0
        self.curve: list[Point] = []
        self._mean, self._square = np.zeros_like(self.L), 0.0

    @property
    def n_updates(self) -> int:
        """Every example is a step."""
        return self.n_iterations

    @property
    def metric(self) -> FloatArray:
        """M of rank at most that of L."""
        return np.asarray(self.L.T @ self.L)

    def advance(self, X: npt.NDArray[np.float64], examples: IndexArray) -> None:
        """Take a step for every example: indices of anchors and references, then their classes."""
        total = 0.0
        for example in examples:
            indices, classes = np.split(example, 2)
            total += self._advance(X[indices], indices, classes)
        self.curve.append(Point(self.n_iterations, total / max(1, len(examples)), self.n_updates))

    def _advance(self, X: FloatArray, indices: IndexArray, classes: IndexArray) -> float:
        n = self.n_anchors
        is_same = classes[:n, None] == classes[n:]
        is_self = indices[:n, None] == indices[n:]
        if self.n_iterations == 0:
            self._set_width(X, is_same)
        Z = X @ self.L.T
        anchors, references = Z[:n], Z[n:]
        weights, loss = loss_weights(squared_distances(anchors, references), is_same, is_self)
        of_anchors = weights.sum(axis=1)[:, None] * anchors - weights @ references
        of_references = weights.sum(axis=0)[:, None] * references - weights.T @ anchors
        self._step(2.0 * np.vstack([of_anchors, of_references]).T @ X)
        return loss

    def _set_width(self, X: FloatArray, is_same: npt.NDArray[np.bool_]) -> None:
        """Scale L so that negatives are neither all softly near nor all out of sight."""
        Z = X @ self.L.T
        n = self.n_anchors
        apart = squared_distances(Z[:n], Z[n:])[~is_same]
        typical = float(np.median(apart)) if apart.size else 0.0
        if typical > 0.0:
            self.L *= np.sqrt(WIDTH / typical)

    def _step(self, gradient: FloatArray) -> None:
        self._mean = MOMENTUM * self._mean + (1.0 - MOMENTUM) * gradient
        squared = float(np.mean(gradient**2))
        self._square = SQUARE_MOMENTUM * self._square + (1.0 - SQUARE_MOMENTUM) * squared
        share = STEP * (1.0 - self.n_iterations / self.n_examples)
        self.n_iterations += 1
        mean = self._mean / (1.0 - MOMENTUM**self.n_iterations)
        size = np.sqrt(self._square / (1.0 - SQUARE_MOMENTUM**self.n_iterations))
        if size > np.finfo(np.float64).tiny:
            self.L -= share * np.sqrt(np.mean(self.L**2)) / size * mean

    def state(self) -> State:
        """All that the next steps depend on, for :meth:`restore`."""
        arrays = {"L": self.L.copy(), "mean": self._mean.copy(), "curve": curve_array(self.curve)}
        return State(arrays, {"n_iterations": self.n_iterations, "square": self._square})

    def restore(self, state: State) -> None:
        """Go on where the solver was whose state this is."""
        self.L[...], self._mean[...] = state.arrays["L"], state.arrays["mean"]
        self.curve[:] = points_of(state.arrays["curve"])
        self.n_iterations, self._square = state.facts["n_iterations"], state.facts["square"]


def squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """Squared Euclidean distances between the rows of A and of B."""
    squared = np.sum(A**2, axis=1)[:, None] - 2.0 * (A @ B.T) + np.sum(B**2, axis=1)
    return np.asarray(np.maximum(squared, 0.0))


def loss_weights(
    squared: FloatArray, is_same: npt.NDArray[np.bool_], is_self: npt.NDArray[np.bool_]
) -> tuple[FloatArray, float]:
    """Derivative of the mean loss by each squared distance, and the mean loss.

    Anchors without a positive or without a negative are left out.
    """
    squared = np.where(is_self, np.inf, squared)
    nearest = [np.where(mine, squared, np.inf).min(axis=1) for mine in (is_same, ~is_same)]
    has_both = np.isfinite(nearest[0]) & np.isfinite(nearest[1])
    positive, negative = (np.where(has_both, of_kind, 0.0) for of_kind in nearest)
    shares = np.exp(np.where(is_same, positive[:, None], negative[:, None]) - squared)
    of_positives = np.where(is_same, shares, 0.0).sum(axis=1)
    of_negatives = shares.sum(axis=1) - of_positives
    of_positives = np.where(has_both, of_positives, 1.0)
    of_negatives = np.where(has_both, of_negatives, 1.0)
    margins = negative - positive + np.log(of_positives / of_negatives)
    n = max(1, int(has_both.sum()))
    slopes = np.where(has_both, expit(-margins), 0.0) / n
    weights = shares * np.where(
        is_same, (slopes / of_positives)[:, None], -(slopes / of_negatives)[:, None]
    )
    return weights, float(np.logaddexp(0.0, -margins[has_both]).sum() / n)
