"""Nearest neighbours by a k-d tree, for data of low intrinsic dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers._core.kdtree import Tree, split
from calipers.arrays import IndexArray
from calipers.threads import parallel_map

_LEAF = 16  # samples of a leaf, or up to twice as many
_ANCHORS = 1024  # of a block
_PARALLEL_LEVEL = 3  # the subtrees below it are built in parallel


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
    """Order the samples into leaves and compute the boxes of all nodes."""
    n = len(X)
    depth = max(0, (n // _LEAF).bit_length() - 1)
    order = np.arange(n)
    top = min(depth, _PARALLEL_LEVEL)
    split(X, order, (0, top), (0, 1))
    parallel_map(lambda node: split(X, order, (top, depth), (node, node + 1)), range(1 << top))
    samples = X[order].astype(np.float64, order="C", copy=False)
    return Tree(samples, labels[order], order, depth)
