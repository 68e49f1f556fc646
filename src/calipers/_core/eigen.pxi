# Negative eigenpairs of a symmetric matrix that has few, and none but those.
#
# Up to `SMALL` features the tridiagonal form of the matrix gives them. Beyond, the Lanczos process
# finds few of them sooner, and leaves the rest to the tridiagonal form, beyond `CACHED` features to
# dsyevr. What nearly meets dsyevr finds.

cdef double TINY = 1e-13  # eigenvalues above -TINY * norm count as zero
cdef double RESIDUAL = 1e-12  # a pair has converged when ||M q - value q|| <= RESIDUAL * norm
cdef double ORTHOGONAL = 1e-13  # inner product of two unit vectors that counts as 0
cdef double HOPELESS = 1e8  # a residual this many times too large by then takes too long
cdef Py_ssize_t SMALL = 96  # features up to which plain loops beat LAPACK and Lanczos
cdef Py_ssize_t CACHED = 256  # features up to which a matrix stays in the cache of a core
cdef Py_ssize_t MAX_STEPS = 90  # of Lanczos
cdef Py_ssize_t PATIENCE = 24  # steps after which what is worth finding has shown itself
cdef Py_ssize_t CHECK_EVERY = 3  # steps of Lanczos between checks of the residuals


cdef class EigenWorkspace:
    """Memory for matrices of d features."""

    cdef Py_ssize_t d
    cdef object _arrays
    cdef double *square
    cdef double *basis
    cdef double *start
    cdef double *alpha  # diagonal and subdiagonal of the tridiagonal matrix
    cdef double *ritz
    cdef double *work
    cdef int *integers

    def __init__(self, Py_ssize_t d):
        sizes = d * d, (min(d, MAX_STEPS) + 1) * d, d, 2 * d, 3 * d, 91 * d
        doubles = [np.zeros(size) for size in sizes]
        integers = np.zeros(12 * max(d, 2), dtype=np.intc)
        self.d, self._arrays = d, (doubles, integers)
        cdef double[::1] a
        cdef int[::1] i = integers
        cdef double *pointers[6]
        for k in range(6):
            a = doubles[k]
            pointers[k] = &a[0]
        self.square, self.basis, self.start = pointers[0], pointers[1], pointers[2]
        self.alpha, self.ritz, self.work = pointers[3], pointers[4], pointers[5]
        self.integers = &i[0]


cdef bint is_positive_definite(const double *M, double shift, EigenWorkspace w) noexcept nogil:
    """Whether ``M + shift * I`` is positive definite, by a Cholesky factorisation."""
    cdef Py_ssize_t i
    cdef int d = <int>w.d, info = 0
    memcpy(w.square, M, w.d * w.d * sizeof(double))
    for i in range(w.d):
        w.square[i * w.d + i] += shift
    dpotrf(b"L", &d, w.square, &d, &info)
    return info == 0 and w.square[w.d * w.d - 1] > 0.0  # a NaN passes unseen


cdef void times_vector(const double *M, Py_ssize_t d, double *x, double *out) noexcept nogil:
    """``out = M x`` for a symmetric M."""
    cdef int n = <int>d, unit = 1
    cdef double one = 1.0, zero = 0.0
    dsymv(b"L", &n, &one, <double *>M, &n, x, &unit, &zero, out, &unit)


cdef double orthogonalise(const double *basis, Py_ssize_t n, Py_ssize_t d, double *x,
                          double *work) noexcept nogil:
    """Make x orthogonal to n orthonormal vectors: its length.

    Where a pass takes away most of x rounding has put something back: then there is another.
    """
    cdef int rows = <int>n, columns = <int>d, unit = 1
    cdef double one = 1.0, minus = -1.0, zero = 0.0, before, after = cal_dot(x, x, d)
    for _ in range(3):
        before = after
        dgemv(b"T", &columns, &rows, &one, <double *>basis, &columns, x, &unit, &zero, work, &unit)
        dgemv(b"N", &columns, &rows, &minus, <double *>basis, &columns, work, &unit, &one, x,
              &unit)
        after = cal_dot(x, x, d)
        if after > 0.5 * before:
            break
    return sqrt(after)


cdef void ritz_vector(EigenWorkspace w, Py_ssize_t n, double *out) noexcept nogil:
    """The unit vector that is in the basis what ``w.ritz`` is in the coordinates of n steps."""
    cdef int rows = <int>n, columns = <int>w.d, unit = 1
    cdef double one = 1.0, zero = 0.0
    dgemv(b"N", &columns, &rows, &one, w.basis, &columns, w.ritz, &unit, &zero, out, &unit)
    cal_scale(out, 1.0 / sqrt(cal_dot(out, out, w.d)), w.d)


cdef double gershgorin(const double *alpha, const double *beta, Py_ssize_t n) noexcept nogil:
    """A number that no eigenvalue of the tridiagonal matrix lies below."""
    cdef double low = INFINITY, radius
    cdef Py_ssize_t i
    for i in range(n):
        radius = (fabs(beta[i - 1]) if i > 0 else 0.0) + (fabs(beta[i]) if i < n - 1 else 0.0)
        low = fmin(low, alpha[i] - radius)
    return low


cdef double ritz_pair(Py_ssize_t n, Py_ssize_t k, double below, double residual,
                      EigenWorkspace w, double *value) noexcept nogil:
    """Value and vector (``w.ritz``) of Ritz pair k after n steps.

    Returns its residual as a multiple of that of a converged one.
    """
    cdef double *beta = w.alpha + w.d
    value[0] = cal_tridiagonal_pair(w.alpha, beta, n, k, gershgorin(w.alpha, beta, n), below,
                                    0.01 * residual, w.ritz, w.ritz + w.d)
    return fabs(beta[n - 1] * w.ritz[n - 1]) / residual


cdef bint made_orthogonal(const double *values, double *vectors, Py_ssize_t k, Py_ssize_t d,
                          double residual, double *work) noexcept nogil:
    """Make vector k orthogonal to those before; False if that would be more than rounding.

    Vectors of values that differ by a gap overlap by rounding / gap. Where values nearly meet, one
    vector may have come out twice.
    """
    cdef double overlap, length, largest = 0.0
    cdef Py_ssize_t m
    for m in range(k):
        overlap = fabs(cal_dot(vectors + m * d, vectors + k * d, d))
        if not (overlap <= 0.1 and overlap * fabs(values[m] - values[k]) <= 0.1 * residual):
            return False
        largest = fmax(largest, overlap)
    if largest <= ORTHOGONAL:
        return True
    length = orthogonalise(vectors, k, d, vectors + k * d, work)
    if not length > 0.9:
        return False
    cal_scale(vectors + k * d, 1.0 / length, d)
    return True


cdef Py_ssize_t converged(Py_ssize_t n, Py_ssize_t in_sight, Py_ssize_t most, double allowed,
                          double below, double residual, double *values, double *vectors,
                          EigenWorkspace w, double *rest) noexcept nogil:
    """Write the pairs up to the first that has not converged, whose value is ``rest``."""
    cdef Py_ssize_t k, d = w.d
    for k in range(in_sight):
        if ritz_pair(n, k, below, residual, w, rest) > allowed or k == most:
            return k
        ritz_vector(w, n, vectors + k * d)
        values[k] = rest[0]
        if not made_orthogonal(values, vectors, k, d, residual, w.work):
            return k
    rest[0] = below
    return in_sight


cdef Py_ssize_t lanczos(const double *M, double below, double norm, Py_ssize_t most,
                        double *values, double *vectors, EigenWorkspace w,
                        double *rest) noexcept nogil:
    """Lowest eigenpairs under ``below``, at most ``most``: the number that converged.

    ``rest`` is the lowest Ritz value that did not, or ``below`` if there is none. The process
    starts from ``w.start`` and keeps all its vectors orthogonal.
    """
    cdef Py_ssize_t d = w.d, step, n, in_sight, found, limit = min(MAX_STEPS, d)
    cdef double *alpha = w.alpha
    cdef double *beta = alpha + d
    cdef double *image
    cdef double length = sqrt(cal_dot(w.start, w.start, d)), residual = RESIDUAL * norm
    cdef double worst, value
    cdef bint exhausted, last
    rest[0] = below
    if not 0.0 < length < INFINITY:
        return 0
    memcpy(w.basis, w.start, d * sizeof(double))
    cal_scale(w.basis, 1.0 / length, d)
    for step in range(limit):
        image = w.basis + (step + 1) * d
        times_vector(M, d, image - d, image)
        alpha[step] = cal_dot(image - d, image, d)
        cal_add(image, -alpha[step], image - d, d)
        if step > 0:
            cal_add(image, -beta[step - 1], image - 2 * d, d)
        n = step + 1
        beta[step] = orthogonalise(w.basis, n, d, image, w.work)
        exhausted = n == d or not beta[step] > 0.01 * residual
        last = exhausted or n == limit
        if last or n % CHECK_EVERY == 0:
            in_sight = cal_count_below(alpha, beta, n, below)
            worst = 0.0
            if in_sight > 0:
                worst = ritz_pair(n, min(in_sight, most) - 1, below, residual, w, &value)
            if n >= PATIENCE and limit < d:
                last = last or in_sight == 0 or worst > HOPELESS
            if last or (in_sight > 0 and worst <= 1.0):
                found = converged(n, in_sight, most, INFINITY if exhausted else 1.0, below,
                                  residual, values, vectors, w, rest)
                if last or rest[0] == below or found == most:
                    return found
        cal_scale(image, 1.0 / beta[step], d)
    return 0


cdef Py_ssize_t few_negative(const double *M, double norm, Py_ssize_t most, double *values,
                             double *vectors, EigenWorkspace w, bint *unsure) noexcept nogil:
    """Negative pairs that converge in a Lanczos process: how many.

    ``unsure``: there may be others, as always where the process does not pay.
    """
    cdef double rest = -INFINITY
    cdef Py_ssize_t found = 0
    if w.d > SMALL:
        found = lanczos(M, -TINY * norm, norm, most, values, vectors, w, &rest)
    unsure[0] = rest < -TINY * norm
    return found


cdef Py_ssize_t all_negative(const double *M, double norm, Py_ssize_t most, double *values,
                             double *vectors, EigenWorkspace w) except -1 nogil:
    """All negative pairs, at most ``most``."""
    return lowest_pairs(M, norm, -TINY * norm, most, values, vectors, w)


cdef Py_ssize_t lowest_pairs(const double *M, double norm, double below, Py_ssize_t most,
                             double *values, double *vectors,
                             EigenWorkspace w) except -1 nogil:
    """The pairs under ``below``, the lowest ``most`` of them."""
    cdef Py_ssize_t found = -1
    if norm == 0.0:
        return 0
    if w.d <= CACHED and norm < INFINITY and 1.0 / norm < INFINITY:
        found = tridiagonal_pairs(M, norm, below, most, values, vectors, w)
    if found < 0:
        found = lapack_pairs(M, norm, below, most, values, vectors, w)
    return found


cdef Py_ssize_t tridiagonal_pairs(const double *M, double norm, double below, Py_ssize_t most,
                                  double *values, double *vectors,
                                  EigenWorkspace w) noexcept nogil:
    """The same by plain loops; -1 where values nearly meet, whose vectors it cannot tell apart."""
    cdef Py_ssize_t d = w.d, k, count
    cdef double *alpha = w.alpha
    cdef double *beta = alpha + d
    cdef double *q
    cdef double low, high = below / norm
    memcpy(w.square, M, d * d * sizeof(double))
    cal_scale(w.square, 1.0 / norm, d * d)  # squares of small entries of M would vanish
    cal_tridiagonalise(w.square, d, alpha, beta, w.ritz, w.work)
    low, count = gershgorin(alpha, beta, d), min(most, cal_count_below(alpha, beta, d, high))
    for k in range(count):
        q = vectors + k * d
        values[k] = norm * cal_tridiagonal_pair(alpha, beta, d, k, low, high, 0.01 * RESIDUAL,
                                                q, w.work)
        cal_reflect(w.square, d, w.ritz, q)
        if not made_orthogonal(values, vectors, k, d, RESIDUAL * norm, w.work):
            return -1
    return count


cdef Py_ssize_t lapack_pairs(const double *M, double norm, double below, Py_ssize_t most,
                             double *values, double *vectors,
                             EigenWorkspace w) except -1 nogil:
    """The same by LAPACK.

    Of all pairs in a range dsyevr may miss those that nearly meet, so a single one is sought by
    its number. Where it gives up, or vectors are not orthogonal, it finds all pairs of M, by
    another algorithm.
    """
    cdef int d = <int>w.d, found = 0, info = 1, first = 1, lwork = 90 * d, liwork = 10 * d
    cdef double low = -2.0, high = below / norm, accuracy = 0.0
    cdef Py_ssize_t i, k, count = 0
    cdef double *eigenvalues = w.basis
    cdef const char *which = b"I" if most == 1 else b"V"
    # for as many as rounding may show; pages that are not written cost nothing
    cdef double *eigenvectors = <double *>malloc(w.d * w.d * sizeof(double))
    while norm < INFINITY and eigenvectors != NULL:
        for i in range(w.d * w.d):
            w.square[i] = M[i] / norm
        dsyevr(b"V", <char *>which, b"L", &d, w.square, &d, &low, &high, &first, &first, &accuracy,
               &found, eigenvalues, eigenvectors, &d, w.integers, w.work, &lwork,
               w.integers + 2 * d, &liwork, &info)
        count = k = 0
        while info == 0 and count < min(<Py_ssize_t>found, most) and eigenvalues[count] < high:
            values[count] = norm * eigenvalues[count]
            count += 1
        memcpy(vectors, eigenvectors, count * w.d * sizeof(double))
        while k < count and made_orthogonal(values, vectors, k, w.d, RESIDUAL * norm, w.work):
            k += 1
        if which[0] == b"A" or info == 0 and k == count:
            break
        which = b"A"
    free(eigenvectors)
    if info != 0:
        with gil:
            raise ValueError("LAPACK's dsyevr did not converge")
    return count


cdef double lowest_pair(const double *M, double below, double norm, double *q,
                        EigenWorkspace w) except? -1.0 nogil:
    """The lowest eigenvalue of M if it is under ``below``, with its vector in q; else 0.

    Another pair than the lowest may be all that can be seen from ``w.start``, so a bit of
    every coordinate is added to it.
    """
    cdef double rest, value, bit = 0.3 * sqrt((cal_dot(w.start, w.start, w.d) + 1e-300) / w.d)
    cdef Py_ssize_t i, found = 0
    cdef double *vector = w.work + 90 * w.d
    if w.d > SMALL:
        for i in range(w.d):
            w.start[i] += bit * cos(1.7 * i * i + 0.5)
        found = lanczos(M, below, norm, 1, &value, vector, w, &rest)
        if found == 0 and rest == below and below == 0.0 and is_positive_definite(M, 0.0, w):
            return 0.0
    if found == 0 and lowest_pairs(M, norm, below, 1, &value, vector, w) == 0:
        return 0.0
    memcpy(q, vector, w.d * sizeof(double))
    return value


# The same for arrays


def _lanczos(const double[:, ::1] M, start, Py_ssize_t most):
    """Negative eigenvalues and vectors that converged, and the lowest value that did not, or 0."""
    cdef Py_ssize_t d = M.shape[0], found
    cdef const double[::1] vector = np.ascontiguousarray(start, dtype=np.float64)
    cdef EigenWorkspace w = EigenWorkspace(d)
    cdef double norm = sqrt(cal_dot(&M[0, 0], &M[0, 0], d * d)), rest
    values, vectors = np.empty(most), np.empty((most, d))
    cdef double[::1] v = values
    cdef double[:, ::1] q = vectors
    memcpy(w.start, &vector[0], d * sizeof(double))
    found = lanczos(&M[0, 0], -TINY * norm, norm, most, &v[0], &q[0, 0], w, &rest)
    return values[:found], vectors[:found], rest if rest < -TINY * norm else 0.0


def _all_negative(const double[:, ::1] M, Py_ssize_t most):
    """The lowest negative eigenvalues and vectors."""
    cdef Py_ssize_t d = M.shape[0], found
    cdef double norm = np.linalg.norm(M)
    values, vectors = np.empty(most), np.empty((most, d))
    cdef double[::1] v = values
    cdef double[:, ::1] q = vectors
    found = all_negative(&M[0, 0], norm, most, &v[0], &q[0, 0], EigenWorkspace(d))
    return values[:found], vectors[:found]


def _is_positive_definite(const double[:, ::1] M, double shift=0.0):
    """Whether ``M + shift * I`` is positive definite."""
    return is_positive_definite(&M[0, 0], shift, EigenWorkspace(M.shape[0]))
