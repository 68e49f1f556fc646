# The nearest samples of an anchor in its own class, and in the others: two lists, kept while
# products stream past, or found in a k-d tree.
#
# Every candidate's distance is summed from its differences, feature by feature, so that equal
# pairs of samples tie to the last bit; products and boxes only say which need not be evaluated.

ctypedef fused real:
    float
    double

cdef Py_ssize_t COLUMNS_AT_ONCE = 64  # compared with the limit: a few vector registers


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


def set_limits(Lists lists, const double[::1] squared_norms, Bound bound):
    """Limits for another type of products; ``squared_norms`` are those of the anchors."""
    cdef Py_ssize_t anchor
    cdef Nearest nearest = lists.nearest()
    lists.limits.fill(np.inf)
    if nearest.size > 0:
        for anchor in range(squared_norms.shape[0]):
            set_limit(nearest, anchor, squared_norms[anchor], bound)


cdef struct Scan:
    Py_ssize_t anchor
    Py_ssize_t own  # its index
    const double *query
    double squared_norm
    const double *samples  # of the tile
    const Py_ssize_t *indices
    Py_ssize_t d
    Bound bound


def offer_tile(real[:, ::1] products, Py_ssize_t first, anchors, tile, Lists same, Lists other,
               Bound bound):
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
                        &samples[0, 0], &indices[0], d, bound)
            if near.size > 0:
                summed += offer_columns(&products[i, 0], &norms[0], begins[a], ends[a], scan, near)
            if far.size > 0:
                summed += offer_columns(&products[i, 0], &norms[0], 0, begins[a], scan, far)
                summed += offer_columns(&products[i, 0], &norms[0], ends[a], n, scan, far)
    return summed


cdef Py_ssize_t offer_columns(const real *products, const real *norms, Py_ssize_t begin,
                              Py_ssize_t end, Scan scan, Nearest nearest) noexcept nogil:
    """Offer some columns of one anchor's products to its list; returns how many were summed."""
    cdef Py_ssize_t first = begin, last, column, summed = 0, at = scan.anchor * nearest.size
    cdef real limit = <real>nearest.limits[scan.anchor]
    cdef double distance
    while first < end:
        last = min(first + COLUMNS_AT_ONCE, end)
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


cdef class Tree:
    """Samples leaf after leaf, their classes and indices in X, and the nodes above them.

    The tree is balanced and implicit: the children of node i are 2 i + 1 and 2 i + 2. A node is
    left out only if its box is farther than the list's last sample. The box distance sums gaps of
    features in the order in which distances are summed; rounding is monotone, so it never exceeds
    the summed distance of a sample inside, and ties across boxes are all seen.

    Parameters
    ----------
    samples : array of shape (n, d)
        A copy, which makes a descent four times as fast as samples fetched from X.
    labels, indices : array of shape (n,)
        Their classes, and where they are in X.
    bounds : array of shape (n_leaves + 1,)
        Leaf i holds the samples ``bounds[i]`` to ``bounds[i + 1]``.
    low, high : array of shape (n_nodes, d)
        The box of each node, the root first.
    only_class : array of shape (n_nodes,)
        The class of a node with samples of one class, else -1.
    classes : array of shape (n_nodes,)
        Bit c is set if a sample of the node has a class congruent to c mod 64.
    """

    cdef readonly object indices
    cdef Py_ssize_t d
    cdef const double[:, ::1] rows, low, high
    cdef const Py_ssize_t[::1] labels, _indices, bounds, only_class
    cdef const uint64_t[::1] classes

    def __init__(self, samples, labels, indices, bounds, low, high, only_class, classes):
        self.d, self.bounds = samples.shape[1], bounds
        self.rows, self.labels, self.indices, self._indices = samples, labels, indices, indices
        self.low, self.high, self.only_class, self.classes = low, high, only_class, classes

    def descend(self, const Py_ssize_t[::1] places, Py_ssize_t n_same, Py_ssize_t n_other):
        """Both lists of the samples at some places; how many boxes and samples were evaluated."""
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
        cdef Py_ssize_t n_inner = self.bounds.shape[0] - 2, own = self.labels[anchor]
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
            first, last = self.bounds[leaf], self.bounds[leaf + 1]
            evaluated += last - first
            for row in range(first, last):
                distance = cal_sequential_distance(query, &self.rows[row, 0], d)
                if self.labels[row] != own:
                    if distance <= other_limit:
                        insert(to_other, other, n_other, distance, self._indices[row])
                        other_limit = to_other[n_other - 1]
                elif distance <= same_limit and row != anchor:
                    insert(to_same, same, n_same, distance, self._indices[row])
                    same_limit = to_same[n_same - 1]
        return evaluated
