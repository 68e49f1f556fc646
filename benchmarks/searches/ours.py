"""Calipers' search."""

from __future__ import annotations

import numpy as np

from benchmarks.searches import Lists
from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors.search import nearest_same_and_other


def search(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """Indices of the nearest positives and negatives."""
    return nearest_same_and_other(X, labels, anchors, n_same=k, n_other=k)


def warm_up() -> None:
    """Search both ways once, so that no timed call compiles."""
    rng = np.random.default_rng(0)
    for d in (2, 30):
        X, labels = rng.normal(size=(3000, d)), rng.integers(3, size=3000)
        search(X, labels, np.arange(2500), 1)
    tight = rng.integers(0, 3, (6000, 1)) + 1e-6 * rng.normal(size=(6000, 40))
    search(tight, np.arange(6000) % 2, np.arange(100), 1)
