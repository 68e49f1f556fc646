"""Metrics of fewer dimensions than features: the factor is learned at the rank that is wanted.

The full metric, cut to the directions in which the samples vary most under it, is good where many
directions are kept. In few dimensions a factor that is learned for its rank is better: by NCA's
loss in mini-batches, from the discriminant axes. Samples that are held out decide between the two.
"""

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
from calipers.data.neighbors import vote as knn
from calipers.data.neighbors.search import nearest_same_and_other
from calipers.data.samples import MemorySamples, Samples, relative_weights, weights_of
from calipers.metric.init import (
    MOMENT_SAMPLES,
    N_VOTES,
    LinearMap,
    discriminant_axes,
    evenly_spaced,
    within_class,
)
from calipers.solvers.factored import FactoredSolver
from calipers.solvers.training import Round

FACTOR_BATCH = 256  # samples of a step
BATCH_SIZES = Interval(Integral, 4, None, closed="left")  # of two samples each has one neighbour
STEPS_PER_ROOT = 4  # steps, times the root of the number of samples
PORTION = 15  # steps between two reports
HELD_OUT_SAMPLES = 3_000  # at most, half of which are learned from and half held out


class SampleBatches:
    """Batches of samples that are neighbours of each other, as rows of places, then of indices.

    Samples come in random order, all of them before one comes again. Half of a batch comes so; the
    other half are samples of the same classes, one for each. Without ``partners`` all come so.
    Places are those of an array that holds the samples.
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
    """One round that learns a factor of some rank from the discriminant axes.

    It takes place in coordinates whitened within classes; ``factor`` is L in those of the samples.
    """

    def __init__(self, samples: Samples, rank: int, rng: np.random.Generator) -> None:
        whitening = within_class(samples).matrix
        assert whitening is not None
        self.whitening = whitening
        white = samples.transformed(LinearMap(whitening))
        n_steps = factor_steps(samples.shape[0])
        batches = SampleBatches(white, n_steps, rng)
        axes = initial_axes(white, rank)
        self.solver = FactoredSolver(
            axes, batches.labels, n_examples=n_steps, weights=samples.weights
        )
        self.round = Round(self.solver, white, batches, PORTION, batches.n_index_columns)

    @property
    def factor(self) -> FloatArray:
        """L of shape (rank, d), as learned so far."""
        return np.asarray(self.solver.L @ self.whitening)


def initial_axes(samples: Samples, rank: int) -> FloatArray:
    """Axes that a factor is learned from: all, or the discriminant ones, then those of variance."""
    if rank >= samples.shape[1]:
        return np.eye(samples.shape[1])
    indices = evenly_spaced(samples.shape[0], MOMENT_SAMPLES)
    some = samples.take(indices).astype(np.float64)
    return discriminant_axes(some, samples.labels_of(indices), rank)


def factor_steps(n_samples: int) -> int:
    """Steps of a `FactorRound`: they grow as the root of the number of samples."""
    return max(1, isqrt(int(STEPS_PER_ROOT**2 * n_samples)))


def halves(
    samples: Samples, rng: np.random.Generator
) -> tuple[MemorySamples, npt.NDArray[np.bool_]] | None:
    """Some samples, and which half of them is held out first.

    None where a half would not have two samples of a class and samples of two classes.
    """
    indices = evenly_spaced(samples.shape[0], HELD_OUT_SAMPLES)
    X, labels = samples.take(indices), samples.labels_of(indices)
    is_held_out = alternate(labels, rng)
    for half in (is_held_out, ~is_held_out):
        sizes = np.bincount(labels[half]) if half.any() else np.zeros(1)
        if np.count_nonzero(sizes) < 2 or sizes.max() < 2:
            return None
    return MemorySamples(X, labels, weights_of(samples, indices)), is_held_out


def alternate(labels: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Hold every second sample of each class out, in random order.

    >>> alternate(np.array([0, 0, 1, 1]), np.random.default_rng(0)).sum()
    np.int64(2)
    """
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    is_held_out = np.zeros(len(labels), dtype=np.bool_)
    is_held_out[by_class[1::2]] = True
    return is_held_out


def held_out_error(samples: MemorySamples, is_held_out: npt.NDArray[np.bool_]) -> float:
    """Share of held-out samples whose nearest others, which are not held out, vote wrongly."""
    Z, labels = samples.X, samples.labels
    anchors = np.flatnonzero(is_held_out)
    n_votes = min(N_VOTES, len(Z) - len(anchors))
    sides = is_held_out.astype(np.intp)
    _, near = nearest_same_and_other(
        np.ascontiguousarray(Z), sides, anchors, n_same=0, n_other=n_votes
    )
    is_wrong = knn.vote(labels[near]) != labels[anchors]
    return float(np.average(is_wrong, weights=relative_weights(samples, anchors)))
