"""Keep the nearest samples of both lists while products stream past.

Every candidate's distance is summed from its differences, feature by feature, so that equal
pairs of samples tie to the last bit; products only say which need not be evaluated.
"""

import numpy as np

from libc.math cimport fabs, isfinite

from .kernels cimport cal_count_within, cal_count_within_double, cal_sequential_distance

ctypedef fused real:
    float
    double

cdef Py_ssize_t CHUNK = 64  # samples compared with the limit at once, a few vector registers


cdef bint insert(double *distances, Py_ssize_t *indices, Py_ssize_t size, double distance,
                 Py_ssize_t index) noexcept nogil:
    """Put a sample in its place by (distance, index) if it belongs to the list."""
    cdef Py_ssize_t place = size, moved
    while place > 0 and (
        indices[place - 1] < 0
        or distance < distances[place - 1]
        or (distance == distances[place - 1] and index < indices[place - 1])
    ):
        place -= 1
    if place == size:
        return False
    for moved in range(size - 1, place, -1):
        distances[moved] = distances[moved - 1]
        indices[moved] = indices[moved - 1]
    distances[place] = distance
    indices[place] = index
    return True


cdef struct Bound:
    double squared_scale  # of the products' frame
    double distance_slack  # relative error of a summed distance
    double rounding  # of the products' type
    double underflow


cdef struct Nearest:
    double *distances
    Py_ssize_t *indices
    double *limits  # the score above which none enters
    Py_ssize_t size


cdef void set_limit(Nearest nearest, Py_ssize_t anchor, double squared_norm,
                    Bound bound) noexcept nogil:
    """Lower the limit of a full list; samples above it are surely farther than its last."""
    cdef Py_ssize_t at = (anchor + 1) * nearest.size - 1
    cdef double limit
    if nearest.indices[at] < 0 or not isfinite(squared_norm):
        return
    limit = nearest.distances[at] * bound.squared_scale * (1.0 + bound.distance_slack)
    limit += bound.underflow - squared_norm
    nearest.limits[anchor] = limit + fabs(limit) * bound.rounding


cdef class Lists:
    """The running list of each anchor, nearest first.

    Parameters
    ----------
    n_anchors, size : int
        A list has ``size`` samples; index -1 and an infinite distance where there is none yet.
    """

    cdef readonly object squared_distances, indices, limits
    cdef double[:, ::1] _distances
    cdef Py_ssize_t[:, ::1] _indices
    cdef double[::1] _limits

    def __init__(self, Py_ssize_t n_anchors, Py_ssize_t size):
        self.squared_distances = np.full((n_anchors, size), np.inf)
        self.indices = np.full((n_anchors, size), -1, dtype=np.intp)
        self.limits = np.full(n_anchors, np.inf)
        self._distances, self._indices = self.squared_distances, self.indices
        self._limits = self.limits

    cdef Nearest nearest(self) noexcept nogil:
        if self._indices.shape[0] == 0 or self._indices.shape[1] == 0:
            return Nearest(NULL, NULL, NULL, 0)
        return Nearest(&self._distances[0, 0], &self._indices[0, 0], &self._limits[0],
                       self._indices.shape[1])


cdef class Frame:
    """How products of one type turn squared distances into limits on scores."""

    cdef Bound bound

    def __init__(self, double squared_scale, double distance_slack, double rounding,
                 double underflow):
        self.bound = Bound(squared_scale, distance_slack, rounding, underflow)


def set_limits(Lists lists, const double[::1] squared_norms, Frame frame):
    """Limits for another type of products; ``squared_norms`` are those of the anchors."""
    cdef Py_ssize_t anchor
    cdef Nearest nearest = lists.nearest()
    lists.limits.fill(np.inf)
    if nearest.size > 0:
        for anchor in range(squared_norms.shape[0]):
            set_limit(nearest, anchor, squared_norms[anchor], frame.bound)


def offer(real[:, ::1] products, Py_ssize_t first, anchors, tile, Lists same, Lists other,
          Frame frame):
    """Offer a tile of samples to the lists of anchors ``first, ...``: the number of sums.

    ``products[i]`` are -2 times those of anchor ``first + i`` with the samples of the tile.
    ``anchors`` is (samples, indices, squared norms, first and last column of the own class),
    ``tile``, in class order, (samples, indices, squared norms).
    """
    cdef const double[:, ::1] queries = anchors[0], samples = tile[0]
    cdef const Py_ssize_t[:] own = anchors[1], begins = anchors[3], ends = anchors[4]
    cdef const Py_ssize_t[::1] indices = tile[1]
    cdef const double[::1] squared_norms = anchors[2]
    cdef const real[::1] norms = tile[2]
    cdef Nearest near = same.nearest(), far = other.nearest()
    cdef Py_ssize_t i, a, n = products.shape[1], d = queries.shape[1], summed = 0
    cdef Scan scan
    if n == 0 or products.shape[0] == 0:
        return 0
    with nogil:
        for i in range(products.shape[0]):
            a = first + i
            scan = Scan(a, own[a], &queries[a, 0], squared_norms[a],
                        &samples[0, 0], &indices[0], d, frame.bound)
            if near.size > 0:
                summed += offer_columns(&products[i, 0], &norms[0], begins[a], ends[a], scan, near)
            if far.size > 0:
                summed += offer_columns(&products[i, 0], &norms[0], 0, begins[a], scan, far)
                summed += offer_columns(&products[i, 0], &norms[0], ends[a], n, scan, far)
    return summed


cdef struct Scan:
    Py_ssize_t anchor
    Py_ssize_t own  # its index
    const double *query
    double squared_norm
    const double *samples  # of the tile
    const Py_ssize_t *indices
    Py_ssize_t d
    Bound bound


cdef Py_ssize_t offer_columns(const real *products, const real *norms, Py_ssize_t begin,
                              Py_ssize_t end, Scan scan, Nearest nearest) noexcept nogil:
    """Offer some columns of one anchor's products to its list; returns how many were summed."""
    cdef Py_ssize_t first = begin, last, column, summed = 0, at = scan.anchor * nearest.size
    cdef real limit = <real>nearest.limits[scan.anchor]
    cdef double distance
    while first < end:
        last = min(first + CHUNK, end)
        if real is float:
            if cal_count_within(products + first, norms + first, last - first, limit) == 0:
                first = last
                continue
        else:
            if cal_count_within_double(products + first, norms + first, last - first, limit) == 0:
                first = last
                continue
        for column in range(first, last):
            # what is not a number is summed
            if norms[column] + products[column] > limit or scan.indices[column] == scan.own:
                continue
            summed += 1
            distance = cal_sequential_distance(
                scan.query, scan.samples + column * scan.d, scan.d
            )
            if insert(nearest.distances + at, nearest.indices + at, nearest.size, distance,
                      scan.indices[column]):
                set_limit(nearest, scan.anchor, scan.squared_norm, scan.bound)
                limit = <real>nearest.limits[scan.anchor]
        first = last
    return summed
