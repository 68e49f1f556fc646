"""A solver for metrics of low rank: it learns the factor L of M = L'L, of shape (rank, d)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.soft_neighbors import (
    Loss,
    expected_errors,
    squared_distances,
    width_factor,
)
from calipers.solvers.training import Point
from calipers.threads import parallel_product

STEP = 0.05  # length of the first step, as a share of the size of L; later ones are shorter
MOMENTUM, SQUARE_MOMENTUM = 0.9, 0.99  # of the running means of gradients and their squares


class FactoredSolver:
    """Minimise a loss of soft neighbours over L by steps of mini-batches.

    An example is a batch of samples that find their neighbours among each other. In few dimensions
    the hard nearest neighbours of one moment are not those of the next step, so all samples of the
    batch count. Steps follow Adam with one common second moment, so
    that rotating X rotates L with it, and are a falling share of the size of L.

    Parameters
    ----------
    init : array of shape (rank, d)
        The first L; its scale does not matter.
    targets : array of shape (n,)
        Classes or targets of all samples.
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
        n_examples: int,
        loss: Loss = expected_errors,
        weights: FloatArray | None = None,
    ) -> None:
        self.L = np.array(init, dtype=np.float64)
        self.loss, self.targets = loss, targets
        self.weights = None if weights is None else weights / weights.mean()
        self.n_examples = n_examples
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
        """Take a step for every example: places of its samples in X, then their indices."""
        total = 0.0
        for example in examples:
            places, indices = np.split(example, 2)
            batch = X[places]  # far from the origin distances would be lost in rounding
            total += self._advance(batch - batch.mean(axis=0, dtype=np.float64), indices)
        self.curve.append(Point(self.n_iterations, total / max(1, len(examples)), self.n_updates))

    def _advance(self, X: FloatArray, indices: IndexArray) -> float:
        n, targets, Z = len(indices), self.targets[indices], parallel_product(X, self.L.T)
        squared = squared_distances(Z, Z)
        squared[indices[:, None] == indices] = np.inf
        if self.n_iterations == 0:
            factor = width_factor(squared[targets[:, None] != targets])
            self.L *= np.sqrt(factor)
            squared *= factor
            Z *= np.sqrt(factor)
        weights = None if self.weights is None else self.weights[indices]
        slopes, losses = self.loss(squared, targets, targets, weights)
        counts = np.ones(n) if weights is None else weights
        slopes *= counts[:, None] / n
        both = slopes + slopes.T  # of a distance as one of an anchor, and of a reference
        of_images = 2.0 * (both.sum(axis=1)[:, None] * Z - both @ Z)
        self._step(parallel_product(of_images.T, X))
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
