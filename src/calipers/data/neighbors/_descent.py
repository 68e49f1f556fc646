"""Nearest neighbours by a k-d tree, for data of low intrinsic dimension.

SciPy's tree puts the samples in order; ours knows the classes of its nodes, so that one descent
finds an anchor's neighbours of both kinds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from calipers._core.compiled import Tree
from calipers.arrays import IndexArray
from calipers.threads import parallel_map

_LEAF = 16  # samples of a leaf, or up to twice as many
_ANCHORS = 1024  # of a block


def search_in_tree(
    tree: Tree, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Return both lists of every anchor.

    Anchors are searched in the order of the tree, so that successive descents visit the same
    leaves while these are in the cache.
    """
    places = np.empty(len(tree.indices), dtype=np.intp)
    places[tree.indices] = np.arange(len(tree.indices))
    by_leaf = np.argsort(places[anchors], kind="stable")
    same = np.empty((len(anchors), n_same), dtype=np.intp)
    other = np.empty((len(anchors), n_other), dtype=np.intp)

    def search(start: int) -> None:
        some = by_leaf[start : start + _ANCHORS]
        same[some], other[some], _ = tree.descend(places[anchors[some]], n_same, n_other)

    parallel_map(search, range(0, len(anchors), _ANCHORS))
    return same, other


def evaluated_share(tree: Tree, n_same: int, n_other: int) -> float:
    """Return the mean share of samples and boxes that a descent evaluates, over 32 anchors."""
    places = np.linspace(0, len(tree.indices) - 1, 32).astype(np.intp)
    n_evaluated = tree.descend(places, n_same, n_other)[2]
    return n_evaluated / (len(places) * len(tree.indices))


def build_tree(X: npt.NDArray[Any], labels: IndexArray) -> Tree:
    """Order the samples into leaves and enclose the samples of every node."""
    order = KDTree(X, leafsize=_LEAF).indices.astype(np.intp, copy=False)
    samples, labels = X[order].astype(np.float64, order="C", copy=False), labels[order]
    bounds = np.array([0, len(X)])
    while bounds[-1] - bounds[-2] >= 2 * _LEAF:  # SciPy halves its nodes at the same places
        bounds = np.sort(np.concatenate([bounds, (bounds[:-1] + bounds[1:]) // 2]))

    def of_nodes(merge: np.ufunc, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        levels = [merge.reduceat(values, bounds[:-1])]
        while len(levels[-1]) > 1:
            levels.append(merge(levels[-1][::2], levels[-1][1::2]))
        return np.concatenate(levels[::-1])

    lowest, highest = of_nodes(np.minimum, labels), of_nodes(np.maximum, labels)
    return Tree(
        samples,
        labels,
        order,
        bounds,
        low=of_nodes(np.minimum, samples),
        high=of_nodes(np.maximum, samples),
        only_class=np.where(lowest == highest, lowest, -1),
        classes=of_nodes(np.bitwise_or, np.uint64(1) << (labels % 64).astype(np.uint64)),
    )
