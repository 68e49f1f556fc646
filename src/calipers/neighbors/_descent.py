"""Nearest neighbours by a k-d tree, for data of low intrinsic dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.threads import parallel_map

if TYPE_CHECKING:
    from calipers.neighbors._tree import Tree

_LEAF = 16  # samples of a leaf, or up to twice as many
_ANCHORS = 1024  # of a block
_PARALLEL_LEVEL = 3  # the subtrees below it are built in parallel


def search_by_tree(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Return both lists of every anchor, by descents through one tree of all samples."""
    return search_in_tree(build_tree(X, labels), anchors, n_same=n_same, n_other=n_other)


def search_in_tree(
    tree: Tree, anchors: IndexArray, *, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray]:
    """Return both lists of every anchor.

    Anchors are searched in the order of the tree, so that successive descents visit the same
    leaves while these are in the cache.
    """
    places = np.empty(len(tree.numbers), dtype=np.intp)
    places[tree.numbers] = np.arange(len(tree.numbers))
    by_leaf = np.argsort(places[anchors], kind="stable")
    same = np.empty((len(anchors), n_same), dtype=np.intp)
    other = np.empty((len(anchors), n_other), dtype=np.intp)

    def search(start: int) -> None:
        some = by_leaf[start : start + _ANCHORS]
        same[some], other[some], _ = descend_from(tree, places[anchors[some]], n_same, n_other)

    parallel_map(search, range(0, len(anchors), _ANCHORS))
    return same, other


def evaluated_share(tree: Tree, n_same: int, n_other: int) -> float:
    """Return the mean share of samples and boxes that a descent evaluates, over 32 anchors."""
    places = np.linspace(0, len(tree.numbers) - 1, 32).astype(np.intp)
    n_evaluated = descend_from(tree, places, n_same, n_other)[2]
    return n_evaluated / (len(places) * len(tree.numbers))


def descend_from(
    tree: Tree, places: IndexArray, n_same: int, n_other: int
) -> tuple[IndexArray, IndexArray, int]:
    """Return both lists of the samples at some places of the tree, and the number evaluated."""
    from calipers.neighbors._select import empty_lists
    from calipers.neighbors._tree import descend

    same, other = empty_lists(len(places), n_same), empty_lists(len(places), n_other)
    for nearest in (same, other):
        if nearest.numbers.shape[1] == 0:
            nearest.limits.fill(-np.inf)
    n_evaluated = descend(tree, places, same, other)
    return same.numbers, other.numbers, n_evaluated


def build_tree(X: npt.NDArray[Any], labels: IndexArray) -> Tree:
    """Order the samples into leaves and compute the boxes of all nodes."""
    from calipers.neighbors._tree import Tree, enclose, split_rows

    n, d = X.shape
    depth = max(0, (n // _LEAF).bit_length() - 1)
    order = np.arange(n)
    top = min(depth, _PARALLEL_LEVEL)
    split_rows(X, order, (0, top), (0, 1))
    parallel_map(lambda node: split_rows(X, order, (top, depth), (node, node + 1)), range(1 << top))
    n_nodes = (2 << depth) - 1
    tree = Tree(
        rows=X[order].astype(np.float64, order="C", copy=False),
        labels=labels[order],
        numbers=order,
        low=np.empty((n_nodes, d)),
        high=np.empty((n_nodes, d)),
        only_class=np.empty(n_nodes, dtype=np.intp),
        classes=np.zeros(n_nodes, dtype=np.uint64),
    )
    enclose(tree, depth)
    return tree
