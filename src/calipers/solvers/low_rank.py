"""Metrics of low rank: the factor L of M = L'L is learned in mini-batches, at the rank wanted."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from math import isqrt
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import Samples
from calipers.metric.coordinates import low_rank_components
from calipers.metric.init import (
    MOMENT_SAMPLES,
    LinearMap,
    discriminant_axes,
    evenly_spaced,
)
from calipers.solvers.soft_neighbors import (
    Loss,
    expected_errors,
    squared_distances,
    width_factor,
)
from calipers.solvers.training import Point, Round, n_portions, portion_size
from calipers.threads import parallel_product

STEP = 0.05  # length of the first step, as a share of the size of L; later ones are shorter
MOMENTUM, SQUARE_MOMENTUM = 0.9, 0.99  # of the running means of gradients and their squares
FACTOR_BATCH = 256  # samples of a step
BATCH_SIZES = Interval(Integral, 4, None, closed="left")  # of two samples each has one neighbour
STEPS_PER_ROOT = 4  # steps, times the root of the number of samples


class FactoredSolver:
    """Minimise a loss of soft neighbours over L by steps of mini-batches.

    An example is a batch of samples that find their neighbours among each other. Steps follow Adam
    with one common second moment, so that rotating X rotates L with it, and are a falling share of
    the size of L.

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


class SampleBatches:
    """Batches of samples that are neighbours of each other, as rows of places, then of indices.

    Samples come in random order, all of them before one comes again. With ``partners`` half of a
    batch comes so; the other half are samples of the same classes, one for each.
    """

    def __init__(
        self,
        samples: Samples,
        n_batches: int,
        rng: np.random.Generator,
        *,
        batch_size: int = FACTOR_BATCH,
        partners: bool = True,
    ) -> None:
        self.n_batches, self.rng, self.partners = n_batches, rng, partners
        self.labels = samples.labels_of(np.arange(samples.shape[0]))
        self.sizes = samples.class_sizes
        self.by_class = np.argsort(self.labels, kind="stable")
        self.place = np.argsort(self.by_class)
        self.first = np.cumsum(self.sizes) - self.sizes
        self.holds_all = batch_size >= len(self.labels)
        self.n_fresh = batch_size // 2 if partners else batch_size

    @property
    def n_index_columns(self) -> int:
        """Of a row, so many are places, which `Samples.local` changes; indices follow."""
        return len(self.labels) if self.holds_all else self.n_fresh * (1 + self.partners)

    def __len__(self) -> int:
        return self.n_batches

    def portions(self, size: int) -> Iterator[IndexArray]:
        """All batches in order, ``size`` at a time."""
        rng, waiting, rows = deepcopy(self.rng), np.empty(0, dtype=np.intp), []
        everything = np.arange(len(self.labels))
        for number in range(1, self.n_batches + 1):
            indices = everything
            if not self.holds_all:
                while len(waiting) < self.n_fresh:
                    waiting = np.concatenate([waiting, rng.permutation(len(self.labels))])
                fresh, waiting = waiting[: self.n_fresh], waiting[self.n_fresh :]
                indices = np.concatenate([fresh, self._partners(fresh, rng)])
            rows.append(np.concatenate([indices, indices]))
            if len(rows) == size or number == self.n_batches:
                yield np.array(rows, dtype=np.intp)
                rows = []

    def _partners(self, indices: IndexArray, rng: np.random.Generator) -> IndexArray:
        """Another sample of the class of each, itself if there is none."""
        if not self.partners:
            return indices[:0]
        start, size = self.first[self.labels[indices]], self.sizes[self.labels[indices]]
        further = 1 + (rng.random(len(indices)) * (size - 1)).astype(np.intp)
        return self.by_class[start + (self.place[indices] - start + further) % size]


class FactorRound:
    """One round that learns a factor of some rank by a loss of soft neighbours.

    Parameters
    ----------
    samples : Samples
        The samples.
    init : LinearMap
        Coordinates that the factor is learned in: the initial metric, but for its scale.
    rank : int
        Rows of the factor.
    rng : Generator
        Draws the batches.
    loss : Loss
        One of :mod:`calipers.solvers.soft_neighbors`.
    values : array of shape (n_classes,), optional
        Targets that classes stand for.
    batch_size, n_steps : int
        Samples of a step, and steps.
    """

    def __init__(
        self,
        samples: Samples,
        init: LinearMap,
        rank: int,
        rng: np.random.Generator,
        *,
        loss: Loss = expected_errors,
        values: FloatArray | None = None,
        batch_size: int = FACTOR_BATCH,
        n_steps: int | None = None,
    ) -> None:
        self.init = init
        self.samples = samples if init.matrix is None else samples.transformed(init)
        n_steps = n_steps or factor_steps(samples.shape[0])
        batches = SampleBatches(
            self.samples, n_steps, rng, batch_size=batch_size, partners=values is None
        )
        self.solver = FactoredSolver(
            initial_axes(self.samples, rank, has_classes=values is None),
            batches.labels if values is None else values[batches.labels],
            n_examples=n_steps,
            loss=loss,
            weights=samples.weights,
        )
        size = portion_size(n_steps, 1)
        self.round = Round(self.solver, self.samples, batches, size, batches.n_index_columns)
        self.n_steps, self.mining_seconds = n_portions(n_steps, size, 1), 0.0

    def __iter__(self) -> Iterator[Round]:
        yield self.round

    def components(self) -> FloatArray:
        """L as learned so far, rows by falling variance of the samples."""
        return low_rank_components(self.init, self.solver.L, self.samples)


def factor_steps(n_samples: int) -> int:
    """Steps of a `FactorRound`: they grow as the root of the number of samples."""
    return max(1, isqrt(int(STEPS_PER_ROOT**2 * n_samples)))


def initial_axes(samples: Samples, rank: int, *, has_classes: bool = True) -> FloatArray:
    """Axes that a factor is learned from: all, or the discriminant ones, then those of variance."""
    if rank >= samples.shape[1]:
        return np.eye(samples.shape[1])
    indices = evenly_spaced(samples.shape[0], MOMENT_SAMPLES)
    labels = samples.labels_of(indices) if has_classes else np.zeros(len(indices), dtype=np.intp)
    return discriminant_axes(samples.take(indices).astype(np.float64), labels, rank)
