"""MMC's and MCML's objectives of M, pair by pair."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from calipers.arrays import FloatArray, IndexArray


def distance(X: FloatArray, M: FloatArray, i: int, j: int) -> float:
    return float(np.sqrt((X[i] - X[j]) @ M @ (X[i] - X[j])))


def mmc_ratio(X: FloatArray, y: IndexArray, M: FloatArray) -> float:
    """Root mean square distance of similar pairs over the mean distance of dissimilar ones."""
    near = [distance(X, M, i, j) for i, j in permutations(range(len(X)), 2) if y[i] == y[j]]
    far = [distance(X, M, i, j) for i, j in permutations(range(len(X)), 2) if y[i] != y[j]]
    return float(np.sqrt(np.mean(np.square(near))) / np.mean(far))


def mcml_divergence(X: FloatArray, y: IndexArray, M: FloatArray) -> float:
    """Mean over samples that are not alone in their class of KL(p0 || p)."""
    lost = 0.0
    for i in range(len(X)):
        others = [j for j in range(len(X)) if j != i]
        p = np.exp([-(distance(X, M, i, j) ** 2) for j in others])
        same = np.array([y[j] == y[i] for j in others])
        p0 = 1.0 / same.sum()
        lost += float(np.sum(p0 * np.log(p0 / (p / p.sum())[same])))
    return lost / len(X)
