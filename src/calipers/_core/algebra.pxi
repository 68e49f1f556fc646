# Differences, margins and low-rank updates: the arithmetic of the loop.
#
# With all-pairs triplets, k positives and k negatives of an anchor give k near and k far
# differences, which make k * k triplets: every far one with every near one, near by near.
#
# Nothing here is told how many threads there are, or sums in an order that depends on it.

cdef Py_ssize_t MANY = 40  # outer products from which on BLAS adds them sooner
cdef Py_ssize_t FEW_ROWS = 16  # rows that plain loops multiply sooner


cdef class Samples:
    """Samples X of shape (n, d) as compiled code reads them: float64, or float32 as it is."""

    cdef readonly object X
    cdef readonly Py_ssize_t n, d
    cdef const double *_double
    cdef const float *_float

    def __init__(self, X):
        dtype = np.float32 if np.asarray(X).dtype == np.float32 else np.float64
        self.X = np.ascontiguousarray(X, dtype=dtype)
        self.n, self.d = self.X.shape
        self._double, self._float = NULL, NULL
        cdef const double[:, ::1] as_double
        cdef const float[:, ::1] as_float
        if self.n == 0 or self.d == 0:
            return
        if dtype is np.float32:
            as_float = self.X
            self._float = &as_float[0, 0]
        else:
            as_double = self.X
            self._double = &as_double[0, 0]

    cdef void difference(self, Py_ssize_t i, Py_ssize_t j, double *out) noexcept nogil:
        """``out = x_i - x_j``."""
        cdef Py_ssize_t d = self.d
        if self._float != NULL:
            cal_subtract_float(self._float + i * d, self._float + j * d, out, d)
        else:
            cal_subtract(self._double + i * d, self._double + j * d, out, d)

    cdef void sample(self, Py_ssize_t i, double *out) noexcept nogil:
        """``out = x_i``."""
        cdef Py_ssize_t d = self.d, a
        if self._float == NULL:
            memcpy(out, self._double + i * d, d * sizeof(double))
            return
        for a in range(d):
            out[a] = self._float[i * d + a]


cdef void gather(Samples X, const Py_ssize_t *triplets, Py_ssize_t n, double *far,
                 double *near) noexcept nogil:
    """Differences of triplets' anchors to their negatives, and to their positives."""
    if X._float != NULL:
        cal_gather_float(X._float, triplets, n, X.d, far, near)
    else:
        cal_gather(X._double, triplets, n, X.d, far, near)


cdef void clip(double *far, double *near, Py_ssize_t n, Py_ssize_t d, Py_ssize_t k,
               double clip_norm) noexcept nogil:
    """Scale all differences of an anchor so that the rms norm of its k far ones is <= clip_norm."""
    cdef Py_ssize_t anchor, first
    cdef double squared, factor
    if clip_norm == INFINITY:
        return
    for anchor in range(n // k):
        first = anchor * k
        squared = cal_dot(far + first * d, far + first * d, k * d)
        if squared <= k * clip_norm * clip_norm:
            continue
        factor = clip_norm / sqrt(squared / k)
        cal_scale(far + first * d, factor, k * d)
        cal_scale(near + first * d, factor, k * d)


cdef inline Py_ssize_t triplet(Py_ssize_t f, Py_ssize_t nth, Py_ssize_t k) noexcept nogil:
    """The triplet that far difference f makes with the nth near one of its anchor."""
    return (f // k * k + nth) * k + f % k


cdef void multiply(const double *rows, const double *M, Py_ssize_t n, Py_ssize_t d,
                   double *product) noexcept nogil:
    """``product = rows @ M``."""
    cdef int n_features = <int>d, n_rows = <int>n
    cdef double one = 1.0, zero = 0.0
    if n <= FEW_ROWS:
        cal_multiply(rows, M, n, d, product)
        return
    dgemm(b"N", b"N", &n_features, &n_rows, &n_features, &one, <double *>M, &n_features,
          <double *>rows, &n_features, &zero, product, &n_features)


cdef void margins(const double *M, const double *far, const double *near, Py_ssize_t n,
                  Py_ssize_t d, Py_ssize_t k, double *gaps, double *product,
                  double *out) noexcept nogil:
    """``far' M far - near' M near`` for every triplet, M being symmetric.

    Where a triplet has differences of its own, that is ``(far - near)' M (far + near)``: one
    product with M. ``gaps`` and ``product`` are workspace for as many rows.
    """
    cdef Py_ssize_t f, s, anchor
    cdef double near2
    if k == 1:
        cal_subtract(far, near, gaps, n * d)
        multiply(gaps, M, n, d, product)
        cal_margins(product, far, near, n, d, out)
    else:
        multiply(far, M, n, d, product)
        for f in range(n):
            out[triplet(f, 0, k)] = cal_dot(product + f * d, far + f * d, d)
        multiply(near, M, n, d, product)
        for s in range(n - 1, -1, -1):  # backwards: what the first near one overwrites is read last
            near2, anchor = cal_dot(product + s * d, near + s * d, d), s // k * k
            for f in range(anchor, anchor + k):
                out[triplet(f, s % k, k)] = out[triplet(f, 0, k)] - near2


cdef double add_outer_products(double *M, Py_ssize_t d, const double *vectors,
                               const double *signs, Py_ssize_t rank) noexcept nogil:
    """``M += sum(sign * v v')``; returns ``sum(M**2)``.

    For signs +1 and -1 it stays symmetric to the last bit.
    """
    cdef int n_features = <int>d, count
    cdef double one = 1.0, sign
    cdef Py_ssize_t first = 0, i
    if rank < MANY:
        cal_add_outer_products(M, d, vectors, signs, rank)
        return cal_dot(M, M, d * d)
    for i in range(rank):  # as many at a time as have one sign; the lower triangle by columns
        if i + 1 == rank or signs[i + 1] != signs[i]:
            count, sign = <int>(i + 1 - first), signs[i]
            dsyrk(b"L", b"N", &n_features, &count, &sign, <double *>vectors + first * d,
                  &n_features, &one, M, &n_features)
            first = i + 1
    cal_mirror(M, d)  # is the upper one by rows
    return cal_dot(M, M, d * d)


# The same for arrays


def _update_margins(const double[:, ::1] far, const double[:, ::1] near,
                    const double[:, ::1] vectors, const double[::1] signs, double[::1] out):
    """Follow a low-rank update in margins."""
    cal_update_margins(&far[0, 0], &near[0, 0], far.shape[0], far.shape[1], &vectors[0, 0],
                       &signs[0], vectors.shape[0], &out[0])


def _add_outer_products(double[:, ::1] M, const double[:, ::1] vectors, const double[::1] signs):
    """``M += sum(sign * v v')``; returns ``sum(M**2)``."""
    return add_outer_products(&M[0, 0], M.shape[0], &vectors[0, 0], &signs[0], vectors.shape[0])
