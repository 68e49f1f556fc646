# Impostors: samples of another class that come too near, found and weighed.
#
# Samples are sorted by class throughout, so that those of a class are a range of columns.

cdef Py_ssize_t COORDINATES_AT_ONCE = 32  # coordinates summed before comparing with the limit


def columns_below(const float[:, ::1] bounds, const float[::1] limits,
                  const Py_ssize_t[:, :] own):
    """Columns outside ``own[i, 0] .. own[i, 1]`` whose bound in row i is below its limit.

    Returns where the columns of each row start, and the columns.
    """
    cdef Py_ssize_t m = bounds.shape[0], n = bounds.shape[1], i = 0, at = 0
    starts = np.zeros(m + 1, dtype=np.intp)
    found = np.empty(m * n // 16 + n, dtype=np.intc)
    cdef Py_ssize_t[::1] begins = starts
    cdef int[::1] columns = found
    while i < m:
        with nogil:
            while i < m and at + n <= columns.shape[0]:
                at += cal_columns_below(&bounds[i, 0], 0, own[i, 0], limits[i], &columns[0] + at)
                if own[i, 1] < n:
                    at += cal_columns_below(&bounds[i, 0], own[i, 1], n, limits[i],
                                            &columns[0] + at)
                i += 1
                begins[i] = at
        if i < m:
            found = np.concatenate([found[:at], np.empty(2 * len(found) - at, dtype=np.intc)])
            columns = found
    return starts, found[:at].copy()


cdef double squared_distance_below(const double *a, const double *b, Py_ssize_t d,
                                   double limit) noexcept nogil:
    """``|a - b|^2``, or a part of it that is not below the limit."""
    cdef Py_ssize_t first = 0, size
    cdef double total = 0.0
    while first < d and total < limit:
        size = min(COORDINATES_AT_ONCE, d - first)
        total += cal_squared_distance(a + first, b + first, size)
        first += size
    return total


def measure_targets(const double[:, ::1] Z, const Py_ssize_t[:, ::1] targets, Py_ssize_t first,
                    double[:, ::1] radii):
    """Write ``1 + |z_i - z_j|^2`` for the targets j of samples ``first, ...``; 0 for none."""
    cdef Py_ssize_t i, t, j, d = Z.shape[1]
    with nogil:
        for i in range(radii.shape[0]):
            for t in range(targets.shape[1]):
                j = targets[first + i, t]
                radii[i, t] = 0.0
                if j >= 0:
                    radii[i, t] = 1.0 + cal_squared_distance(&Z[first + i, 0], &Z[j, 0], d)


def weigh(const double[:, ::1] X, const double[:, ::1] Z, const double[::1] weights,
          const Py_ssize_t[:, ::1] targets, const double[:, ::1] radii, Py_ssize_t first,
          const Py_ssize_t[::1] starts, const int[::1] columns, double[:, ::1] mixed,
          double[::1] counts):
    """Push of the anchors ``first, ...`` that have lists, and what its gradient needs.

    Z is the image of X in which distances are taken. A triplet counts by the weights of its anchor
    and its impostor. With n_ij the violated triplets of anchor i in which j is the target and n_il
    those in which l is the impostor, row i of ``mixed`` becomes
    ``sum_j n_ij x_j - sum_l n_il x_l``,
    ``counts[j]`` grows by n_ij, ``counts[l]`` falls by n_il.

    Returns the sum of hinges and the number of violated triplets.
    """
    cdef Py_ssize_t k = targets.shape[1], d = X.shape[1], row, i, at, far, t, n_violated, target
    cdef Py_ssize_t n_active = 0
    cdef double push = 0.0, widest, squared, weight
    cdef double[::1] violated = np.empty(k)
    with nogil:
        for row in range(starts.shape[0] - 1):
            i = first + row
            memset(&mixed[i, 0], 0, d * sizeof(double))
            widest = 0.0
            for t in range(k):
                violated[t] = 0.0
                widest = max(widest, radii[i, t])
            for at in range(starts[row], starts[row + 1]):
                far = columns[at]
                squared = squared_distance_below(&Z[i, 0], &Z[far, 0], Z.shape[1], widest)
                if squared >= widest:
                    continue
                n_violated = 0
                weight = weights[i] * weights[far]
                for t in range(k):
                    if squared < radii[i, t]:
                        push += weight * (radii[i, t] - squared)
                        violated[t] += weight
                        n_violated += 1
                n_active += n_violated
                counts[far] -= weight * n_violated
                cal_add(&mixed[i, 0], -weight * n_violated, &X[far, 0], d)
            for t in range(k):
                if violated[t] > 0.0:
                    target = targets[i, t]
                    counts[target] += violated[t]
                    cal_add(&mixed[i, 0], violated[t], &X[target, 0], d)
    return push, n_active
