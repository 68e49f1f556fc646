"""A k-d tree whose nodes know their classes, so that one descent fills both lists.

The tree is balanced and implicit: the children of node i are 2 i + 1 and 2 i + 2, and node p of
level l owns places p n / 2^l to (p + 1) n / 2^l of ``order``. A node is left out only if its box
is farther than the list's last sample. The box distance sums per-feature gaps in the order in
which distances are summed; rounding is monotone, so it never exceeds the summed distance of a
sample inside, and ties across boxes are all seen.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc

from .kernels cimport cal_box_distance, cal_sequential_distance
from .neighbors cimport insert

ctypedef fused real:
    float
    double

cdef Py_ssize_t MIXED = -1
cdef Py_ssize_t SAMPLE = 128  # samples of a node looked at to choose the feature that is split


cdef inline Py_ssize_t place(Py_ssize_t n, Py_ssize_t level, Py_ssize_t position) noexcept nogil:
    """First place of a node, also the end of the node before it."""
    return (position * n) >> level


cdef Py_ssize_t widest_feature(const real[:, :] X, const Py_ssize_t *order,
                               Py_ssize_t n) noexcept nogil:
    """Feature with the largest range over an even sample."""
    cdef Py_ssize_t step = max(1, n // SAMPLE), feature, widest = 0, i
    cdef real low, high, value, largest = -1.0
    for feature in range(X.shape[1]):
        low = high = X[order[0], feature]
        i = 0
        while i < n:
            value = X[order[i], feature]
            low, high = min(low, value), max(high, value)
            i += step
        if high - low > largest:
            widest, largest = feature, high - low
    return widest


cdef void partition(real *keys, Py_ssize_t *order, Py_ssize_t n, Py_ssize_t middle) noexcept nogil:
    """Reorder so that no key before ``middle`` exceeds one from it on (Hoare)."""
    cdef Py_ssize_t first = 0, last = n - 1, i, j
    cdef real pivot
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
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            last = j
        elif middle >= i:
            first = i
        else:
            return


def split(const real[:, :] X, Py_ssize_t[::1] order, levels, positions):
    """Order the samples of some nodes of level ``levels[0]`` down to the leaves at ``levels[1]``."""
    cdef Py_ssize_t n = order.shape[0], level, start, stop, i, feature
    cdef Py_ssize_t top = levels[0], depth = levels[1]
    cdef Py_ssize_t left = positions[0], right = positions[1], position
    cdef real *keys
    if X.shape[1] == 0:
        return
    with nogil:
        keys = <real *>malloc(max(1, n) * sizeof(real))
        for level in range(top, depth):
            for position in range(left << (level - top), right << (level - top)):
                start, stop = place(n, level, position), place(n, level, position + 1)
                feature = widest_feature(X, &order[start], stop - start)
                for i in range(start, stop):
                    keys[i - start] = X[order[i], feature]
                partition(keys, &order[start], stop - start,
                          place(n, level + 1, 2 * position + 1) - start)
        free(keys)


cdef class Tree:
    """Samples leaf after leaf, their classes and indices in X, and the nodes above them.

    The samples are a copy, which makes a descent four times as fast as samples fetched from X.
    ``only_class`` is that of a node with samples of one class, else -1; bit c of ``classes`` is
    set if a sample has a class congruent to c mod 64.
    """

    cdef readonly object samples, labels, indices
    cdef readonly Py_ssize_t n, d, n_leaves
    cdef double[:, ::1] rows, low, high
    cdef Py_ssize_t[::1] _labels, _indices, only_class
    cdef uint64_t[::1] classes

    def __init__(self, samples, labels, indices, Py_ssize_t depth):
        self.n, self.d = samples.shape
        self.n_leaves = 1 << depth
        self.samples, self.labels, self.indices = samples, labels, indices
        self.rows, self._labels, self._indices = samples, labels, indices
        n_nodes = 2 * self.n_leaves - 1
        self.low, self.high = np.empty((n_nodes, self.d)), np.empty((n_nodes, self.d))
        self.only_class = np.empty(n_nodes, dtype=np.intp)
        self.classes = np.zeros(n_nodes, dtype=np.uint64)
        with nogil:
            self.enclose()

    cdef void enclose(self) noexcept nogil:
        """Boxes and classes of all nodes, from the leaves up."""
        cdef Py_ssize_t leaf, node, left, right, a, first = self.n_leaves - 1
        for leaf in range(self.n_leaves):
            self.enclose_leaf(first + leaf, leaf * self.n // self.n_leaves,
                              (leaf + 1) * self.n // self.n_leaves)
        for node in range(first - 1, -1, -1):
            left, right = 2 * node + 1, 2 * node + 2
            for a in range(self.d):
                self.low[node, a] = min(self.low[left, a], self.low[right, a])
                self.high[node, a] = max(self.high[left, a], self.high[right, a])
            self.classes[node] = self.classes[left] | self.classes[right]
            self.only_class[node] = MIXED
            if self.only_class[left] == self.only_class[right]:
                self.only_class[node] = self.only_class[left]

    cdef void enclose_leaf(self, Py_ssize_t node, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
        cdef Py_ssize_t row, a
        cdef double value
        for a in range(self.d):
            self.low[node, a], self.high[node, a] = INFINITY, -INFINITY
        self.only_class[node] = self._labels[start]
        for row in range(start, stop):
            for a in range(self.d):
                value = self.rows[row, a]
                self.low[node, a] = min(self.low[node, a], value)
                self.high[node, a] = max(self.high[node, a], value)
            self.classes[node] |= <uint64_t>1 << <uint64_t>(self._labels[row] % 64)
            if self._labels[row] != self.only_class[node]:
                self.only_class[node] = MIXED

    def descend(self, const Py_ssize_t[::1] places, Py_ssize_t n_same, Py_ssize_t n_other):
        """Both lists of the samples at some places, and the number of boxes and samples evaluated."""
        m = len(places)
        same = np.full((m, n_same), -1, dtype=np.intp)
        other = np.full((m, n_other), -1, dtype=np.intp)
        cdef Py_ssize_t[:, ::1] s = same, o = other
        cdef double[::1] distances = np.empty(n_same + n_other + 1)
        cdef Py_ssize_t i, k, evaluated = 0
        cdef double *to_same = &distances[0]
        cdef double *to_other = &distances[n_same]
        with nogil:
            for i in range(places.shape[0]):
                for k in range(n_same + n_other):
                    distances[k] = INFINITY
                evaluated += self.descend_one(
                    places[i], &s[i, 0], to_same, n_same, &o[i, 0], to_other, n_other,
                )
        return same, other, evaluated

    cdef Py_ssize_t descend_one(self, Py_ssize_t anchor, Py_ssize_t *same, double *to_same,
                                Py_ssize_t n_same, Py_ssize_t *other, double *to_other,
                                Py_ssize_t n_other) noexcept nogil:
        """Fill the lists of one sample; the nearer child is visited first."""
        cdef Py_ssize_t nodes[128]
        cdef double distances[128]
        cdef Py_ssize_t node, leaf, row, first, last, height = 1, evaluated = 0, nearer, d = self.d
        cdef Py_ssize_t n_inner = self.n_leaves - 1, own = self._labels[anchor]
        cdef const double *query = &self.rows[anchor, 0]
        cdef double distance, left, right
        cdef double same_limit = INFINITY if n_same > 0 else -INFINITY
        cdef double other_limit = INFINITY if n_other > 0 else -INFINITY
        nodes[0], distances[0] = 0, 0.0
        while height > 0:
            height -= 1
            node, distance = nodes[height], distances[height]
            if not ((self.classes[node] >> <uint64_t>(own % 64)) & 1 and distance <= same_limit):
                if not (self.only_class[node] != own and distance <= other_limit):
                    continue
            if node < n_inner:
                left = cal_box_distance(&self.low[2 * node + 1, 0], &self.high[2 * node + 1, 0],
                                        query, d)
                right = cal_box_distance(&self.low[2 * node + 2, 0], &self.high[2 * node + 2, 0],
                                         query, d)
                nearer = 1 if left <= right else 0
                nodes[height + nearer], distances[height + nearer] = 2 * node + 1, left
                nodes[height + 1 - nearer], distances[height + 1 - nearer] = 2 * node + 2, right
                height += 2
                evaluated += 2
                continue
            leaf = node - n_inner
            first = leaf * self.n // self.n_leaves
            last = (leaf + 1) * self.n // self.n_leaves
            evaluated += last - first
            for row in range(first, last):
                distance = cal_sequential_distance(query, &self.rows[row, 0], d)
                if self._labels[row] != own:
                    if distance <= other_limit:
                        insert(to_other, other, n_other, distance, self._indices[row])
                        other_limit = to_other[n_other - 1]
                elif distance <= same_limit and row != anchor:
                    insert(to_same, same, n_same, distance, self._indices[row])
                    same_limit = to_same[n_same - 1]
        return evaluated
