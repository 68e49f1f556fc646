"""scikit-learn's brute force, called once per class and once per complement of a class."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.searches import Lists
from calipers.arrays import FloatArray, IndexArray


def search(X: FloatArray, labels: IndexArray, anchors: IndexArray, k: int) -> Lists:
    """Indices of the nearest positives and negatives."""
    same = np.empty((len(anchors), k), dtype=np.intp)
    other = np.empty((len(anchors), k), dtype=np.intp)
    for label in np.unique(labels[anchors]):
        places = np.flatnonzero(labels[anchors] == label)
        queries = X[anchors[places]]
        inside, outside = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        for pool, found, n_wanted in ((inside, same, k + 1), (outside, other, k)):
            model = NearestNeighbors(n_neighbors=n_wanted, algorithm="brute", n_jobs=-1)
            nearest = pool[model.fit(X[pool]).kneighbors(queries, return_distance=False)]
            found[places] = _without(nearest, anchors[places], k) if pool is inside else nearest
    return same, other


def _without(nearest: IndexArray, anchors: IndexArray, k: int) -> IndexArray:
    """Drop each anchor from its own list, or the last sample where duplicates pushed it out."""
    keep = nearest != anchors[:, None]
    keep[keep.all(axis=1), -1] = False
    kept: IndexArray = nearest[keep].reshape(len(anchors), k)
    return kept
