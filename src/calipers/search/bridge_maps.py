"""Linear maps from the vectors of one embedding model to those of another, in closed form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, svd

from calipers.arrays import FloatArray
from calipers.data.memmap import blocks_of
from calipers.search.query_map import unit_vectors


class Candidate(NamedTuple):
    """A way to make a map."""

    method: str
    alpha: float | None = None
    rank: int | None = None


class Moments(NamedTuple):
    """What every candidate is made of: sums over texts of unit vectors x (new) and y (old)."""

    gram: FloatArray  # sum of x x', n_new_features by n_new_features
    cross: FloatArray  # sum of y x', n_old_features by n_new_features

    @classmethod
    def of(cls, new: npt.NDArray[Any], old: npt.NDArray[Any]) -> Moments:
        """Sum over all texts, a block at a time."""
        gram, cross = np.zeros((new.shape[1],) * 2), np.zeros((old.shape[1], new.shape[1]))
        for first, block in blocks_of(new):
            x = unit_vectors(np.asarray(block, np.float64), "new", first)
            y = unit_vectors(np.asarray(old[first : first + len(x)], np.float64), "old", first)
            gram += x.T @ x
            cross += y.T @ x
        return cls(gram, cross)

    def without(self, other: Moments) -> Moments:
        """Subtract the sums over other texts."""
        return Moments(self.gram - other.gram, self.cross - other.cross)


def solve(candidate: Candidate, moments: Moments) -> FloatArray:
    """Return the map W of shape (n_old_features, n_new_features), from x to y.

    - ``identity``: the new vector as it is, if both models have as many features.
    - ``procrustes``: the W with orthonormal rows or columns that minimises the sum of
      ``|y - Wx|^2``; with the singular vectors of the cross moments ``U S V'`` it is ``UV'``.
    - ``ridge``: minimises the sum of ``|y - Wx|^2`` plus ``alpha |W - P|^2``, with P of
      "procrustes" and alpha in units of the mean eigenvalue of the sum of ``x x'``.
    - ``low-rank``: the ridge map, projected onto the `rank` principal directions of its images.
    """
    gram, cross = moments
    if candidate.method == "identity":
        return np.eye(len(gram))
    left, values, right = svd(cross, full_matrices=False)
    kept = values > values[0] * np.finfo(np.float64).eps * len(gram)
    procrustes = np.asarray(left[:, kept] @ right[kept])
    if candidate.alpha is None:
        return procrustes
    strength = candidate.alpha * np.trace(gram) / len(gram)
    pulled = cross + strength * procrustes
    ridge = np.linalg.solve(gram + strength * np.eye(len(gram)), pulled.T).T
    if candidate.rank is None:
        return np.asarray(ridge)
    _, axes = eigh(ridge @ gram @ ridge.T)
    principal = axes[:, -candidate.rank :]
    return np.asarray(principal @ (principal.T @ ridge))
