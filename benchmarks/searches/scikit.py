"""scikit-learn's brute force, asked once per class and once per complement of a class."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.searches import Lists
from calipers.arrays import FloatArray, IndexArray


def search(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """Rows of the same class and of the others."""
    same = np.empty((len(anchors), k), dtype=np.intp)
    other = np.empty((len(anchors), k), dtype=np.intp)
    for label in np.unique(labels[anchors]):
        asked = np.flatnonzero(labels[anchors] == label)
        queries = X[anchors[asked]]
        inside, outside = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        for rows, found, n_wanted in ((inside, same, k + 1), (outside, other, k)):
            model = NearestNeighbors(n_neighbors=n_wanted, algorithm="brute", n_jobs=-1)
            numbers = rows[model.fit(X[rows]).kneighbors(queries, return_distance=False)]
            found[asked] = _without(numbers, anchors[asked], k) if rows is inside else numbers
    return same, other


def _without(numbers: IndexArray, anchors: IndexArray, k: int) -> IndexArray:
    """Drop each anchor from its own list, or the last row where duplicates pushed it out."""
    keep = numbers != anchors[:, None]
    keep[keep.all(axis=1), -1] = False
    kept: IndexArray = numbers[keep].reshape(len(anchors), k)
    return kept
