"""Compiled k-d tree whose nodes know their classes, so that one descent fills both lists.

The tree is balanced and implicit: the children of node i are 2 i + 1 and 2 i + 2, and node p
of level l owns places p n / 2^l to (p + 1) n / 2^l of ``order``.  A node is left out only if
its box is farther than the list's last row.  The box distance sums per-column gaps in the
order in which distances are summed; rounding is monotone, so it never exceeds the summed
distance of a row inside, and ties across boxes are all seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.compiled import inner
from calipers.neighbors._select import Nearest, compiled, insert

_MIXED = -1
_SAMPLE = 128  # rows of a node looked at to choose the column that is split


class Tree(NamedTuple):
    """Samples leaf after leaf, their classes and numbers in X, and the nodes above them.

    The rows are a copy, which makes a descent four times as fast as rows fetched from X.
    """

    rows: FloatArray
    labels: IndexArray
    numbers: IndexArray
    low: FloatArray  # corners of the box of every node
    high: FloatArray
    only_class: IndexArray  # of a node with rows of one class, else _MIXED
    classes: npt.NDArray[np.uint64]  # bit c is set if a row has a class congruent to c mod 64


@inner()
def place(n: int, level: int, position: int) -> int:
    """First place in ``order`` of a node, also the end of the node before it."""
    return (position * n) >> level


@inner()
def _widest_column(X: npt.NDArray[Any], rows: IndexArray) -> int:
    """Column with the largest extent over an even sample of rows."""
    step = max(1, len(rows) // _SAMPLE)
    widest, widest_extent = 0, -1.0
    for column in range(X.shape[1]):
        low = high = X[rows[0], column]
        for i in range(0, len(rows), step):
            low = min(low, X[rows[i], column])
            high = max(high, X[rows[i], column])
        if high - low > widest_extent:
            widest, widest_extent = column, high - low
    return widest


@inner()
def _split(keys: npt.NDArray[Any], rows: IndexArray, middle: int) -> None:
    """Reorder keys and rows so that no key before ``middle`` exceeds one from it on (Hoare)."""
    first, last = 0, len(keys) - 1
    while first < last:
        pivot = keys[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while pivot < keys[j]:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                rows[i], rows[j] = rows[j], rows[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return


@compiled
def split_rows(
    X: npt.NDArray[Any], order: IndexArray, levels: tuple[int, int], positions: tuple[int, int]
) -> None:
    """Order the rows of some nodes of level ``levels[0]`` down to the leaves at ``levels[1]``."""
    n = len(order)
    for level in range(levels[0], levels[1]):
        growth = level - levels[0]
        for position in range(positions[0] << growth, positions[1] << growth):
            start, stop = place(n, level, position), place(n, level, position + 1)
            rows = order[start:stop]
            column = _widest_column(X, rows)
            keys = np.empty(len(rows), X.dtype)
            for i in range(len(rows)):
                keys[i] = X[rows[i], column]
            _split(keys, rows, place(n, level + 1, 2 * position + 1) - start)


@inner()
def _enclose_leaf(tree: Tree, node: int, start: int, stop: int) -> None:
    """Box and classes of a leaf."""
    tree.low[node, :] = np.inf
    tree.high[node, :] = -np.inf
    tree.only_class[node] = tree.labels[start]
    for row in range(start, stop):
        for column in range(tree.rows.shape[1]):
            value = tree.rows[row, column]
            tree.low[node, column] = min(tree.low[node, column], value)
            tree.high[node, column] = max(tree.high[node, column], value)
        tree.classes[node] |= np.uint64(1) << np.uint64(tree.labels[row] % 64)
        if tree.labels[row] != tree.only_class[node]:
            tree.only_class[node] = _MIXED


@compiled
def enclose(tree: Tree, depth: int) -> None:
    """Boxes and classes of all nodes, from the leaves up."""
    n, n_leaves = len(tree.numbers), 1 << depth
    for leaf in range(n_leaves):
        _enclose_leaf(tree, n_leaves - 1 + leaf, place(n, depth, leaf), place(n, depth, leaf + 1))
    for node in range(n_leaves - 2, -1, -1):
        left, right = 2 * node + 1, 2 * node + 2
        for column in range(tree.rows.shape[1]):
            tree.low[node, column] = min(tree.low[left, column], tree.low[right, column])
            tree.high[node, column] = max(tree.high[left, column], tree.high[right, column])
        tree.classes[node] = tree.classes[left] | tree.classes[right]
        same = tree.only_class[left] == tree.only_class[right]
        tree.only_class[node] = tree.only_class[left] if same else _MIXED


# Below, arrays are passed one by one: a tuple of arrays costs reference counts in every call,
# which took longer than the arithmetic.


@inner()
def _box_distance(low: FloatArray, high: FloatArray, node: int, query: FloatArray) -> float:
    """Squared distance from a row to a box, summed like the distance between rows."""
    total = 0.0
    for column in range(query.shape[0]):
        value = query[column]
        gap = max(low[node, column] - value, value - high[node, column], 0.0)
        total += gap * gap
    return total


@inner()
def _row_distance(rows: FloatArray, row: int, query: FloatArray) -> float:
    """Squared distance between rows, from the first column to the last."""
    total = 0.0
    for column in range(query.shape[0]):
        difference = query[column] - rows[row, column]
        total += difference * difference
    return total


@inner()
def _keep(nearest: Nearest, i: int, distance: float, number: int) -> None:
    """Insert a row into a list; its limit is the distance of its last row."""
    insert(nearest.squared_distances[i], nearest.numbers[i], distance, number)
    nearest.limits[i] = nearest.squared_distances[i, -1]


@compiled
def descend(tree: Tree, anchors: IndexArray, same: Nearest, other: Nearest) -> int:
    """Fill both lists of the anchors, given as places in the tree.

    The nearer child is visited first.  Returns the number of boxes and rows looked at.
    """
    rows, labels, numbers, low, high, only_class, classes = tree
    n, n_inner = len(numbers), len(only_class) // 2
    nodes, distances = np.empty(128, np.intp), np.empty(128)
    looked = 0
    for i in range(len(anchors)):
        query, own = rows[anchors[i]], labels[anchors[i]]
        own_bit = np.uint64(own % 64)
        nodes[0], distances[0], height = 0, 0.0, 1
        while height > 0:
            height -= 1
            node, distance = nodes[height], distances[height]
            may_hold_same = (classes[node] >> own_bit) & np.uint64(1) != 0
            if not (may_hold_same and distance <= same.limits[i]) and not (
                only_class[node] != own and distance <= other.limits[i]
            ):
                continue
            if node < n_inner:
                left = _box_distance(low, high, 2 * node + 1, query)
                right = _box_distance(low, high, 2 * node + 2, query)
                left_is_next = int(left <= right)
                nodes[height + left_is_next] = 2 * node + 1
                distances[height + left_is_next] = left
                nodes[height + 1 - left_is_next] = 2 * node + 2
                distances[height + 1 - left_is_next] = right
                height += 2
                looked += 2
                continue
            leaf = node - n_inner
            first, last = leaf * n // (n_inner + 1), (leaf + 1) * n // (n_inner + 1)
            looked += last - first
            for row in range(first, last):
                distance = _row_distance(rows, row, query)
                if labels[row] != own:
                    if distance <= other.limits[i]:
                        _keep(other, i, distance, numbers[row])
                elif distance <= same.limits[i] and row != anchors[i]:
                    _keep(same, i, distance, numbers[row])
    return looked
