# The nearest samples of an anchor in its own class, and in the others: two lists, kept while
# products stream past.
#
# Every candidate's distance is summed from its differences, feature by feature, so that equal
# pairs of samples tie to the last bit; products only say which need not be evaluated.

ctypedef fused real:
    float
    double


cdef class Lists:
    """The running list of each anchor, nearest first.

    Parameters
    ----------
    n_anchors, size : int
        A list has ``size`` samples; index -1 and an infinite distance where there is none yet.
    """

    cdef readonly object squared_distances, indices
    cdef double[:, ::1] _distances
    cdef Py_ssize_t[:, ::1] _indices
    cdef double[::1] limits, norms
    cdef double rounding, underflow, slack
    cdef Py_ssize_t size

    def __init__(self, n_anchors, Py_ssize_t size):
        self.size = size
        self.squared_distances = np.full((n_anchors, size), np.inf)
        self.indices = np.full((n_anchors, size), -1, dtype=np.intp)
        self._distances, self._indices = self.squared_distances, self.indices
        self.limits = np.empty(n_anchors)

    def set_limits(self, norms, double rounding, double underflow, Py_ssize_t d):
        """Limits for another type of products; ``norms`` are the squared ones of the anchors."""
        cdef Py_ssize_t anchor
        self.norms, self.rounding, self.underflow = norms, rounding, underflow
        self.slack = (d + 8) * np.finfo(float).eps  # of a summed distance
        for anchor in range(self.limits.shape[0]):
            self.limits[anchor] = INFINITY
            self.set_limit(anchor)

    cdef void set_limit(self, Py_ssize_t anchor) noexcept nogil:
        """Lower the limit of a full list; samples above it are surely farther than its last."""
        cdef double limit
        if self.size == 0 or self._indices[anchor, self.size - 1] < 0:
            return
        if isfinite(self.norms[anchor]):
            limit = self._distances[anchor, self.size - 1] * (1.0 + self.slack)
            limit += self.underflow - self.norms[anchor]
            self.limits[anchor] = limit + fabs(limit) * self.rounding

    cdef bint insert(self, Py_ssize_t anchor, double distance, Py_ssize_t index) noexcept nogil:
        """Put a sample in its place by (distance, index) if it belongs to the list."""
        cdef Py_ssize_t place = self.size, moved
        cdef double *distances = &self._distances[anchor, 0]
        cdef Py_ssize_t *indices = &self._indices[anchor, 0]
        while place > 0 and (
            indices[place - 1] < 0
            or distance < distances[place - 1]
            or (distance == distances[place - 1] and index < indices[place - 1])
        ):
            place -= 1
        if place == self.size:
            return False
        for moved in range(self.size - 1, place, -1):
            distances[moved] = distances[moved - 1]
            indices[moved] = indices[moved - 1]
        distances[place] = distance
        indices[place] = index
        return True


cdef struct Scan:
    Py_ssize_t anchor
    Py_ssize_t own  # its index
    const double *query
    const double *samples  # of the tile
    const Py_ssize_t *indices
    Py_ssize_t d


def offer_tile(real[:, ::1] products, Py_ssize_t first, anchors, tile, Lists same, Lists other):
    """Offer a tile of samples to the lists of anchors ``first, ...``: the number of sums.

    ``products[i]`` are -2 times those of anchor ``first + i`` with the samples of the tile.
    ``anchors`` is (samples, indices, first and last column of the own class), ``tile``, in class
    order, (samples, indices, squared norms).
    """
    cdef const double[:, ::1] queries = anchors[0], samples = tile[0]
    cdef const Py_ssize_t[:] own = anchors[1], begins = anchors[2], ends = anchors[3]
    cdef const Py_ssize_t[::1] indices = tile[1]
    cdef const real[::1] norms = tile[2]
    cdef Py_ssize_t i, a, n = products.shape[1], d = queries.shape[1], summed = 0
    cdef const real *row
    cdef Scan scan
    with nogil:
        for i in range(products.shape[0]):
            a, row = first + i, &products[i, 0]
            scan = Scan(a, own[a], &queries[a, 0], &samples[0, 0], &indices[0], d)
            summed += offer_columns(row, &norms[0], begins[a], ends[a], scan, same)
            summed += offer_columns(row, &norms[0], 0, begins[a], scan, other)
            summed += offer_columns(row, &norms[0], ends[a], n, scan, other)
    return summed


cdef Py_ssize_t offer_columns(const real *products, const real *norms, Py_ssize_t begin,
                              Py_ssize_t end, Scan scan, Lists lists) noexcept nogil:
    """Offer some columns of one anchor's products to its list; returns how many were summed."""
    cdef Py_ssize_t first, last, column, summed = 0
    cdef real limit = <real>lists.limits[scan.anchor]
    cdef double distance
    if lists.size == 0:
        return 0
    for first in range(begin, end, 64):  # a few vector registers are compared with the limit
        last = min(first + 64, end)
        if real is float:
            if cal_count_within(products + first, norms + first, last - first, limit) == 0:
                continue
        for column in range(first, last):
            # what is not a number is summed
            if norms[column] + products[column] > limit or scan.indices[column] == scan.own:
                continue
            summed += 1
            distance = cal_sequential_distance(
                scan.query, scan.samples + column * scan.d, scan.d
            )
            if lists.insert(scan.anchor, distance, scan.indices[column]):
                lists.set_limit(scan.anchor)
                limit = <real>lists.limits[scan.anchor]
    return summed
