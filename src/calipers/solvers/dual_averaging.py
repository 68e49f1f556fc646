"""The solver of SCML: weights of given directions, many of them 0.

It is a separate loop because it moves a vector of weights, not M: weights stay positive by
themselves, so there is no projection onto the cone.
"""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.training import Point
from calipers.threads import single_threaded_blas

_SMALLEST_ROOT = 1e-3  # added to the roots of sums of squares, which are 0 at first


class DualAveragingSolver:
    """Weights w >= 0 of a basis, by regularised dual averaging with a step for each.

    With M = basis' diag(w) basis it minimises, batch by batch::

        mean over triplets of max(0, 1 + d_M(a, p)^2 - d_M(a, n)^2) + l1_weight * sum(w)

    After t batches with gradients g of the mean, element by element (Xiao 2010; Duchi, Hazan and
    Singer 2011)::

        w = learning_rate * max(0, -sum(g) - t * l1_weight) / (1e-3 + sqrt(sum(g^2)))

    Parameters
    ----------
    basis : array of shape (n_basis, n_features)
        Directions.
    l1_weight : float
        Cost of a weight.
    learning_rate : float
        Step size.
    batch_size : int
        Triplets of a step.
    """

    def __init__(
        self, basis: FloatArray, *, l1_weight: float, learning_rate: float, batch_size: int
    ) -> None:
        self.basis, self.batch_size = basis, batch_size
        self.l1_weight, self.learning_rate = l1_weight, learning_rate
        self.sums, self.squares = np.zeros((2, len(basis)))
        self.n_iterations = self.n_updates = 0
        self.curve: list[Point] = []

    @property
    def weights(self) -> FloatArray:
        """The current w."""
        excess = np.maximum(0.0, -self.sums - self.n_iterations * self.l1_weight)
        return np.asarray(self.learning_rate * excess / (_SMALLEST_ROOT + np.sqrt(self.squares)))

    @property
    def metric(self) -> FloatArray:
        """The current M; all directions count alike if none has a weight."""
        weights = self.weights
        if not weights.any():
            weights = np.full(len(weights), 1.0 / len(weights))
        with single_threaded_blas():
            return np.asarray((self.basis.T * weights) @ self.basis)

    def advance(self, X: FloatArray, triplets: IndexArray) -> None:
        """Take whole batches of triplets in order."""
        size, loss = self.batch_size, 0.0
        with single_threaded_blas():
            for first in range(0, len(triplets), size):
                loss += self._step(X, triplets[first : first + size])
        loss /= max(1, len(triplets))
        self.curve.append(Point(self.n_iterations * size, loss, self.n_updates))

    def _step(self, X: FloatArray, batch: IndexArray) -> float:
        """Update by a batch; returns the sum of its losses before. Its size fixes the bits."""
        anchors, others = X[batch[:, 0]].astype(np.float64), X[batch[:, 1:].T]
        near, far = ((anchors - others) @ self.basis.T) ** 2
        change = near - far
        losses = np.maximum(0.0, 1.0 + change @ self.weights)
        violated = losses > 0.0
        slope = violated @ change / len(batch)
        self.sums += slope
        self.squares += slope**2
        self.n_iterations += 1
        self.n_updates += bool(violated.any())
        return float(losses.sum())
