"""Negative eigenpairs of a symmetric matrix that has few, and none but those.

Up to `SMALL` features an LDL' factorisation tells how many there are, and the Lanczos process
with the inverse finds them: AS-SGD on connect4 (d = 42) takes 0.40 s so, and 1.03 s by dsyevr.
Beyond, the Lanczos process with the matrix does. What these do not find dsyevr finds.
"""

import numpy as np

from libc.math cimport INFINITY, cos, fabs, fmax, fmin, log, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from scipy.linalg.cython_blas cimport dgemv, dsymv
from scipy.linalg.cython_lapack cimport dpotrf, dsyevr

from .kernels cimport (
    cal_add,
    cal_combine,
    cal_count_below,
    cal_dot,
    cal_ldl,
    cal_ldl_solve,
    cal_orthogonalise,
    cal_scale,
    cal_tridiagonal_pair,
)

cdef double TINY = 1e-13  # eigenvalues above -TINY * norm count as zero
cdef double NIL = 1e-12  # the same where a factorisation tells how many are negative
cdef double RESIDUAL = 1e-12  # a pair has converged when ||M q - value q|| <= RESIDUAL * norm
cdef double ORTHOGONAL = 1e-10  # largest inner product of two unit eigenvectors
cdef double GROWTH = 1e3  # of pivots, beside the norm, that leaves enough digits
cdef double HOPELESS = 1e8  # a residual this many times too large by then takes too long
cdef Py_ssize_t SMALL = 96  # features up to which plain loops beat LAPACK
cdef Py_ssize_t MAX_STEPS = 90  # of Lanczos
cdef Py_ssize_t FIRST_CHECK = 6  # steps before the first check of the residuals
cdef Py_ssize_t CHECK_EVERY = 3  # steps between checks as long as nothing can be foreseen
cdef Py_ssize_t MAX_WAIT = 8  # steps between checks otherwise
cdef Py_ssize_t HALF_IS_FASTER = 400  # features from which memory limits a product

ctypedef void (*Operator)(const double *A, Py_ssize_t d, double *x, double *out) noexcept nogil


cdef struct Goal:
    double below  # eigenvalues under it are wanted
    double absolute  # largest residual of a converged pair, or
    double relative  # the same as a share of the eigenvalue
    Py_ssize_t steps
    Py_ssize_t patience  # steps after which what is worth finding has shown itself


cdef class EigenWorkspace:
    """Memory for matrices of d features."""

    def __init__(self, Py_ssize_t d):
        n = min(d, MAX_STEPS)
        sizes = d * d, (n + 1) * d, d, 2 * n, 3 * n, 91 * d
        doubles = [np.zeros(size) for size in sizes]
        integers = np.zeros(12 * max(d, 2), dtype=np.intc)
        self.d, self.steps, self._arrays = d, n, (doubles, integers)
        cdef double[::1] a
        cdef int[::1] i = integers
        cdef double *pointers[6]
        for k in range(6):
            a = doubles[k]
            pointers[k] = &a[0]
        self.square, self.basis, self.start = pointers[0], pointers[1], pointers[2]
        self.alpha, self.ritz, self.work = pointers[3], pointers[4], pointers[5]
        self.integers = &i[0]


cdef void shifted(const double *M, double shift, EigenWorkspace w) noexcept nogil:
    """``square = M + shift * I``."""
    cdef Py_ssize_t i, d = w.d
    memcpy(w.square, M, d * d * sizeof(double))
    for i in range(d):
        w.square[i * d + i] += shift


cdef bint is_positive_definite(const double *M, double shift, EigenWorkspace w) noexcept nogil:
    """Whether ``M + shift * I`` is positive definite, by a Cholesky factorisation."""
    cdef int d = <int>w.d, info = 0
    cdef double largest
    shifted(M, shift, w)
    if d <= SMALL:
        return cal_ldl(w.square, d, True, &largest) == 0
    dpotrf(b"L", &d, w.square, &d, &info)
    return info == 0 and w.square[d * d - 1] > 0.0  # a NaN passes unseen


cdef void product(const double *A, Py_ssize_t d, double *x, double *out) noexcept nogil:
    cdef int n = <int>d, unit = 1
    cdef double one = 1.0, zero = 0.0
    if d < HALF_IS_FASTER:
        dgemv(b"T", &n, &n, &one, <double *>A, &n, x, &unit, &zero, out, &unit)
    else:
        dsymv(b"L", &n, &one, <double *>A, &n, x, &unit, &zero, out, &unit)


cdef void inverse(const double *A, Py_ssize_t d, double *x, double *out) noexcept nogil:
    memcpy(out, x, d * sizeof(double))
    cal_ldl_solve(A, d, out)


cdef double lowest(const double *alpha, const double *beta, Py_ssize_t n) noexcept nogil:
    """A number that no eigenvalue of the tridiagonal matrix lies below (Gershgorin)."""
    cdef double low = INFINITY, radius
    cdef Py_ssize_t i
    for i in range(n):
        radius = (fabs(beta[i - 1]) if i > 0 else 0.0) + (fabs(beta[i]) if i < n - 1 else 0.0)
        low = fmin(low, alpha[i] - radius)
    return low


cdef double ritz_pair(Py_ssize_t n, Py_ssize_t k, Goal goal, EigenWorkspace w,
                      double *value) noexcept nogil:
    """Value and vector (``w.ritz``) of Ritz pair k after n steps.

    Returns its residual as a multiple of the largest of a converged one.
    """
    cdef double *beta = w.alpha + w.steps
    value[0] = cal_tridiagonal_pair(w.alpha, beta, n, k, lowest(w.alpha, beta, n), goal.below,
                                    0.01 * goal.absolute, w.ritz, w.ritz + w.steps)
    return fabs(beta[n - 1] * w.ritz[n - 1]) / fmax(goal.absolute, goal.relative * fabs(value[0]))


cdef Py_ssize_t converged(Py_ssize_t n, Py_ssize_t in_sight, Py_ssize_t most, double allowed,
                          Goal goal, double *values, double *vectors, EigenWorkspace w,
                          double *rest) noexcept nogil:
    """Write the pairs up to the first that has not converged, whose value is ``rest``."""
    cdef Py_ssize_t k, m, d = w.d
    cdef double largest = 0.0
    for k in range(in_sight):
        if ritz_pair(n, k, goal, w, rest) > allowed or k == most:
            return k
        cal_combine(w.ritz, w.basis, n, d, vectors + k * d)
        for m in range(k):  # not orthogonal where two values nearly meet
            largest = fmax(largest, fabs(cal_dot(vectors + m * d, vectors + k * d, d)))
        if largest > ORTHOGONAL:
            return k
        values[k] = rest[0]
    rest[0] = goal.below
    return in_sight


cdef Py_ssize_t wait(double before, double now, Py_ssize_t between) noexcept nogil:
    """Steps until the next check: most of those that it takes at the pace seen between two."""
    if not before > now > 1.0:
        return CHECK_EVERY
    cdef double steps = 0.7 * between * log(now) / log(before / now)
    return max(1, min(MAX_WAIT, <Py_ssize_t>fmin(steps, 100.0)))


cdef Py_ssize_t lanczos(Operator apply, const double *A, Goal goal, Py_ssize_t most,
                        double *values, double *vectors, EigenWorkspace w,
                        double *rest) noexcept nogil:
    """Lowest eigenpairs under ``goal.below``, at most ``most``: the number that converged.

    ``rest`` is the lowest Ritz value that did not, or ``goal.below`` if there is none. The
    process starts from ``w.start`` and keeps all its vectors orthogonal.
    """
    cdef Py_ssize_t d = w.d, step, n, in_sight, found, limit = min(goal.steps, w.steps)
    cdef double *alpha = w.alpha
    cdef double *beta = alpha + w.steps
    cdef double *image
    cdef double length = sqrt(cal_dot(w.start, w.start, d)), worst, value, before = 0.0
    cdef Py_ssize_t next_check = FIRST_CHECK, checked = 0
    cdef bint exhausted, last
    rest[0] = goal.below
    if not 0.0 < length < INFINITY:
        return 0
    memcpy(w.basis, w.start, d * sizeof(double))
    cal_scale(w.basis, 1.0 / length, d)
    for step in range(limit):
        image = w.basis + (step + 1) * d
        apply(A, d, image - d, image)
        alpha[step] = cal_dot(image - d, image, d)
        cal_add(image, -alpha[step], image - d, d)
        if step > 0:
            cal_add(image, -beta[step - 1], image - 2 * d, d)
        n = step + 1
        beta[step] = cal_orthogonalise(w.basis, n, d, image)
        exhausted = n == d or not beta[step] > 0.01 * goal.absolute
        last = exhausted or n == limit
        if last or n == next_check:
            in_sight = cal_count_below(alpha, beta, n, goal.below)
            worst = 0.0
            if in_sight > 0:
                worst = ritz_pair(n, min(in_sight, most) - 1, goal, w, &value)
            next_check, checked, before = n + wait(before, worst, n - checked), n, worst
            if n >= goal.patience and limit < d:
                last = last or in_sight == 0 or worst > HOPELESS
            if last or (in_sight > 0 and worst <= 1.0):
                found = converged(n, in_sight, most, INFINITY if exhausted else 1.0, goal,
                                  values, vectors, w, rest)
                if last or rest[0] == goal.below or found == most:
                    return found
        cal_scale(image, 1.0 / beta[step], d)
    return 0


cdef Py_ssize_t few_negative(const double *M, double norm, double removed, Py_ssize_t *most,
                             double *values, double *vectors, EigenWorkspace w,
                             bint *unsure) noexcept nogil:
    """Negative pairs that converge in a Lanczos process: how many.

    There are at most ``most`` of them, which becomes their true number where a factorisation
    tells, and none is below ``-removed``. ``unsure``: there are others.
    """
    cdef Goal goal
    cdef double rest, largest, shift = NIL * norm
    cdef Py_ssize_t found, k
    cdef int count
    unsure[0] = True
    if w.d > SMALL:
        goal = Goal(-TINY * norm, RESIDUAL * norm, 0.0, MAX_STEPS, 24)
        found = lanczos(product, M, goal, most[0], values, vectors, w, &rest)
        unsure[0] = rest < goal.below
        return found
    shifted(M, shift, w)
    count = cal_ldl(w.square, w.d, False, &largest)
    if count < 0 or count > most[0] or not largest <= GROWTH * norm:
        return 0  # rounding may hide how many there are
    most[0] = count
    if count == 0:
        return 0
    goal = Goal(-0.1 / norm, 0.5 * RESIDUAL / removed, 0.5 * RESIDUAL, 60, 40)
    found = lanczos(inverse, w.square, goal, count, values, vectors, w, &rest)
    for k in range(found):
        values[k] = 1.0 / values[k] - shift
        if not is_pair(M, values[k], vectors + k * w.d, 10.0 * RESIDUAL * norm, w):
            return k
    return found


cdef bint is_pair(const double *M, double value, double *q, double accuracy,
                  EigenWorkspace w) noexcept nogil:
    """Whether ``||M q - value q|| <= accuracy``."""
    product(M, w.d, q, w.work)
    cal_add(w.work, -value, q, w.d)
    cal_scale(w.work, 1.0 / accuracy, w.d)  # squares might vanish
    return cal_dot(w.work, w.work, w.d) <= 1.0


cdef Py_ssize_t all_negative(const double *M, double norm, Py_ssize_t most, double *values,
                             double *vectors, EigenWorkspace w) except -1 nogil:
    """All negative pairs, at most ``most``, by dsyevr."""
    return lapack_pairs(M, norm, -TINY * norm, most, values, vectors, w)


cdef Py_ssize_t lapack_pairs(const double *M, double norm, double below, Py_ssize_t most,
                             double *values, double *vectors,
                             EigenWorkspace w) except -1 nogil:
    """The pairs under ``below``, the lowest ``most`` of them.

    Of all pairs in a range dsyevr may not find those that nearly meet, so one is asked for alone.
    """
    if norm == 0.0:
        return 0
    cdef int d = <int>w.d, found = 0, info = 1, first = 1, lwork = 90 * d, liwork = 10 * d
    cdef double low = -2.0, high = below / norm, accuracy = 0.0
    cdef Py_ssize_t i
    cdef double *eigenvalues = w.basis
    # for as many as rounding may show; pages that are not written cost nothing
    cdef double *eigenvectors = <double *>malloc(w.d * w.d * sizeof(double))
    if norm < INFINITY and eigenvectors != NULL:
        for i in range(w.d * w.d):  # squares of the entries of M may vanish, those of M / norm not
            w.square[i] = M[i] / norm
        dsyevr(b"V", b"I" if most == 1 else b"V", b"L", &d, w.square, &d, &low, &high, &first,
               &first, &accuracy, &found, eigenvalues, eigenvectors, &d, w.integers, w.work, &lwork,
               w.integers + 2 * d, &liwork, &info)
        found = min(found, <int>most)
        if most == 1 and found == 1 and not eigenvalues[0] < high:
            found = 0
        for i in range(found):
            values[i] = norm * eigenvalues[i]
        memcpy(vectors, eigenvectors, found * w.d * sizeof(double))
    free(eigenvectors)
    if info != 0:
        with gil:
            raise ValueError("LAPACK's dsyevr did not converge")
    return found


cdef double lowest_pair(const double *M, double below, double norm, double *q,
                        EigenWorkspace w) except? -1.0 nogil:
    """The lowest eigenvalue of M if it is under ``below``, with its vector in q; else 0.

    Another pair than the lowest may be all that can be seen from ``w.start``, so a bit of
    every coordinate is added to it.
    """
    cdef Goal goal = Goal(below, RESIDUAL * norm, 0.0, MAX_STEPS, 24)
    cdef double rest, value, bit = 0.3 * sqrt((cal_dot(w.start, w.start, w.d) + 1e-300) / w.d)
    cdef Py_ssize_t i, found
    cdef double *vector = w.work + 90 * w.d
    for i in range(w.d):
        w.start[i] += bit * cos(1.7 * i * i + 0.5)
    found = lanczos(product, M, goal, 1, &value, vector, w, &rest)
    if found == 0 and rest == below and is_positive_definite(M, -10.0 * below, w):
        return 0.0
    if found == 0 and lapack_pairs(M, norm, below, 1, &value, vector, w) == 0:
        return 0.0
    memcpy(q, vector, w.d * sizeof(double))
    return value


# The same for arrays


def _lanczos(const double[:, ::1] M, start, Py_ssize_t most):
    """Negative eigenvalues and vectors that converged, and the lowest value that did not, or 0."""
    cdef Py_ssize_t d = M.shape[0], found
    cdef EigenWorkspace w = _from(start)
    cdef double norm = sqrt(cal_dot(&M[0, 0], &M[0, 0], d * d)), rest
    cdef Goal goal = Goal(-TINY * norm, RESIDUAL * norm, 0.0, MAX_STEPS, 24)
    values, vectors = np.empty(most), np.empty((most, d))
    cdef double[::1] v = values
    cdef double[:, ::1] q = vectors
    found = lanczos(product, &M[0, 0], goal, most, &v[0], &q[0, 0], w, &rest)
    return values[:found], vectors[:found], rest if rest < goal.below else 0.0


def _few_negative(const double[:, ::1] M, start, double removed, Py_ssize_t most):
    """Negative eigenvalues and vectors found, how many there are at most, and if unsure."""
    cdef Py_ssize_t d = M.shape[0], found
    cdef EigenWorkspace w = _from(start)
    cdef double norm = sqrt(cal_dot(&M[0, 0], &M[0, 0], d * d))
    cdef bint unsure
    values, vectors = np.empty(most), np.empty((most, d))
    cdef double[::1] v = values
    cdef double[:, ::1] q = vectors
    found = few_negative(&M[0, 0], norm, removed, &most, &v[0], &q[0, 0], w, &unsure)
    return values[:found], vectors[:found], most, unsure


def _all_negative(const double[:, ::1] M, Py_ssize_t most):
    """The lowest negative eigenvalues and vectors, by LAPACK."""
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


def _from(start):
    """Workspace with a vector to start from."""
    cdef const double[::1] vector = np.ascontiguousarray(start, dtype=np.float64)
    cdef EigenWorkspace w = EigenWorkspace(len(vector))
    memcpy(w.start, &vector[0], w.d * sizeof(double))
    return w
