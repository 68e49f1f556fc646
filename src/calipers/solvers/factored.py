"""A solver for metrics of low rank: it learns the factor L of M = L'L, of shape (rank, d)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.sgd import Point, State, curve_array, points_of
from calipers.solvers.soft_neighbors import (
    Loss,
    anchor_gradients,
    expected_errors,
    squared_distances,
    width_factor,
)

STEP = 0.05  # length of the first step, as a share of the size of L; later ones are shorter
MOMENTUM, SQUARE_MOMENTUM = 0.9, 0.99  # of the running means of gradients and their squares


class FactoredSolver:
    """Minimise a loss of soft neighbours over L by steps of mini-batches.

    An example is a batch of anchors and reference samples, among which the anchors find their
    neighbours. In few dimensions the hard nearest neighbours of one moment are not those of the
    next step, so all reference samples count. Steps follow Adam with one common second moment, so
    that rotating X rotates L with it, and are a falling share of the size of L.

    Parameters
    ----------
    init : array of shape (rank, d)
        The first L; its scale does not matter.
    targets : array of shape (n,)
        Classes or targets of all samples.
    n_anchors : int
        Anchors of an example: its first indices; the others are reference samples.
    n_examples : int
        Examples, hence steps, in all.
    loss : Loss
        One of :mod:`calipers.solvers.soft_neighbors`.
    weights : array of shape (n,), optional
        How often each sample counts, as an anchor and as a reference.
    """

    batch_size = 1

    def __init__(
        self,
        init: FloatArray,
        targets: npt.NDArray[Any],
        *,
        n_anchors: int,
        n_examples: int,
        loss: Loss = expected_errors,
        weights: FloatArray | None = None,
    ) -> None:
        self.L = np.array(init, dtype=np.float64)
        self.loss, self.targets = loss, targets
        self.weights = None if weights is None else weights / weights.mean()
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
        """Take a step for every example: places in X of anchors and references, then indices."""
        total = 0.0
        for example in examples:
            places, indices = np.split(example, 2)
            total += self._advance(X[places], indices)
        self.curve.append(Point(self.n_iterations, total / max(1, len(examples)), self.n_updates))

    def _advance(self, X: FloatArray, indices: IndexArray) -> float:
        n = self.n_anchors
        targets, Z = self.targets[indices], X @ self.L.T
        squared = squared_distances(Z[:n], Z[n:])
        squared[indices[:n, None] == indices[n:]] = np.inf
        if self.n_iterations == 0:
            factor = width_factor(squared[targets[:n, None] != targets[n:]])
            self.L *= np.sqrt(factor)
            squared *= factor
            Z *= np.sqrt(factor)
        of_references = None if self.weights is None else self.weights[indices[n:]]
        slopes, losses = self.loss(squared, targets[:n], targets[n:], of_references)
        counts = np.ones(n) if self.weights is None else self.weights[indices[:n]]
        slopes *= counts[:, None] / n
        self._step(np.vstack(anchor_gradients(slopes, Z[:n], Z[n:])).T @ X)
        return float(losses @ counts) / n

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
