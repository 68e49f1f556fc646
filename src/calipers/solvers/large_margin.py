"""LMNN's objective, exact at every L, and the coordinates in which to minimise it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, svd

from calipers._core.compiled import columns_below, measure_targets, weigh
from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors import nearest_same_and_other
from calipers.solvers.lbfgs import Descent, Value
from calipers.threads import InOrder, parallel_map

_BLOCK_NUMBERS = 2**21  # distances computed at a time: 8 MB in float32
_FLATTEST = 1e-8  # of the largest eigenvalue of the pull: smaller eigenvalues count as this


class LargeMargin:
    """Weinberger and Saul's objective, exact at every L.

    With T(i) the nearest samples of i's class in the Euclidean distance, and M = L'L::

        (1 - mu) sum_{i, j in T(i)} d_M(i, j)^2
            + mu sum_{i, j in T(i)} sum_{l of another class} [1 + d_M(i, j)^2 - d_M(i, l)^2]_+

    The terms of i count by its weight, and those of the impostor l by that of l, too.

    Impostors are searched in blocks of anchors, which do not depend on the number of threads.
    """

    def __init__(
        self,
        X: npt.NDArray[Any],
        labels: IndexArray,
        weights: FloatArray | None = None,
        *,
        n_neighbors: int,
        push_weight: float,
    ) -> None:
        order = np.argsort(labels, kind="stable")
        X, labels = X[order], labels[order]
        self.weights = np.ones(len(X)) if weights is None else weights[order] / weights.mean()
        self.push_weight = push_weight
        self.targets, _ = nearest_same_and_other(
            X, labels, np.arange(len(X)), n_same=n_neighbors, n_other=1
        )
        samples = X.astype(np.float64)
        self.X = np.ascontiguousarray(samples - samples.mean(axis=0))
        stops = np.cumsum(np.bincount(labels))
        self.own = np.stack([np.concatenate([[0], stops[:-1]])[labels], stops[labels]], axis=1)
        n = len(X)
        size = max(1, min(128, _BLOCK_NUMBERS // n))
        self.blocks = [slice(first, min(first + size, n)) for first in range(0, n, size)]
        self.pull = self._pull()

    @property
    def n_pulled(self) -> float:
        """Number of pairs of a sample and its target, each as often as the sample counts."""
        return float(self.weights @ np.count_nonzero(self.targets >= 0, axis=1))

    def change_coordinates(self, T: FloatArray) -> None:
        """Replace samples x by ``T'x``; a factor K for these is ``K T'`` for the samples before."""
        self.X = np.ascontiguousarray(self.X @ T)
        self.pull = T.T @ self.pull @ T

    def at(self, L: FloatArray) -> Value:
        """Evaluate the objective at L of shape (any, d)."""
        Z, radii = np.empty((len(self.X), len(L))), np.empty(self.targets.shape)

        def measure(block: slice) -> None:
            Z[block] = self.X[block] @ L.T

        parallel_map(measure, self.blocks)
        parallel_map(lambda b: measure_targets(Z, self.targets, b.start, radii[b]), self.blocks)
        finder = Finder(Z, self.own, np.sqrt(radii.max(axis=1)))
        mixed, counts, in_order = np.empty_like(self.X), np.zeros(len(Z)), InOrder()

        def evaluate(number: int) -> tuple[float, int]:
            block, own_counts = self.blocks[number], np.zeros_like(counts)
            starts, columns = finder.find(block)
            push, n_active = weigh(
                self.X,
                Z,
                self.weights,
                self.targets,
                radii,
                block.start,
                starts,
                columns,
                mixed,
                own_counts,
            )
            in_order.add(number, own_counts, counts)
            return float(push), int(n_active)

        pushes, n_active = zip(*parallel_map(evaluate, range(len(self.blocks))), strict=True)
        pull = float((self.weights[:, None] * radii).sum()) - self.n_pulled
        objective = (1.0 - self.push_weight) * pull + self.push_weight * sum(pushes)
        return Value(L, objective, self._slope(L, mixed, counts), sum(n_active))

    def _slope(self, L: FloatArray, mixed: FloatArray, counts: FloatArray) -> FloatArray:
        """Return the derivative by L: ``2 L G``, with G the derivative by M.

        The violated triplets' part of G is ``X' (D - W - W') X`` with the Laplacian of a graph:
        W has the weights n_ij and -n_il of `calipers._core.compiled.weigh`. Its rows sum to 0,
        so D has only the sums of its columns.
        """
        n, d = self.X.shape
        size = max(256, -(-n // 16))

        def half(first: int) -> FloatArray:
            part = slice(first, first + size)
            samples = self.X[part]
            scaled = (0.5 * counts[part])[:, None] * samples - mixed[part]
            return np.asarray(samples.T @ scaled)

        total = np.zeros((d, d))
        for part in parallel_map(half, range(0, n, size)):
            total += part
        G = (1.0 - self.push_weight) * self.pull + self.push_weight * (total + total.T)
        return np.asarray(2.0 * L @ G)

    def _pull(self) -> FloatArray:
        """Return the sum of ``(x_i - x_j)(x_i - x_j)'`` over all targets."""
        total = np.zeros((self.X.shape[1],) * 2)
        for block in self.blocks:
            for column in self.targets[block].T:
                has = column >= 0
                difference = self.X[block][has] - self.X[column[has]]
                difference *= np.sqrt(self.weights[block][has])[:, None]
                total += difference.T @ difference
        return total


class Finder:
    """Find samples of other classes within ``reach_i`` of each anchor i of a block.

    A matrix product in float32 gives ``|z_l|^2 - 2 z_i.z_l`` minus its rounding error, so the lists
    miss no sample within reach. They may hold a few more, whose hinge is 0.
    """

    def __init__(self, Z: FloatArray, own: IndexArray, reach: FloatArray) -> None:
        d = Z.shape[1]
        lengths = np.sqrt(np.einsum("ij,ij->i", Z, Z))
        unit = 1.0 / max(float(lengths.max()), float(reach.max()))
        error = (d + 20) * float(np.finfo(np.float32).eps)
        squared = (1.0 - error) * (unit * lengths) ** 2
        limits = (1.0 + 2.0 * error) * (unit * reach) ** 2 - squared
        limits += 1e-6 * np.abs(limits) + 1e-30
        self.own = own
        self.limits = np.where(reach > 0.0, limits, -np.inf).astype(np.float32)
        self.placed = np.vstack([unit * Z.T, squared]).astype(np.float32)

    def find(self, block: slice) -> tuple[IndexArray, npt.NDArray[np.int32]]:
        """Return where the list of each anchor of the block starts, and the lists."""
        anchors: npt.NDArray[np.float32] = np.float32(-2.0) * self.placed[:, block].T
        anchors[:, -1] = 1.0
        return columns_below(anchors @ self.placed, self.limits[block], self.own[block])


@dataclass(frozen=True)
class Frame:
    """Coordinates ``T'x`` in which the mean of the pull's outer products is about I.

    If there are no more samples than features, these are coordinates in the span of the
    samples. Outside of it the metric stays a multiple of the identity.
    """

    T: FloatArray
    identity: FloatArray
    span: FloatArray | None

    @classmethod
    def of(cls, problem: LargeMargin) -> Frame:
        """Return the frame of a problem; ``identity`` is an L of M = I in it."""
        X, pull, span = problem.X, problem.pull, None
        if len(X) <= X.shape[1]:
            _, lengths, axes = svd(X, full_matrices=False)
            span = axes[lengths > 1e-12 * lengths[0]].T
            pull = span.T @ pull @ span
        values, vectors = eigh(pull)
        values, vectors = values[::-1], vectors[:, ::-1]  # largest eigenvalue first
        largest = values[0] if values[0] > 0.0 else float(np.vdot(X, X))
        lengths = np.sqrt(np.maximum(values, _FLATTEST * largest) / problem.n_pulled)
        T = vectors / lengths
        return cls(T if span is None else span @ T, np.diag(lengths), span)

    def metric(self, L: FloatArray, scale: float) -> FloatArray:
        """Return M for an L of this frame; outside the span it is ``scale`` times I."""
        whole = L @ self.T.T
        M = whole.T @ whole
        if self.span is None:
            return np.asarray(M)
        return np.asarray(M + scale * (np.eye(len(M)) - self.span @ self.span.T))


def descent(problem: LargeMargin, *, tol: float, max_iter: int) -> Descent:
    """L-BFGS in the coordinates of the problem's `Frame`, which it changes to.

    The start is the best of M = 4^m c I; with c the mean squared distance of targets is 1.
    """
    frame = Frame.of(problem)
    problem.change_coordinates(frame.T)
    scale = 1.0 / float(np.sum(frame.identity**2))
    value = problem.at(np.sqrt(scale) * frame.identity)
    factor_of_4 = 4.0 if np.vdot(value.slope, value.L) < 0.0 else 0.25
    while True:
        other = problem.at(np.sqrt(factor_of_4 * scale) * frame.identity)
        if not other.objective < value.objective:
            break
        value, scale = other, factor_of_4 * scale
    return Descent(
        problem.at, value, tol=tol, max_iter=max_iter, metric=lambda L: frame.metric(L, scale)
    )
