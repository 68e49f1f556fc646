"""Steps of pairs, a block of them at a time.

Within a block every difference z is multiplied with the block's first A only, by one matrix
product. After the updates k = 1, 2, ... of the block,

    A z_t = (A_first z_t) - sum_k c_k (b_k' z_t) b_k,    b_k = A_k z_k,

so an update costs a few times d for each pair of the block, not d^2, and A itself is changed
once per block.
"""

import numpy as np

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy

from .algebra cimport add_outer_products, multiply
from .kernels cimport cal_add, cal_dot, cal_row_dots, cal_scale
from .steps cimport PairStep

cdef Py_ssize_t SMALLEST_BLOCK = 16  # pairs between two changes of A itself
cdef Py_ssize_t LARGEST_BLOCK = 64


def run(double[:, ::1] A, differences, signs, PairStep step not None):
    """Let every pair move A in turn; A stays symmetric to the last bit.

    Returns the squared distance of each pair at its turn, and which of them moved A.
    """
    cdef const double[:, ::1] Z = np.ascontiguousarray(differences, dtype=np.float64)
    cdef const Py_ssize_t[::1] of_pair = np.ascontiguousarray(signs, dtype=np.intp)
    cdef Py_ssize_t n = of_pair.shape[0], d = A.shape[0], first = 0, size, count, k
    cdef Py_ssize_t m = min(LARGEST_BLOCK, max(SMALLEST_BLOCK, d // 4))
    squared, moved = np.empty(n), np.zeros(n, dtype=np.bool_)
    cdef double[::1] distances = squared, coefficients = np.empty(m)
    cdef unsigned char[::1] moves = moved.view(np.uint8)
    cdef double[:, ::1] product = np.empty((m, d)), directions = np.empty((m, d))
    cdef double[:, ::1] shares = np.empty((m, m))
    if n == 0:
        return squared, moved
    with nogil:
        while first < n:
            size = min(m, n - first)
            count = _block(A, &Z[first, 0], &of_pair[first], first, size, step,
                           &distances[first], &moves[first], product, directions, coefficients,
                           shares)
            for k in range(count):  # A -= c b b'
                cal_scale(&directions[k, 0], sqrt(fabs(coefficients[k])), d)
                coefficients[k] = -1.0 if coefficients[k] > 0.0 else 1.0
            if count > 0:
                add_outer_products(&A[0, 0], d, &directions[0, 0], &coefficients[0], count)
            first += size
    return squared, moved


cdef Py_ssize_t _block(double[:, ::1] A, const double *Z, const Py_ssize_t *signs,
                       Py_ssize_t first, Py_ssize_t size, PairStep step, double *squared,
                       unsigned char *moves, double[:, ::1] product,
                       double[:, ::1] directions, double[::1] coefficients,
                       double[:, ::1] shares) noexcept nogil:
    """Find the block's directions and coefficients; returns how many there are."""
    cdef Py_ssize_t d = A.shape[0], t, s, k, count = 0
    cdef double mean = 0.0, c, share
    cdef bint due = False
    cdef double *b
    multiply(Z, &A[0, 0], size, d, &product[0, 0])
    for k in range(d):
        mean += A[k, k] / d
    cal_row_dots(Z, &product[0, 0], size, d, squared)
    for t in range(size):
        c = step.coefficient_of(first + t, signs[t], squared[t],
                                mean * cal_dot(Z + t * d, Z + t * d, d), &due)
        if not due:
            continue
        moves[t] = True
        b = &directions[count, 0]
        memcpy(b, &product[t, 0], d * sizeof(double))
        for k in range(count):
            cal_add(b, -coefficients[k] * shares[k, t], &directions[k, 0], d)
        for s in range(t + 1, size):
            share = cal_dot(b, Z + s * d, d)
            shares[count, s] = share
            squared[s] -= c * share * share
        coefficients[count] = c
        count += 1
    return count
